"""Plugins of Kubernetes' scheduler: nodes are scored by disk bandwidth or by utilisation."""

from __future__ import annotations

import math
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
from cluster_abm.policy.samples import Sampling
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
        cpu_percent, unseen = view.loads["cpu_percent"], self._unseen(task, view)
        cores = predicted_cores(task, view, self.parameters.requests_multiplier)
        best, least, target = -1.0, math.inf, view.me
        for step in range(view.nodes):
            node = (view.me + step) % view.nodes
            if node in view.refused:
                continue
            expected = cpu_percent[node] + 100.0 * (cores[node] + unseen[node]) / view.hardware[node].cores
            score = whole_score(target_load_score(expected, self.parameters.target_percent))
            if score > best or (score == best and expected < least):
                best, least, target = score, expected, node
        view.remember(task.task, target, cores[target])
        return Decision(target, f"score {int(best)}")

    def _unseen(self, arriving: ArrivingTask, view: View) -> Loads:
        """Predicted use of the tasks that the measured means do not show yet, shape (nodes,) [cores]."""
        cores = np.zeros(view.nodes)
        recent = view.remembered(view.now_ms - self.parameters.unseen_ms)
        for entry in range(len(recent.task)):
            # Of a task that was refused, and placed again, the later entry counts.
            is_latest = entry == len(recent.task) - 1 or recent.task[entry + 1] != recent.task[entry]
            if is_latest and recent.task[entry] != arriving.task:
                cores[recent.node[entry]] += recent.amount[entry]
        return cores


def predicted_cores(task: ArrivingTask, view: View, multiplier: float) -> Loads:
    """What a task is predicted to use of each node's CPU, shape (nodes,) [cores]: its CPU share there times a factor,
    one core at most."""
    cores = np.empty(view.nodes)
    for node in range(view.nodes):
        kind = view.kinds[node]
        if kind < node:
            cores[node] = cores[kind]
        else:
            hardware = view.hardware[node]
            share = cpu_share(task.io_per_ms * hardware.speed, task.request_on(hardware), 0.0, 0.0)
            cores[node] = min(1.0, multiplier * share)
    return cores


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
    def samples(self) -> Sampling:
        """Utilisation of CPU and memory."""
        return Sampling(("cpu_percent", "memory_mb"), self.parameters.sample_ms, self.parameters.window_ms)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The highest score, of those the least mean and deviation."""
        margin, sensitivity = self.parameters.margin, self.parameters.sensitivity
        cpu, cpu_deviation = view.mean_share("cpu_percent"), view.share_deviation("cpu_percent")
        memory, memory_deviation = view.mean_share("memory_mb"), view.share_deviation("memory_mb")
        cores = predicted_cores(task, view, 1.0)
        best, least, target = -1.0, math.inf, view.me
        for step in range(view.nodes):
            node = (view.me + step) % view.nodes
            if node in view.refused:
                continue
            of_cpu = cpu[node] + cores[node] / view.hardware[node].cores
            of_memory = memory[node] + task.memory_mb / view.hardware[node].user_memory_mb
            cpu_score = risk_score(of_cpu, cpu_deviation[node], margin, sensitivity)
            score = whole_score(min(cpu_score, risk_score(of_memory, memory_deviation[node], margin, sensitivity)))
            most = max(of_cpu + margin * cpu_deviation[node], of_memory + margin * memory_deviation[node])
            if score > best or (score == best and most < least):
                best, least, target = score, most, node
        return Decision(target, f"score {int(best)}")
