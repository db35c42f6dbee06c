"""Shows what is known of a run while it goes on: folds what is recorded, and paints it in frames."""

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from jostle.cli.display import Display
from jostle.cli.terminal.keys import read_keys
from jostle.errors import JostleError, NotARun
from jostle.plan.change import Change
from jostle.runner.interrupt import press_ctrl_c
from jostle.runner.observer import IntervalRecorded, RunEvent, Scheduled, TrialEnded, TrialStarted

if TYPE_CHECKING:
    from jostle._engine import Interval
    from jostle.live.trial import RunningTrial

__all__ = ["LiveView"]

FRAME_S = 0.25

MAX_LISTED = 8
"""Of a trial with more requests than this, none is shown by itself: there is no room for more names."""

STEERS = {"+": Change("scale", 1.1), "-": Change("scale", 1 / 1.1)}
"""What a key changes: by a tenth, so that one undoes the other."""

STOPPING = "stopping; what was measured is reported"


class LiveView:
    """An observer, which does nothing without a terminal. A thread of its own folds and paints, so that the
    one which records waits for neither.
    """

    def __init__(self, display: Display) -> None:
        self._display = display
        self._waiting: deque[tuple[Path, Interval]] = deque()
        self._trial: RunningTrial | None = None
        self._measured = False
        self._folder: Path | None = None
        self._lock = threading.Lock()
        self._painter: _Painter | None = None
        display.closing = self.close

    def __call__(self, event: RunEvent) -> None:
        if not self._display.live:
            return
        match event:
            case Scheduled():
                self._folder = event.folder
                import jostle.live.trial  # noqa: F401 (now, and not while a load is sent)
            case TrialStarted():
                self._measured = False
                if self._painter is None:
                    self._painter = _Painter(self._display, self._turn, self._steer)
            case IntervalRecorded(_, interval, folder):
                self._waiting.append((folder, interval))
            case TrialEnded():
                self._display.attempt(lambda: self._ended(event))

    def close(self) -> None:
        """End the thread, and give the keys back. A further trial begins anew."""
        if self._painter is not None:
            self._painter.end()
            self._display.attempt(self._turn)
        self._painter = self._trial = None

    def _ended(self, event: TrialEnded) -> None:
        self._fold()
        if self._measured:
            self._show()
            self._display.change(verdict=event.validity.verdict if event.validity else None)
            self._display.paint()

    def _steer(self, change: Change) -> None:
        """Change the load, or say why not; what it is then stands in the next frames."""
        from jostle.runner.steering import steer

        if self._folder is None:
            return
        note = ""
        try:
            steer(self._folder, change, by="terminal")
        except JostleError as error:
            note = error.message
        self._display.change(note=note)

    def _turn(self) -> None:
        new = self._fold()
        if self._trial is None or _has_a_core(self._trial):
            if new:
                self._show()
            self._display.paint()

    def _fold(self) -> bool:
        """Add what is waiting. Returns whether there was anything. A record that cannot be read is not shown:
        whoever writes it says so.
        """
        new = bool(self._waiting)
        with self._lock, contextlib.suppress(NotARun):
            while self._waiting:
                folder, interval = self._waiting.popleft()
                if interval["index"] == 0:
                    self._trial, self._measured = _begun(folder), True
                    self._display.change(verdict=None)
                if self._trial is not None:
                    self._trial.add(interval)
                else:
                    self._display.watch(None)
        return new

    def _show(self) -> None:
        with self._lock:
            if self._trial is not None and (state := self._trial.state()) is not None:
                self._display.watch(state)


def _begun(folder: Path) -> "RunningTrial | None":
    """None if it has too many requests: to add their histograms takes too long, and only the time left is
    shown."""
    from jostle.live.growing import MAX_REQUESTS
    from jostle.live.trial import RunningTrial
    from jostle.record import TrialRecord

    record = TrialRecord(folder)
    engine = record.description.get("engine") or {}
    requests = sum(len(workload["requests"]) for workload in engine.get("workloads", ()))
    return RunningTrial(record, max_requests=MAX_LISTED) if requests <= MAX_REQUESTS else None


def _has_a_core(trial: "RunningTrial") -> bool:
    """Whether this thread has a core on which no thread of the generator busy-polls."""
    engine = trial.record.description.get("engine") or {}
    return not engine.get("busy_poll") or bool(os.sched_getaffinity(0) - {*engine.get("cores", ())})


class _Painter:
    """A thread that takes a turn for each frame and reads keys meanwhile. The main thread ends it."""

    def __init__(self, display: Display, turn: Callable[[], None], steer: Callable[[Change], None]) -> None:
        self._display, self._turn, self._steer = display, turn, steer
        self._stack = contextlib.ExitStack()
        self._keys = self._stack.enter_context(read_keys(display.pause, display.resume))
        self._wake, self._to_wake = os.pipe()
        self._ended = False
        self._help = False
        self._thread = threading.Thread(target=self._run, name="painter", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Returns once it paints no more, and the terminal is as it was."""
        self._ended = True
        os.write(self._to_wake, b"\n")
        self._thread.join()
        self._stack.close()
        for fd in (self._wake, self._to_wake):
            os.close(fd)

    def _run(self) -> None:
        while not self._ended:
            for key in self._keys.wait(FRAME_S, self._wake):
                self._pressed(key)
            if not self._ended:
                self._display.attempt(self._turn)

    def _pressed(self, key: str) -> None:
        if key in "qQ":
            self._display.change(note=STOPPING)
            press_ctrl_c()
        elif key in STEERS:
            self._steer(STEERS[key])
        elif key in "hH?":
            self._help = not self._help
            self._display.change(keys=self._help)
