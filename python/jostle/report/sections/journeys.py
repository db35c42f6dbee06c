"""Journeys: where they end, how long they take, and their steps one after another."""

from functools import partial

from jostle.analysis.results import JourneyResult, RunResult, StepResult
from jostle.formatting import amount, percent, tallied
from jostle.record.outcomes import Outcome, outcome_label
from jostle.report import charts
from jostle.report.document import Block, Column, Depth, Figure, Paragraph, Section, Table, columns
from jostle.report.workload import quantiles

__all__ = ["journey_table", "section", "step_table"]

HOW = (
    "A journey lasts from the intended start of its first step to the end of its last answer; active time "
    "leaves out the pauses between steps. Times are those of completed journeys. A step's response time "
    "counts from its own intended start. Each client does a step marked 1× once; it is part of no other "
    "figure."
)


def section(result: RunResult) -> Section:
    """Nothing where no workload has journeys."""
    found = result.journeys
    blocks: list[Block] = [journey_table(found)]
    for number, journey in enumerate(found, 1):
        table = step_table(journey)
        blocks.append(
            Section(
                _title(journey),
                [
                    table,
                    Figure(f"journey-{number}", partial(charts.waterfall, journey, table)),
                    Figure(f"journey-{number}-ends", partial(charts.flow, journey, table)),
                ],
            )
        )
    blocks.append(Section("", [Paragraph(HOW, small=True)], Depth.MAIN))
    return Section("Journeys", blocks if found else [], key="journeys")


def _title(journey: JourneyResult) -> str:
    return f"{journey.name}: steps ({journey.contestant}, {journey.workload})"


def journey_table(found: list[JourneyResult]) -> Table:
    """A row per journey: how many, how they ended, how long they took."""
    names = columns(
        "workload = | contestant = | journey =",
        "completed = | ended early = ended | cut off = | p50 = | p99 = | active p50 | active p99",
    )
    table = Table("Journeys: how many, and how long they took", names)
    for j in found:
        counts = (amount(n, "count") for n in (j.completed, j.ended, j.unfinished))
        times = (*quantiles(j.time, ("p50", "p99")), *quantiles(j.active, ("p50", "p99")))
        table.add(j.workload, j.contestant, j.name, *counts, *times)
    return table


def step_table(journey: JourneyResult) -> Table:
    """A row per step: how often it was sent, its times, how it failed, and how many journeys it ended."""
    names = [
        Column("step", "word", "step"),
        *columns("", "requests = | p50 = | p99 = | longest"),
        *columns("not as expected = | journeys ended ="),
    ]
    table = Table(f"Steps of {journey.name} ({journey.contestant}, {journey.workload})", names)
    for step in journey.steps:
        table.add(
            f"{step.name} 1×" if step.once else step.name,
            amount(step.requests, "count"),
            *quantiles(step.response, ("p50", "p99", "max")),
            _failed(step),
            _ended(journey, step),
        )
    return table


def _failed(step: StepResult) -> str:
    return tallied({outcome_label(kind): n for kind, n in step.outcomes.items() if kind != Outcome.OK})


def _ended(journey: JourneyResult, step: StepResult) -> str:
    ended = sum(step.ended.values())
    begun = journey.completed + journey.ended + journey.unfinished
    return f"{amount(ended, 'count')} ({percent(ended / begun)})" if ended else ""
