"""Every response of a trial over time, with a range that can be chosen: only the page shows it."""

from collections.abc import Sequence
from functools import partial

from jostle.analysis.results import RunResult
from jostle.record import TrialRecord
from jostle.report.document import Block, Depth, Paragraph, Section, Trials
from jostle.report.trial_data import trials_data

__all__ = ["section"]

HOW = (
    "Each column is a moment, its colours say how many responses took how long. Bars above: requests due and "
    "not yet answered. Drag over a range, or move its ends: all figures are then those of the range. "
    "Hatched: the generator itself was late."
)


def section(result: RunResult, trials: Sequence[TrialRecord]) -> Section:
    """Empty if the record is gone, or if nothing was recorded."""
    drawn = bool(trials) and any(t.timeline.t_s for t in result.trials)
    blocks: list[Block] = [Paragraph(HOW, small=True), Trials(partial(trials_data, result, trials))]
    return Section("Heat map", blocks if drawn else [], Depth.DETAIL, key="heat-map")
