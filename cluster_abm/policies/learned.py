"""A policy that was learnt: each task to the node that a small network scores highest."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field

from cluster_abm.bounded_files import Limit
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.parts.features import FEATURES, put_features
from cluster_abm.policy.parts.scorer import LARGEST, Scorer, read_scorer, scores_of
from cluster_abm.policy.view import ArrivingTask, View

# What scenarios/learn_placement.py learnt (docs/how-to/learning.md), by feature. A node that is down is never chosen:
# nothing was learnt about `down`.
SHIPPED = {
    "home": 0.503,
    "tasks": -1.0,
    "cpu": -0.6727,
    "io": -0.989,
    "page": -0.1847,
    "memory": -0.6979,
    "task_cpu": -0.3586,
    "task_io": 0.359,
    "task_memory": -0.0992,
    "cost": 0.2056,
    "cpu_wait": 0.3447,
    "io_wait": -0.4435,
    "noise": 0.1463,
}


class Learned(Policy):
    """A linear score of each node, or that of a small network, by weights that are data (policy/parts/scorer.py).

    Tasks are placed by what the load manager of their home knows, and the node that is asked takes them. The decision
    says the scores of home and of the target as the loads compared.
    """

    class Parameters(Policy.Parameters):
        """Where the weights are."""

        file: str = Field("", description="JSON file of weights, as cluster_abm.gym saves it; empty: those shipped")

    name = "learned"
    source = "cluster_abm.gym, docs/how-to/learning.md"
    summary = "each task to the node that learnt weights score highest"
    rules = (("highest score", "the learnt weights score the target highest"),)
    parameters: Parameters

    def __init__(self, **parameters: Any) -> None:
        super().__init__(**parameters)
        file = self.parameters.file
        scorer = read_scorer(file) if file else shipped()
        # Arrays: compiled code reads them too.
        self.numbers, self.sizes = scorer.numbers
        self.reads = scorer.reads

    @property
    def input_files(self) -> tuple[tuple[Path, Limit], ...]:
        """The file of weights."""
        return ((Path(self.parameters.file), LARGEST),) if self.parameters.file else ()

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The node of the highest score; on a tie home, else the next one after it."""
        features = np.empty((len(self.reads), view.nodes), np.float32)
        put_features(features, task, view, self.reads)
        scores = scores_of(features, self.numbers, self.sizes)
        target = view.least_of(-scores)
        here, there = float(scores[view.me]), float(scores[target])
        reason = "no node scores higher" if target == view.me else ""
        return Decision(target, "highest score", "", math.nan, here, there, reason=reason)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept: what was learnt is where tasks do well, without refusals."""
        return ""


def shipped() -> Scorer:
    """The weights that come with the package."""
    return Scorer.linear([SHIPPED.get(name, 0.0) for name in FEATURES], "shipped")
