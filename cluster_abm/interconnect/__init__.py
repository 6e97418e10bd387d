"""The network between the nodes: topologies and graph files, routes, and transfers that share links."""

from cluster_abm.interconnect.fairness import max_min_rates
from cluster_abm.interconnect.flows import NEVER_NS, Flows
from cluster_abm.interconnect.network import Network

__all__ = ["NEVER_NS", "Flows", "Network", "max_min_rates"]
