"""Where the load comes from. A trial knows only the two protocols here, not which executor it was given."""

from jostle.executor.base import Executor, Running, StartRefused
from jostle.executor.here import InThisProcess

__all__ = ["Executor", "InThisProcess", "Running", "StartRefused"]
