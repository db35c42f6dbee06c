"""Documents as pages of their own: the report of a run, of a capacity, of a comparison, an explanation.

They reach nothing of this page: their scripts stand in them, and a sandbox has an origin of its own. What
they allow themselves, by the hashes of their scripts, is less.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse, Response

from jostle.errors import NotARun
from jostle.record.jsonl import read_bytes

if TYPE_CHECKING:
    from jostle.record import RunRecord
    from jostle.report.document import Document

__all__ = ["compared_page", "page_in", "pages_in", "report_page", "sandboxed"]

POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

MAX_PAGE_BYTES = 32 << 20
"""Of a page that was kept."""


def report_page(folder: Path) -> Response:
    """The report as it is now, of a run that may still go on; of a capacity, its answer. Raises NotARun."""
    from jostle.record import RunRecord
    from jostle.report import Form, document_of, render

    record = RunRecord.open(folder)
    found = _capacity(record)
    if found is None:
        from jostle.analysis.run import analyse

        found = document_of(analyse(record), trials=record.trials)
    return sandboxed(render(found, Form.html))


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

    return sandboxed(render(document_of(compare(first, second).result), Form.html))


def pages_in(folder: Path) -> list[str]:
    """The names of the pages that jostle made in a folder; links are left out, as they may lead elsewhere."""
    return sorted(path.name for path in folder.glob("*.html") if not path.is_symlink())


def page_in(folder: Path, name: str) -> str:
    """One of these pages. Raises NotARun."""
    content = read_bytes(folder / name, MAX_PAGE_BYTES) if name in pages_in(folder) else None
    if content is None:
        raise NotARun(f"there is no page {name!r} in {folder.name}", "jostle explain URL explains a server")
    return content.decode("utf-8", "replace")


def sandboxed(text: str) -> Response:
    """A document as the response."""
    return HTMLResponse(text, headers={"content-security-policy": POLICY})
