"""Where the load comes from. A trial knows only the two protocols here, not which executor it was given."""

from jostle.executor.base import Executor, Generator, GeneratorsLost, Lost, Running, StartRefused
from jostle.executor.processes import OnThisMachine

__all__ = ["Executor", "Generator", "GeneratorsLost", "Lost", "OnThisMachine", "Running", "StartRefused"]
