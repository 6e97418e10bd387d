"""The model and its agents."""

# Mesa first: it looks through all modules that are loaded before it, a quarter of a second for ours.
import mesa  # noqa: F401

from cluster_abm.model.agents import Job, LoadManager, Node, OutOfTurn
from cluster_abm.model.detailing import detail_of
from cluster_abm.model.model import ClusterModel
from cluster_abm.model.observing.watching import Frame, Watcher
from cluster_abm.model.record_run import record

__all__ = ["ClusterModel", "Frame", "Job", "LoadManager", "Node", "OutOfTurn", "Watcher", "detail_of", "record"]
