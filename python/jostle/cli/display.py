"""What commands show while they work: lines that stay and, on a terminal, some below them that change."""

import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, TextIO

from jostle.cli.terminal.status import Status, status_line

if TYPE_CHECKING:
    from jostle.cli.terminal.line import Line
    from jostle.cli.terminal.screen import Screen
    from jostle.live.state import TrialState

__all__ = ["Display"]


class Display:
    """Shows on `stream`, which is mostly standard error. Once that is closed, nothing more is shown: a closed
    pipe or terminal ends no run. Any thread may show something.
    """

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        self._stream = stream
        self._works = not quiet
        self._lock = threading.RLock()
        self._screen: Screen | None = None
        self._status = Status()
        self._state: TrialState | None = None
        self._paused = False
        self._shown: object = None
        self.closing: Callable[[], None] = _nothing
        """Called before it closes: for whoever else works on it."""

    @property
    def live(self) -> bool:
        """Whether there are lines that change."""
        return self._works and self._stream.isatty()

    def say(self, text: str, style: str = "") -> None:
        """A line that stays. `style`: on a terminal, of `jostle.cli.terminal.line.STYLES`."""
        with self._lock:
            self.attempt(lambda: self._say(text, style))

    def show(self, text: str, details: str = "", *, done: float = 0.0, total: float | None = None) -> None:
        """What changes: where a command is, and how far; without a terminal, nothing.

        `total`: None if it is not known how much there is to do.
        """
        with self._lock:
            self.change(text=text, details=details, done=done, total=total)
            if self._state is None:
                self.paint()

    def watch(self, state: "TrialState | None") -> None:
        """Show what is known of a trial, too, from the next `paint` on; None for nothing."""
        with self._lock:
            self._state = state

    def change(self, **changes: Any) -> None:
        """Change the status, which the next `paint` shows."""
        with self._lock:
            self._status = replace(self._status, **changes)

    def paint(self) -> None:
        """Show what changes, as it is now, unless that is what stands there."""
        with self._lock:
            if self.live and not self._paused:
                self.attempt(self._paint)

    def tell(self, text: str, stays: bool) -> None:
        """Either of the two."""
        self.say(text) if stays else self.show(text)

    def pause(self) -> None:
        """Paint nothing until `resume`, as others write on the terminal."""
        self._paused = True

    def resume(self) -> None:
        """Paint again, below what is there now."""
        with self._lock:
            self._paused = False
            if self._screen is not None:
                self._screen.forget()
                self._shown = None
            self.paint()

    def close(self) -> None:
        """Leave the terminal as it was. What is known of a trial stays on it."""
        self.closing()
        with self._lock:
            if (screen := self._screen) is not None:
                self.attempt(screen.erase if self._state is None else screen.leave)
            self._screen, self._state, self._status, self._shown = None, None, Status(), None

    def __enter__(self) -> "Display":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def attempt(self, work: Callable[[], None]) -> None:
        """Do something that only shows: no run ends by what goes wrong. A bug of ours is told once."""
        if not self._works:
            return
        try:
            work()
        except OSError:
            self._works = False
        except Exception:
            self._works = False
            traceback.print_exc()

    def _paint(self) -> None:
        screen = self._on_screen()
        shown = self._status, self._state, screen.size
        if shown != self._shown:
            screen.paint(self._drawn)
        self._shown = shown

    def _say(self, text: str, style: str) -> None:
        if self.live:
            self._on_screen().say(text, style)
        else:
            print(text, file=self._stream, flush=True)

    def _drawn(self, width: int, height: int) -> "Sequence[Line]":
        if self._state is None:
            return [status_line(self._status, width)]
        from jostle.cli.terminal.frame import frame

        return frame(self._state, self._status, width, height, styled=self._on_screen().styled)

    def _on_screen(self) -> "Screen":
        if self._screen is None:
            from jostle.cli.terminal.screen import Screen

            self._screen = Screen(self._stream)
        return self._screen


def _nothing() -> None:
    """For nobody else to end."""
