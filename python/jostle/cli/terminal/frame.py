"""A frame: what is known of a run, as lines of a terminal. All frames of a terminal have as many lines."""

import math
from collections.abc import Sequence

from jostle.cli.terminal.heat_map import LABEL, bars, heat_map, unanswered
from jostle.cli.terminal.line import Line, clipped, length
from jostle.cli.terminal.status import Status, bar
from jostle.formatting import amount, formatted
from jostle.live.column import Column
from jostle.live.state import TrialState
from jostle.record.outcomes import ENDED_BY_STOP, Outcome, outcome_label
from jostle.record.steered import described
from jostle.record.verdict import Verdict
from jostle.text import one_line
from jostle.units import format_count, format_duration, format_rate

__all__ = ["frame"]

MAX_LINES = 14
MIN_MAP = 3
"""Fewest lines of a heat map; where there is no room for them there is none."""

BESIDE_MAP = 2
"""What is not answered, and the axis."""

MIN_WIDTH = 40
SPARKLINE = 24
GAP = "  "
MARK = "╋"
"""Where the load was changed."""

KEYS = "q stops the load and reports · + and - change it by a tenth · h hides this"


def frame(state: TrialState, status: Status, width: int, height: int, *, styled: bool) -> list[Line]:
    """At most `height` lines of at most `width` columns. `styled`: with colours."""
    lines = min(MAX_LINES, height)
    above = [_verdict(state, status), _where(status), _rates(state, width), _times(state, width)]
    above += [line for line in (_requests(state, width), _streams(state, width)) if line]
    below = [_outcomes(state), _keys() if status.keys else _machine(state, width)]
    drawn: list[Line] = []
    room = lines - len(above) - len(below) - BESIDE_MAP
    if room >= MIN_MAP and width >= MIN_WIDTH:
        end_s = max(state.planned_s or 0.0, state.over_s)
        drawn = [
            unanswered(state.columns, end_s, width),
            *heat_map(state.columns, end_s, width, room, styled=styled),
            _axis(state, end_s, width),
        ]
    above, below = ([clipped(line, width) for line in part] for part in (above, below))
    return [*above, *drawn, *below][:lines]


def _verdict(state: TrialState, status: Status) -> Line:
    """The verdict and its worst reason; while the trial runs, as far as it can be judged."""
    validity = state.validity
    verdict = status.verdict or validity.verdict
    messages = [check.message for check in (*validity.failed, *validity.notable)]
    so_far = "" if status.verdict else " so far"
    line = [(f"{verdict.symbol} {verdict}{so_far}", f"1;{_COLOURS[verdict]}")]
    return [
        *line,
        (f": {one_line(messages[0])}" if messages else "", _COLOURS[verdict] if validity.failed else ""),
    ]


_COLOURS = {Verdict.VALID: "32", Verdict.SUSPECT: "33", Verdict.INVALID: "31"}


def _where(status: Status) -> Line:
    return [(one_line(status.text), "1"), (f"{GAP}{status.note or status.details}", "2")]


def _rates(state: TrialState, width: int) -> Line:
    """Of the last interval."""
    offered = state.rates.offered_per_s
    parts = [
        ("offered", None if offered is None else format_rate(offered)),
        ("answered", format_rate(state.rates.answered_per_s)),
        ("in flight", format_count(state.in_flight)),
        ("not sent yet", format_count(state.not_sent) if state.not_sent else None),
        ("steered to", described(state.steered[-1]) if state.steered else None),
        ("so far", f"{format_rate(state.rates_so_far.answered_per_s)} answered"),
    ]
    return _fitting([(name, text) for name, text in parts if text is not None], width)


def _times(state: TrialState, width: int) -> Line:
    """Response times of all requests so far, and the p99 of each interval; less where there is no room."""
    shown = {"p50": "p50", "p99": "p99", "p99.9": "p99.9", "max": "longest"}
    latest = state.latest["p99"]
    now = _named([("p99 now", amount(latest, "s"))])
    spark = [*now, (f" {_sparkline(state.columns)}", "36")]
    for left_out, more in (((), spark), (("p99.9",), spark), (("p99.9",), now), (("p99.9",), [])):
        names = {name: label for name, label in shown.items() if name not in left_out}
        line = _named([(label, formatted(state.times[name]).value) for name, label in names.items()])
        line = [*line, (GAP, ""), *more] if more else line
        if length(line) <= width:
            break
    return line


def _requests(state: TrialState, width: int) -> Line:
    """The p99 of each of several requests or steps, the longest first; the p50 as long as one has no p99."""
    requests = state.parts.requests
    figure = "p99" if all(one.times["p99"].value is not None for one in requests) else "p50"
    slowest_first = sorted(requests, key=lambda one: -(one.times[figure].value or 0.0))
    parts = [(one_line(one.name), formatted(one.times[figure]).value) for one in slowest_first]
    return _fitting([(f"{figure} of", ""), *parts], width) if parts else []


def _streams(state: TrialState, width: int) -> Line:
    """The events of streams; of several requests that ask for some, those of the first."""
    for one in state.parts.streams[:1]:
        parts = [
            ("events", format_rate(one.events_per_s)),
            ("first p50", formatted(one.first["p50"]).value),
            ("p99", formatted(one.first["p99"]).value),
            ("gap p50", formatted(one.gap["p50"]).value),
            ("p99", formatted(one.gap["p99"]).value),
            ("longest", formatted(one.gap["max"]).value),
        ]
        return _fitting(parts, width)
    return []


def _sparkline(columns: Sequence[Column]) -> str:
    """The p99 of the last columns, on a logarithmic axis between the shortest and the longest of them."""
    p99s = [column.p99_s for column in columns[-SPARKLINE:]]
    logs = [math.log(p99) for p99 in p99s if p99]
    low, high = min(logs, default=0.0), max(logs, default=0.0)
    smallest = (high - low or 1.0) / 8
    return bars([0.0 if not p99 else math.log(p99) - low + smallest for p99 in p99s], high - low + smallest)


def _axis(state: TrialState, end_s: float, width: int) -> Line:
    """The time under the map: a bar that fills as the map does, with a mark where the load was changed."""
    over_s, across = state.over_s, width - LABEL
    line, end = bar(over_s / end_s, across), f" {format_duration(end_s)}"
    marks = {min(across - 1, round(one["at_ns"] / 1e9 / end_s * across)) for one in state.steered}
    begun = "".join(MARK if place in marks else mark for place, mark in enumerate(line))
    return [
        (f"{format_duration(over_s):>{LABEL - 2}} ╰", "2"),
        (begun[: -len(end)], "32"),
        (end if over_s < end_s else begun[-len(end) :], "2" if over_s < end_s else "32"),
    ]


def _outcomes(state: TrialState) -> Line:
    """How many ended how, the most frequent failure first."""
    others = sorted(state.outcomes.items(), key=lambda pair: -pair[1])
    line = [("outcomes ", "2"), (f"{format_count(state.outcomes.get(Outcome.OK, 0))} ok", "")]
    for kind, count in others:
        if kind != Outcome.OK:
            style = "" if kind in ENDED_BY_STOP else "31"
            line.append((f", {format_count(count)} {outcome_label(kind)}", style))
    return line


def _machine(state: TrialState, width: int) -> Line:
    cpu = state.cpu
    machine = f"{cpu.machine:.2f} of {cpu.cores}" if cpu.machine is not None else None
    used = [("server", _cores(cpu.server)), ("database", _cores(cpu.database)), ("machine", machine)]
    parts = [("cores used ", "")] + [(name, text) for name, text in used if text is not None]
    parts.append(("generator", f"{cpu.generator:.2f}"))
    if state.late_s is not None:
        parts.append(("late (p99)", format_duration(state.late_s)))
    return _fitting(parts, width)


def _cores(used: float | None) -> str | None:
    return None if used is None else f"{used:.2f}"


def _keys() -> Line:
    return [(KEYS, "2")]


def _fitting(parts: Sequence[tuple[str, str]], width: int) -> Line:
    """As many of the named figures as there is room for; the first ones matter most."""
    while length(line := _named(parts)) > width and len(parts) > 1:
        parts = parts[:-1]
    return line


def _named(parts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    line: list[tuple[str, str]] = []
    for name, text in parts:
        line += [(GAP if line else "", ""), (f"{name} ", "2"), (text, "")]
    return line
