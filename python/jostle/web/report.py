"""The report of a run as a page of its own, which reaches nothing of this one: its scripts stand in it."""

from pathlib import Path

from starlette.responses import HTMLResponse, Response

__all__ = ["report_page"]

POLICY = (
    "sandbox allow-scripts allow-popups; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""A sandbox has an origin of its own. What the page itself allows, by the hashes of its scripts, is less."""


def report_page(folder: Path) -> Response:
    """The report as it is now, of a run that may still go on. Raises NotARun."""
    from jostle.analysis.run import analyse
    from jostle.record import RunRecord
    from jostle.report import Form, document_of, render

    document = document_of(analyse(RunRecord.open(folder)))
    return HTMLResponse(render(document, Form.html), headers={"content-security-policy": POLICY})
