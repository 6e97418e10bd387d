"""What policies see of how long tasks have been waiting: the same in both forms, in steps and in one run."""

from __future__ import annotations

import pytest
from support import busy, same_records, scenario

from cluster_abm import ClusterModel

# Of the tasks of a node the one that has waited longest moves to the next node; its wait is in the decision.
LONGEST = """
import cluster_abm as ca
from cluster_abm.policies import Migrating


class Longest{name}(Migrating):
    name = "longest-{wait}"
    acts_every_ms = {period}

    def place(self, task, view):
        return ca.Decision(view.me, "home")

    def relieve(self, view):
        tasks, node = view.candidate_rows, view.next_node
        if len(tasks) == 0 or node in view.refused:
            return None
        longest = int(tasks["{wait}"].argmax())
        if tasks["{wait}"][longest] == 0.0:
            return None
        task = view.candidate(longest)
        return ca.Decision(node, "longest wait", task_load=task.{wait}, task=task)
"""


@pytest.fixture
def longest(tmp_path):
    """Write such a policy into a file; return what it is given as."""

    def write(wait, period=40.0):
        name = wait.partition("_")[0].capitalize()
        path = tmp_path / f"{wait}.py"
        path.write_text(LONGEST.format(wait=wait, name=name, period=period))
        return f"{path}:Longest{name}"

    return write


def moves(model):
    """Time, task, source and wait of every move."""
    made = model.decisions_frame().query("rule == 'longest wait' and accepted")
    return made[["time_ms", "task", "source", "task_load"]].values.tolist()


def three_readers(tmp_path, policy, **more):
    """Three tasks come to node 0 at 0, 10 and 20 ms, on three cores.

    Each computes 50 ms, reads for 33 ms (8 ms and 1 MB at 40 MB/s), and computes 50 ms.
    """
    profiles, trace = tmp_path / "profiles.csv", tmp_path / "trace.csv"
    profiles.write_text("program,cpu_ms,memory_mb,accesses\nreads,100,1,1\n")
    rows = "".join(f"{ms},0,1,0,1,reads\n" for ms in (0, 10, 20))
    trace.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,name\n" + rows)
    given = {
        "cluster__nodes": 2, "cluster__cores": 3, "cluster__memory_mb": 100.0, "cluster__buffer_mb": 0.0,
        "cluster__disk_seek_rotation_ms": 8.0, "cluster__disk_mb_per_s": 40.0, "workload__request_kb__mean": 1000.0,
        "workload__request_kb__kind": "fixed", "workload__kind": "trace", "workload__trace__file": str(trace),
        "workload__programs__file": str(profiles), "negotiation__mode": "papers",
        "cluster__context_switch_ms": 0.0, "cluster__quantum_ms": 50.0, "negotiation__remote_execution_ms": 0.0,
    }  # fmt: skip
    return ClusterModel(scenario(**given | more), seed=1, policy=policy)


@pytest.mark.slow
@pytest.mark.parametrize("slice_ms", [10.0, 20.0, 40.0])
def test_the_task_that_has_waited_longest_for_its_disk_moves(longest, tmp_path, slice_ms):
    """They ask at 50, 60 and 70. At 80 the first is served, until 83, and the second has waited longest; at 120 the
    third is served."""
    model = three_readers(tmp_path, longest("disk_wait_ms", 80.0), cluster__slice_ms=slice_ms)
    model.run()
    assert moves(model) == [[80.0, 1, 0, pytest.approx(20.0)]]


@pytest.mark.slow
@pytest.mark.parametrize("wait", ["disk_wait_ms", "cpu_wait_ms"])
@pytest.mark.parametrize("more", [{}, {"cluster__cores": 2, "cluster__disk_channels": 2}], ids=["one", "two"])
def test_both_forms_see_the_same_waits(longest, wait, more):
    setup = scenario(**busy(policy__name="none", workload__io_per_ms__mean=0.3, workload__utilisation=0.9, **more))
    policy = longest(wait)
    models = [ClusterModel(setup, seed=3, policy=policy, compile_decisions=compiles) for compiles in (True, False)]
    assert models[0].decides_in_python == ""
    for model in models:
        model.run()
    assert len(moves(models[0])) > 20
    assert same_records(*models)
    assert models[0].decisions_frame().equals(models[1].decisions_frame())


@pytest.mark.slow
@pytest.mark.parametrize("wait", ["disk_wait_ms", "cpu_wait_ms"])
def test_steps_and_one_run_see_the_same_waits(longest, wait):
    """Short quanta, much between two decisions, no page faults: nodes leap over many rounds, of many slices a call."""
    setup = scenario(
        **busy(policy__name="none", cluster__quantum_ms=0.5, cluster__memory_mb=1000.0, workload__io_per_ms__mean=0.06,
               workload__cpu_ms__mean=1000.0, workload__utilisation=0.9)
    )  # fmt: skip
    policy = longest(wait, 200.0)
    models = [ClusterModel(setup, seed=3, policy=policy) for _ in range(2)]
    models[0].run()
    while models[1].running:
        models[1].step()
    assert moves(models[0]) == moves(models[1])
    assert len(moves(models[0])) > 3
    assert same_records(*models)
