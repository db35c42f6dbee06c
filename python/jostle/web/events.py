"""The stream of events of a tab: no more of them than a machine bears, and none for who stops reading."""

import asyncio
import contextlib
from typing import TYPE_CHECKING

from starlette.responses import PlainTextResponse, Response

from jostle.web.choice import Choice
from jostle.web.follower import Follower
from jostle.web.place import Place

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Receive, Scope, Send

__all__ = ["MAX_VIEWERS", "EventStream", "Viewers"]

MAX_VIEWERS = 32

PATIENCE_S = 20.0
"""A viewer that takes nothing for so long is let go; its browser connects again when it reads on."""

QUIET_S = 10.0
"""After so long without news a comment is sent, which finds out whether anybody is still there."""


class Viewers:
    """Who watches, over all runs."""

    def __init__(self) -> None:
        self.watching = 0

    def stream(self, follower: Follower, request: "Request") -> "Response | EventStream":
        """The stream of a further viewer, or why there can be none."""
        if self.watching >= MAX_VIEWERS:
            text = f"{MAX_VIEWERS} viewers watch already. Close one of their tabs, then reload this page.\n"
            return PlainTextResponse(text, 503, headers={"retry-after": "10"})
        place = Place.of(request.headers.get("last-event-id", ""))
        return EventStream(self, follower, Choice.of(request.query_params), place)

    async def left(self, within_s: float) -> None:
        """Returns once nobody watches any more, and at the latest after so long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while self.watching:
                    await asyncio.sleep(0.05)


class EventStream:
    """A response without end: what is new since `place`."""

    def __init__(self, viewers: Viewers, follower: Follower, choice: Choice, place: Place) -> None:
        self._viewers, self._follower, self._choice, self._place = viewers, follower, choice, place

    async def __call__(self, _: "Scope", receive: "Receive", send: "Send") -> None:
        headers = [(b"content-type", b"text/event-stream; charset=utf-8")]
        self._viewers.watching += 1
        try:
            with self._follower.watched(self._choice):
                await send({"type": "http.response.start", "status": 200, "headers": headers})
                sending = asyncio.create_task(self._send_all(send))
                leaving = asyncio.create_task(_left(receive))
                await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
                for task in (sending, leaving):
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError, TimeoutError):
                        await task
        finally:
            self._viewers.watching -= 1

    async def _send_all(self, send: "Send") -> None:
        news = self._follower.messages(self._choice, self._place)
        waiting = asyncio.ensure_future(anext(news, None))
        try:
            while True:
                done, _ = await asyncio.wait((waiting,), timeout=QUIET_S)
                text = ": nothing new\n\n"
                if done:
                    if (message := waiting.result()) is None:
                        await send({"type": "http.response.body", "body": b""})
                        return
                    place, data = message
                    text = f"id: {place}\ndata: {data}\n\n"
                    waiting = asyncio.ensure_future(anext(news, None))
                async with asyncio.timeout(PATIENCE_S):  # `wait_for` may swallow that the viewer has gone
                    await send(_part(text))
        finally:
            waiting.cancel()


def _part(text: str) -> "Message":
    return {"type": "http.response.body", "body": text.encode(), "more_body": True}


async def _left(receive: "Receive") -> None:
    """Returns when the viewer has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
