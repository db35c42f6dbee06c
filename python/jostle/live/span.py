"""A part of the time of a trial, in which times count from its beginning."""

import math
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["WHOLE", "Span"]

Sample = TypeVar("Sample")


@dataclass(frozen=True)
class Span:
    """From `start_ns` to `end_ns`, counted from the start of the trial."""

    start_ns: int = 0
    end_ns: float = math.inf

    def of_samples(self, samples: list[Sample]) -> list[Sample]:
        """Those within it, by their time "t_ns"; of the whole trial, all."""
        if self == WHOLE:
            return samples
        given: list[Any] = samples
        within = (sample for sample in given if self.start_ns <= sample["t_ns"] <= self.end_ns)
        return [{**sample, "t_ns": sample["t_ns"] - self.start_ns} for sample in within]  # type: ignore[misc]

    def of_interval(self, interval: dict[str, Any]) -> dict[str, Any] | None:
        """The interval, unless it lies outside."""
        start_ns, end_ns = interval["start_ns"], interval["end_ns"]
        if start_ns < self.start_ns or end_ns > self.end_ns:
            return None
        return {**interval, "start_ns": start_ns - self.start_ns, "end_ns": end_ns - self.start_ns}


WHOLE = Span()
