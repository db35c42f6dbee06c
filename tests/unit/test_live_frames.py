"""Frames of a terminal: golden ones at three widths, and what must hold of all of them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jostle.cli.terminal.frame import MARK, frame
from jostle.cli.terminal.heat_map import LABEL, heat_map
from jostle.cli.terminal.line import length, written
from jostle.cli.terminal.status import Status, status_line
from jostle.live.counted import Counted
from jostle.live.followed import FollowedTrial
from jostle.live.state import TrialState
from jostle.live.trial import RunningTrial
from jostle.record import TrialRecord
from jostle.record.layout import SteeredEntry
from jostle.record.verdict import Verdict
from support.several import as_streams, run_of
from support.synthetic import Trial, closed, intervals, lognormal, make_run, open_loop
from support.terminal import without_styles

STALLED = Trial(
    "node",
    "fast",
    1,
    open_loop(lognormal(0.004, 0.5), 400, 10.0, blocked=[(4.0, 5.5)]),
    10.0,
    0.25,
    {"open": {"arrivals": "poisson", "rates": [{"from": 400, "to": 400, "duration_ns": None}]}},
)
FAILING = Trial(
    "node",
    "fast",
    1,
    [
        replace(one, outcome="wrong_status" if number % 50 == 0 else one.outcome)
        for number, one in enumerate(closed(lognormal(0.02, 0.2), 5.0, clients=8))
    ],
    load={"closed": {"clients": 8}},
)
STATUS = Status("3/10 node fast", "about 2 min left, 2 valid", 2.5, 10)


@pytest.fixture
def states(tmp_path: Path) -> Callable[[Trial], Iterator[TrialState]]:
    """The states of a trial, from its first interval to its last."""

    def of(trial: Trial) -> Iterator[TrialState]:
        (path,) = (make_run(tmp_path, [trial]) / "trials").iterdir()
        running = RunningTrial(TrialRecord(path))
        for interval in intervals(trial):
            running.add(interval)
            state = running.state()
            assert state is not None
            yield state

    return of


def texts(state: TrialState, width: int, height: int = 24, *, styled: bool = True) -> list[str]:
    lines = frame(state, STATUS, width, height, styled=styled)
    return [without_styles(written(line, styled=styled)) for line in lines]


States = Callable[[Trial], Iterator[TrialState]]


@pytest.mark.parametrize("width", [100, 80, 60])
def test_frames_are_drawn_as_before(states: States, golden: Callable[[str, str], None], width: int) -> None:
    of_stalled, of_failing = [*states(STALLED)], [*states(FAILING)]
    shown = [
        "\n".join(line.rstrip() for line in texts(state, width, styled=styled))
        for state in (of_stalled[0], of_stalled[21], of_stalled[-1], of_failing[-1])
        for styled in (True, False)
    ]
    golden(f"frames-{width}.txt", "\n\n".join(shown) + "\n")


def test_all_frames_of_a_terminal_have_the_same_height_and_fit(states: States) -> None:
    for width in (40, 60, 100, 200):
        for height in (3, 8, 11, 14, 50):
            frames = [texts(state, width, height) for state in states(STALLED)]
            assert {len(lines) for lines in frames} == {len(frames[0])}
            assert len(frames[0]) <= min(height, 14)
            assert max(len(line) for lines in frames for line in lines) <= width


def test_without_room_for_the_map_the_figures_stay(states: States) -> None:
    (*_, last) = states(STALLED)
    lines = texts(last, 100, 8)
    assert len(lines) == 6
    assert lines[0].startswith("✓ valid so far")
    assert lines[3].startswith("p50 ")


def test_what_is_not_answered_grows_above_the_map_and_then_fills_it(states: States) -> None:
    of_stalled = [*states(STALLED)]
    during, after = texts(of_stalled[21], 100), texts(of_stalled[-1], 100)
    assert during[0].startswith("? suspect so far: no response from 4.00 s to the end")
    assert re.search("▂.*▃.*█", during[4])
    columns = [line[14:] for line in during[5:-3]]
    assert {line[len("━") * 40 : 47].strip() for line in columns} == {""}, "nothing was answered since 4 s"
    assert any(line[14:].strip() for line in after[5:7]), "late responses are high in the map"


def test_colours_go_from_dark_to_bright_and_the_text_alone_shows_where_responses_are(states: States) -> None:
    (*_, last) = states(STALLED)
    lines = frame(last, STATUS, 100, 24, styled=True)
    styles = {style for line in lines[5:-3] for _, style in line[1:]}
    assert any("229" in style for style in styles), "the most responses are the brightest"
    assert any(style == "48;5;16" for style in styles), "where there are none, the map is dark"
    (upper,) = [line for line in texts(last, 100)[5:-3] if "10 ms" in line and "100" not in line]
    assert set(upper[14:]) <= set(" █▀▄")


def test_the_verdict_of_the_report_replaces_the_one_so_far(states: States) -> None:
    (*_, last) = states(FAILING)
    line, *_ = frame(last, replace(STATUS, verdict=Verdict.INVALID), 100, 24, styled=False)
    assert "".join(text for text, _ in line).startswith("✗ invalid: ")
    assert "so far" not in written(line, styled=False)


def test_the_keys_take_the_place_of_the_processors(states: States) -> None:
    (*_, last) = states(FAILING)
    with_keys = frame(last, replace(STATUS, keys=True), 100, 24, styled=False)
    assert len(with_keys) == 14
    assert written(with_keys[-1], styled=False).startswith("q stops")


def test_foreign_text_cannot_move_the_cursor_nor_take_another_line() -> None:
    line = status_line(Status("a\x1b[2Jb\nc" + "界" * 50, "2 min left"), 40)
    assert length(line) <= 40
    text = written(line, styled=False)
    assert "\x1b" not in text
    assert "\n" not in text


def test_one_style_is_written_once() -> None:
    assert written([("a", "1"), ("b", "1"), ("c", "")], styled=True) == "\x1b[0;1mab\x1b[0mc"
    assert written([("a", "1"), ("b", "31")], styled=False) == "ab"


@pytest.mark.parametrize("most", [*range(1, 40), 147, 1_000, 123_457, 10**9])
def test_the_most_responses_have_the_brightest_colour(states: States, most: int) -> None:
    """However the logarithms are rounded."""
    first, *_ = states(STALLED)
    counted = Counted(np.array([2_000, 4_000]), np.array([most, 1]))
    drawn = heat_map([replace(first.columns[0], response=counted)], 0.25, 15, 6, styled=True)
    styles = " ".join(style for line in drawn for _, style in line[1:])
    assert "229" in styles


STEERED: SteeredEntry = {
    "workload": "fast",
    "change": "rate=800/s",
    "by": "terminal",
    "at_ns": 5_000_000_000,
    "unreached": [],
    "what": "rate",
    "per_s": 800.0,
}


@pytest.mark.parametrize("width", [100, 60])
def test_a_change_of_the_load_is_marked_where_it_was(states: States, width: int) -> None:
    *_, state = states(STALLED)
    assert not any(MARK in line for line in texts(state, width))
    lines = texts(replace(state, steered=[STEERED]), width)
    (axis,) = [line for line in lines if MARK in line]
    assert axis.index(MARK) == LABEL + (width - LABEL) // 2
    assert any("steered to 800/s" in line for line in lines)


def test_a_change_is_seen_while_the_trial_runs(tmp_path: Path) -> None:
    steered = replace(STALLED, steered=[STEERED])
    (path,) = (make_run(tmp_path, [steered]) / "trials").iterdir()
    running = RunningTrial(TrialRecord(path))
    for interval in intervals(steered):
        running.add(interval)
    state = running.state()
    assert state is not None
    assert list(state.steered) == [STEERED]
    assert "the load was changed while it ran: 800/s from 5.00 s on" in [
        c.message for c in state.validity.notable
    ]


def test_several_requests_have_a_line_with_the_slowest_first(states: States) -> None:
    slow = [replace(one, of=0) for one in closed(lognormal(0.08, 0.2), 5.0, clients=2)]
    quick = [replace(one, of=1) for one in closed(lognormal(0.004, 0.2), 5.0, clients=2)]
    trial = Trial("a", "w", 1, [*slow, *quick], load={"closed": {"clients": 4}}, mix=("search", "home"))
    *_, last = states(trial)
    lines = texts(last, 100)
    assert len(lines) == 14
    (line,) = [line for line in lines if line.startswith("p50 of")]
    assert re.fullmatch(r"p50 of   search [≥ \d.]+ ms  home [≥ \d.]+ ms", line)
    assert all(len(line) <= 40 for line in texts(last, 40))


def test_streams_have_a_line_with_their_events(tmp_path: Path) -> None:
    record = run_of(tmp_path, 1, as_streams)
    running = FollowedTrial(record.folder)
    while running.read():
        pass
    state = running.running.state()
    assert state is not None
    (line,) = [line for line in texts(state, 100) if line.startswith("events")]
    assert line == "events 6.00/s  first p50 ≥ 500 ms  p99 –  gap p50 1.50 ms  p99 –  longest 2.00 ms"  # noqa: RUF001
    assert len(texts(state, 100)) == 14
