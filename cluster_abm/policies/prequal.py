"""Prequal: probes say requests in flight and latency; hot nodes are avoided, of the others the fastest is taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import Field

from cluster_abm.policy.talking import Ended, Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Count, Positive, Share

# Latencies that a node remembers for each number of tasks in flight, and loads that a manager remembers.
LATENCIES_KEPT, LOADS_KEPT = 16, 128


@dataclass
class Probed:
    """An answer in the pool of a manager.

    Attributes:
        node: which node has answered.
        in_flight: its tasks, and those that were sent to it since by this answer.
        latency_ms: its estimate of what a task takes [ms].
        at_ms: when it came [ms].
        uses: how often it may still be used.
    """

    node: int
    in_flight: float
    latency_ms: float
    at_ms: float
    uses: int


class Prequal(Talking):
    """Probing to reduce queuing and latency.

    For each task its home probes `probes` nodes drawn at random, for the sake of later tasks; answers wait in a pool.
    A task is placed at once by the pool: an answer is hot if its tasks in flight are above the quantile
    `hot_quantile` of those seen of late; if all are hot, the one with fewest tasks in flight is taken, else the cold
    one of least latency. Per task `removed` answers are dropped, by turns the oldest and the worst; answers older than
    `longest_ms`, and used `reuse` times, are dropped too. With fewer than `fewest` answers the node is drawn at random.

    reuse = max(1, (1 + delta) / ((1 - pool / nodes) probes - removed)), delta = 1.
    """

    class Parameters(Talking.Parameters):
        """As published, except for times, which go with the demands of tasks."""

        probes: Count = Field(3, description="nodes probed per task")
        pool: Count = Field(16, description="answers kept")
        longest_ms: Positive = Field(1000.0, description="age beyond which an answer is dropped [ms]")
        hot_quantile: Share = Field(0.84, description="quantile of tasks in flight above which a node is hot")
        removed: int = Field(1, ge=0, description="answers dropped per task")
        fewest: Count = Field(2, description="answers below which the node is drawn at random")

    name = "prequal"
    source = "Wydrowski, Kleinberg, Rumble, Archer 2024, section 4"
    summary = "by earlier probes: of the nodes that are not hot by their tasks in flight the one of least latency"
    rules = (
        (
            "all are hot: fewest in flight",
            "every node probed is busy: the target has fewest tasks in flight",
            "Wydrowski et al. 2024, section 4",
        ),
        (
            "the cold one of least latency",
            "of the nodes that are not busy the target answers fastest",
            "Wydrowski et al. 2024, section 4",
        ),
        (
            "random: the pool is too small",
            "too few answers of probes: drawn at random",
            "Wydrowski et al. 2024, section 4",
        ),
    )
    hears_starts = True

    parameters: Parameters

    # ---- at the home of a task ---------------------------------------------------------------------------------------

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Place each task by the pool, and probe for later ones."""
        for task in tasks:
            pool = self.pool(post)
            if len(pool) < self.parameters.fewest:
                post.start(task, post.draw_nodes(1)[0], "random: the pool is too small")
            else:
                threshold = self.threshold(post)
                chosen = self.best(pool, threshold)
                hot = chosen.in_flight > threshold
                rule = "all are hot: fewest in flight" if hot else "the cold one of least latency"
                index, there = ("tasks", chosen.in_flight) if hot else ("", math.nan)
                post.start(task, chosen.node, rule, index, there=there)
                chosen.in_flight += 1.0
                chosen.uses -= 1
                if chosen.uses <= 0:
                    pool.remove(chosen)
            self.remove(post)
            for node in post.draw_nodes(self.parameters.probes):
                post.send(node, "probe")

    def pool(self, post: Post) -> list[Probed]:
        """The answers that are not too old, the oldest first."""
        found: list[Probed] = post.notes.setdefault("pool", [])
        found[:] = [one for one in found if post.now_ms - one.at_ms <= self.parameters.longest_ms]
        return found

    def threshold(self, post: Post) -> float:
        """Tasks in flight above which a node is hot."""
        seen: list[float] = post.notes.get("seen", [])
        rank = math.ceil(self.parameters.hot_quantile * len(seen))
        return sorted(seen)[max(0, rank - 1)] if seen else math.inf

    def best(self, pool: Sequence[Probed], threshold: float) -> Probed:
        """The hot-cold lexicographic rule."""
        cold = [one for one in pool if one.in_flight <= threshold]
        if cold:
            return min(cold, key=lambda one: one.latency_ms)
        return min(pool, key=lambda one: one.in_flight)

    def worst(self, pool: Sequence[Probed], threshold: float) -> Probed:
        """The rule reversed: the hot one with most tasks in flight, else the one of greatest latency."""
        hot = [one for one in pool if one.in_flight > threshold]
        if hot:
            return max(hot, key=lambda one: one.in_flight)
        return max(pool, key=lambda one: one.latency_ms)

    def remove(self, post: Post) -> None:
        """Drop answers, by turns the oldest and the worst."""
        pool = self.pool(post)
        for _ in range(min(self.parameters.removed, len(pool))):
            post.notes["turn"] = post.notes.get("turn", 0) + 1
            pool.remove(pool[0] if post.notes["turn"] % 2 else self.worst(pool, self.threshold(post)))

    def reuse(self, nodes: int) -> int:
        """How often an answer may be used."""
        rate = (1.0 - self.parameters.pool / nodes) * self.parameters.probes - self.parameters.removed
        return max(1, math.ceil(2.0 / rate)) if rate > 0.0 else 1

    # ---- at the node -------------------------------------------------------------------------------------------------

    def came(self, task: ArrivingTask, post: Post) -> None:
        """Note how many tasks are in flight with it."""
        post.notes.setdefault("with", {})[task.task] = post.tasks_here

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Remember what tasks have taken, by how many were in flight when they came."""
        latencies: dict[int, list[float]] = post.notes.setdefault("latencies", {})
        for task in tasks:
            in_flight = post.notes.get("with", {}).pop(task.task, 1)
            kept = latencies.setdefault(in_flight, [])
            kept.append(task.here_ms)
            del kept[:-LATENCIES_KEPT]

    def latency_ms(self, post: Post) -> float:
        """The median of what tasks have taken that came with about as many in flight as there are now; 0: none has."""
        latencies: dict[int, list[float]] = post.notes.get("latencies", {})
        if not latencies:
            return 0.0
        nearest = min(latencies, key=lambda count: (abs(count - post.tasks_here - 1), count))
        return float(np.median(latencies[nearest]))

    def hears(self, message: Message, post: Post) -> None:
        """Answer a probe: tasks in flight, and latency; or put an answer into the pool."""
        if message.topic == "probe":
            post.send(message.source, "answer", self.latency_ms(post), about=post.tasks_here)
            return
        pool = self.pool(post)
        in_flight = float(message.about)
        pool.append(Probed(message.source, in_flight, message.value, post.now_ms, self.reuse(post.nodes)))
        del pool[: max(0, len(pool) - self.parameters.pool)]
        seen: list[float] = post.notes.setdefault("seen", [])
        seen.append(in_flight)
        del seen[:-LOADS_KEPT]

    def node_failed(self, node: int, post: Post) -> None:
        """Drop its answers."""
        pool = self.pool(post)
        pool[:] = [one for one in pool if one.node != node]
