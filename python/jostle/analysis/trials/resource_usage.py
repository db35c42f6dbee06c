"""What a process tree used, folded as its samples are read: a row of numbers for each."""

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from jostle.analysis.stats.sample import Bools, Floats, Ints

__all__ = ["ResourceUsage"]


@dataclass(frozen=True)
class ResourceUsage:
    """Arrays of equal length, with a row for each sample; empty if the tree was not watched."""

    t_ns: Ints
    cpu_s: Floats  # of the whole tree since it began
    rss_bytes: Floats  # NaN where it could not be read
    peak_rss_bytes: float
    waited_s: float = 0.0  # runnable without a processor, between the first sample and the last
    peak_virtual_bytes: float = 0.0  # of address space; 0 where it was not recorded
    stopped: int = 0  # the number of samples that saw a process stopped

    @classmethod
    def of(cls, samples: Iterable[Mapping[str, Any]]) -> "ResourceUsage":
        t_ns, cpu_s, rss_bytes, peak, virtual = array("q"), array("d"), array("d"), 0.0, 0.0
        waits: list[float] = []
        stopped = 0
        for sample in samples:
            t_ns.append(sample["t_ns"])
            cpu_s.append(float(sample["cpu_user_s"]) + float(sample["cpu_system_s"]))
            rss = sample.get("rss_bytes")
            rss_bytes.append(float("nan") if rss is None else rss)
            waits = [*waits[:1], float(sample.get("waited_s", 0.0))]
            peak = max(peak, float(sample.get("peak_rss_bytes", 0)))
            virtual = max(virtual, float(sample.get("peak_virtual_bytes", 0)))
            stopped += sample.get("stopped", 0) > 0
        return cls(
            np.frombuffer(t_ns, np.int64),
            np.frombuffer(cpu_s),
            np.frombuffer(rss_bytes),
            peak,
            waits[-1] - waits[0] if waits else 0.0,
            virtual,
            stopped,
        )

    def cpu_s_per(self, requests: int) -> float | None:
        """CPU time per request between the first and last sample; None without two samples or a request."""
        return float(self.cpu_s[-1] - self.cpu_s[0]) / requests if len(self.t_ns) > 1 and requests else None

    def rss_max(self) -> float | None:
        known = self.rss_bytes[~np.isnan(self.rss_bytes)]
        return float(known.max()) if len(known) else None

    def cores(self, start_ns: int, end_ns: int) -> float | None:
        """Cores in use between the first and the last sample in this time; None without two samples."""
        samples = np.flatnonzero(self._within(start_ns, end_ns))
        if len(samples) < 2:
            return None
        first, last = samples[0], samples[-1]
        length_s = float(self.t_ns[last] - self.t_ns[first]) / 1e9
        return float(self.cpu_s[last] - self.cpu_s[first]) / length_s if length_s else None

    def _within(self, start_ns: int, end_ns: int) -> Bools:
        return np.asarray((start_ns <= self.t_ns) & (self.t_ns <= end_ns))

    def line(self) -> tuple[list[float], list[float], list[float]]:
        """Between each two samples: the middle (s), cores in use, and memory at the end (bytes)."""
        lengths_s = np.diff(self.t_ns) / 1e9
        kept = lengths_s > 0
        times = (self.t_ns[:-1] + self.t_ns[1:])[kept] / 2e9
        cores = np.diff(self.cpu_s)[kept] / lengths_s[kept]
        memory = np.nan_to_num(self.rss_bytes[1:][kept], nan=0.0)
        return times.tolist(), cores.tolist(), memory.tolist()
