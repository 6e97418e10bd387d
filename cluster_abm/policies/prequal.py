"""Prequal: probes say requests in flight and latency; hot nodes are avoided, of the others the fastest is taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from pydantic import Field

from cluster_abm.policy.notes import Queue, queue
from cluster_abm.policy.talking import Ended, Message, Post, Talking
from cluster_abm.policy.tasks import ArrivingTask
from cluster_abm.scenario.distributions import Count, Positive, Share

# Latencies that a node remembers for each number of tasks in flight, and loads that a manager remembers.
LATENCIES_KEPT, LOADS_KEPT = 16, 128


class Probed(NamedTuple):
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


class CameWith(NamedTuple):
    """A task on the own node, and how many were in flight with it when it came."""

    task: int
    in_flight: int


class Latency(NamedTuple):
    """What a task has taken [ms], and how many were in flight when it came."""

    in_flight: int
    took_ms: float


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

    @dataclass
    class Notes:
        """What a manager remembers.

        Attributes:
            pool: answers, the oldest first.
            seen: tasks in flight that were answered of late.
            turn: how many answers have been dropped by turns.
            on_node: the tasks on the own node.
            latencies: what tasks have taken of late, the oldest first.
        """

        pool: Queue[Probed] = queue()
        seen: Queue[float] = queue()
        turn: int = 0
        on_node: Queue[CameWith] = queue()
        latencies: Queue[Latency] = queue()

    # ---- at the home of a task ---------------------------------------------------------------------------------------

    def arrives(self, tasks: Sequence[ArrivingTask], post: Post) -> None:
        """Place each task by the pool, and probe for later ones."""
        for task in tasks:
            self.drop_old(post)
            if len(post.notes.pool) < self.parameters.fewest:
                post.start(task, post.draw_nodes(1)[0], "random: the pool is too small")
            else:
                self.use(task, post)
            self.remove(post)
            for node in post.draw_nodes(self.parameters.probes):
                post.send(node, "probe")

    def drop_old(self, post: Post) -> None:
        """Drop the answers that are too old."""
        pool = post.notes.pool
        for _ in range(len(pool)):
            if post.now_ms - pool[0].at_ms <= self.parameters.longest_ms:
                break
            pool.popleft()

    def use(self, task: ArrivingTask, post: Post) -> None:
        """Start a task by the best answer."""
        pool, threshold = post.notes.pool, self.threshold(post)
        place = self.best(threshold, post)
        chosen = pool[place]
        if chosen.in_flight > threshold:
            post.start(task, chosen.node, "all are hot: fewest in flight", "tasks", there=chosen.in_flight)
        else:
            post.start(task, chosen.node, "the cold one of least latency")
        if chosen.uses > 1:
            pool[place] = Probed(chosen.node, chosen.in_flight + 1.0, chosen.latency_ms, chosen.at_ms, chosen.uses - 1)
        else:
            del pool[place]

    def threshold(self, post: Post) -> float:
        """Tasks in flight above which a node is hot."""
        seen = post.notes.seen
        if not seen:
            return math.inf
        ordered = np.zeros(len(seen))
        for place, in_flight in enumerate(seen):
            ordered[place] = in_flight
        ordered.sort()
        return float(ordered[max(0, math.ceil(self.parameters.hot_quantile * len(seen)) - 1)])

    def best(self, threshold: float, post: Post) -> int:
        """The place of the answer by the hot-cold lexicographic rule: of the cold ones that of least latency, if all
        are hot that of fewest tasks in flight."""
        best, least_ms = -1, math.inf
        for place, one in enumerate(post.notes.pool):
            if one.in_flight <= threshold and (best < 0 or one.latency_ms < least_ms):
                best, least_ms = place, one.latency_ms
        if best >= 0:
            return best
        fewest = math.inf
        for place, one in enumerate(post.notes.pool):
            if best < 0 or one.in_flight < fewest:
                best, fewest = place, one.in_flight
        return best

    def worst(self, threshold: float, post: Post) -> int:
        """The rule reversed: the hot one with most tasks in flight, else the one of greatest latency."""
        worst, most = -1, 0.0
        for place, one in enumerate(post.notes.pool):
            if one.in_flight > threshold and (worst < 0 or one.in_flight > most):
                worst, most = place, one.in_flight
        if worst >= 0:
            return worst
        longest_ms = 0.0
        for place, one in enumerate(post.notes.pool):
            if worst < 0 or one.latency_ms > longest_ms:
                worst, longest_ms = place, one.latency_ms
        return worst

    def remove(self, post: Post) -> None:
        """Drop answers, by turns the oldest and the worst."""
        self.drop_old(post)
        notes = post.notes
        for _ in range(min(self.parameters.removed, len(notes.pool))):
            notes.turn += 1
            if notes.turn % 2 == 1:
                notes.pool.popleft()
            else:
                del notes.pool[self.worst(self.threshold(post), post)]

    def reuse(self, nodes: int) -> int:
        """How often an answer may be used."""
        rate = (1.0 - self.parameters.pool / nodes) * self.parameters.probes - self.parameters.removed
        return max(1, math.ceil(2.0 / rate)) if rate > 0.0 else 1

    # ---- at the node -------------------------------------------------------------------------------------------------

    def came(self, task: ArrivingTask, post: Post) -> None:
        """Note how many tasks are in flight with it."""
        post.notes.on_node.append(CameWith(task.task, post.tasks_here))

    def ended(self, tasks: Sequence[Ended], post: Post) -> None:
        """Remember what tasks have taken, by how many were in flight when they came."""
        for task in tasks:
            self.note_latency(self.forget_task(task.task, post), task.here_ms, post)

    def forget_task(self, number: int, post: Post) -> int:
        """A task has ended: how many were in flight when it came; 1: that is not known."""
        on_node = post.notes.on_node
        for place in range(len(on_node)):
            if on_node[place].task == number:
                in_flight = on_node[place].in_flight
                del on_node[place]
                return in_flight
        return 1

    def note_latency(self, in_flight: int, took_ms: float, post: Post) -> None:
        """Note what a task has taken; of as many in flight the latest LATENCIES_KEPT are kept."""
        latencies = post.notes.latencies
        latencies.append(Latency(in_flight, took_ms))
        oldest, kept = -1, 0
        for place, one in enumerate(latencies):
            if one.in_flight == in_flight:
                kept += 1
                if oldest < 0:
                    oldest = place
        if kept > LATENCIES_KEPT:
            del latencies[oldest]

    def latency_ms(self, post: Post) -> float:
        """The median of what tasks have taken that came with about as many in flight as there are now; 0: none has."""
        wanted, nearest = post.tasks_here + 1, -1
        for one in post.notes.latencies:
            # Of two that are as near the lower one.
            off, least = abs(one.in_flight - wanted), abs(nearest - wanted)
            if nearest < 0 or off < least or (off == least and one.in_flight < nearest):
                nearest = one.in_flight
        if nearest < 0:
            return 0.0
        found, count = np.zeros(LATENCIES_KEPT), 0
        for one in post.notes.latencies:
            if one.in_flight == nearest:
                found[count] = one.took_ms
                count += 1
        return float(np.median(found[:count]))

    def hears(self, message: Message, post: Post) -> None:
        """Answer a probe: tasks in flight, and latency; or put an answer into the pool."""
        if message.topic == "probe":
            post.send(message.source, "answer", self.latency_ms(post), about=post.tasks_here)
            return
        self.drop_old(post)
        pool, seen, in_flight = post.notes.pool, post.notes.seen, float(message.about)
        pool.append(Probed(message.source, in_flight, message.value, post.now_ms, self.reuse(post.nodes)))
        if len(pool) > self.parameters.pool:
            pool.popleft()
        seen.append(in_flight)
        if len(seen) > LOADS_KEPT:
            seen.popleft()

    def node_failed(self, node: int, post: Post) -> None:
        """Drop its answers."""
        self.drop_old(post)
        pool = post.notes.pool
        for _ in range(len(pool)):
            one = pool.popleft()
            if one.node != node:
                pool.append(one)
