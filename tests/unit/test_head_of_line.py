"""Streams of one HTTP/2 connection that wait for one another: the sentence, and the picture."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from jostle.analysis.results import HeadOfLine
from jostle.analysis.topics.protocols.head_of_line import head_of_line
from jostle.generator.merge import Merger
from jostle.report.charts.head_of_line import sentence
from support.pictures import pictures_of, validated
from support.results import make_hit

MS = 1_000_000
BIG = (1, 1, 10, 10, 12, 62, 2_000_000)
"""A stream: its number, its request, when it was ready, sent, answered and over (ms), and its bytes."""

WAITED = [(n, 0, 20, 20, 62, 62, 100) for n in (3, 5, 7)]
BEFORE = [(9, 0, 8, 8, 9, 9, 100)]


def line(
    streams: list[tuple[int, ...]], behind: int = 1, elsewhere: tuple[int, int, float] = (0, 0, 0)
) -> Any:
    names = ("stream", "request", "ready_ns", "sent_ns", "head_ns", "end_ns", "bytes")
    scales = (1, 1, MS, MS, MS, MS, 1)
    connections, responses, median_ms = elsewhere
    return {
        "workload": 0,
        "connection": 0,
        "blocked_ns": 42 * MS,
        "stream": 3,
        "behind": behind,
        "from_ns": 20 * MS,
        "until_ns": 62 * MS,
        "streams": [
            dict(zip(names, (n * s for n, s in zip(one, scales, strict=True)), strict=True))
            for one in streams
        ],
        "elsewhere_connections": connections,
        "elsewhere_answers": responses,
        "elsewhere_median_ns": int(median_ms * MS),
    }


def analysed(*lines: Any) -> list[HeadOfLine]:
    """Of the trials of one cell."""
    requests = [{"name": "small"}, {"name": "big"}]
    trials: list[Any] = [
        SimpleNamespace(
            usable=True,
            trial=SimpleNamespace(number=number),
            workload=lambda: {"requests": requests},
            counts=SimpleNamespace(head_of_line=one),
        )
        for number, one in enumerate(lines, 1)
    ]
    return head_of_line({("node", "mix"): trials})


def said(streams: list[tuple[int, ...]], **more: Any) -> str:
    (found,) = analysed(line(streams, **more))
    return sentence(found)


def test_the_connection_is_to_blame_where_others_answered_meanwhile() -> None:
    text = said([BIG, *BEFORE, *WAITED], elsewhere=(2, 40, 0.8))
    assert text == (
        "All 3 other streams of a connection waited up to 42.0 ms while a response of 2.00 MB came: "
        "the connection, not the server. On 2 other connections the same request took 800 µs "
        "meanwhile (median of 40)."
    )


def test_the_server_is_to_blame_where_the_others_took_as_long() -> None:
    text = said([BIG, *WAITED], elsewhere=(1, 5, 40))
    assert "the server, not the connection" in text
    assert "On 1 other connection the same request took 40.0 ms" in text


def test_without_other_connections_nobody_is_to_blame() -> None:
    for elsewhere in ((0, 0, 0.0), (1, 2, 0.8), (1, 40, 15.0)):
        text = said([BIG, *WAITED], elsewhere=elsewhere)
        assert "not the server" not in text
        assert "the server, not" not in text
        assert text.endswith(
            "Whether the connection or the server was busy, the other connections do not tell."
        )


def test_a_connection_that_let_others_through_is_not_to_blame() -> None:
    through = [(11, 0, 25, 25, 30, 30, 100), (13, 0, 31, 31, 40, 40, 100)]
    text = said([BIG, *WAITED, *through], elsewhere=(2, 40, 0.8))
    assert text == (
        "3 of the 5 other streams of a connection waited up to 42.0 ms while a response of 2.00 MB came; "
        "2 were answered meanwhile: the connection let them through."
    )
    text = said([BIG, *WAITED, through[0]], elsewhere=(2, 40, 0.8))
    assert text.endswith("; 1 was answered meanwhile: the connection let them through.")


def test_who_waited_longer_after_the_other_response_than_behind_it_waited_for_the_server() -> None:
    assert analysed(line([BIG, (3, 0, 52, 52, 90, 90, 100)])) == []


def test_who_was_answered_early_did_not_wait() -> None:
    assert analysed(line([BIG, (3, 0, 20, 20, 35, 62, 100)])) == []


def test_a_response_that_still_comes_has_no_size() -> None:
    text = said([(1, 1, 10, 10, 12, 0, 0), (3, 0, 20, 20, 0, 60, 0)])
    assert text.startswith("The only other stream of a connection waited 40.0 ms while a response came.")


def test_to_wait_for_a_free_stream_is_told_as_such() -> None:
    busy = [(n, 0, 10, 10, 60, 60, 100) for n in (1, 3)]
    text = said([*busy, (5, 0, 20, 60, 62, 62, 100), (7, 0, 20, 61, 62, 62, 100)], behind=0)
    assert text == "2 requests waited up to 41.0 ms for a free stream of their connection, which had 2 open."


def test_who_waited_for_a_free_stream_did_not_wait_behind_the_response_that_held_it() -> None:
    """Nor did who has none yet."""
    held = [(n, 1, 5, 5, 6, 50, 2_000_000) for n in (1, 3)]
    late = [(n, 1, 10, 50, 51, 100, 2_000_000) for n in (5, 7)]
    text = said([*held, *late, (0, 1, 60, 0, 0, 0, 0)], elsewhere=(1, 3, 0.2))
    assert text == "3 requests waited up to 40.0 ms for a free stream of their connection, which had 2 open."


def test_whose_beginning_is_forgotten_is_not_told() -> None:
    assert analysed(line(WAITED, behind=1), line([])) == []


def test_each_cell_shows_its_longest_wait() -> None:
    shorter = [BIG, (3, 0, 40, 40, 62, 62, 100)]
    (found,) = analysed(line(shorter), line([BIG, *WAITED]), line(shorter), None)
    assert (found.trial, found.waited, found.longest_s) == (2, 3, 0.042)


def test_of_several_generators_the_longest_wait_is_kept() -> None:
    """Of each workload."""

    def interval(*lines: Any) -> Any:
        state = dict.fromkeys(("index", "start_ns", "open_files", "rows_lost", "workers_lost"), 0)
        empty: dict[str, Any] = {name: [] for name in ("ports", "series", "journeys", "workloads", "threads")}
        whole = {"end_ns": 1, "last": True, "loop_lag": None, "rows": None}
        return {**state, **empty, **whole, "head_of_line": list(lines)}

    longest = {**line([BIG, *WAITED]), "blocked_ns": 50 * MS}
    other = {**line([BIG]), "workload": 1}
    merging = Merger(2, 0, 0)
    merging.add(0, interval(line(WAITED), other))
    merging.add(1, interval(longest))
    merged = merging.next()
    assert merged is not None
    assert merged["head_of_line"] == [longest, other]


def test_the_picture_has_a_bar_for_each_stream() -> None:
    (found,) = analysed(line([BIG, *BEFORE, *WAITED]))
    picture = pictures_of(replace(make_hit(), head_of_line=[found]))["head-of-line-1"]
    validated(picture)
    bars, names, edges = picture.datasets.values()
    assert [row["name"] for row in names] == ["big, stream 1", *(f"small, stream {n}" for n in (3, 5, 7))]
    assert [(row["from"], row["to"], row["kind"]) for row in bars][:3] == [
        (0.0, 0.002, "waits for its response"),
        (0.002, 0.052, "receives its response"),
        (0.01, 0.052, "waits for its response"),
    ]
    assert [row["from"] for row in edges] == [0.002, 0.052]
    assert picture.title == sentence(found)


def test_of_many_streams_those_stay_in_the_picture_that_waited() -> None:
    many = [(2 * n + 101, 0, 30, 30, 31, 61, 100) for n in range(60)]
    (found,) = analysed(line([BIG, *WAITED, *many]))
    picture = pictures_of(replace(make_hit(), head_of_line=[found]))["head-of-line-1"]
    names = [row["name"] for row in list(picture.datasets.values())[1]]
    assert len(names) == 30
    assert names[:4] == ["big, stream 1", *(f"small, stream {n}" for n in (3, 5, 7))]
    assert "Shown are 30 of 64 streams." in picture.reading
