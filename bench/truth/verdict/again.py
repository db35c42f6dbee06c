"""The runs that were measured, judged by this version of jostle and its thresholds."""

from pathlib import Path

from truth.verdict.judged import said_by
from truth.verdict.measure import measured_in
from truth.verdict.rates import Row, rows_of
from truth.verdict.right import Run
from truth.verdict.situations import SITUATIONS, key_of

__all__ = ["MAX_OTHERS", "judged_again"]

MAX_OTHERS = 0.1
"""Share of this machine's CPU time. If programs that do not belong to a run used more, it is left out: what
disturbed it is not known."""


def judged_again(folder: Path) -> list[Row]:
    """A row for each situation, without the runs that something else disturbed or that left no record."""
    known = {key_of(situation): situation for situation in SITUATIONS}
    runs = [
        Run(known[one.key], place, said_by(one.record), one.stolen)
        for place, one in enumerate(measured_in(folder))
        if one.record is not None and one.key in known and one.others <= MAX_OTHERS
    ]
    return rows_of(SITUATIONS, runs)
