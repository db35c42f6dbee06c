"""The time that a run may take."""

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Budget"]


@dataclass
class Budget:
    """Time for rounds, in seconds, from when this was made. Resumed runs have all of it again."""

    seconds: float
    now: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._began = self.now()

    @property
    def left_s(self) -> float:
        return self.seconds - (self.now() - self._began)
