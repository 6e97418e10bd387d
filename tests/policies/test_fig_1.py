"""IOLB Fig. 1, CLB and MLB in mode `papers` against a straight transcription of the paper in plain Python.

The transcription knows nothing of the package's formulas, load tables or policies: it reads the raw rows of live
tasks at the instant of every decision, sums the loads itself, and decides by the lines of the figure.
"""

from __future__ import annotations

import itertools

import pytest
from support import busy, scenario
from unlike import ALIKE, GROUPS, UNLIKE

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import FREE, RUNNING

PAGE_KB, E_MS = 4.0, 7.0
MU, CAP = 0.5, 1.5


class Snapshot:
    """The cluster at one instant, from the raw rows: remaining ms, lambda, t_IO and memory of each task.

    CPU times are those on the task's node; rates are per ms of CPU at speed 1, of which a node does `speed` per ms.
    """

    def __init__(self, model, nodes):
        engine = model.engine
        self.nodes = nodes
        self.tasks = [[] for _ in nodes]
        for row in engine.tasks[engine.tasks["state"] != FREE]:
            place = int(row["node"])
            left_ns = int(row["cpu_left_ns"])
            if row["state"] == RUNNING:
                left_ns -= max(0, model.now_ns - int(row["leg_ns"]))
            request_ms = nodes[place].request_ms(float(row["request_kb"]))
            self.tasks[place].append((left_ns / 1e6, float(row["io_per_ms"]), request_ms, row["memory_kb"] / 1000))

    def memory(self, i):
        return sum(task[3] for task in self.tasks[i])

    def faults(self, i, demand):
        memory_mb = self.nodes[i].memory_mb
        return 0.0 if demand <= memory_mb else MU * min(demand / memory_mb, CAP)

    def fault_ms(self, i):
        return self.nodes[i].request_ms(PAGE_KB)

    def l_cpu(self, i):
        return sum(r for r, _, _, _ in self.tasks[i])

    def l_page(self, i):
        per_ms = self.faults(i, self.memory(i)) * self.fault_ms(i)
        return sum(per_ms * r * self.nodes[i].speed for r, _, _, _ in self.tasks[i])

    def l_io(self, i):
        return sum(r * self.nodes[i].speed * rate * t for r, rate, t, _ in self.tasks[i])

    def queue(self, i, paging):
        per_fault = self.faults(i, self.memory(i)) * self.fault_ms(i) if paging else 0.0
        speed = self.nodes[i].speed
        return sum(1 / (1 + speed * (rate * t + per_fault)) for _, rate, t, _ in self.tasks[i])

    def at_disk(self, i):
        busy = [self.nodes[i].speed * rate * t for _, rate, t, _ in self.tasks[i]]
        return sum(x / (1 + x) for x in busy)

    def lif(self, load):
        loads = [load(i) for i in range(len(self.tasks))]
        everything = sum(self.l_cpu(i) + self.l_page(i) + self.l_io(i) for i in range(len(loads)))
        mean = sum(loads) / len(loads)
        return 0.0 if everything == 0 else sum(loads) / everything * sum(abs(load - mean) for load in loads)


def fig_1(see, new, i, policy, index):
    """Lines 2-20 for one task: (node it goes to, the lines that decided)."""
    n = len(see.tasks)

    def t_io(k):
        return see.nodes[k].request_ms(new.request_kb)

    def cpu_j(k):
        return new.cpu_ms / see.nodes[k].speed

    io_j = new.cpu_ms * new.io_per_ms * t_io(i)

    def page_j(k):
        return see.faults(k, see.memory(k) + new.memory_mb) * new.cpu_ms * see.fault_ms(k)

    def response(k):
        if policy == "clb":
            return cpu_j(k) * (1 + see.queue(k, paging=True))
        rate = new.io_per_ms if policy == "iolb" else 0.0
        q_cpu = max(1.0, see.queue(k, paging=False) + 1 / (1 + see.nodes[k].speed * rate * t_io(k)))
        return cpu_j(k) * q_cpu + (new.cpu_ms * rate * t_io(k) + page_j(k)) * (1 + see.at_disk(k))

    def send(load, load_j):
        # Ties: the own node, else the first one after it, going round.
        k = min(range(n), key=lambda k: (load(k), (k - i) % n))
        narrows = load_j < (load_j + load(i) - load(k)) / 2
        return k if k != i and narrows and response(i) > response(k) + E_MS else i

    lif_cpu, lif_page, lif_io = see.lif(see.l_cpu), see.lif(see.l_page), see.lif(see.l_io)
    largest = {name: load(i) >= max(load(k) for k in range(n)) for name, load in
               {"io": see.l_io, "page": see.l_page, "cpu": see.l_cpu}.items()}  # fmt: skip
    if policy == "iolb" and io_j > 0 and lif_io == max(lif_cpu, lif_page, lif_io) and largest["io"]:
        return send(see.l_io, io_j), "I/O"
    if policy in ("iolb", "mlb") and page_j(i) > 0 and lif_page > lif_cpu and largest["page"]:
        return send(see.l_page, page_j(i)), "memory"
    if index == "queue":

        def load(k):
            return see.queue(k, paging=True)

        faults_j = see.faults(i, see.memory(i) + new.memory_mb)
        share_j = 1 / (1 + see.nodes[i].speed * (new.io_per_ms * t_io(i) + faults_j * see.fault_ms(i)))
        is_largest = load(i) >= max(load(k) for k in range(n))
        return (send(load, share_j) if is_largest else i), "CPU"
    return (send(see.l_cpu, cpu_j(i)) if largest["cpu"] else i), "CPU"


def near_tie(see, i):
    """Whether rounding could decide: loads of two nodes that differ in the last bits only."""
    for load in (see.l_io, see.l_page, see.l_cpu, lambda k: see.queue(k, True)):
        values = sorted(load(k) for k in range(len(see.tasks)))
        if any(0 < b - a < 1e-9 * max(b, 1) for a, b in itertools.pairwise(values)):
            return True
    lifs = sorted([see.lif(see.l_cpu), see.lif(see.l_page), see.lif(see.l_io)])
    return any(0 < b - a < 1e-9 * max(b, 1) for a, b in itertools.pairwise(lifs))


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "groups", "policy", "index"), [
    (ALIKE, [], "iolb", "remaining"), (UNLIKE, GROUPS, "iolb", "queue"), (UNLIKE, GROUPS, "clb", "remaining"),
    (ALIKE, [], "clb", "queue"), (ALIKE, [], "mlb", "remaining"), (UNLIKE, GROUPS, "mlb", "queue"),
])  # fmt: skip
def test_papers_mode_is_the_papers_centralised_algorithm(nodes, groups, policy, index):
    seen = {"I/O": 0, "memory": 0, "CPU": 0}
    sent = 0
    compared = 0
    for seed in (1,):
        settings = busy(
            policy__name=policy, policy__index=index, negotiation__mode="papers", cluster__buffer_mb=0.0,
            workload__duration_s=45.0, workload__cpu_ms__kind="exponential", workload__request_kb__per="job",
            cluster__group=groups,
        )  # fmt: skip
        model = ClusterModel(scenario(**settings), seed=seed)
        real_place = model.policy.place

        def checked(new, view, model=model, real_place=real_place):
            nonlocal sent, compared
            decision = real_place(new, view)
            see = Snapshot(model, nodes)
            if not near_tie(see, new.home):
                target, lines = fig_1(see, new, new.home, policy, index)
                assert decision.target == target, (model.now_ms, new, decision)
                seen[lines] += 1
                sent += target != new.home
                compared += 1
            return decision

        model.policy.place = checked
        model.run()
        assert model.summary()["metrics"]["refused_offers"] == 0
    assert compared > 200
    assert sent > 20
    assert seen["CPU"] > 20
    assert (seen["memory"] > 10) == (policy != "clb")
    assert (seen["I/O"] > 10) == (policy == "iolb")


def decisions(policy, **overrides):
    settings = busy(negotiation__mode="papers", cluster__buffer_mb=0.0, workload__duration_s=60.0) | overrides
    model = ClusterModel(scenario(policy__name=policy, **{k: v for k, v in settings.items() if k != "policy__name"}), 4)
    model.run()
    frame = model.decisions_frame()
    assert frame["source"].ne(frame["target"]).sum() > 10
    return frame[["task", "source", "target", "accepted"]]


def test_theorem_8_without_io_iolb_decides_as_mlb():
    without_io = {"workload__io_per_ms__mean": 0.0, "workload__io_per_ms__kind": "fixed"}
    assert decisions("iolb", **without_io).equals(decisions("mlb", **without_io))


@pytest.mark.slow
@pytest.mark.parametrize("index", ["remaining", "queue"])
def test_theorem_9_without_io_and_faults_all_three_decide_on_the_same_index(index):
    """The three then take lines 15-20; MLB and IOLB estimate responses alike, CLB's own estimate is then the same:
    remaining (1 + queue), every task being at the CPU."""
    neither = {
        "workload__io_per_ms__mean": 0.0, "workload__io_per_ms__kind": "fixed", "cluster__memory_mb": 1e6,
        "policy__index": index,
    }  # fmt: skip
    first = decisions("clb", **neither)
    assert first.equals(decisions("mlb", **neither))
    assert first.equals(decisions("iolb", **neither))
