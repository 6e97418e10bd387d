"""Kubernetes' disk IO aware scheduling: nodes are scored by the bandwidth that is left of their disks."""

from __future__ import annotations

import math
from typing import Literal

from pydantic import Field

from cluster_abm.formulas import disk_share, least_allocated_score, most_allocated_score, whole_score
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View


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
