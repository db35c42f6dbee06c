"""A load that is changed from the page while it is sent."""

import asyncio
import json

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jostle.errors import JostleError
from jostle.runner.steering import steer
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
        try:
            change = json.loads(await _body(request))["change"]
        except (ValueError, KeyError, TypeError):
            change = None
        if not isinstance(change, str):
            return JSONResponse({"said": 'which change? {"change": "rate=500/s"}'}, 400)
        try:
            made = await asyncio.to_thread(steer, folder, change, by="page")
        except JostleError as error:
            said = f"{error.message}: {error.hint}" if error.hint else error.message
            return JSONResponse({"said": said}, 409)
        return JSONResponse({"said": str(made)})


async def _body(request: Request) -> bytes:
    """Raises ValueError for a body that is too long to be a change."""
    found = b""
    async for part in request.stream():
        found += part
        if len(found) > MAX_BYTES:
            raise ValueError("it is too long")
    return found
