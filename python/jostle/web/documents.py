"""Documents as pages of their own: the report of a run, of a capacity, of a comparison, an explanation.

They reach nothing of this page: their scripts stand in them, and a sandbox has an origin of its own. What
they allow themselves, by the hashes of their scripts, is less.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response

from jostle.errors import NotARun
from jostle.record.layout import EXPLAINED

if TYPE_CHECKING:
    from jostle.record import RunRecord
    from jostle.report.document import Document

__all__ = ["compared_page", "explained_in", "explained_page", "report_page"]

POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def report_page(folder: Path) -> Response:
    """The report as it is now, of a run that may still go on; of a capacity, its answer. Raises NotARun."""
    from jostle.record import RunRecord
    from jostle.report import Form, document_of, render

    record = RunRecord.open(folder)
    found = _capacity(record)
    if found is None:
        from jostle.analysis.run import analyse

        found = document_of(analyse(record), trials=record.trials)
    return _sandboxed(render(found, Form.html))


def _capacity(record: "RunRecord") -> "Document | None":
    """What a run of `jostle capacity` found; None for other runs."""
    from jostle.capacity.answer import capacity_of
    from jostle.capacity.fitted import with_model
    from jostle.capacity.recorded import RecordedSearch
    from jostle.report import document_of

    try:
        search = RecordedSearch(record)
    except NotARun:
        return None
    return document_of(with_model(search, capacity_of(search)))


def compared_page(first: Path, second: Path) -> Response:
    """The second run compared with the first. Raises NotARun, NotComparable."""
    from jostle.api import compare
    from jostle.report import Form, document_of, render

    return _sandboxed(render(document_of(compare(first, second).result), Form.html))


def explained_in(folder: Path) -> list[str]:
    """The contestants of the run that were explained, as their pages are called."""
    return sorted(path.stem for path in (folder / EXPLAINED).glob("*.html") if not path.is_symlink())


def explained_page(folder: Path, name: str) -> Response:
    """How a contestant behaves. Raises NotARun."""
    if name not in explained_in(folder):
        raise NotARun(f"{name!r} was not explained in this run", "jostle explain URL explains a server")
    return _sandboxed((folder / EXPLAINED / f"{name}.html").read_text(encoding="utf-8"))


def _sandboxed(text: str) -> Response:
    return HTMLResponse(text, headers={"content-security-policy": POLICY})
