"""The library: all runs of a folder, two of them compared, the trend of a plan, and a run that is deleted."""

import asyncio
import shutil
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jostle.analysis.history import indexed
from jostle.errors import NotARun, PlanError
from jostle.record.layout import EXPLAINED
from jostle.web.documents import compared_page, page_in, sandboxed
from jostle.web.explanations import explanations_in, kept_explanation
from jostle.web.listed import Listed, listed
from jostle.web.pages import page
from jostle.web.runs import Runs
from jostle.web.trends import drawn_trends

__all__ = ["Library"]


class Library:
    """The pages about many runs."""

    def __init__(self, runs: Runs, *, may_start: bool) -> None:
        self._runs, self._may_start = runs, may_start
        self.routes = [
            Route("/runs", self._list),
            Route("/compare", self._compare),
            Route("/trend", self._trend),
            Route("/runs/{run}/explained/{name}", self._explained),
            Route("/explained/{folder}/{name}", self._kept),
            Route("/runs/{run}/delete", self._delete, methods=["POST"]),
        ]

    async def _list(self, _: Request) -> Response:
        found = await asyncio.to_thread(self._listed)
        return page(
            "library",
            title="Runs",
            runs=found,
            explanations=[] if self._runs.only else await asyncio.to_thread(explanations_in, self._runs.base),
            folder=str(self._runs.base),
            may_start=self._may_start,
        )

    def _listed(self) -> list[Listed]:
        folders = [self._runs.base / name for name in self._runs.names()]
        return listed(folders, indexed(self._runs.base, folders))

    async def _compare(self, request: Request) -> Response:
        """Of two runs, the later one with the earlier one: names begin with when a run began."""
        names = sorted(set(request.query_params.getlist("run")))
        if len(names) != 2:
            raise PlanError(
                f"two runs are compared, and {len(names) or 'none'} of them is chosen",
                "choose two in the list",
            )
        first, second = (self._runs.existing(name) for name in names)
        return await asyncio.to_thread(compared_page, first, second)

    async def _trend(self, request: Request) -> Response:
        """How the figures of a plan went from run to run."""
        title = request.query_params.get("plan", "")
        folders = [self._runs.base / name for name in self._runs.names()]
        entries = await asyncio.to_thread(indexed, self._runs.base, folders)
        of_the_plan = [one for one in entries if one.title == title]
        chosen = sorted(of_the_plan, key=lambda one: (one.started, one.folder))
        if not chosen:
            raise NotARun(f"no run here is called {title!r}", "it may have been deleted")
        return page("trend", title=title, trends=drawn_trends(chosen), count=len(chosen))

    async def _explained(self, request: Request) -> Response:
        """How a contestant of a run behaves."""
        folder = self._runs.existing(request.path_params["run"]) / EXPLAINED
        return sandboxed(await asyncio.to_thread(page_in, folder, f"{request.path_params['name']}.html"))

    async def _kept(self, request: Request) -> Response:
        """How a server behaves that was explained by itself."""
        folder, name = request.path_params["folder"], request.path_params["name"]
        if self._runs.only:
            raise NotARun("this page shows one run alone", "jostle web FOLDER shows all that is in it")
        return sandboxed(await asyncio.to_thread(kept_explanation, self._runs.base, folder, name))

    async def _delete(self, request: Request) -> Response:
        folder = self._runs.existing(request.path_params["run"])
        await asyncio.to_thread(_deleted, folder)
        return JSONResponse({"deleted": folder.name})


def _deleted(folder: Path) -> None:
    """Delete a run that does not go on."""
    from jostle.record import RunRecord

    try:
        going = RunRecord.open(folder).being_written
    except NotARun:
        going = False  # what cannot be read may be deleted
    if going:
        raise HTTPException(409, "this run still goes on: stop it first")
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise HTTPException(500, f"it cannot be deleted: {error.strerror}") from None
