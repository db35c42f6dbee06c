"""The time that a run may take."""

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Budget"]


@dataclass
class Budget:
    """Time for rounds in seconds, counted from the creation of this object. A resumed run has all of it."""

    seconds: float
    now: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._began = self.now()

    @property
    def left_s(self) -> float:
        return self.seconds - (self.now() - self._began)
