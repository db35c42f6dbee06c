"""A part of the time of a trial, in which times count from its beginning."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from jostle.record.layout import MachineEntry, ResourceSample

__all__ = ["WHOLE", "Span"]

Sample = TypeVar("Sample", ResourceSample, MachineEntry)


@dataclass(frozen=True)
class Span:
    """From `start_ns` to `end_ns`, counted from the start of the trial."""

    start_ns: int = 0
    end_ns: float = math.inf

    def of_samples(self, samples: Iterable[Sample]) -> list[Sample]:
        """Those within it."""
        found = [sample.copy() for sample in samples if self.start_ns <= sample["t_ns"] <= self.end_ns]
        for sample in found:
            sample["t_ns"] -= self.start_ns
        return found

    def of_interval(self, interval: dict[str, Any]) -> dict[str, Any] | None:
        """The interval, unless it lies outside."""
        start_ns, end_ns = interval["start_ns"], interval["end_ns"]
        if start_ns < self.start_ns or end_ns > self.end_ns:
            return None
        return {**interval, "start_ns": start_ns - self.start_ns, "end_ns": end_ns - self.start_ns}


WHOLE = Span()
