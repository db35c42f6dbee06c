"""Reports for people and programs: `document_of` a result, and `render` it in a form.

What they need is imported when they are called, so that no command loads templates and charts in vain.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from jostle.report.export import Form, render

if TYPE_CHECKING:
    from jostle.analysis.results import CapacityResult, CompareResult, RunResult, Sizing, WhatIf
    from jostle.report.document import Document

    Result = RunResult | CompareResult | CapacityResult | WhatIf | Sizing

__all__ = ["Form", "document_of", "render"]


def document_of(result: "Result", *, full: bool = False) -> "Document":
    """Everything that a report of the result can show, in an order that all forms share.

    `full`: as text, too, it is shown with all tables, reasons and claims.
    """
    document = _document_of(result)
    return replace(document, depth=document.depth.MAIN) if full else document


def _document_of(result: "Result") -> "Document":
    from jostle.analysis.results import CapacityResult, CompareResult, RunResult, Sizing, WhatIf
    from jostle.report.build import comparison_document, run_document
    from jostle.report.sections.capacity import capacity_document, sizing_document, what_if_document

    match result:
        case RunResult():
            return run_document(result)
        case CompareResult():
            return comparison_document(result)
        case CapacityResult():
            return capacity_document(result)
        case WhatIf():
            return what_if_document(result)
        case Sizing():
            return sizing_document(result)
