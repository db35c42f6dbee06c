"""Journeys: where they end, how long they take, and their steps one after another."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from jostle.analysis.results import JourneyResult, RunResult, StepResult
from jostle.formatting import amount, formatted, percent
from jostle.record.outcomes import error_share
from jostle.report import charts
from jostle.report.document import Block, Depth, Figure, Paragraph, Section, Table, Value, columns
from jostle.report.workload import REQUEST_COLUMNS, not_as_expected, quantiles, statuses_in_words

__all__ = ["journey_table", "section", "step_table"]

HOW = (
    "A journey lasts from the intended start of its first step to the end of its last response; active time "
    "leaves out the pauses between steps. Times are those of completed journeys. A step's response time "
    "counts from its own intended start. Each client does a step marked 1× once; it is part of no other "
    "figure."
)


SHOWN = ("p50", "p95", "p99")


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
        yield Section(f"{name}: steps ({workload})", [*compared, *pictures], Depth.MAIN)


def _steps(number: int, journey: JourneyResult) -> Section:
    table = step_table(journey)
    pictures = [
        Figure(f"journey-{number}", partial(charts.waterfall, journey, table)),
        Figure(f"journey-{number}-ends", partial(charts.flow, journey, table)),
    ]
    title = f"{journey.name}: steps ({journey.contestant}, {journey.workload})"
    return Section(title, [table, *_ends([journey]), *pictures])


def journey_table(found: list[JourneyResult]) -> Table:
    """A row per journey: how many, how they ended, how long they took."""
    names = columns(
        "workload = | contestant = | journey =",
        "completed = | ended early = ended | cut off = | p50 = | p95 | p99 ="
        " | active p50 | active p95 | active p99",
    )
    table = Table("Journeys: how many, and how long they took", names)
    for j in found:
        counts = (amount(n, "count") for n in (j.completed, j.ended, j.unfinished))
        times = (*quantiles(j.time, SHOWN), *quantiles(j.active, SHOWN))
        table.add(j.workload, j.contestant, j.name, *counts, *times)
    return table


def step_table(journey: JourneyResult) -> Table:
    """A row per step: how often it was sent, its times, and how many failed."""
    caption = f"Steps of {journey.name} ({journey.contestant}, {journey.workload})"
    table = Table(caption, columns("step =", REQUEST_COLUMNS))
    for step in journey.steps:
        table.add(_name(step), *_figures(step))
    return table


def _compared(found: Sequence[JourneyResult]) -> list[Block]:
    """The steps of several contestants: all contestants at the first step, then at the next."""
    caption = f"Steps of {found[0].name} ({found[0].workload})"
    table = Table(caption, columns("step = | contestant =", REQUEST_COLUMNS))
    for steps in zip(*(journey.steps for journey in found), strict=True):
        for journey, step in zip(found, steps, strict=True):
            table.add(_name(step), journey.contestant, *_figures(step))
    return [table, *_ends(found)]


def _ends(found: Sequence[JourneyResult]) -> list[Block]:
    """How steps ended, of which there is more to say than how many failed; and journeys that they ended."""
    several = len(found) > 1
    words = "step = | contestant =" if several else "step ="
    caption = f"Steps of {found[0].name}: how they ended ({found[0].workload})"
    table = Table(caption, columns(f"{words} | right responses = | not as expected = | journeys ended ="))
    for steps in zip(*(journey.steps for journey in found), strict=True):
        for journey, step in zip(found, steps, strict=True):
            endings = statuses_in_words(step.statuses), not_as_expected(step.outcomes), _ended(journey, step)
            if any(endings):
                table.add(_name(step), *([journey.contestant] if several else []), *endings)
    return [table] if table.rows else []


def _figures(step: StepResult) -> Iterator[Value]:
    yield amount(step.requests, "count")
    yield formatted(step.throughput)
    yield from quantiles(step.response, ("p50", "p95", "p99", "max"))
    yield percent(error_share(step.outcomes))


def _name(step: StepResult) -> str:
    return f"{step.name} 1×" if step.once else step.name


def _ended(journey: JourneyResult, step: StepResult) -> str:
    ended = sum(step.ended.values())
    begun = journey.completed + journey.ended + journey.unfinished
    return f"{amount(ended, 'count')} ({percent(ended / begun)})" if ended else ""
