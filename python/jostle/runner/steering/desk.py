"""Changes the load of the trial that runs: checks what is wanted, has it done, records it. Or ends it."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jostle.errors import SteerRefused, UnknownName
from jostle.generator import Running
from jostle.generator.api import Steered
from jostle.generator.highest_rate import HighestRate
from jostle.plan.change import Change
from jostle.record import RunWriter
from jostle.record.layout import SteeredEntry
from jostle.runner.interrupt import press_ctrl_c
from jostle.runner.schedule import Planned
from jostle.runner.steering.acknowledgement import Acknowledgement

__all__ = ["SteeringDesk"]


@dataclass(frozen=True)
class _Trial:
    """The trial whose load runs."""

    planned: Planned
    spec: Mapping[str, Any]
    running: Running
    folder: Path

    def number_of(self, workload: str) -> int:
        """That of a workload in the specification. Raises `UnknownName`."""
        names = [one["name"] for one in self.spec["workloads"]]
        if workload and workload not in names:
            raise UnknownName("workload", workload, names, "the load that runs")
        return names.index(workload) if workload else 0

    def highest_rate(self) -> HighestRate:
        here = not any(generator.host for generator in self.running.generators)
        return HighestRate.of(int(self.spec["threads"]), here=here)

    def phase_name(self, workload: int, phase: int) -> str:
        load = next(iter(self.spec["workloads"][workload]["load"].values()))
        phases = load.get("phases") or load.get("rates") or []
        return str(phases[phase].get("name", "")) if phase < len(phases) else ""


class SteeringDesk:
    """Where the changes of one run come in, one at a time. Any thread may bring one."""

    def __init__(self, writer: RunWriter, why_not: str = "") -> None:
        """`why_not`: why the loads of this run are not to be changed; "" if they may be."""
        self._writer = writer
        self._why_not = why_not
        self._trial: _Trial | None = None
        self._lock = threading.Lock()
        self._in_main_thread = threading.current_thread() is threading.main_thread()
        self._stopping = False

    @contextlib.contextmanager
    def trial(
        self, planned: Planned, spec: Mapping[str, Any], running: Running, folder: Path
    ) -> Iterator[None]:
        """Inside, the load of this trial can be changed. `folder`: where it is recorded."""
        self._trial = _Trial(planned, spec, running, folder)
        try:
            yield
        finally:
            with self._lock:  # a change that is being made is recorded before the trial is closed
                self._trial = None

    def steer(
        self, change: Change, *, workload: str = "", by: str = "python", at_s: float | None = None
    ) -> Acknowledgement:
        """Change the load of `workload`, or of the measured one, from `at_s` after the trial's start on, or
        soon.

        Raises `SteerRefused` and `UnknownName` if nothing is changed, and `RecordLost`.
        """
        with self._lock:
            trial = self._trial
            if self._why_not:
                raise SteerRefused(self._why_not)
            if trial is None:
                raise SteerRefused("no load is running now: the run is between two trials", "try again soon")
            number = trial.number_of(workload)
            name = str(trial.spec["workloads"][number]["name"])
            if change.kind == "rate" and (refusal := trial.highest_rate().refusal(change.value)):
                raise SteerRefused(*refusal)
            try:
                made = trial.running.steer(number, change, None if at_s is None else round(at_s * 1e9))
            except SteerRefused as error:
                raise SteerRefused(f"{name}: {error.message}", error.hint) from None
            phase = trial.phase_name(number, int(made.value)) if made.what == "phase" else ""
            entry = _entry(made, name, str(change), by, phase)
            self._writer.steered(trial.planned.number, trial.folder, entry)
        at_unix_ns = trial.running.started_unix_ns + made.at_ns
        return Acknowledgement(trial.planned.number, trial.planned.contestant, at_unix_ns, entry)

    def stop(self) -> None:
        """End the run as Ctrl-C does: no more is sent, and what was measured is recorded. Once that has
        begun, a further stop does not hurry it. Raises `SteerRefused`.
        """
        with self._lock:
            if self._stopping:
                return
            if not (self._in_main_thread and press_ctrl_c()):
                raise SteerRefused("the program that runs it does not let it be stopped from outside")
            self._stopping = True


def _entry(made: Steered, workload: str, change: str, by: str, phase: str) -> SteeredEntry:
    common: Any = {
        "workload": workload,
        "change": change,
        "by": by,
        "at_ns": made.at_ns,
        "unreached": list(made.unreached),
        "what": made.what,
    }
    match made.what:
        case "rate":
            common["per_s"] = made.value
        case "clients":
            common["clients"] = int(made.value)
        case "phase":
            common |= {"phase": int(made.value), "name": phase}
    entry: SteeredEntry = common
    return entry
