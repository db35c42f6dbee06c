"""A load that is changed from the page while it is sent."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jostle.errors import JostleError
from jostle.runner.steering import steer
from jostle.web.posted import posted
from jostle.web.runs import Runs

__all__ = ["Control"]

MAX_BYTES = 1_000


class Control:
    """What may be done to the runs that go on."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self.routes = [Route("/runs/{run}/steer", self._steer, methods=["POST"])]

    async def _steer(self, request: Request) -> Response:
        """Change the load as `jostle steer` does: {"change": "rate=500/s"}. What was done is `said`."""
        folder = self._runs.existing(request.path_params["run"])
        change = await posted(request, "change", str, MAX_BYTES)
        try:
            made = await asyncio.to_thread(steer, folder, change, by="page")
        except JostleError as error:
            said = f"{error.message}: {error.hint}" if error.hint else error.message
            return JSONResponse({"said": said}, 409)
        return JSONResponse({"said": str(made)})
