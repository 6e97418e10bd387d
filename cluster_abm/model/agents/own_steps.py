"""Which classes of agents have a step of their own."""

from __future__ import annotations

from typing import NamedTuple

from cluster_abm.model.agents.base import overrides
from cluster_abm.model.agents.job import Job
from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.agents.node import Node


class OwnSteps(NamedTuple):
    """Whether the agents' classes override what the model else does for all agents at once.

    Attributes:
        nodes, managers, jobs: `step` of a node, a load manager, a job.
        reports: `report` of a load manager.
    """

    nodes: bool
    managers: bool
    jobs: bool
    reports: bool


def own_steps(node_class: type[Node], manager_class: type[LoadManager], job_class: type[Job]) -> OwnSteps:
    """Find out which of these classes have a step of their own."""
    return OwnSteps(
        nodes=overrides(node_class, Node, "step"),
        managers=overrides(manager_class, LoadManager, "step"),
        jobs=overrides(job_class, Job, "step"),
        reports=overrides(manager_class, LoadManager, "report"),
    )


def has_own_decisions(manager_class: type[LoadManager]) -> bool:
    """Whether a class of load managers has methods of its own for what else is decided in compiled code."""
    return overrides(manager_class, LoadManager, *LoadManager.ON_ARRIVAL)
