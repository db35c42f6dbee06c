"""What can go wrong with a cluster before and during a run."""

from jostle.errors import UserError
from jostle.executor.base import ExecutorLost

__all__ = ["ClusterLost", "ClusterRefused"]


class ClusterRefused(UserError):
    """No run starts on this cluster: it is open to others, out of reach, or not of one version."""


class ClusterLost(ExecutorLost):
    """The head is gone in the middle of a trial; generators stop by their lease."""
