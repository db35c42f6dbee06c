"""Reports for people and programs: `document_of` a result, and `render` it in a form.

What they need is imported when they are called, so that no command loads templates and charts in vain.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jostle.report.export import Form, render

if TYPE_CHECKING:
    from jostle.analysis.results import CapacityResult, CompareResult, RunResult, Sizing, WhatIf
    from jostle.record import TrialRecord
    from jostle.report.document import Document

    Result = RunResult | CompareResult | CapacityResult | WhatIf | Sizing

__all__ = ["Form", "document_of", "render"]


def document_of(result: "Result", *, full: bool = False, trials: "Sequence[TrialRecord]" = ()) -> "Document":
    """Everything that a report of the result can show, in an order that all forms share.

    `full`: as text, too, it is shown with all tables, reasons and claims. `trials`: those of a run whose
    intervals a page takes in.
    """
    from jostle.analysis.results import CapacityResult, CompareResult, RunResult, Sizing, WhatIf
    from jostle.report.build import comparison_document, run_document
    from jostle.report.document import Depth
    from jostle.report.sections.capacity import capacity_document, sizing_document, what_if_document

    match result:
        case RunResult():
            document = run_document(result, trials_on_disk=trials)
        case CompareResult():
            document = comparison_document(result)
        case CapacityResult():
            document = capacity_document(result)
        case WhatIf():
            document = what_if_document(result)
        case Sizing():
            document = sizing_document(result)
    return replace(document, depth=Depth.MAIN) if full else document
