"""Yardsticks: a CPU and a FIFO disk in each node, jobs as SimPy processes, in two forms.

`run_usual` queues at `simpy.Resource`, as SimPy's own examples do. `run_fast` uses that at a FIFO server the
end of a visit is known when it begins, max(now, end of the visit before) + service, so that a visit is one event and
there is no queue at all. Both serve the CPU first come, first served, the lightest choice: it is used at 13 %, and a
burst of mean 2 ms is rarely longer than a quantum of 10 ms.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import simpy
from work import NODES, STREAM_CPU_S, Outcome, bursts_and_services, disk_bound_jobs

Process = Generator[simpy.Event, None, None]


class Totals:
    """What the jobs of a run add up to."""

    def __init__(self) -> None:
        self.requests = self.finished = 0
        self.disk_s = self.total_response_s = 0.0


class FastNode:
    """A node whose servers are two numbers: when each is free again [s]."""

    __slots__ = ("cpu_free_s", "disk_free_s")

    def __init__(self, env: simpy.Environment) -> None:
        self.cpu_free_s = self.disk_free_s = 0.0


def _job_fast(
    env: simpy.Environment, node: FastNode, bursts_s: Iterator[float], services_s: Iterator[float], totals: Totals
) -> Process:
    begun_s, left_s = env.now, STREAM_CPU_S
    timeout = simpy.Timeout
    while True:
        burst_s = next(bursts_s)
        now_s = env.now
        node.cpu_free_s = max(now_s, node.cpu_free_s) + min(burst_s, left_s)
        yield timeout(env, node.cpu_free_s - now_s)
        left_s -= burst_s
        if left_s <= 0.0:
            break
        totals.requests += 1
        service_s = next(services_s)
        totals.disk_s += service_s
        now_s = env.now
        node.disk_free_s = max(now_s, node.disk_free_s) + service_s
        yield timeout(env, node.disk_free_s - now_s)
    totals.finished += 1
    totals.total_response_s += env.now - begun_s


class UsualNode:
    """A node whose servers are SimPy resources."""

    def __init__(self, env: simpy.Environment) -> None:
        self.cpu = simpy.Resource(env)
        self.disk = simpy.Resource(env)


def _job_usual(
    env: simpy.Environment, node: UsualNode, bursts_s: Iterator[float], services_s: Iterator[float], totals: Totals
) -> Process:
    begun_s, left_s = env.now, STREAM_CPU_S
    while True:
        burst_s = next(bursts_s)
        with node.cpu.request() as turn:
            yield turn
            yield env.timeout(min(burst_s, left_s))
        left_s -= burst_s
        if left_s <= 0.0:
            break
        totals.requests += 1
        service_s = next(services_s)
        totals.disk_s += service_s
        with node.disk.request() as turn:
            yield turn
            yield env.timeout(service_s)
    totals.finished += 1
    totals.total_response_s += env.now - begun_s


def _submit(env: simpy.Environment, times_s: list[float], homes: list[int], start: Callable[[int], Process]) -> Process:
    for time_s, home in zip(times_s, homes, strict=True):
        yield env.timeout(time_s - env.now)
        env.process(start(home))


def _run(make_node: type, job: Callable[..., Process], seed: int, window_s: float, nodes: int) -> Outcome:
    env = simpy.Environment()
    totals = Totals()
    machines = [make_node(env) for _ in range(nodes)]
    times_s, homes = disk_bound_jobs(seed, window_s, nodes)
    bursts_s, services_s = map(iter, bursts_and_services(seed, len(times_s)))
    env.process(_submit(env, times_s, homes, lambda home: job(env, machines[home], bursts_s, services_s, totals)))
    env.run(until=window_s)
    return Outcome(
        totals.requests, totals.total_response_s / max(1, totals.finished) * 1000.0, totals.disk_s / (window_s * nodes)
    )


def run_fast(seed: int, window_s: float, nodes: int = NODES) -> Outcome:
    """The disk-bound work for `window_s` simulated seconds, without queues."""
    return _run(FastNode, _job_fast, seed, window_s, nodes)


def run_usual(seed: int, window_s: float, nodes: int = NODES) -> Outcome:
    """The disk-bound work for `window_s` simulated seconds, with SimPy's resources."""
    return _run(UsualNode, _job_usual, seed, window_s, nodes)
