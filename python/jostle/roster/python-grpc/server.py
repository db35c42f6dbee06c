"""One thread, one event loop: while a call computes, every other one waits."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator

import grpc
from grpc_reflection.v1alpha.reflection import SERVICE_NAME, enable_server_reflection

from echo_pb2 import DESCRIPTOR, Schedule, Words
from echo_pb2_grpc import EchoServicer, add_EchoServicer_to_server

MAX_COUNT, MAX_DELAY_MS = 100_000, 60_000


class Echo(EchoServicer):
    async def Say(self, words: Words, context: grpc.aio.ServicerContext) -> Words:
        return words

    async def Count(self, schedule: Schedule, context: grpc.aio.ServicerContext) -> AsyncIterator[Words]:
        if not 0 <= schedule.n <= MAX_COUNT:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"n should be a whole number up to {MAX_COUNT}")
        if not 0 <= schedule.gap_ms <= MAX_DELAY_MS:
            text = f"gap_ms should be a whole number up to {MAX_DELAY_MS}"
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, text)
        loop = asyncio.get_running_loop()
        begin = loop.time()
        for number in range(schedule.n):
            await asyncio.sleep(begin + number * schedule.gap_ms / 1000 - loop.time())
            yield Words(number=number + 1)

    async def Talk(self, several: AsyncIterator[Words], context: grpc.aio.ServicerContext) -> AsyncIterator[Words]:
        async for words in several:
            yield words


async def main() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # ends it at once; a graceful stop would wait for calls
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])  # nobody else may listen on the same port
    add_EchoServicer_to_server(Echo(), server)
    enable_server_reflection([DESCRIPTOR.services_by_name["Echo"].full_name, SERVICE_NAME], server)
    server.add_insecure_port(f"{os.environ['HOST']}:{os.environ['PORT']}")
    await server.start()
    await server.wait_for_termination()


asyncio.run(main())
