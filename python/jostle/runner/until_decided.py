"""Rounds until everything is decided: what the next round measures, and when there is none."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jostle.analysis.judge.undecided import Question, questions
from jostle.analysis.results.keys import Key
from jostle.analysis.run import analyse
from jostle.analysis.stats.sequential import MAX_ROUNDS
from jostle.plan import Plan
from jostle.record import RunRecord, RunWriter
from jostle.record.layout import BUDGET_SPENT
from jostle.runner.budget import Budget
from jostle.runner.duration import trial_s
from jostle.runner.schedule import Planned, later_round, note_planned

__all__ = ["InterimResult", "RoundsUntilDecided"]

ABOUT_AS_SOON = 2.0
"""A question is measured together with another one if it needs at most this many times as long."""


@dataclass(frozen=True)
class InterimResult:
    """What a look at the results so far found."""

    round: int
    """The highest number so far."""
    trial: int
    """The highest number so far."""
    questions: int
    """The number of questions."""
    still_open: Sequence[Question]
    """Those that are not decided."""
    continuing: Sequence[Question]
    """Those of the open ones that have not had the most rounds that a question may have."""
    took_s: dict[Key, float]
    """How long the trials of each cell took on average."""


class RoundsUntilDecided:
    """Rounds after the first ones, each of which is preceded by a look at the results so far.

    A round is about the open question that will probably be decided in the least time, and those that will be
    decided about as soon. If probably none will be decided, everything that is open is measured.
    """

    def __init__(self, plan: Plan, writer: RunWriter, seed: int, budget: Budget) -> None:
        self._plan, self._writer, self._seed, self._budget = plan, writer, seed, budget

    def look(self) -> InterimResult:
        """Analyse what was measured so far."""
        record = RunRecord.open(self._writer.folder)
        compared = not (self._plan.claim or self._plan.require)
        asked_questions = questions(record, analyse(record, distributions=compared))
        rounds = dict[Key, set[int]]()
        for entry in record.planned:
            rounds.setdefault((entry["contestant"], entry["workload"]), set()).add(entry["round"])
        still_open = [question for question in asked_questions if question.open]
        return InterimResult(
            round=max((trial.round for trial in record.trials), default=0),
            trial=max((entry["number"] for entry in record.planned), default=0),
            questions=len(asked_questions),
            still_open=still_open,
            continuing=[
                one
                for one in still_open
                if len(set.intersection(*(rounds[cell] for cell in one.cells))) < MAX_ROUNDS
            ],
            took_s=_took_s(record),
        )

    def decided_in_s(self, look: InterimResult) -> float:
        """The time in which the next question will probably be decided.

        Infinite if probably none will be; 0 if there is no next round, so that the run can end.
        """
        return self._next(look)[1]

    def after(self, look: InterimResult) -> list[Planned]:
        """The next round, written to the journal as planned.

        There is none if nothing is open, if what is open had `MAX_ROUNDS`, or if no open question can be
        measured within the budget; the journal says which.
        """
        cells, _ = self._next(look)
        why = "" if cells else self._why_it_ends(look)
        said = f"{look.questions - len(look.still_open)} of {look.questions} need no further round"
        self._writer.journal("looked at", round=look.round, why=f"{said}{f'; {why}' if why else ''}")
        trials = later_round(sorted(cells), self._plan, look.round + 1, self._seed, look.trial)
        note_planned(trials, self._writer)
        return trials

    def _next(self, look: InterimResult) -> tuple[frozenset[Key], float]:
        """What the next round measures, and the time in which the next question will probably be decided.

        Only questions of which a round still fits into the budget count.
        """
        fitting = [one for one in look.continuing if self._fits(one.cells, look)]
        if not fitting:
            return frozenset(), 0.0
        nearest = min(fitting, key=lambda one: self._to_go_s(one, look))
        cells, soon_s = nearest.cells, ABOUT_AS_SOON * self._to_go_s(nearest, look)
        for one in fitting:
            if self._to_go_s(one, look) <= soon_s and self._fits(cells | one.cells, look):
                cells |= one.cells
        return cells, nearest.further_rounds * self._seconds(cells, look)

    def _to_go_s(self, one: Question, look: InterimResult) -> float:
        """The time in which a question will probably be decided if nothing else is measured."""
        return one.further_rounds * self._seconds(one.cells, look)

    def _fits(self, cells: Collection[Key], look: InterimResult) -> bool:
        return self._seconds(cells, look) <= self._budget.left_s

    def _seconds(self, cells: Collection[Key], look: InterimResult) -> float:
        """How long a round of these cells takes: as long as before, or as planned where that is not known."""
        return sum(
            look.took_s.get((contestant, workload)) or trial_s(self._plan, self._plan.workload[workload])
            for contestant, workload in cells
        )

    def _why_it_ends(self, look: InterimResult) -> str:
        if not look.still_open:
            return "the run ends"
        if not look.continuing:
            return f"after {MAX_ROUNDS} rounds the rest is too close to tell"
        return BUDGET_SPENT


def _took_s(record: RunRecord) -> dict[Key, float]:
    """The mean time of each cell's trials in seconds, server's start and warm-up included."""
    cells = {entry["number"]: (entry["contestant"], entry["workload"]) for entry in record.planned}
    begun, took = dict[int, int](), dict[Key, list[float]]()
    for entry in record.journal:
        if entry["event"] == "trial started":
            begun[entry["number"]] = entry["at"]
        elif entry["event"] == "trial ended" and entry["number"] in begun:
            seconds = (entry["at"] - begun[entry["number"]]) / 1e9
            took.setdefault(cells[entry["number"]], []).append(seconds)
    return {cell: sum(times) / len(times) for cell, times in took.items()}
