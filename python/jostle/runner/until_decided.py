"""Rounds until everything is decided: what the next round measures, and when there is none."""

import math
import random
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jostle.analysis.judge.undecided import Question, questions
from jostle.analysis.run import analyse
from jostle.analysis.stats.sequential import MOST_ROUNDS
from jostle.plan import Plan
from jostle.record import RunRecord, RunWriter
from jostle.record.layout import BUDGET_SPENT
from jostle.runner.budget import Budget
from jostle.runner.duration import expected_s
from jostle.runner.schedule import Planned, in_order

__all__ = ["FurtherRounds", "Look"]

Cell = tuple[str, str]
"""A contestant and a workload."""


@dataclass(frozen=True)
class Look:
    """What a look at the results so far found.

    `round`: the last one that was measured. `asked`, `open`, `too_close`: the number of questions, of those
    that are open, and of those among them that had the most rounds there may be. `trials`: what the next
    round would measure; empty if there is none. `decided_in_s`: the measuring time in which the next question
    will probably be decided; infinite without a forecast, 0 if there is no next round.
    """

    round: int
    asked: int
    open: int
    too_close: int
    trials: list[Planned]
    decided_in_s: float


class FurtherRounds:
    """Rounds after the first ones, each of which is preceded by a look at the results so far.

    A round measures the workloads and contestants of the open question that will probably be decided in the
    least time, and of the others that share one of them and have a forecast, too. If there is no forecast at
    all, it measures everything that is open.
    """

    def __init__(self, plan: Plan, writer: RunWriter, seed: int, budget: Budget) -> None:
        self._plan, self._writer, self._seed, self._budget = plan, writer, seed, budget

    def look(self) -> Look:
        """Analyse what was measured so far."""
        record = RunRecord.open(self._writer.folder)
        compared = not (self._plan.claim or self._plan.require)
        asked = questions(record, analyse(record, distributions=compared))
        still_open = [question for question in asked if question.open]
        last = max((trial.round for trial in record.trials), default=0)
        number = max((entry["number"] for entry in record.planned), default=0)
        planned = Counter((entry["contestant"], entry["workload"]) for entry in record.planned)
        continuing = [one for one in still_open if min(planned[cell] for cell in one.cells) < MOST_ROUNDS]
        cells, decided_in_s = self._nearest(continuing, planned.keys())
        trials = self._round(sorted(cells), last + 1, number)
        too_close = len(still_open) - len(continuing)
        return Look(last, len(asked), len(still_open), too_close, trials, decided_in_s)

    def after(self, look: Look) -> list[Planned]:
        """The next round, written to the journal as planned.

        There is none if nothing is open, if what is open had `MOST_ROUNDS`, or if it would exceed the budget;
        the journal says which.
        """
        why = self._why_it_ends(look)
        said = f"{look.asked - look.open} of {look.asked} need no further round"
        self._writer.journal("looked at", round=look.round, why=f"{said}{f'; {why}' if why else ''}")
        if why:
            return []
        for trial in look.trials:
            self._writer.journal("trial planned", **trial.as_record())
        return look.trials

    def _nearest(self, still_open: Sequence[Question], able: Collection[Cell]) -> tuple[set[Cell], float]:
        """What the next round measures, and the time in which the next question will probably be decided."""
        if not still_open:
            return set(), 0.0

        def seconds(one: Question) -> float:
            return one.further * expected_s(self._plan, self._round([*one.cells], 1, 0))

        nearest = min(still_open, key=seconds)
        together = [one for one in still_open if one.further < math.inf and one.cells & nearest.cells]
        cells = {cell for one in together or still_open for cell in one.cells if cell in able}
        return cells, seconds(nearest)

    def _round(self, cells: Sequence[Cell], number: int, trials_before: int) -> list[Planned]:
        order = in_order(cells, self._plan, number, random.Random(f"{self._seed}/{number}"))
        return [
            Planned(trials_before + place, contestant, workload, number)
            for place, (contestant, workload) in enumerate(order, 1)
        ]

    def _why_it_ends(self, look: Look) -> str:
        if not look.open:
            return "the run ends"
        if look.open == look.too_close:
            return f"after {MOST_ROUNDS} rounds the rest is too close to tell"
        enough = expected_s(self._plan, look.trials) <= self._budget.left_s
        return "" if enough else BUDGET_SPENT
