"""Journeys: where they end, how long they take, and their steps one after another."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from jostle.analysis.results import JourneyResult, RunResult, StepResult
from jostle.formatting import amount, percent, tallied
from jostle.record.outcomes import Outcome, outcome_label
from jostle.report import charts
from jostle.report.document import Block, Column, Depth, Figure, Paragraph, Section, Table, Value, columns
from jostle.report.workload import quantiles, statuses_in_words

__all__ = ["journey_table", "section", "step_table"]

HOW = (
    "A journey lasts from the intended start of its first step to the end of its last response; active time "
    "leaves out the pauses between steps. Times are those of completed journeys. A step's response time "
    "counts from its own intended start. Each client does a step marked 1× once; it is part of no other "
    "figure."
)


def section(result: RunResult) -> Section:
    """Empty if no workload has journeys. Several contestants are compared step by step."""
    found = result.journeys
    several = len({journey.contestant for journey in found}) > 1
    blocks: list[Block] = [journey_table(found)]
    blocks += _side_by_side(found) if several else [_steps(n, journey) for n, journey in enumerate(found, 1)]
    blocks.append(Section("", [Paragraph(HOW, small=True)], Depth.MAIN))
    return Section("Journeys", blocks if found else [], key="journeys")


def _side_by_side(found: Sequence[JourneyResult]) -> Iterator[Section]:
    """A section for each journey of each workload; the pictures of each contestant are folded."""
    groups: dict[tuple[str, str], list[tuple[int, JourneyResult]]] = {}
    for number, journey in enumerate(found, 1):
        groups.setdefault((journey.workload, journey.name), []).append((number, journey))
    for (workload, name), members in groups.items():
        compared = _compared([journey for _, journey in members])
        pictures = [replace(_steps(n, journey), depth=Depth.DETAIL, folded=True) for n, journey in members]
        yield Section(f"{name}: steps ({workload})", [compared, *pictures], Depth.MAIN)


def _steps(number: int, journey: JourneyResult) -> Section:
    table = step_table(journey)
    pictures = [
        Figure(f"journey-{number}", partial(charts.waterfall, journey, table)),
        Figure(f"journey-{number}-ends", partial(charts.flow, journey, table)),
    ]
    title = f"{journey.name}: steps ({journey.contestant}, {journey.workload})"
    return Section(title, [table, *pictures])


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
    caption = f"Steps of {journey.name} ({journey.contestant}, {journey.workload})"
    told = _statuses(journey)
    table = Table(caption, [Column("step", "word", "step"), *_of_step_columns(told)])
    for step in journey.steps:
        table.add(_name(step), *_of_step(journey, step, told))
    return table


def _compared(found: Sequence[JourneyResult]) -> Table:
    """The steps of several contestants: all contestants at the first step, then at the next."""
    caption = f"Steps of {found[0].name} ({found[0].workload})"
    told = any(map(_statuses, found))
    table = Table(caption, [*columns("step = | contestant =", ""), *_of_step_columns(told)])
    for steps in zip(*(journey.steps for journey in found), strict=True):
        for journey, step in zip(found, steps, strict=True):
            table.add(_name(step), journey.contestant, *_of_step(journey, step, told))
    return table


def _statuses(journey: JourneyResult) -> bool:
    """Whether some step was answered with several statuses, or with redirects."""
    return any(statuses_in_words(step.statuses) for step in journey.steps)


def _of_step_columns(statuses: bool) -> list[Column]:
    return [
        *columns("", "requests = | p50 = | p99 = | longest"),
        *columns("right responses =" if statuses else ""),
        *columns("not as expected = | journeys ended ="),
    ]


def _of_step(journey: JourneyResult, step: StepResult, statuses: bool) -> Iterator[Value]:
    yield amount(step.requests, "count")
    yield from quantiles(step.response, ("p50", "p99", "max"))
    if statuses:
        yield tallied(step.statuses)
    yield _failed(step)
    yield _ended(journey, step)


def _name(step: StepResult) -> str:
    return f"{step.name} 1×" if step.once else step.name


def _failed(step: StepResult) -> str:
    return tallied({outcome_label(kind): n for kind, n in step.outcomes.items() if kind != Outcome.OK})


def _ended(journey: JourneyResult, step: StepResult) -> str:
    ended = sum(step.ended.values())
    begun = journey.completed + journey.ended + journey.unfinished
    return f"{amount(ended, 'count')} ({percent(ended / begun)})" if ended else ""
