"""What is known of requests, steps, streams and generators while a trial runs, and what the report says."""

from collections import Counter
from collections.abc import Callable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from jostle.analysis.results import Estimate
from jostle.analysis.run import analyse
from jostle.formatting import formatted
from jostle.live.counted import Counted
from jostle.live.followed import FollowedTrial
from jostle.live.growing import MAX_REQUESTS, GrowingParts, times_in
from jostle.live.one_request import FollowedRequest
from jostle.live.parts import Parts
from jostle.live.trial import RunningTrial
from jostle.record import RunRecord, TrialRecord
from jostle.units import format_rate
from jostle.web.drawn_parts import drawn_parts
from support.several import as_journeys, as_mix, as_streams, run_of
from support.synthetic import engine_interval, histogram, starvation_run

FEW = 3


def parts_in(trial: TrialRecord) -> Parts:
    """As the record says them, read as by a page."""
    followed = FollowedTrial(trial.folder)
    while followed.read():
        pass
    assert not followed.damage
    state = followed.running.state()
    assert state is not None
    return state.parts


def agree(live: Mapping[str, Estimate], told: Mapping[str, Estimate]) -> None:
    assert live.keys() <= told.keys()
    for name, estimate in live.items():
        assert (estimate.value, estimate.bound) == (told[name].value, told[name].bound), name


def reported(trial: TrialRecord) -> Any:
    return analyse(RunRecord.open(trial.folder.parents[1]))


def test_each_request_of_a_mix_has_the_figures_of_the_report(tmp_path: Path) -> None:
    trial = run_of(tmp_path, FEW, as_mix)
    parts, told = parts_in(trial), reported(trial).requests
    assert [one.name for one in parts.requests] == [one.name for one in told]
    for one, request in zip(parts.requests, told, strict=True):
        agree(one.times, request.response)
        assert one.outcomes == request.outcomes
        assert one.so_far_per_s == request.throughput.value
        assert one.answered_per_s == 2.0
    medians = [one.times["p50"].value for one in parts.requests]
    assert len({*medians}) == FEW, "they are told apart"


def test_each_step_and_journey_has_the_figures_of_the_report(tmp_path: Path) -> None:
    trial = run_of(tmp_path, FEW, as_journeys)
    parts, told = parts_in(trial), reported(trial).journeys
    for journey, of_report in zip(parts.journeys, told, strict=True):
        assert (journey.name, journey.completed) == (of_report.name, of_report.completed)
        assert journey.ended == of_report.ended
        agree(journey.times, of_report.time)
    steps = [step for journey in told for step in journey.steps]
    for one, step in zip(parts.requests, steps, strict=True):
        assert (one.name, one.once) == (step.name, step.once)
        agree(one.times, step.response)
        assert one.outcomes == step.outcomes


@pytest.mark.parametrize("kind", [as_mix, as_journeys])
def test_a_request_alone_has_columns_that_add_up_to_its_figures(
    tmp_path: Path, kind: Callable[[dict[str, Any], int], None]
) -> None:
    trial = run_of(tmp_path, FEW, kind)
    intervals = 0
    times = set()
    for one in parts_in(trial).requests:
        followed = FollowedRequest(trial.folder, one.key)
        followed.read(1, 200)
        first = followed.columns()
        followed.read(1_000, 200)
        columns = followed.columns()
        assert [column.end_us for column in columns[:1]] == [column.end_us for column in first]
        assert sum((Counter(column.outcomes) for column in columns), Counter()) == one.outcomes
        ok = reduce(Counted.plus, (column.response for column in columns))
        assert ok.total == one.outcomes["ok"]
        times.add((*ok.places, *ok.counts))
        intervals = intervals or followed.intervals
        assert len(columns) == followed.intervals == intervals
    assert len(times) == len(parts_in(trial).requests), "they are told apart"


def test_each_stream_has_the_figures_of_the_report(tmp_path: Path) -> None:
    trial = run_of(tmp_path, FEW, as_streams)
    parts, told = parts_in(trial), reported(trial).streams
    for one, stream in zip(parts.streams, told, strict=True):
        assert (one.name, one.whole, one.broken_off, one.none) == (
            stream.request,
            stream.whole,
            stream.broken_off,
            stream.none,
        )
        assert one.so_far_per_s == stream.events_per_s.value
        assert one.events_per_s == 6.0
        agree(one.first, stream.first)
        agree(one.gap, stream.gap)


def test_what_runs_in_the_background_is_told_as_in_the_report(tmp_path: Path) -> None:
    record = RunRecord.open(starvation_run(tmp_path, 1))
    (trial,) = (one for one in record.trials if (one.contestant, one.workload) == ("go", "fast-with-slow"))
    (told,) = (one for one in analyse(record).trials if one.number == trial.number)
    parts = parts_in(trial)
    assert parts.background == told.background
    assert parts.requests == [], "there is one only"
    (table,) = drawn_parts(parts, over=False)
    assert table["said"].startswith("background: ")


def test_generators_are_told_apart_and_one_that_is_lost_sends_nothing(tmp_path: Path) -> None:
    trial = run_of(tmp_path, 1, as_mix)
    hosts = enumerate(("", "ann"), 1)
    trial.description["generators"] = [
        {"number": number, "of": 2, "pid": 1, "started_unix_ns": 0, "host": host} for number, host in hosts
    ]
    running = RunningTrial(trial)

    def second(number: int, *sent: int) -> dict[str, Any]:
        generators = [
            {
                "generator": place,
                "open_files": 1,
                "loop_lag_max_us": 100 * place,
                "sent": [n],
                "service": None,
            }
            for place, n in enumerate(sent, 1)
        ]
        begin = number * 1_000_000_000
        return engine_interval(
            index=number,
            start_ns=begin,
            end_ns=begin + 1_000_000_000,
            last=number == 1,
            generators=generators,
        )

    running.add(second(0, 10, 30))
    running.add(second(1, 20))
    state = running.state()
    assert state is not None
    first, lost = state.parts.generators
    assert (first.host, first.sent, first.sent_per_s, first.lag_s) == ("", 30, 20.0, 0.0001)
    assert (lost.host, lost.sent, lost.sent_per_s, lost.lag_s) == ("ann", 30, 0.0, 0.0002)


def test_too_many_requests_are_counted_and_not_followed(tmp_path: Path) -> None:
    parts = parts_in(run_of(tmp_path, MAX_REQUESTS + 1, as_mix))
    assert parts.requests == []
    assert parts.unfollowed == MAX_REQUESTS + 1
    (table,) = drawn_parts(parts, over=False)
    assert table["said"].startswith("There are 51 requests, too many to be followed one by one")


def test_memory_stays_the_same_however_long_it_runs() -> None:
    growing = GrowingParts()
    one = {"workload": 0, "request": 0, "outcomes": {"ok": 2}}
    interval = engine_interval(series=[{**one, "histograms": {"response": histogram([0.001, 0.02])}}])
    sizes = []
    for _ in range(100):
        growing.add(interval, list(times_in(interval, ("response",), (0,))))
        sizes.append(sum(h.counts.nbytes for sums in growing._sums.values() for h in sums.values()))
    assert {*sizes} == {sizes[0]}
    assert growing.recorded_of("response", 0, 0).n == 200


@pytest.mark.parametrize(("kind", "title"), [(as_mix, "Requests"), (as_journeys, "Steps of j0")])
def test_a_page_shows_them_as_tables(
    tmp_path: Path, kind: Callable[[dict[str, Any], int], None], title: str
) -> None:
    parts = parts_in(run_of(tmp_path, FEW, kind))
    first, *_ = drawn_parts(parts, over=True)
    assert first["title"] == title
    assert first["columns"] == ["answered", "p50", "p99", "longest", "failed"]
    one = parts.requests[0]
    assert first["rows"][0] == [
        one.name,
        format_rate(one.so_far_per_s),
        *(formatted(one.times[name]).value for name in ("p50", "p99", "max")),
        "10 response timeout, 10 reset",
    ]
