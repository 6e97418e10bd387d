"""Plugins of Kubernetes' scheduler: nodes are scored by disk bandwidth or by utilisation."""

from __future__ import annotations

import math
from collections import deque
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from cluster_abm.formulas import (
    cpu_share,
    disk_share,
    least_allocated_score,
    most_allocated_score,
    risk_score,
    target_load_score,
    whole_score,
)
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.tasks import Hardware
from cluster_abm.policy.view import ArrivingTask, Loads, View
from cluster_abm.scenario.distributions import Delay, NonNegative, Period, Positive


class DiskIoScore(Policy):
    """To the node of the highest score, 0 to 100, by what is left of its disk's bandwidth.

    A node of B MB/s has T = B (q - D) left, where q is how many requests its disk takes at once and D the expected
    number of tasks at the disk, as last reported. A task needs R = B lambda s/(1 + lambda s) there: the share of its
    time that it is at that disk if it is alone, lambda being its accesses per ms of CPU and s the time of one. Seek and
    transfer both count: that is the KEP's normalised bandwidth, in which small requests need more of it. Nodes with
    T < R are filtered out. The score is 100 (T - R)/T, or 100 R/T (`strategy`), as a whole number.

    Among equal scores the home node is taken, else the next one; so a task that does no I/O stays at home (Kubernetes
    draws one of them, and adds the scores of other plugins). Where no node has enough left, where a pod would wait, it
    is the one with most left.
    """

    class Parameters(Policy.Parameters):
        """Whether to spread or to pack."""

        strategy: Literal["least-allocated", "most-allocated"] = Field(
            "least-allocated", description="favour the disks with most bandwidth left, or those with least"
        )

    name = "disk-io-score"
    source = "Kubernetes scheduler-plugins, KEP-624 (disk IO aware scheduling)"
    summary = "each task to the node that scores highest by the disk bandwidth that is left"
    rules = (
        ("score {}", "the target scores highest ({}) by its free disk bandwidth"),
        ("most disk bandwidth left", "no node has disk bandwidth for it: the target has most left"),
    )
    index = "at_disk"

    parameters: Parameters

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The highest score, where there is enough left; else the most that is left."""
        packs = self.parameters.strategy == "most-allocated"
        best, target, most_left, fallback = -1.0, view.me, -math.inf, view.me
        for step in range(view.nodes):
            node = (view.me + step) % view.nodes
            if node in view.refused:
                continue
            hardware = view.hardware[node]
            share = disk_share(task.io_per_ms * hardware.speed, task.request_on(hardware), 0.0, 0.0)
            needed = hardware.disk_mb_per_s * share
            available = hardware.disk_mb_per_s * (hardware.disk_channels - view.measured("at_disk", node))
            if available > most_left:
                most_left, fallback = available, node
            if available < needed:
                continue
            score = most_allocated_score(available, needed) if packs else least_allocated_score(available, needed)
            score = whole_score(score)
            if score > best:
                best, target = score, node
        if best < 0.0:
            return Decision(fallback, "most disk bandwidth left")
        return Decision(target, f"score {int(best)}")


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
            1.5, description="a task is predicted to use this multiple of its CPU share, one core at most"
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
