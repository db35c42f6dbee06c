"""Pings over WebSockets: merged over processes, summed over intervals, and shown."""

from types import SimpleNamespace
from typing import Any

import pytest

from jostle.analysis.metrics import VALUE_OF
from jostle.analysis.topics.protocols.pings import pings
from jostle.analysis.trials.counters import Counts
from jostle.generator.merge import Merger
from jostle.report.sections import pings as section
from support import histograms
from support.synthetic import engine_interval, histogram


def interval(*parts: dict[str, Any]) -> Any:
    return engine_interval(pings=list(parts))


def part(request: int, sent: int) -> dict[str, Any]:
    histograms = {"ping": histogram([0.01])}
    return {"workload": 0, "request": request, "histograms": histograms, "sent": sent, "unanswered": 1}


def test_the_pings_of_several_processes_are_added_up() -> None:
    merging = Merger(2, 0, 1)
    merging.add(0, interval(part(0, 3)))
    merging.add(1, interval(part(0, 4), part(1, 5)))
    merged = merging.next()
    assert merged is not None
    first, second = merged["pings"]
    assert (first["sent"], first["unanswered"], first["histograms"]["ping"]["count"]) == (7, 2, 2)
    assert second == part(1, 5)
    assert Counts.of([merged]).pings == {0: {"sent": 12, "unanswered": 3}}


def trial(times_ms: list[float], sent: int, unanswered: int) -> Any:
    recorded = histograms.recorded(round(1000 * time) for time in times_ms)
    counted = {0: {"sent": sent, "unanswered": unanswered}} if sent else {}
    return SimpleNamespace(
        usable=True,
        counts=SimpleNamespace(pings=counted),
        trial=SimpleNamespace(histogram=lambda measure, _workload: recorded if measure == "ping" else None),
    )


def test_a_ping_without_a_pong_lies_beyond_every_round_trip() -> None:
    cells: Any = {("node", "w"): [trial([5.0] * 8, 10, 1)], ("node", "plain"): [trial([], 0, 0)]}
    (found,) = pings(cells)
    assert (found.workload, found.sent, found.answered, found.unanswered) == ("w", 10, 8, 1)
    assert found.round_trip["p50"].value == pytest.approx(0.005, rel=0.01)
    assert found.round_trip["max"].bound == "≥", "one has no pong"
    assert VALUE_OF["ping p50"](cells["node", "w"][0]) == pytest.approx(0.005, rel=0.01)
    assert VALUE_OF["ping p50"](cells["node", "plain"][0]) is None
    shown: Any = section.section(SimpleNamespace(pings=[found]))  # type: ignore[arg-type]
    (table, _) = shown.blocks
    assert table.rows[0][2:5] == ("10", "8", "1")
    assert section.section(SimpleNamespace(pings=[])).blocks == []  # type: ignore[arg-type]
