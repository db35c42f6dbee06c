"""How each contestant behaves, if the plan asked for it: one paragraph each."""

from jostle.analysis.results import RunResult
from jostle.report.document import Block, Paragraph, Section

__all__ = ["section"]

WHERE = "Findings and pictures of each lie in the folder explained of the run."


def section(result: RunResult) -> Section:
    """Empty if no contestant was explained."""
    blocks: list[Block] = [Paragraph(f"{name}: {text}") for name, text in result.behaviour.items()]
    return Section(
        "How the servers behave",
        [*blocks, Paragraph(WHERE, small=True)] if blocks else [],
        key="behaviour",
        short="Behaviour",
    )
