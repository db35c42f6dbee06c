"""Where the load comes from. A trial knows only the two protocols here, not which executor it was given."""

from jostle.executor.base import (
    Executor,
    ExecutorLost,
    Generator,
    GeneratorsLost,
    Lost,
    Running,
    StartRefused,
)
from jostle.executor.choice import executor_for
from jostle.executor.processes import OnThisMachine

__all__ = [
    "Executor",
    "ExecutorLost",
    "Generator",
    "GeneratorsLost",
    "Lost",
    "OnThisMachine",
    "Running",
    "StartRefused",
    "executor_for",
]
