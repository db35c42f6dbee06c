"""A small HTTP server in Python: some work for each response, and faults that can be planted.

    python gate_server.py PORT [--slower PERCENT] [--tail MILLISECONDS]

`--slower`: more work for each request. `--tail`: one request of ten waits so much longer.
"""

import argparse
import asyncio
import random

WORK = 4000
"""Steps of work for each request: about a millisecond."""
TAIL_SHARE = 0.1


def work(steps: int) -> int:
    total = 0
    for step in range(steps):
        total += step * step % 7
    return total


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("port", type=int)
    parser.add_argument("--slower", type=float, default=0.0)
    parser.add_argument("--tail", type=float, default=0.0)
    options = parser.parse_args()
    steps = round(WORK * (1 + options.slower / 100))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                body = str(work(steps)).encode()
                if options.tail and random.random() < TAIL_SHARE:
                    await asyncio.sleep(options.tail / 1000)
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", options.port)
    await server.serve_forever()


asyncio.run(main())
