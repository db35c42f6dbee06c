"""Streams of events: how a plan asks for them, how parts add up, what is made of them, and their tables."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jostle.analysis.metrics import VALUE_OF, estimate
from jostle.analysis.stats.over_rounds import AtLeast
from jostle.analysis.topics.protocols.streams import longest_gap, streams, streams_in_time
from jostle.analysis.trials.data import TrialData
from jostle.errors import PlanError
from jostle.generator.merge import Merger
from jostle.plan import Plan, parse_plan, to_toml
from jostle.plan.hit.plan import hit_plan
from jostle.report.charts import event_times
from jostle.report.document import Paragraph, Table
from jostle.report.sections.streams import section, stream_table, time_table
from support import histograms
from support.one_request import asked, plan
from support.pictures import validated
from support.synthetic import engine_interval, histogram

MS = 1_000_000
NONE: dict[str, Any] = dict.fromkeys(("events", "until", "stall_ns", "first", "fails", "usage", "bounds"))
NO_ROUND_TRIP = {"round_trip_ns": None, "late_round_trips": 1.0}


def streaming(stream: str, request: str = 'get = "/"') -> Plan:
    return plan(f"{{ {request}, stream = {stream} }}")


def engine_stream(made: Plan) -> Any:
    return asked(made)["stream"]


TABLE = """{ format = "lines", events = 5, until = "[DONE]", stall = "2s", usage = 'n=(\\d+)',
             first = "json:/choices/0/text", fails = "out of memory",
             slo = ["first event < 0.5 s", "gap p95 < 50 ms"] }"""


def test_a_plan_says_what_the_stream_is_and_what_it_has_to_keep() -> None:
    assert engine_stream(streaming('"sse"')) == {"format": "sse"} | NONE
    made = streaming(TABLE.replace("\n", ""))
    assert engine_stream(made) == {
        "format": "lines",
        "events": 5,
        "until": "[DONE]",
        "stall_ns": 2000 * MS,
        "first": {"json": "/choices/0/text"},
        "fails": {"regex": "out of memory"},
        "usage": {"regex": r"n=(\d+)"},
        "bounds": {"first_ns": 500 * MS, "gap_ns": 50 * MS, "late": pytest.approx(0.05)} | NO_ROUND_TRIP,
    }
    assert parse_plan(to_toml(made), "again") == made


@pytest.mark.parametrize(
    ("slo", "bounds"),
    [
        ("first event < 500 ms", {"first_ns": 500 * MS, "gap_ns": None, "late": 1.0}),
        ("gap < 1 s", {"first_ns": None, "gap_ns": 1000 * MS, "late": 0.0}),
        (
            " first event<2s , gap p99.9 <5ms",
            {"first_ns": 2000 * MS, "gap_ns": 5 * MS, "late": pytest.approx(0.001)},
        ),
    ],
)
def test_bounds_are_one_text_on_the_command_line(slo: str, bounds: Any) -> None:
    made = hit_plan("http://localhost/", {"stream": "sse", "slo": slo, "stall": "1s"})
    assert engine_stream(made) == {"format": "sse"} | NONE | {
        "bounds": bounds | NO_ROUND_TRIP,
        "stall_ns": 1000 * MS,
    }


@pytest.mark.parametrize(
    ("key", "text", "problem"),
    [
        ("first", "(", "not a regular expression"),
        ("fails", "json:error", "a JSON pointer begins with /"),
        ("usage", "", "at least 1"),
    ],
)
def test_what_is_looked_for_in_events_must_be_a_pattern(key: str, text: str, problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        streaming(f"{{ {key} = {text!r} }}")


def test_the_response_to_head_is_no_stream() -> None:
    with pytest.raises(PlanError, match="no body, so it is no stream"):
        streaming('"sse"', 'head = "/"')


def test_the_streams_of_several_processes_are_added_up() -> None:
    def part(request: int, number: int) -> dict[str, Any]:
        histograms = {"event_first": histogram([0.01 * number])}
        counts = {"events": 10, "whole": 3, "met": 2, "tokens": 7, "broken_off": 1, "unfinished": 4}
        counts |= {"unanswered": 5, "without_tokens": 6}
        sums = {name: number * n for name, n in counts.items()}
        return {"workload": 0, "request": request, "histograms": histograms, **sums}

    def interval(*streams: dict[str, Any]) -> Any:
        return engine_interval(streams=list(streams))

    merging = Merger(2, 0, 1)
    merging.add(0, interval(part(0, 1), part(2, 1)))
    merging.add(1, interval(part(2, 5)))
    merged = merging.next()
    assert merged is not None
    first, second = merged["streams"]
    assert (first["request"], second["request"]) == (0, 2)
    assert first == part(0, 1)
    names = ("events", "whole", "met", "tokens", "broken_off", "unfinished", "unanswered", "without_tokens")
    assert [second[name] for name in names] == [60, 18, 12, 42, 6, 24, 30, 36]
    assert second["histograms"]["event_first"]["count"] == 2


def recorded(**times_ms: list[float]) -> SimpleNamespace:
    """A trial of 2 s: of 12 requests 6 were whole, 1 broke off, 2 stalled, 1 was refused, 2 were cut off."""
    made = {
        measure: histograms.recorded(round(1000 * time) for time in each)
        for measure, each in times_ms.items()
    }
    outcomes = {"ok": 6, "reset": 1, "stream_stalled": 2, "connect_refused": 1, "unfinished": 2}
    counts = {"events": 30, "whole": 6, "met": 4, "tokens": 50, "broken_off": 3, "unfinished": 1}
    counts["unanswered"] = 2
    data: Any = SimpleNamespace(
        usable=True,
        overloaded=False,
        workload=lambda: {
            "requests": [
                {"name": "plain"},
                {"name": "chat", "stream": {"bounds": {"late": 0.0}, "usage": "n=(.)"}},
            ]
        },
        outcomes=lambda _workload, _number: outcomes,
        counts=SimpleNamespace(
            streams={(0, 1): counts}, start_ns=np.array([0]), end_ns=np.array([2000 * MS])
        ),
        middles_s=np.array([1.0]),
        trial=SimpleNamespace(
            number=3,
            histograms_by_request=lambda measure, _workload: (
                (0, 1, made[of]) for of in [measure] if of in made
            ),
        ),
    )
    data.waits, data.times_of = partial(TrialData.waits, data), partial(TrialData.times_of, data)
    data._by_request, data._figures = {}, {}
    data.recorded_of, data.figures_of = (
        partial(TrialData.recorded_of, data),
        partial(TrialData.figures_of, data),
    )
    found: SimpleNamespace = data
    return found


def test_a_stream_without_an_event_has_waited_and_one_that_failed_never_comes() -> None:
    """Ten had a first event; of the other two one was refused, and one was cut off after 100 ms."""
    data = recorded(
        event_first=[10, 20, 30, 40, 50, 60, 70, 80, 90, 95],
        event_gap=[5] * 20,
        event_longest_gap=[5] * 6,
        event_last=[100] * 6,
        event_given_up=[400, 500, 300],
        censored=[400, 500, 300, 100],
        failed=[1, 2],
    )
    (found,) = streams({("node", "w"): [data]})  # type: ignore[dict-item, list-item]
    assert found.request == "chat"
    assert (found.whole, found.broken_off, found.none, found.unfinished) == (6, 3, 1, 2)
    assert found.first["p50"].value == pytest.approx(0.065, rel=0.01)
    assert found.first["max"].bound == "≥", "who was refused never has a first event"
    assert found.gap["p50"].value == pytest.approx(0.005, rel=0.01)
    assert found.gap["max"].bound == "≥", "three broke off"
    assert (found.events_per_s.value, found.tokens_per_s.value) == (15, 25)  # type: ignore[union-attr]
    assert (found.met, found.met_per_s.value) == (4, 2)  # type: ignore[union-attr]


def test_streams_that_do_not_say_how_many_tokens_they_had_are_told() -> None:
    def told(data: Any) -> tuple[int | None, list[str]]:
        found = streams({("node", "w"): [data]})
        result: Any = SimpleNamespace(streams=found, summaries=(), contestants=("node",))
        blocks = section(result).blocks
        return found[0].without_tokens, [block.text for block in blocks if isinstance(block, Paragraph)]

    data: Any = recorded(event_first=[10] * 10)
    assert told(data) == (None, []), "a record of an older version"
    data.counts.streams[0, 1]["without_tokens"] = 0
    assert told(data) == (0, [])
    data.counts.streams[0, 1]["without_tokens"] = 2
    number, texts = told(data)
    assert (number, len(texts)) == (2, 1)
    assert texts[0].startswith("2 of 6 whole streams did not say how many tokens they had")


def test_that_all_streams_were_late_in_every_round_is_known_as_well_as_that_none_was() -> None:
    """Each round has 10 streams that ended; as 30 of 30 failed requests are 88.4 to 100 %."""
    late: Any = recorded(event_first=[1] * 10)
    late.counts.streams[0, 1]["met"] = 0
    found = estimate("streams in time", [late] * 3)
    assert (found.value, found.low, found.n) == (0, 0, 30)
    assert found.high == pytest.approx(0.116, abs=0.001)
    assert estimate("streams in time", [late] * 2).high is None, "one stall makes many late"


def test_a_message_without_a_response_lies_beyond_every_round_trip() -> None:
    data: Any = recorded(event_first=[10] * 10, event_round_trip=[7] * 20)
    (plain,) = streams({("node", "w"): [data]})
    assert (plain.round_trip, plain.unanswered) == ({}, None)
    assert "unanswered" not in [column.name for column in stream_table([plain]).columns]
    requests = data.workload()["requests"]
    requests[1]["grpc"] = {"every_ns": 20 * MS}
    data.workload = lambda: {"requests": requests}
    (found,) = streams({("node", "w"): [data]})
    assert (found.round_trip["p50"].value, found.unanswered) == (pytest.approx(0.007, rel=0.01), 2)
    assert found.round_trip["max"].bound == "≥", "two have no response"
    assert text(stream_table([found]), "unanswered") == ["2"]
    assert "round trip of a message" in text(time_table([found]), "time")


def test_a_trial_says_how_long_its_streams_stood_still_and_how_many_were_in_time() -> None:
    """Of 12 requests 2 were cut off; 4 of the others kept their bounds. 3 broke off, in a gap without end."""
    data: Any = recorded(event_longest_gap=[1, 2, 3, 4, 5, 6], event_first=[1] * 10)
    assert streams_in_time(data) == pytest.approx(0.4)
    assert longest_gap(data) == pytest.approx(0.005, rel=0.01)
    broken: Any = recorded(event_longest_gap=[1, 2], event_first=[1] * 10)
    assert isinstance(longest_gap(broken), AtLeast)
    plain: Any = SimpleNamespace(workload=lambda: {"requests": [{"name": "plain"}]})
    assert (streams_in_time(plain), longest_gap(plain)) == (None, None)


def text(table: Table, column: str) -> list[str]:
    place = [c.name for c in table.columns].index(column)
    return [row[place] if isinstance(row[place], str) else row[place].value for row in table.rows]  # type: ignore[union-attr, misc]


def test_tables_name_only_what_tells_their_rows_apart() -> None:
    data = recorded(event_first=[10] * 10, event_gap=[5] * 20)
    alone = streams({("node", "w"): [data]})  # type: ignore[dict-item, list-item]
    assert stream_table(alone).columns[0].name == "streams"
    assert text(stream_table(alone), "within bounds") == ["4 (40 %)"]
    assert text(time_table(alone), "time") == [
        "first event",
        "gap",
        "longest gap",
        "last event",
        "time per token",
    ]
    both = streams({("node", "w"): [data], ("go", "w"): [data]})  # type: ignore[dict-item, list-item]
    assert text(stream_table(both), "contestant") == ["node", "go"]
    assert "workload" not in [c.name for c in stream_table(both).columns]


def test_the_picture_shows_first_events_and_gaps_over_time() -> None:
    data = recorded(event_first=[10] * 10, event_gap=[5] * 19 + [60])
    (found,) = streams({("node", "w"): [data]})  # type: ignore[dict-item, list-item]
    picture = event_times(found, ["node"])
    assert picture is not None
    assert picture.title == "node: first events take up to 10.0 ms, gaps up to 60.0 ms."
    assert len(validated(picture)["vconcat"]) == 2
    (row,) = picture.table.rows
    assert row == ("1.00", "10.0 ms", "10.0 ms", "10.0 ms", "5.00 ms", "60.0 ms", "60.0 ms")


def test_the_picture_shows_round_trips_where_messages_leave_at_an_interval() -> None:
    data: Any = recorded(event_first=[10] * 10, event_gap=[5] * 20, event_round_trip=[7] * 19 + [30])
    (found,) = streams({("node", "w"): [data]})
    picture = event_times(found, ["node"])
    assert picture is not None
    assert picture.title.endswith("gaps up to 5.00 ms, round trips up to 30.0 ms.")
    assert len(validated(picture)["vconcat"]) == 3
    assert picture.table.rows[0][-3:] == ("7.00 ms", "30.0 ms", "30.0 ms")


def test_round_trips_are_quantities_that_a_claim_may_name() -> None:
    data: Any = recorded(event_round_trip=[7] * 20)
    assert VALUE_OF["round trip p50"](data) is None, "no message leaves at an interval"
    requests = data.workload()["requests"]
    requests[1]["grpc"] = {"every_ns": 20 * MS}
    data.workload = lambda: {"requests": requests}
    assert VALUE_OF["round trip p50"](data) == pytest.approx(0.007, rel=0.01)
    assert VALUE_OF["round trip p99"](data) is None, "too few"


def test_where_no_event_came_nothing_is_drawn() -> None:
    (found,) = streams({("node", "w"): [recorded()]})  # type: ignore[dict-item, list-item]
    assert event_times(found, ["node"]) is None


def test_of_merged_intervals_the_median_is_the_middle_one_and_the_p99_the_largest() -> None:
    data = recorded(event_first=[10] * 10, event_gap=[5] * 20)
    (found,) = streams({("node", "w"): [data]})  # type: ignore[dict-item, list-item]
    times: list[float | None] = [0.001, 0.002, 0.009] * 12
    over_time = replace(
        found.over_time,
        **{"t_s": [float(n) for n in range(36)]},
        **{f"{kind}_{what}_s": times for kind in ("first", "gap") for what in ("p50", "p99", "max")},
        **{f"round_trip_{what}_s": [None] * 36 for what in ("p50", "p99", "max")},
    )
    picture = event_times(replace(found, over_time=over_time), ["node"])
    assert picture is not None
    assert picture.table.rows[0] == ("1.00", "2.00 ms", "9.00 ms", "9.00 ms", "2.00 ms", "9.00 ms", "9.00 ms")
    assert "Of merged intervals, the largest p99 is shown." in picture.reading
