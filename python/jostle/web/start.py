"""Starting a run: a form for a single load, an editor for a plan that is checked as one types."""

import asyncio
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jostle.errors import NotARun
from jostle.record.folder import read_host
from jostle.text import reason
from jostle.web.pages import page
from jostle.web.planned import Problem, plan_of_form, problems_of
from jostle.web.posted import posted
from jostle.web.runs import Runs
from jostle.web.starter import Starter

__all__ = ["Start"]

PLANS = "plans"
"""The folder beside the runs for plans that were written here."""

MAX_BYTES = 400_000
"""Of what is posted: a plan, or what was filled in."""

APPEARS_S, LOOKS_EACH_S = 60.0, 0.1
"""How long a run may take until it has a folder: its servers are built before."""


class Start:
    """The pages that start runs in the folder that is shown."""

    def __init__(self, runs: Runs, starter: Starter) -> None:
        self._runs, self._starter = runs, starter
        self.routes = [
            Route("/start", self._form),
            Route("/start", self._start, methods=["POST"]),
            Route("/start/plan", self._plan, methods=["POST"]),
            Route("/start/check", self._check, methods=["POST"]),
        ]

    async def _form(self, _: Request) -> Response:
        return page("start", title="Start a run", folder=str(self._runs.base / PLANS))

    async def _plan(self, request: Request) -> Response:
        """What the form comes to."""
        form = await posted(request, "form", dict, MAX_BYTES)
        filled_in = {name: str(value) for name, value in form.items()}
        text, problems = await asyncio.to_thread(plan_of_form, filled_in)
        return JSONResponse({"plan": text, "problems": _as_data(problems)})

    async def _check(self, request: Request) -> Response:
        text = await posted(request, "plan", str, MAX_BYTES)
        return JSONResponse(
            {"problems": _as_data(await asyncio.to_thread(problems_of, text, self._runs.base))}
        )

    async def _start(self, request: Request) -> Response:
        text = await posted(request, "plan", str, MAX_BYTES)
        if problems := await asyncio.to_thread(problems_of, text, self._runs.base):
            return JSONResponse({"problems": _as_data(problems)}, 400)
        try:
            plan = await asyncio.to_thread(self._kept, text)
            said = self._starter.run(plan, self._runs.base)
        except BrokenPipeError:
            problem = Problem("the process that starts runs has ended: end jostle web, and start it again")
            return JSONResponse({"problems": _as_data([problem])}, 500)
        except OSError as error:
            problem = Problem(f"the plan cannot be kept in {self._runs.base / PLANS}: {reason(error)}")
            return JSONResponse({"problems": _as_data([problem])}, 507)
        ends_s = time.monotonic() + APPEARS_S
        while time.monotonic() < ends_s:
            if name := await asyncio.to_thread(self._begun, plan):
                return JSONResponse({"run": name})
            if said.with_suffix(".ended").exists():
                why = said.read_text(encoding="utf-8", errors="replace").strip()
                return JSONResponse({"problems": _as_data([Problem(why or "it ended at once")])}, 400)
            await asyncio.sleep(LOOKS_EACH_S)
        raise HTTPException(504, f"it has not begun yet; what it says is in {said}")

    def _kept(self, text: str) -> Path:
        """The plan as a file that only its user reads: it may hold a password."""
        folder = self._runs.base / PLANS
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{time.strftime('%Y-%m-%dT%H-%M-%S')}-{time.time_ns() % 1_000_000:06d}.toml"
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _begun(self, plan: Path) -> str | None:
        """The name of the run that was made of the plan."""
        for name in self._runs.names():
            try:
                host = read_host(self._runs.base / name)
            except NotARun:
                continue
            if host is not None and str(plan) in host.get("argv", []):
                return name
        return None


def _as_data(problems: list[Problem]) -> list[dict[str, Any]]:
    return [asdict(problem) for problem in problems]
