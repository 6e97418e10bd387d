"""The model and its agents."""

from cluster_abm.model.agents import Job, LoadManager, Node
from cluster_abm.model.model import ClusterModel

__all__ = ["ClusterModel", "Job", "LoadManager", "Node"]
