"""Trials that the generator or the machine spoiled: they are measured again, or left out."""

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from jostle.analysis.results import Check, Validity
from jostle.analysis.stats.enough import MIN_ROUNDS
from jostle.record.verdict import Verdict

if TYPE_CHECKING:
    from jostle.analysis.trials.data import TrialData

__all__ = ["MAX_REPEATS", "causes_of", "left_out", "spoiled_by"]

MAX_REPEATS = 2
"""Most repeats of one trial."""

NOT_THE_SERVER = ("generator", "machine")


def spoiled_by(validity: Validity) -> str:
    """Why a trial must be measured again; empty if it counts.

    It is measured again if a figure is invalid, or so disturbed that a further try is worth its time, and
    only the generator or the machine is the cause. What the server answered, and how fast, plays no part.
    """
    return "; ".join(dict.fromkeys(check.message for check in _spoiling(validity, NOT_THE_SERVER)))


def causes_of(validity: Validity) -> list[str]:
    """Which of `NOT_THE_SERVER` spoiled a trial that must be measured again."""
    return sorted({check.cause for check in _spoiling(validity, NOT_THE_SERVER)})


def _spoiling(validity: Validity, causes: Iterable[str]) -> list[Check]:
    """The checks for which a trial is measured again, if each of them has one of these causes."""
    found = [check for check in validity.checks if check.again or check.verdict is Verdict.INVALID]
    return found if all(check.cause in causes for check in found) else []


def left_out(
    trials: Iterable["TrialData"],
    validities: Mapping[int, Validity | None],
    by_generator: Collection[int] = frozenset(),
) -> set[int]:
    """Numbers of the trials of one cell that the machine alone spoiled, if enough others remain.

    Those that the generator spoiled are kept: it fails when the server is fast, so only the slow rounds would
    remain. `by_generator`: the numbers of those that it spoiled before they were measured again. If there are
    fewer than `MIN_ROUNDS` others, all count: a machine that is never quiet is a finding, too.
    """
    usable = [data.trial.number for data in trials if data.usable]
    at_stake = [number for number in usable if number not in by_generator]
    spoiled = {n for n in at_stake if (known := validities.get(n)) and _spoiling(known, ("machine",))}
    return spoiled if len(usable) - len(spoiled) >= MIN_ROUNDS else set()
