"""Load from threads of this process."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jostle._engine import Run
from jostle.errors import StartRefused, SteerRefused
from jostle.generator.api import Generator, Lost, Running, Steered
from jostle.host.exhaustion import within_limits
from jostle.plan.change import Change

if TYPE_CHECKING:
    from jostle._engine import Interval

__all__ = ["InProcessExecutor"]


class InProcessExecutor:
    """The engine in threads of this process; no Python runs while it works."""

    def start(self, spec: Mapping[str, Any]) -> Running:
        try:
            with within_limits():
                return _Here(Run(json.dumps(spec)))
        except (ValueError, OSError) as error:
            raise StartRefused(str(error)) from None


class _Here:
    lost: Sequence[Lost] = ()

    def __init__(self, run: Run) -> None:
        self._run = run
        self.started_unix_ns = run.started_unix_ns
        self.generators = [Generator(1, 1, os.getpid(), run.started_unix_ns)]

    def next_interval(self, timeout_s: float) -> "Interval | None":
        return self._run.next_interval(timeout_s)

    def steer(self, workload: int, change: Change, at_ns: int | None = None) -> Steered:
        try:
            return Steered(*self._run.steer(workload, json.dumps(change.spec()), at_ns))
        except ValueError as error:
            raise SteerRefused(str(error)) from None

    def stop(self) -> None:
        self._run.stop()

    def save_logs_to(self, folder: Path) -> None:
        """Nothing to do: the record of the trial is this generator's own log."""

    def pull(self) -> None:
        """Nothing to do: all intervals have been returned."""
