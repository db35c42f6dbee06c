"""Rounds until everything is decided: what the next round measures, and when there is none."""

import random
from collections.abc import Iterator, Sequence

from jostle.analysis.judge.undecided import questions
from jostle.analysis.run import analyse
from jostle.analysis.stats.sequential import MOST_ROUNDS
from jostle.plan import Plan
from jostle.record import RunRecord, RunWriter
from jostle.record.layout import ALL_DECIDED
from jostle.runner.budget import Budget
from jostle.runner.duration import expected_s
from jostle.runner.schedule import Planned, in_order

__all__ = ["further_rounds"]


def further_rounds(plan: Plan, writer: RunWriter, seed: int, budget: Budget) -> Iterator[list[Planned]]:
    """Yield further rounds, each of which is first written to the journal as planned.

    Before each round the results so far are analysed; only the workloads and contestants that an open
    question is about are measured again. It ends when nothing is open, when the next round would exceed the
    budget, or after `MOST_ROUNDS`; the journal says which.
    """
    while True:
        record = RunRecord.open(writer.folder)
        compared = not (plan.claim or plan.require)
        asked = questions(record, analyse(record, distributions=compared))
        still_open = [question for question in asked if question.open]
        last = max((trial.round for trial in record.trials), default=0)
        number = max((entry["number"] for entry in record.planned), default=0)
        able = {(entry["contestant"], entry["workload"]) for entry in record.planned}
        cells = {cell for question in still_open for cell in question.cells} & able
        trials = _round(plan, sorted(cells), last + 1, number, seed)
        why = _why_it_ends(len(still_open), last, expected_s(plan, trials), budget.left_s)
        said = f"{len(asked) - len(still_open)} of {len(asked)} need no further round"
        writer.journal("looked at", round=last, why=f"{said}{f'; {why}' if why else ''}")
        if why:
            return
        for trial in trials:
            writer.journal("trial planned", **trial.as_record())
        yield trials


def _round(
    plan: Plan, cells: Sequence[tuple[str, str]], number: int, trials_before: int, seed: int
) -> list[Planned]:
    order = in_order(cells, plan, number, random.Random(f"{seed}/{number}"))
    return [
        Planned(trials_before + place, contestant, workload, number)
        for place, (contestant, workload) in enumerate(order, 1)
    ]


def _why_it_ends(still_open: int, rounds: int, next_s: float, left_s: float) -> str:
    if not still_open:
        return ALL_DECIDED
    if rounds >= MOST_ROUNDS:
        return f"after {rounds} rounds the rest is too close to tell"
    return "the budget is spent" if next_s > left_s else ""
