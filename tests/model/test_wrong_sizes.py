"""Runs in which tasks announce a wrong CPU demand, or tasks of a job differ: what changes, and what must not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import PLAIN, breakdown_sum_ns, busy, finished, mostly_slow, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.gym import PlacementEnv
from cluster_abm.policies import Policy
from cluster_abm.study.lower_bound import lower_bound

WRONG = {"workload__announced_error": 3.0}
EACH = {"workload__task_cpu": "each", "workload__tasks__widths": {"1": 1.0, "4": 1.0}}
# Policies that read no CPU demand and no work ahead, and policies that do.
BLIND = (
    "none", "jsq", "random", "power-of-d", "central-queue", "jiq", "batch-sampling", "work-stealing", "pooled", "easy",
)  # fmt: skip
SIGHTED = ("lwl", "hawk", "sita-e", "clb", "iolb", "wal-pm", "iolb-pm")


def small(policy: str, **more) -> dict:
    return busy(policy__name=policy, workload__duration_s=6.0, **more)


@pytest.mark.parametrize("policy", mostly_slow(BLIND, ("jsq", "none")))
def test_a_policy_that_reads_no_cpu_demand_does_the_same_whatever_is_announced(policy):
    exact, wrong = finished(**small(policy)), finished(**small(policy, **WRONG))
    assert same_records(exact, wrong)
    # Service, slowdowns and what was measured are true.
    assert exact.nodes_frame().equals(wrong.nodes_frame())
    assert exact.summary() == wrong.summary()


@pytest.mark.slow
@pytest.mark.parametrize("policy", SIGHTED)
def test_a_policy_that_reads_cpu_demands_decides_otherwise(policy):
    exact, wrong = finished(**small(policy)), finished(**small(policy, **WRONG))
    assert not same_records(exact, wrong)
    # The same work all the same.
    for model in exact, wrong:
        records = model.engine.sorted_records()
        assert np.array_equal(np.sort(records["task"]), np.arange(model.engine.total_tasks))


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["lwl", "hawk", "eagle", "iolb", "wal-pm", "sita-e", "tetris", "contract-net"])
@pytest.mark.parametrize("more", [WRONG, EACH, WRONG | EACH], ids=["wrong", "each", "both"])
def test_both_forms_of_a_policy_see_the_same(policy, more):
    """Compiled and in Python; beside it the truth that is kept of each decision."""
    setup = scenario(**small(policy, **more))
    models = [ClusterModel(setup, seed=3, compile_decisions=compiles, record=True) for compiles in (True, False)]
    for model in models:
        model.run()
    assert same_records(*models)
    assert models[0].decisions_frame().equals(models[1].decisions_frame())
    truths = [model.parts.log.truths() for model in models]
    assert np.array_equal(*truths, equal_nan=True)


class Sees(Policy):
    """Notes what it sees of each task, and keeps it at home."""

    name = "sees"
    source = "this test"
    summary = "notes what it sees"
    seen: dict = {}  # noqa: RUF012

    def place(self, task, view):
        one = {candidate.task: candidate.cpu_ms + candidate.age_ms for candidate in view.candidates}
        self.seen[task.task] = (task.cpu_ms, float(view.loads["cpu_ms"][view.me]), one)
        return super().place(task, view)


def test_a_view_shows_what_is_announced_of_arriving_and_of_running_tasks():
    Sees.seen = {}
    setup = scenario(
        cluster__nodes=1, workload__jobs=40, workload__duration_s=3.0, workload__cpu_ms__mean=150.0, run__until=4000.0,
        **PLAIN, **WRONG,
    )  # fmt: skip
    model = ClusterModel(setup, seed=2, policy=Sees, compile_decisions=False)
    model.run()
    announced, truth = model.parts.work.announced_ms, model.parts.work.demands["cpu_ms"]
    waited = 0
    for task, (cpu_ms, ahead_ms, candidates) in Sees.seen.items():
        assert cpu_ms == announced[task]
        for number, whole_ms in candidates.items():
            # What it has left and what it has had; where it has had all that it announced, that is its age.
            assert whole_ms == pytest.approx(max(announced[number], whole_ms), rel=1e-6)
            assert whole_ms <= max(announced[number], truth[number]) * (1.0 + 1e-6)
            waited += 1
        assert ahead_ms <= sum(announced[number] for number in candidates) * (1.0 + 1e-9)
    assert waited > 20
    assert not np.allclose(announced, truth)


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
def test_a_recording_keeps_the_truth_beside_what_was_seen(compiles):
    """Where all is known, belief and truth of the work ahead are one, unless announcements are wrong; numbers of tasks
    are known in any case."""
    for error in 1.0, 3.0:
        setup = scenario(**small("clb", workload__announced_error=error, negotiation__mode="papers"))
        model = ClusterModel(setup, seed=3, record=True, compile_decisions=compiles)
        model.run()
        seen, true = model.decisions_frame(), model.recording().tables["decisions"].to_pandas()
        moves = (seen["source"] != seen["target"]) & (seen["index"] == "cpu_ms")
        assert moves.sum() > 5
        assert (true["true_there_index"] == true["true_there_cpu_ms"])[moves].all()
        assert (seen["load_there"] == true["true_there_cpu_ms"])[moves].all() == (error == 1.0)


def test_the_observation_of_a_learner_is_of_the_announced_demand():
    """The first task arrives at idle nodes: what is seen differs by its own demand alone."""
    seen = []
    for error in 1.0, 1.0, 3.0:
        env = PlacementEnv(scenario(**small("jsq", workload__announced_error=error)), seed=1)
        seen.append(env.reset(seed=1)[0])
    assert np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], seen[2])


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    policy=st.sampled_from(["none", "jsq", "lwl", "hawk", "eagle", "batch-sampling", "wal-pm", "pooled"]),
    width=st.integers(1, 6), barrier_ms=st.sampled_from([0.0, 7.3, 40.0]), speed=st.sampled_from([0.7, 1.0, 3.0]),
    error=st.sampled_from([1.0, 2.0, 50.0]), law=st.sampled_from(["exponential", "pareto", "uniform"]),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_work_is_conserved(policy, width, barrier_ms, speed, error, law, seed):
    """Each task gets its own demand of CPU, and its wall time adds up; a job meets at as many barriers as its mean has,
    and no run is faster than the bound."""
    setup = scenario(
        cluster__nodes=4, cluster__cpu_speed=speed, workload__jobs=40, workload__duration_s=3.0, policy__name=policy,
        workload__cpu_ms={"kind": law, "mean": 60.0} | ({"shape": 1.5} if law == "pareto" else {}),
        workload__tasks__widths={"1": 1.0, str(width): 2.0}, workload__tasks__barrier_ms=barrier_ms,
        workload__task_cpu="each", workload__announced_error=error,
    )  # fmt: skip
    model = ClusterModel(setup, seed=seed)
    model.run()
    records, work = model.engine.sorted_records(), model.parts.work
    demands = work.jobs["cpu_ms"] if work.demands is None else work.demands["cpu_ms"]
    assert sorted(records["task"].tolist()) == list(range(len(demands)))
    given_ns = demands[records["task"]] * NS_PER_MS / speed
    # Rounded to whole ns, of each part up to a barrier; on a pool by the speed of its CPUs.
    assert np.abs(records["cpu_ns"] - given_ns).max() <= 1.0
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])
    isolated_ns = sum(records[f"isolated_{part}_ns"] for part in ("cpu", "io", "paging", "barrier"))
    assert (isolated_ns >= records["isolated_cpu_ns"]).all()
    bound = lower_bound(setup, seed)
    assert bound is not None
    assert model.summary()["metrics"]["mean_response_ms"] >= bound.mean_response_ms * (1.0 - 1e-9)
