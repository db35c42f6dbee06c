"""Load from many machines: an actor on every node of a Ray cluster, merged and watched from here.

Ray places the actors and carries the calls; leases, spools, the ledger and the driver are ours. See
docs/CLUSTER.md.
"""

from jostle.generator.cluster.driver import ClusterExecutor, connect

__all__ = ["ClusterExecutor", "connect"]
