"""What the machine did during a trial, folded as its samples are read."""

import math
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.analysis.stats.sample import Floats

__all__ = ["MachineSeries"]

SUMS = (
    *("steal_s", "busy_s", "server_cores_busy_s", "own_cpu_s", "waited_s", "throttled_s"),
    *("pressure_cpu_s", "pressure_memory_s", "pressure_io_s", "backlog_drops"),
)


@dataclass(frozen=True)
class MachineSeries:
    """What was used or lost between successive samples, as arrays of equal length; NaN where unknown."""

    start_s: Floats
    end_s: Floats
    steal_s: Floats
    busy_s: Floats
    """CPU time that anybody used, on the cores of the run."""
    server_cores_busy_s: Floats
    """The same on the server's cores alone; NaN in older records."""
    others_s: Floats
    """CPU time on the cores of the run that was used by neither jostle nor what it started. The kernel only
    samples at its ticks who has a core, so if nobody else works, this scatters around zero, half of it below.
    """
    waited_s: Floats
    throttled_s: Floats
    """CPU time that a quota withheld, over all cores; NaN in older records."""
    memory_s: Floats
    io_s: Floats
    backlog_drops: Floats
    """Connection attempts that the sockets on which the server listens dropped."""
    mhz: Floats

    @classmethod
    def of(cls, samples: Iterable[Mapping[str, Any]], *, server_is_ours: bool) -> "MachineSeries":
        """Others' work is unknown if the server is not ours, as that may be on this machine."""
        columns = {name: array("d") for name in ("t_ns", "mhz", *SUMS)}
        for sample in samples:
            for name, column in columns.items():
                value = sample.get(name)
                column.append(float("nan") if value is None else value)
        found = {name: np.frombuffer(column) for name, column in columns.items()}
        steps = {name: np.maximum(0.0, np.diff(found[name])) for name in SUMS}
        others = steps["busy_s"] - steps["own_cpu_s"]
        t_s = found["t_ns"] / 1e9
        return cls(
            start_s=t_s[:-1],
            end_s=t_s[1:],
            steal_s=steps["steal_s"],
            busy_s=steps["busy_s"],
            server_cores_busy_s=steps["server_cores_busy_s"],
            others_s=others if server_is_ours else np.full_like(others, np.nan),
            waited_s=steps["waited_s"],
            throttled_s=steps["throttled_s"],
            memory_s=steps["pressure_memory_s"],
            io_s=steps["pressure_io_s"],
            backlog_drops=steps["backlog_drops"],
            mhz=found["mhz"][1:],
        )

    @property
    def length_s(self) -> Floats:
        """Length of each step."""
        return self.end_s - self.start_s

    @property
    def others_error_s(self) -> float:
        """Standard deviation of `others_s` due to sampling.

        Nobody works for a negative time, so what lies below zero is error, and as much error lies above.
        """
        below = np.minimum(0.0, self.others_s)
        return float(np.sqrt(2 * np.mean(below**2))) if len(below) else 0.0

    @property
    def others_in_all_s(self) -> float:
        """What others used at least: the sum over all steps, minus two standard errors."""
        return max(0.0, float(self.others_s.sum()) - 2 * self.others_error_s * math.sqrt(len(self.others_s)))

    def others_beside_server_s(self, server_cpu_s: float) -> float:
        """What others used at least of the server's cores, of which it used so much itself; in older records,
        of all cores of the run.
        """
        beside = float(self.server_cores_busy_s.sum()) - server_cpu_s
        return self.others_in_all_s if math.isnan(beside) else min(self.others_in_all_s, max(0.0, beside))
