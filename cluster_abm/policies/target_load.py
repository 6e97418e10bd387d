"""Trimaran's TargetLoadPacking: nodes are packed up to a target utilisation, and spread beyond it."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from cluster_abm.formulas import cpu_share, target_load_score, whole_score
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.tasks import Hardware
from cluster_abm.policy.view import ArrivingTask, Loads, View
from cluster_abm.scenario.distributions import Delay, NonNegative, Positive


class TargetLoad(Policy):
    """To the node of the highest score, 0 to 100, by the CPU utilisation u that it would have (`target_load_score`).

    u is the mean CPU utilisation of the last five seconds, as last reported, and what is predicted of the new task and
    of the tasks that this manager has placed there in the last `unseen_ms`, which that mean does not show yet (the
    plugin does so for 60 s). Predicted of a task is its CPU share 1/(1 + lambda s) on that node, the plugin's request,
    times `requests_multiplier`, and no more than one core, its limit.

    Among equal scores the node of least u is taken, the home node first: beyond the target the KEP wants the least fit,
    and on nodes of one core a task that only computes scores 0 everywhere. (Kubernetes draws one of them.)
    """

    class Parameters(Policy.Parameters):
        """The plugin's, with its defaults."""

        target_percent: Annotated[Positive, Field(le=100)] = Field(
            40.0, description="CPU utilisation up to which nodes are packed, x [%]"
        )
        requests_multiplier: NonNegative = Field(
            1.5, description="a task is predicted to use so many times its CPU share, one core at most"
        )
        unseen_ms: Delay = Field(
            5000.0, description="tasks placed in this time are counted by what is predicted of them [ms]"
        )

    name = "target-load"
    source = "Kubernetes scheduler-plugins, KEP-61 (Trimaran), TargetLoadPacking"
    summary = "packs nodes up to a target CPU utilisation, then spreads"
    rules = (("score {}", "the target scores highest ({}) by how near its CPU is to the target load"),)
    averages = True
    index = "cpu_percent"

    parameters: Parameters

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The highest score, of those the least utilisation."""
        cores = np.array([predicted_cores(task, node, self.parameters.requests_multiplier) for node in view.hardware])
        expected = view.loads["cpu_percent"] + 100.0 * (cores + self._unseen(task, view)) / _cores(view)
        target = view.least_of(order_of(_scores(expected, self.parameters.target_percent), expected))
        # By the task: of one that is refused and placed again the later one counts.
        view.notes["placed"][task.task] = view.now_ms, target, float(cores[target])
        return Decision(target, f"score {int(_scores(expected[[target]], self.parameters.target_percent)[0])}")

    def _unseen(self, arriving: ArrivingTask, view: View) -> Loads:
        """Predicted use of the tasks that the measured means do not show yet, shape (nodes,) [cores]."""
        since_ms = view.now_ms - self.parameters.unseen_ms
        before = view.notes.get("placed", {})
        recent = view.notes["placed"] = {task: entry for task, entry in before.items() if entry[0] > since_ms}
        cores = np.zeros(view.nodes)
        for placed, (_, node, used) in recent.items():
            cores[node] += used if placed != arriving.task else 0.0
        return cores


def predicted_cores(task: ArrivingTask, node: Hardware, multiplier: float) -> float:
    """What a task is predicted to use of a node's CPU [cores]: its CPU share there times a factor, one core at most."""
    return min(1.0, multiplier * cpu_share(task.io_per_ms * node.speed, task.request_on(node), 0.0, 0.0))


def order_of(scores: Loads, then: Loads) -> Loads:
    """Numbers in whose order nodes are best, the least first, shape (nodes,): by score, of equal ones by `then`."""
    place = np.empty(len(scores))
    by = np.lexsort((then, -scores))
    differs = (np.diff(scores[by]) != 0) | (np.diff(then[by]) != 0)
    place[by] = np.concatenate([[0], np.cumsum(differs)])
    return place


def _scores(expected_percent: Loads, target_percent: float) -> Loads:
    return np.array([whole_score(target_load_score(float(load), target_percent)) for load in expected_percent])


def _cores(view: View) -> Loads:
    return np.array([float(node.cores) for node in view.hardware])
