"""Load from many machines: an actor on every node of a Ray cluster, merged and watched from here.

    from jostle.executor.cluster import OnCluster, connect

Ray places and carries questions; leases, logs, accounts and the driver are ours. docs/CLUSTER.md
"""

from jostle.executor.cluster.errors import ClusterLost, ClusterRefused
from jostle.executor.cluster.executor import OnCluster, connect

__all__ = ["ClusterLost", "ClusterRefused", "OnCluster", "connect"]
