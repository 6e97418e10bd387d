"""The Mesa agents of a run: nodes, load managers and jobs."""

from cluster_abm.model.agents.base import OutOfTurn
from cluster_abm.model.agents.job import Job
from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.agents.node import Node

__all__ = ["Job", "LoadManager", "Node", "OutOfTurn"]
