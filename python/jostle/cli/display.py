"""What commands show while they work: lines that stay and, on a terminal, one below them that changes."""

from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["Display"]


class Display:
    """Shows on `stream`, which is mostly standard error. Once that is closed, nothing more is shown: a closed
    pipe or terminal ends no run.
    """

    def __init__(self, stream: TextIO, *, quiet: bool = False) -> None:
        self._stream = stream
        self._works = not quiet
        self._line: tuple[Progress, TaskID] | None = None

    @property
    def live(self) -> bool:
        """Whether there is a line that changes."""
        return self._works and self._stream.isatty()

    def say(self, text: str, style: str = "") -> None:
        """A line that stays. `style`: on a terminal, as of rich."""
        self._try(lambda: self._say(text, style))

    def show(self, text: str, details: str = "", *, done: float = 0.0, total: float | None = None) -> None:
        """The line that changes, with a bar between text and details; without a terminal, nothing.

        `total`: None if it is not known how much there is to do.
        """
        self._try(lambda: self._show(text, details, done, total))

    def tell(self, text: str, stays: bool) -> None:
        """Either of the two."""
        self.say(text) if stays else self.show(text)

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._line is not None:
            bars, _ = self._line
            self._line = None
            self._try(bars.stop)

    def __enter__(self) -> "Display":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _try(self, work: Callable[[], None]) -> None:
        if not self._works:
            return
        try:
            work()
        except OSError:
            self._works = False

    def _say(self, text: str, style: str) -> None:
        if self.live:
            bars, _ = self._begun()
            bars.console.print(text, style=style, markup=False, highlight=False)
        else:
            print(text, file=self._stream, flush=True)

    def _show(self, text: str, details: str, done: float, total: float | None) -> None:
        if self.live:
            bars, line = self._begun()
            bars.update(line, description=text, details=details, completed=done, total=total)

    def _begun(self) -> "tuple[Progress, TaskID]":
        if self._line is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn

            bars = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=20),
                TextColumn("{task.fields[details]}", markup=False),
                console=Console(file=self._stream),
                transient=True,
            )
            self._line = bars, bars.add_task("", total=None, details="")
            bars.start()
        return self._line
