"""Load from many machines: an actor on every node of a Ray cluster, watched and merged from here.

Ray places the actors and carries the calls; leases, spools, the ledger and the driver are jostle's own. See
docs/CLUSTER.md.
"""

from jostle.generator.cluster.driver import ClusterExecutor, connect

__all__ = ["ClusterExecutor", "connect"]
