"""Trimaran's LoadVariationRiskBalancing: nodes are scored by mean and deviation of their utilisation."""

from __future__ import annotations

from collections import deque

import numpy as np
from pydantic import Field

from cluster_abm.formulas import risk_score, whole_score
from cluster_abm.policies.target_load import order_of, predicted_cores
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, Loads, View
from cluster_abm.scenario.distributions import NonNegative, Period, Positive


class LoadRisk(Policy):
    """To the node of the highest score, 0 to 100, by the risk that its load exceeds what it has (`risk_score`).

    Every `sample_ms` each load manager notes what it knows of all nodes: CPU utilisation (the mean of five seconds that
    nodes report) and memory demand, as shares of what there is. Mean and standard deviation are those of the samples of
    the last `window_ms`; before the first sample, what is known now, without deviation. To the mean comes what the task
    requests: its CPU share 1/(1 + lambda s) of a core, and its memory. A node's score is that of the worse of its two
    resources, as a whole number.

    Among equal scores the node of least mean + `margin` deviation, not clipped, is taken, the home node first.
    (Kubernetes draws one of them.)
    """

    class Parameters(Policy.Parameters):
        """The plugin's, with its defaults; its measurements."""

        margin: NonNegative = Field(1.0, description="how much the standard deviation counts")
        sensitivity: Positive = Field(1.0, description="root taken of it; the plugin's authors recommend 2")
        sample_ms: Period = Field(5000.0, description="how often utilisations are noted [ms]")
        window_ms: Period = Field(900_000.0, description="mean and deviation are those of this time [ms]")

    name = "load-risk"
    source = "Kubernetes scheduler-plugins, KEP-61 (Trimaran), LoadVariationRiskBalancing"
    summary = "each task to the node of least risk, by mean and deviation of CPU and memory utilisation"
    rules = (("score {}", "the target scores highest ({}): least mean and variation of its load"),)
    averages = True
    index = "cpu_percent"

    parameters: Parameters

    @property
    def acts_every_ms(self) -> float:
        """The period of the samples."""
        return self.parameters.sample_ms

    def relieve(self, view: View) -> None:
        """Note a sample; no task is sent elsewhere."""
        most = max(1, round(self.parameters.window_ms / self.parameters.sample_ms))
        samples = view.notes.setdefault("samples", deque(maxlen=most))
        samples.append(_used(view))
        view.notes["mean"], view.notes["deviation"] = np.mean(samples, axis=0), np.std(samples, axis=0)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The highest score, of those the least mean and deviation."""
        mean = view.notes["mean"] if "mean" in view.notes else _used(view)
        deviation = view.notes.get("deviation", np.zeros_like(mean))
        expected = mean + np.array(
            [
                [predicted_cores(task, node, 1.0) / node.cores for node in view.hardware],
                [task.memory_mb / node.user_memory_mb for node in view.hardware],
            ]
        )
        margin, sensitivity = self.parameters.margin, self.parameters.sensitivity
        scores = np.array(
            [
                [risk_score(float(mu), float(sigma), margin, sensitivity) for mu, sigma in zip(*pair, strict=True)]
                for pair in zip(expected, deviation, strict=True)
            ]
        ).min(axis=0)
        whole = np.array([whole_score(float(score)) for score in scores])
        target = view.least_of(order_of(whole, (expected + margin * deviation).max(axis=0)))
        return Decision(target, f"score {int(whole[target])}")


def _used(view: View) -> Loads:
    """Share of the CPU and of the memory for programs that is in use, as far as is known, shape (2, nodes)."""
    memory_mb = np.array([node.user_memory_mb for node in view.hardware])
    return np.array([view.loads["cpu_percent"] / 100.0, view.loads["memory_mb"] / memory_mb])
