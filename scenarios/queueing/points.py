"""What is run and what theory says of it: a point for each system, load and number of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

from queueing import chains, limits, old_news, sizes, stations

# Demands have the mean 1 s, or that of the law.
SECOND = {"workload.cpu_ms": {"kind": "exponential", "mean": 1000.0}}
HEAVY = sizes.BoundedPareto(0.1, 20.0, 1.1)
IN_ORDER, SHARING = {"cluster.quantum_ms": "inf"}, {"cluster.quantum_ms": 1.0}
ONE_DISPATCHER = {"workload.dispatchers": 1}


@dataclass(frozen=True)
class Demands:
    """A law of demands.

    Attributes:
        settings: keys of the scenario.
        mean: [s].
        squared_variation: C^2.
    """

    settings: Mapping[str, Any]
    mean: float
    squared_variation: float


LAWS = {
    "exponential": Demands(SECOND, 1.0, 1.0),
    "fixed": Demands({"workload.cpu_ms": {"kind": "fixed", "mean": 1000.0}}, 1.0, 0.0),
    "uniform": Demands({"workload.cpu_ms": {"kind": "uniform", "mean": 1000.0}}, 1.0, 1 / 3),
    "bounded Pareto": Demands(
        {"workload.cpu_ms": {
            "kind": "lifetime", "minimum": 1000 * HEAVY.least, "maximum": 1000 * HEAVY.most, "shape": HEAVY.shape,
        }},
        HEAVY.part(1, HEAVY.least, HEAVY.most), sizes.squared_variation(HEAVY),
    ),
}  # fmt: skip

# How a theory speaks of the run: of the same system; of many nodes, with or without the term of order 1/n; of a system
# that is faster, or of one that differs in what the page names.
EXACT, LIMIT, REFINED, BOUND, OTHER = "exact", "limit", "limit and 1/n", "lower bound", "another model"


@dataclass(frozen=True)
class Point:
    """Runs of one cluster, and their mean response by theory.

    Attributes:
        system: what the theory describes, in its notation.
        policy: the policy that is run.
        nodes, load, law: of the cluster, of a node, of the demands.
        theory: gives the mean response [s].
        kind: EXACT, LIMIT, REFINED, BOUND or OTHER.
        settings: keys of the scenario.
        relaxation_s: after how long the cluster has forgotten its start, by a factor of e.
        jobs: how many are measured in a run.
    """

    system: str
    policy: str
    nodes: int
    load: float
    law: str
    theory: Callable[[], float]
    relaxation_s: float
    kind: str = EXACT
    settings: Mapping[str, Any] = field(default_factory=dict)
    jobs: int = 100_000

    @property
    def keys(self) -> dict[str, Any]:
        """All keys that differ from the scenario `textbook`, but the length of the run."""
        own = {"cluster.nodes": self.nodes, "workload.utilisation": self.load, "policy.name": self.policy}
        return {**own, **IN_ORDER, **LAWS[self.law].settings, **self.settings}

    @property
    def window_s(self) -> tuple[float, float, float]:
        """From when on and until when arrivals are measured, and until when jobs arrive [s].

        Five relaxation times before and after it: nothing that is measured meets the empty start or the drained end.
        """
        margin_s = 5 * max(2.0, self.relaxation_s)
        end_s = margin_s + self.jobs * LAWS[self.law].mean / (self.nodes * self.load)
        # First come, first served: what comes later changes nothing. Under sharing it does.
        return margin_s, end_s, end_s + (margin_s if self.keys["cluster.quantum_ms"] != "inf" else 0.0)


LOADS = (0.5, 0.7, 0.9)
ALONE_JOBS = 200_000


def alone(loads: tuple[float, ...]) -> Iterator[Point]:
    """Nodes by themselves: M/M/1 and M/G/1, in order and sharing; 64 nodes are 64 queues at once."""
    for load in loads:
        slow = stations.relaxation(load)
        one = partial(stations.response_of_sharing, load)
        yield Point("M/M/1", "none", 64, load, "exponential", one, slow, jobs=ALONE_JOBS)
        yield Point("M/M/1", "random", 16, load, "exponential", one, slow)
        for name, law in LAWS.items():
            shared = partial(stations.response_of_sharing, load, law.mean)
            own = slow * law.mean * (1 + law.squared_variation) / 2
            yield Point("M/G/1 PS", "none", 64, load, name, shared, own, EXACT, SHARING, ALONE_JOBS)
            if name != "exponential":
                ordered = partial(stations.response_in_order, load, law.squared_variation, law.mean)
                yield Point("M/G/1 FCFS", "none", 64, load, name, ordered, own, jobs=ALONE_JOBS)


def pooled(loads: tuple[float, ...], nodes: tuple[int, ...] = (4, 16, 64)) -> Iterator[Point]:
    """All nodes as one station: M/M/c, sharing and first come, first served."""
    for load, count in product(loads, nodes):
        one, slow = partial(stations.response_of_servers, count, load), stations.relaxation(load, count)
        yield Point("M/M/c PS", "pooled", count, load, "exponential", one, slow, EXACT, SHARING)
        yield Point("M/M/c FCFS", "central-queue", count, load, "exponential", one, slow)


def in_turn(loads: tuple[float, ...], nodes: tuple[int, ...] = (2, 8, 64)) -> Iterator[Point]:
    """One dispatcher that goes round all nodes: each is E_n/M/1."""
    for load, count in product(loads, nodes):
        one, slow = partial(stations.response_in_turn, count, load), stations.relaxation(load)
        yield Point("E_n/M/1", "round-robin", count, load, "exponential", one, slow, EXACT, ONE_DISPATCHER)


def shortest_of_two(loads: tuple[float, ...], nodes: tuple[int, ...] = (16, 64, 256)) -> Iterator[Point]:
    """JSQ(2): the chain of three nodes, and many."""
    for load in loads:
        few = partial(chains.response_under, chains.shortest_of_two, 3, load, *((60, 20) if load > 0.8 else (30, 14)))
        slow = stations.relaxation(load, 3)
        yield Point("JSQ(2)", "power-of-d", 3, load, "exponential", few, slow)
        many = limits.shortest_of_two(load)
        for count in nodes:
            slow = max(2 * many.relaxation, stations.relaxation(load, count))
            yield Point(
                "JSQ(2)", "power-of-d", count, load, "exponential", partial(many.response, count), slow, REFINED
            )


def shortest(loads: tuple[float, ...], nodes: tuple[int, ...] = (2, 4, 16, 64)) -> Iterator[Point]:
    """JSQ: the chain of few nodes; many are slower than M/M/n."""
    cuts = {2: (100, 20), 4: (40, 10)}
    for load, count in product(loads, nodes):
        slow = 2 * stations.relaxation(load, count)
        if count in cuts:
            few = partial(chains.response_under, chains.shortest, count, load, *cuts[count])
            yield Point("JSQ", "jsq", count, load, "exponential", few, slow)
        else:
            least = partial(stations.response_of_servers, count, load)
            yield Point("JSQ", "jsq", count, load, "exponential", least, slow, BOUND)


def idle_queues(loads: tuple[float, ...], nodes: tuple[int, ...] = (16, 64, 256)) -> Iterator[Point]:
    """JIQ: the chains of few nodes, with one dispatcher and with one on every node; and many nodes."""
    for load in loads:
        slow = stations.relaxation(load)
        one = partial(chains.response_under, chains.idle_or_random, 2, load, 100)
        yield Point("JIQ, 1 dispatcher", "jiq", 2, load, "exponential", one, slow, EXACT, ONE_DISPATCHER)
        two = partial(chains.response_of_idle_queues, 2, load, 100)
        yield Point("JIQ", "jiq", 2, load, "exponential", two, slow)
        for count in nodes:
            many = partial(limits.response_with_idle_queues, load)
            yield Point("JIQ", "jiq", count, load, "exponential", many, slow / 4, LIMIT)


def by_size(loads: tuple[float, ...], nodes: tuple[int, ...] = (2, 4)) -> Iterator[Point]:
    """SITA-E with the theory's own cut-offs."""
    laws: dict[str, sizes.Law] = {"exponential": sizes.Exponential(), "bounded Pareto": HEAVY}
    for load, count, (name, law) in product(loads, nodes, laws.items()):
        slow = stations.relaxation(load) * LAWS[name].mean * (1 + LAWS[name].squared_variation) / 2
        cutoffs = {"policy.cutoffs_ms": [1000.0 * size for size in sizes.cutoffs_of(law, count)]}
        one = partial(sizes.response_by_size, law, count, load)
        # The class of the largest demands has few of the jobs, and most of the variance.
        jobs = 800_000 if law is HEAVY and load > 0.8 else 100_000
        yield Point("SITA-E", "sita-e", count, load, name, one, slow, EXACT, cutoffs, jobs)


def stale(load: float, periods: tuple[float, ...], nodes: tuple[int, ...] = (64, 256, 1024)) -> Iterator[Point]:
    """Reports of all nodes every period, and no node refuses: a bulletin board, but for what a manager knows itself."""
    for period in periods:
        own = {"policy.information": "reported", "cluster.exchange_period_ms": 1000.0 * period}
        for count in nodes:
            two = partial(old_news.response_by_the_board, old_news.shorter_on_the_board, load, period)
            name = f"JSQ(2), reports every {period:g} s"
            yield Point(name, "power-of-d", count, load, "exponential", two, 40.0 + 5 * period, LIMIT, own)
        all_of = partial(old_news.response_by_the_board, old_news.shortest_on_the_board, load, period)
        name = f"JSQ, reports every {period:g} s"
        yield Point(name, "jsq", nodes[1], load, "exponential", all_of, 40.0 + 5 * period, OTHER, own)


def all_points() -> list[Point]:
    """What the page shows."""
    return [
        *alone(LOADS), *pooled(LOADS), *in_turn(LOADS), *shortest_of_two((0.5, 0.7), (16, 64)),
        *shortest_of_two((0.9, 0.95)), *shortest(LOADS), *idle_queues(LOADS), *by_size((0.5, 0.9)),
        *stale(0.9, (0.2, 1.0, 5.0)),
    ]  # fmt: skip


def few_points() -> list[Point]:
    """A smoke run: one load, few nodes."""
    one = (0.7,)
    return [
        *alone(one), *pooled(one, (4,)), *in_turn(one, (8,)), *shortest_of_two(one, (64,)), *shortest(one, (2, 16)),
        *idle_queues(one, (64,)), *by_size(one, (2,)),
    ]  # fmt: skip
