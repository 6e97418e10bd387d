"""WAL-PM Fig. 1 (wal-pm, io-pm, cm-pm) against a straight transcription of the paper in plain Python.

The transcription knows nothing of the package's formulas, load tables or policies: at the instant of every decision
it reads the raw rows of live tasks, the arriving task among them, sums the loads itself, and decides by equations 1-16.
"""

from __future__ import annotations

from typing import NamedTuple

import pytest
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import IN_TRANSIT, NONE, READY, RUNNING
from cluster_abm.model.agents import LoadManager
from cluster_abm.model.deciding.in_python import NegotiationInPython

SEEK_MS, PAGE_KB, MB_PER_S = 8.0, 4.0, 128.0
MU, CAP = 0.5, 1.5
E_MS, F_MS, WRITES = 7.0, 10.0, 0.2
TIE = 1e-9


class Node(NamedTuple):
    """What a node is: CPU speed, disk [MB/s], memory and buffer [MB]."""

    speed: float = 1.0
    mb_per_s: float = 40.0
    memory_mb: float = 30.0
    buffer_mb: float = 0.5

    def request_ms(self, size_kb):
        return SEEK_MS + size_kb / self.mb_per_s


class Task(NamedTuple):
    """A live task: CPU still to receive, whole and received at speed 1 [ms], what it asks for, where it stands."""

    number: int
    left_ms: float
    whole_ms: float
    age_ms: float
    rate: float
    size_kb: float
    memory_mb: float
    initial_mb: float
    reaccess: float
    queued: bool
    newborn: bool
    can_go: bool

    @classmethod
    def of(cls, row, model, node):
        left_ns = int(row["cpu_left_ns"])
        begun_ns = int(row["leg_ns"])
        ran_ns = max(0, model.now_ns - begun_ns) if row["state"] == RUNNING else 0
        left_ms, whole_ms = (left_ns - ran_ns) * node.speed / 1e6, float(row["cpu_demand_ms"])
        fresh = row["cpu_ns"] + ran_ns == 0
        newborn = bool(row["state"] == IN_TRANSIT and fresh and row["home"] == row["node"] and not row["migrations"])
        return cls(
            int(row["task"]), left_ms, whole_ms, 0.0 if fresh else whole_ms - left_ms, float(row["io_per_ms"]),
            float(row["request_kb"]), int(row["memory_kb"]) / 1000, float(row["initial_data_mb"]),
            float(row["reaccess_rate"]), row["state"] in (IN_TRANSIT, READY, RUNNING), newborn,
            bool(row["state"] != IN_TRANSIT or newborn),
        )  # fmt: skip


class Snapshot:
    """The cluster at one instant, from the raw rows: the tasks of each node, in the order in which they came to it."""

    def __init__(self, model, nodes):
        self.nodes = nodes
        self.tasks = [list(self.rows(model, i)) for i in range(len(nodes))]

    def rows(self, model, i):
        slot = int(model.engine.nodes["member_head"][i])
        while slot != NONE:
            row = model.engine.tasks[slot]
            assert row["node"] == i
            yield Task.of(row, model, self.nodes[i])
            slot = int(row["member_next"])

    def memory(self, i, more_mb=0.0):
        """(10)"""
        return sum(round(1000 * j.memory_mb) for j in self.tasks[i]) / 1000 + more_mb

    def faults(self, i, more_mb=0.0):
        """(12), per task and ms of its CPU at speed 1."""
        demand, memory_mb = self.memory(i, more_mb), self.nodes[i].memory_mb
        return 0.0 if demand <= memory_mb else MU * min(demand / memory_mb, CAP)

    def hit(self, i, j):
        """(14)-(16)"""
        stream = j.rate * j.size_kb
        if stream == 0:
            return 0.0
        d_buf = stream / sum(k.rate * k.size_kb for k in self.tasks[i]) * self.nodes[i].buffer_mb * 1000
        d_data = stream * j.whole_ms / (j.reaccess + 1)
        return j.reaccess / (j.reaccess + 1) * min(1.0, d_buf / d_data)

    def io(self, i):
        """(11), (13)"""
        return sum(self.faults(i) + j.rate * (1 - self.hit(i, j)) for j in self.tasks[i])

    def cpu(self, i):
        return sum(j.queued for j in self.tasks[i])

    def load(self, policy, weights, home):
        """The load index of every node: (9), or the one that the policy balances alone."""
        every = range(len(self.nodes))
        if policy.startswith("io"):
            return [self.io(k) for k in every]
        # "When the system encounters a large number of page faults": any node's, or the own one's.
        pages = self.faults(home) > 0 if weights == "own" else any(self.faults(k) > 0 for k in every)
        if policy.startswith("memory") or (policy.startswith("cm") and pages):
            return [self.memory(k) for k in every]
        if policy.startswith("c"):
            return [self.cpu(k) for k in every]
        cpu, memory, io = weights
        return [cpu * self.cpu(k) + memory * self.memory(k) + io * self.io(k) for k in every]

    def s(self, i, j):
        return self.nodes[i].request_ms(j.size_kb)

    def wanted(self, i, j):
        """lambda_j s_j while the CPU of that node works for it."""
        return self.nodes[i].speed * j.rate * self.s(i, j)

    def response(self, i, j, estimator):
        """r(i,j): the task counts among the node's whether it is there already or not."""
        others = [k for k in self.tasks[i] if k.number != j.number]
        more_mb = j.memory_mb if len(others) == len(self.tasks[i]) else 0.0
        everybody = [*others, j]
        e_l = max(1.0, sum(1 / (1 + self.wanted(i, k)) for k in everybody))
        speed = self.nodes[i].speed
        left_ms = j.left_ms / speed
        if estimator == "mg1":
            effective = [speed * k.rate / e_l for k in everybody]
            total = sum(effective)
            if total == 0:
                return left_ms * e_l
            rho = min(0.99, sum(r * self.s(i, k) for r, k in zip(effective, everybody, strict=True)))
            mean = sum(r / total * self.s(i, k) for r, k in zip(effective, everybody, strict=True))
            square = sum(r / total * self.s(i, k) ** 2 for r, k in zip(effective, everybody, strict=True))
            return left_ms * e_l + left_ms * speed * j.rate * (mean + total * square / (2 * (1 - rho)))
        at_disk = sum(self.wanted(i, k) / (1 + self.wanted(i, k)) for k in others)
        paging_ms = self.faults(i, more_mb) * j.left_ms * self.nodes[i].request_ms(PAGE_KB)
        if estimator == "closed-without-paging":
            paging_ms = 0.0
        return left_ms * e_l + (left_ms * self.wanted(i, j) + paging_ms) * (1 + at_disk)

    def cost(self, i, k, j):
        """(6), (7)"""

        def moved_ms(data_mb):
            return sum(1000 * data_mb / b for b in (MB_PER_S, self.nodes[i].mb_per_s, self.nodes[k].mb_per_s))

        if j.newborn:
            return E_MS + moved_ms(j.initial_mb)
        written_mb = j.age_ms * j.rate * WRITES * j.size_kb / 1000 / (j.reaccess + 1)
        return F_MS + 1000 * j.memory_mb / MB_PER_S + moved_ms(j.initial_mb + written_mb)


def close(a, b):
    return a != b and abs(a - b) <= TIE * max(abs(a), abs(b))


class Choice(NamedTuple):
    """Which task goes where, why, and whether rounding could have decided otherwise."""

    task: int | None
    target: int | None
    why: str
    near: bool
    numbers: tuple = ()


def least(loads, i):
    """Ties: the own node, else the first one after it, going round."""
    return min(range(len(loads)), key=lambda k: (loads[k], (k - i) % len(loads)))


def near_tie(see, loads, i):
    """Whether rounding could decide on the target: nearly equal loads, or equal ones that are sums of other numbers."""
    k = least(loads, i)
    largest = max(loads)
    if close(loads[i], largest) or close(loads[k], sum(loads) / len(loads)):
        return True
    shapes = [[(j.rate, j.size_kb, j.whole_ms, j.reaccess) for j in tasks] for tasks in see.tasks]
    same = [other for other in range(len(loads)) if loads[other] == loads[k] and shapes[other] != shapes[k]]
    return any(close(load, loads[k]) for load in loads) or (loads[k] % 0.5 != 0 and bool(same))


def fig_1(see, i, policy, weights, estimator):
    """Lines 2-5; line 1 has been done: the arriving task is among the tasks of node i."""
    loads = see.load(policy, weights, i)
    near = near_tie(see, loads, i)
    if loads[i] < max(loads):
        return Choice(None, None, "not overloaded", near)
    k = least(loads, i)
    if k == i or loads[k] >= sum(loads) / len(loads):
        return Choice(None, None, "no candidate node", near)
    best, best_mce = None, -1.0
    for j in see.tasks[i]:
        if not j.can_go:
            continue
        here, there, cost = see.response(i, j, estimator), see.response(k, j, estimator), see.cost(i, k, j)
        near |= close(here, there + cost)
        if here > there + cost:
            mce = j.age_ms * j.rate / cost
            near |= close(mce, best_mce)
            if mce > best_mce:
                best, best_mce = j, mce
                numbers = (loads[i], loads[k], here, there, cost, mce)
    if best is None:
        return Choice(None, None, "EM is empty", near)
    return Choice(best.number, k, "arriving task" if best.newborn else "running", near, numbers)


ALIKE = [Node()] * 5
UNLIKE = [Node(2.0, 20.0, 24.0, 0.3), Node(0.5, 80.0, 42.0, 2.0), Node(0.5, 80.0, 42.0, 2.0), Node(), Node(), Node()]
GROUPS = [
    {"count": 1, "cpu_speed": 2.0, "disk_mb_per_s": 20.0, "memory_mb": 24.0, "buffer_mb": 0.3},
    {"count": 2, "cpu_speed": 0.5, "disk_mb_per_s": 80.0, "memory_mb": 42.0, "buffer_mb": 2.0},
]
WEIGHTS = {"half": (0.5, 0.0, 0.5), "io": (0.0, 0.0, 1.0), "memory": (0.1, 0.9, 0.0)}
OPTIONS = {"own": {"policy__paging_of": "own"}}
POLICIES = [("wal-pm", "half"), ("wal-pm", "io"), ("wal-pm", "memory"), ("io-pm", ""), ("cm-pm", ""), ("cm-pm", "own")]
SLOW = [*((*policy, "mg1") for policy in POLICIES), ("wal-pm", "io", "closed"), ("cm-pm", "own", "closed")]
CASES = [
    *((*policy, "closed") for policy in POLICIES if (*policy, "closed") not in SLOW),
    ("io-pm", "", "closed-without-paging"),
    *(pytest.param(*case, marks=pytest.mark.slow) for case in SLOW),
]


def crowded(policy, weights="", **overrides):
    """A small cluster with everything that (1)-(16) speak of: I/O, hits and misses, faults, data that must follow."""
    chosen = dict(zip(("policy__cpu_weight", "policy__memory_weight", "policy__io_weight"), WEIGHTS.get(weights, ()),
                      strict=False))  # fmt: skip
    return busy(
        policy__name=policy, cluster__nodes=5, cluster__buffer_mb=0.5, workload__duration_s=13.0,
        workload__utilisation=0.6, workload__cpu_ms__kind="exponential", workload__request_kb__per="job",
        workload__no_io_share=0.1, negotiation__mode="papers", negotiation__migration_ms=F_MS,
        workload__write_share=WRITES,
    ) | chosen | OPTIONS.get(weights, {}) | overrides  # fmt: skip


SMALL = [
    (ALIKE, {"workload__reaccess_rate": 1.0, "workload__initial_data_mb__mean": 0.0}),
    (ALIKE, {"workload__reaccess_rate": 3.0, "workload__initial_data_mb__mean": 2.0,
             "workload__tasks__parallel_share": 0.0}),
    (UNLIKE, {"workload__reaccess_rate": 2.0, "workload__initial_data_mb__mean": 0.3, "cluster__group": GROUPS,
              "cluster__nodes": 6}),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "weights", "estimator"), CASES)
def test_papers_mode_is_the_papers_algorithm(monkeypatch, policy, weights, estimator):
    seen = dict.fromkeys(("not overloaded", "no candidate node", "EM is empty", "running", "arriving task"), 0)
    skipped = 0
    nodes_of = {}
    real_rebalance = LoadManager.rebalance

    def checked(manager, arriving):
        nonlocal skipped
        see = Snapshot(manager.model, nodes_of[manager.model])
        choice = fig_1(see, manager.index, policy, WEIGHTS.get(weights, weights), estimator)
        sent, recorded = [], []

        def spying_migrate(by, task, target, asking_ns):
            sent.append((task.task, target))
            assert by is manager
            assert manager.index == arriving.home
            NegotiationInPython.migrate(negotiation, by, task, target, asking_ns)
            on_the_way = manager.model.engine.tasks[manager.model.engine.tasks["state"] == IN_TRANSIT]
            assert on_the_way["gap_left_ns"].min() >= NONE

        def spying_write(by, task, decision, *more):
            recorded.append(decision)
            NegotiationInPython.write_decision(negotiation, by, task, decision, *more)

        negotiation = manager.parts.negotiation
        negotiation.migrate, negotiation.write_decision = spying_migrate, spying_write
        real_rebalance(manager, arriving)
        del negotiation.migrate, negotiation.write_decision
        if choice.near:
            skipped += 1
            return
        assert sent == ([] if choice.task is None else [(choice.task, choice.target)]), (choice, recorded)
        for decision in recorded:
            assert (
                decision.load_here, decision.load_there, decision.response_here_ms, decision.response_there_ms,
                decision.cost_ms, decision.mce,
            ) == pytest.approx(choice.numbers, rel=1e-6)  # fmt: skip
        seen[choice.why] += 1

    monkeypatch.setattr(LoadManager, "rebalance", checked)
    for seed, (nodes, more) in enumerate(SMALL):
        settings = crowded(policy, weights, policy__estimator=estimator, **more)
        model = ClusterModel(scenario(**settings), seed=seed, compile_decisions=False)
        nodes_of[model] = nodes
        model.run()
        metrics = model.summary()["metrics"]
        assert metrics["refused_offers"] == 0
        assert metrics["migrations"] > 20
    assert skipped < 30
    assert sum(seen.values()) > 800
    assert min(seen["running"], seen["EM is empty"], seen["not overloaded"]) > 50, seen
    assert seen["arriving task"] > 20, seen
