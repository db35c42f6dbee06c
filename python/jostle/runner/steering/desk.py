"""Changes the load of the trial that runs: checks what is wanted, has it done, and records it."""

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jostle.errors import SteerRefused, UnknownName
from jostle.formatting import plural
from jostle.generator import Running
from jostle.generator.api import Steered
from jostle.host.facts import machine_and_version
from jostle.host.floor import stored_floor
from jostle.plan.change import Change
from jostle.record import RunWriter
from jostle.record.layout import SteeredEntry
from jostle.runner.schedule import Planned
from jostle.runner.steering.acknowledgement import Acknowledgement
from jostle.units import format_rate

__all__ = ["SteeringDesk"]

MAX_PER_THREAD = 1_000_000
"""No thread sends more requests per second on any machine."""


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
            if change.kind == "rate":
                _check_rate(change.value, trial.spec, trial.running)
            try:
                made = trial.running.steer(number, change, None if at_s is None else round(at_s * 1e9))
            except SteerRefused as error:
                raise SteerRefused(f"{name}: {error.message}", error.hint) from None
            phase = trial.phase_name(number, int(made.value)) if made.what == "phase" else ""
            entry = _entry(made, name, str(change), by, phase)
            self._writer.steered(trial.planned.number, trial.folder, entry)
        at_unix_ns = trial.running.started_unix_ns + made.at_ns
        return Acknowledgement(trial.planned.number, trial.planned.contestant, at_unix_ns, entry)


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


def _check_rate(per_s: float, spec: Mapping[str, Any], running: Running) -> None:
    """Raises `SteerRefused` for a rate that these generators certainly cannot send."""
    threads = int(spec["threads"])
    floor = (
        None
        if any(generator.host for generator in running.generators)
        else stored_floor(machine_and_version())
    )
    costs = [load["cpu_s_per_request"] for load in floor["loads"]] if floor is not None else []
    least_s = min(filter(None, costs), default=0.0)
    most = threads / least_s if least_s else threads * MAX_PER_THREAD
    if per_s <= most:
        return
    raise SteerRefused(
        f"{format_rate(per_s)} is beyond this machine: {plural(threads, 'generator thread')} can send "
        f"{format_rate(most)} at most",
        "that is what its calibration says: jostle doctor"
        if least_s
        else "how much it really is: jostle doctor --calibrate",
    )
