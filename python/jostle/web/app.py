"""The application: which address shows what."""

import asyncio
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from jostle.errors import JostleError, NotARun
from jostle.live.followed import FollowedRun
from jostle.plan.recorded import RecordedPlan
from jostle.record import RunRecord
from jostle.text import one_line
from jostle.web.access import Access, Guard
from jostle.web.control import Control
from jostle.web.documents import report_page
from jostle.web.events import EventStream, Viewers
from jostle.web.follower import Follower
from jostle.web.library import Library
from jostle.web.pages import page
from jostle.web.ranges import checks_within, span_of
from jostle.web.runs import Runs
from jostle.web.start import Start
from jostle.web.starter import Starter
from jostle.web.static import static

__all__ = ["Web"]

TOLD_S = 5.0
"""How long viewers may take for the last of a run."""


class Web:
    """The page on a folder of runs, as an ASGI application."""

    def __init__(self, runs: Runs, access: Access, starter: Starter | None = None) -> None:
        """`starter`: None if no runs can be started, as beside one that is measured."""
        self._runs = runs
        self._viewers = Viewers()
        self._followers: dict[str, Follower] = {}
        routes = [
            Route("/", self._first),
            Route("/live", self._live),
            *Library(runs, may_start=starter is not None).routes,
            *(Start(runs, starter).routes if starter is not None else ()),
            Route("/runs/{run}", self._run),
            Route("/runs/{run}/events", self._events),
            Route("/runs/{run}/range", self._range),
            *Control(runs).routes,
            Route("/runs/{run}/report", self._report),
            Route("/static/{name}", static),
        ]
        handlers: Any = {HTTPException: _said, JostleError: _failed}
        self.application = Guard(Starlette(routes=routes, exception_handlers=handlers), access)

    async def finish(self) -> None:
        """Tell those who watch all that was recorded, and that there will be no more."""
        for follower in self._followers.values():
            await follower.finish()
        await self._viewers.left(TOLD_S)

    async def _first(self, _: Request) -> Response:
        return RedirectResponse("/runs", 303)

    async def _live(self, _: Request) -> Response:
        """The newest run that goes on, once there is one."""
        going = await asyncio.to_thread(self._going)
        if going is None:
            response = page("waiting", title="No run is going on yet")
            response.headers["refresh"] = "1"
            return response
        return RedirectResponse(f"/runs/{going}", 303)

    def _going(self) -> str | None:
        for name in self._runs.names():
            run = FollowedRun(self._runs.base / name)
            run.read()
            if run.state.status == "running":
                return name
        return None

    async def _run(self, request: Request) -> Response:
        folder = self._folder(request)
        return page("live", title=await asyncio.to_thread(_title, folder), run=folder.name)

    async def _events(self, request: Request) -> Response | EventStream:
        folder = self._folder(request)
        follower = self._followers.get(folder.name)
        if follower is None:
            follower = self._followers[folder.name] = Follower(folder)
        return self._viewers.stream(follower, request)

    async def _range(self, request: Request) -> Response:
        """The checks of a range of a trial."""
        folder, given = self._folder(request), request.query_params
        try:
            number, span = int(given["trial"]), span_of(float(given["from"]), float(given["to"]))
        except (KeyError, ValueError):
            raise HTTPException(400, "which trial, from when, to when?") from None
        return JSONResponse(await asyncio.to_thread(checks_within, folder, number, span))

    async def _report(self, request: Request) -> Response:
        return await asyncio.to_thread(report_page, self._folder(request))

    def _folder(self, request: Request) -> Path:
        """Of the run that the address names."""
        return self._runs.existing(request.path_params["run"])


def _title(folder: Path) -> str:
    """What the plan of the run is called."""
    try:
        return one_line(RecordedPlan.parse(RunRecord.open(folder).plan_text).title) or folder.name
    except NotARun:
        return folder.name


async def _said(_: Request, error: HTTPException) -> Response:
    return PlainTextResponse(f"{error.detail}\n", error.status_code)


async def _failed(request: Request, error: JostleError) -> Response:
    """A mistake of the user, or what was asked for is gone: as a page for who opens one, or as a sentence."""
    status = 404 if isinstance(error, NotARun) else 400
    if "text/html" in request.headers.get("accept", ""):
        return page("failed", status, title="jostle", error=error)
    return PlainTextResponse(f"{error.message}\n", status)
