"""Samples that are written while a trial runs: read on from where the last reading ended."""

import contextlib
from pathlib import Path
from typing import Generic, TypeVar

from jostle.errors import NotARun
from jostle.live.span import WHOLE, Span
from jostle.record.jsonl import read_on

__all__ = ["GrowingSamples"]

T = TypeVar("T")

MAX_SAMPLES = 512
"""Of more samples than this, every second one is left out: they count from the start, so sums stay right."""


class GrowingSamples(Generic[T]):
    """What a file of samples has so far."""

    def __init__(self, path: Path, kind: type[T], within: Span = WHOLE) -> None:
        self._path, self._kind, self._within = path, kind, within
        self._read_bytes = 0
        self._samples: list[T] = []

    def read(self) -> list[T]:
        """All samples so far, or as many as are kept; a damaged file has no more of them."""
        with contextlib.suppress(NotARun):
            more, self._read_bytes = read_on(self._path, self._kind, self._read_bytes)
            self._samples += self._within.of_samples(more)
        while len(self._samples) > MAX_SAMPLES:
            del self._samples[1:-1:2]
        return self._samples
