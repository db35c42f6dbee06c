"""A load that is changed from the page while it is sent, and a run that is stopped from there."""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jostle.errors import JostleError
from jostle.runner.steering import steer, stop
from jostle.web.posted import posted
from jostle.web.runs import Runs

__all__ = ["Control"]

MAX_BYTES = 1_000

STOPS = "The run stops. What was measured is reported."


class Control:
    """What may be done to the runs that go on. What was done, or why not, is `said`."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self.routes = [
            Route("/runs/{run}/steer", self._steer, methods=["POST"]),
            Route("/runs/{run}/stop", self._stop, methods=["POST"]),
        ]

    async def _steer(self, request: Request) -> Response:
        """Change the load as `jostle steer` does: {"change": "rate=500/s"}."""
        folder = self._runs.existing(request.path_params["run"])
        change = await posted(request, "change", str, MAX_BYTES)
        return await _done(lambda: str(steer(folder, change, by="page")))

    async def _stop(self, request: Request) -> Response:
        """Stop the run as Ctrl-C does."""
        folder = self._runs.existing(request.path_params["run"])

        def stopped() -> str:
            stop(folder)
            return STOPS

        return await _done(stopped)


async def _done(what: Callable[[], str]) -> Response:
    try:
        return JSONResponse({"said": await asyncio.to_thread(what)})
    except JostleError as error:
        return JSONResponse({"said": f"{error.message}: {error.hint}" if error.hint else error.message}, 409)
