"""Lines that change at the end of a terminal, and what becomes of what is said meanwhile."""

import io

import pytest

from jostle.cli.display import Display
from jostle.cli.terminal.screen import Screen, colours, moves
from support.terminal import shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _able(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def painted(*frames: list[str]) -> tuple[Screen, Terminal]:
    stream = Terminal()
    screen = Screen(stream)
    for lines in frames:
        screen.paint(lambda _width, _height, lines=lines: [[(text, "")] for text in lines])  # type: ignore[misc]
    return screen, stream


def test_a_frame_is_painted_over_the_one_before() -> None:
    _, stream = painted(["one", "two, longer"], ["1", "2"])
    assert shown(stream.getvalue()) == ["1", "2", ""]


def test_nothing_is_left_of_a_higher_frame() -> None:
    _, stream = painted(["one", "two", "three"], ["1"])
    assert shown(stream.getvalue()) == ["1", ""]


def test_what_is_said_stays_above_the_frame() -> None:
    screen, stream = painted(["one", "two"])
    screen.say("server built", "dim")
    screen.paint(lambda *_: [[("1", "")], [("2", "")]])
    assert shown(stream.getvalue()) == ["server built", "1", "2", ""]


def test_the_last_frame_stays_or_goes() -> None:
    screen, stream = painted(["one"])
    screen.leave()
    screen.say("after")
    assert shown(stream.getvalue()) == ["one", "after", ""]
    screen, stream = painted(["one"])
    screen.erase()
    screen.say("after")
    assert shown(stream.getvalue()) == ["after", ""]


def test_after_others_have_written_it_goes_on_below() -> None:
    screen, stream = painted(["one"])
    stream.write("[1]+ Stopped\n")
    screen.forget()
    screen.paint(lambda *_: [[("1", "")]])
    assert shown(stream.getvalue()) == ["one", "[1]+ Stopped", "1", ""]


def test_a_terminal_that_cannot_move_its_cursor_gets_the_last_frame_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    screen, stream = painted(["one"], ["1"])
    screen.say("said")
    screen.leave()
    assert stream.getvalue() == "said\n1\n"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"TERM": "xterm-256color"}, True),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
        ({"TERM": "xterm-256color", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "COLORTERM": "truecolor"}, True),
        ({"TERM": "linux"}, False),
        ({"TERM": "dumb"}, False),
        ({}, False),
    ],
)
def test_colours_are_used_where_there_are_enough_and_they_are_wanted(
    environ: dict[str, str], expected: bool
) -> None:
    assert colours(environ) is expected


def test_a_terminal_without_a_name_does_not_move() -> None:
    assert not moves({})
    assert moves({"TERM": "vt100"})


def test_a_display_paints_only_what_has_changed() -> None:
    stream = Terminal()
    with Display(stream) as display:
        display.show("building")
        before = len(stream.getvalue())
        display.paint()
        assert len(stream.getvalue()) == before
        display.pause()
        display.show("measuring")
        assert len(stream.getvalue()) == before
        display.resume()
        assert "measuring" in stream.getvalue()
    assert shown(stream.getvalue())[:2] == ["building", ""]


def test_a_closed_terminal_ends_nothing() -> None:
    stream = Terminal()
    display = Display(stream)
    display.show("x")
    stream.close()
    stream.write = _broken  # type: ignore[method-assign]
    with display:
        display.say("nobody sees it")
        display.show("nor this")


def _broken(_text: str) -> int:
    raise BrokenPipeError


def test_a_bug_in_what_is_shown_ends_no_run(capsys: pytest.CaptureFixture[str]) -> None:
    display = Display(Terminal())
    display.attempt(lambda: 1 // 0)  # type: ignore[arg-type, return-value]
    assert "ZeroDivisionError" in capsys.readouterr().err
    display.say("nothing more is shown")
    display.close()
