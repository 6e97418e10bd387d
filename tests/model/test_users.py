"""Users who submit one job after another, and think in between."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import finished, needed_by, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.policies import available
from cluster_abm.workload import jobs_per_second

POLICIES = sorted(available())


def users(**overrides):
    return {
        "cluster__nodes": 2, "cluster__context_switch_ms": 0.0, "workload__arrivals__kind": "closed",
        "workload__arrivals__jobs_per_user": 2, "workload__arrivals__think_s": {"kind": "fixed", "mean": 2.0},
        "workload__cpu_ms__kind": "fixed", "workload__cpu_ms__mean": 1495.0, "policy__name": "none",
    } | overrides  # fmt: skip


def timeline(model):
    """(home, arrival, end) of each job in the order of the table [ms]."""
    frame = model.jobs_frame().sort_values("job")
    return list(zip(frame["home"], frame["arrival_ms"], frame["finish_ms"], strict=True))


def test_a_timeline_by_hand():
    model = finished(1, **users())
    assert timeline(model) == [(0, 0, 1495), (0, 3495, 4990), (1, 1000, 2495), (1, 4495, 5990)]
    assert model.summary()["metrics"]["makespan_spread_ms"] == 1000
    assert model.summary()["metrics"]["mean_response_ms"] == 1495


def test_several_users_of_a_node_share_it():
    """User 2 begins at node 0 at 2 s; the second jobs of users 0 and 2 are alone there: 3495 and 5495 ms."""
    model = finished(1, **users(workload__arrivals__users_per_node=2))
    assert [home for home, _, _ in timeline(model)] == [0, 0, 1, 1, 0, 0, 1, 1]
    first_of_user_2 = timeline(model)[4]
    # 2000 to 3495 alone, but for the user's neighbour who comes at 3495: end and submission fall together.
    assert first_of_user_2 == (0, 2000, 3495)


def test_an_end_becomes_known_at_the_border_of_its_slice():
    """Without a thought the next job comes at the border after 1493 ms, and in that of a slice that begins with it."""
    hasty = {"workload__arrivals__think_s": {"kind": "fixed", "mean": 0.0}, "cluster__nodes": 1}
    assert timeline(finished(1, **users(**hasty, workload__cpu_ms__mean=1493.0)))[1][1] == 1500
    assert timeline(finished(1, **users(**hasty, workload__cpu_ms__mean=1490.0)))[1][1] == 1500
    thoughtful = hasty | {"workload__arrivals__think_s": {"kind": "fixed", "mean": 0.009}}
    assert timeline(finished(1, **users(**thoughtful, workload__cpu_ms__mean=1493.0)))[1][1] == 1502


def test_who_is_killed_has_ended():
    model = finished(
        1, **users(cluster__memory_mb=10.0, cluster__swap_mb=1.0, cluster__buffer_in_memory=False,
                   workload__memory_mb__kind="fixed", workload__memory_mb__mean=50.0)
    )  # fmt: skip
    assert timeline(model) == [(0, 0, 0), (0, 2000, 2000), (1, 1000, 1000), (1, 3000, 3000)]
    assert model.summary()["jobs"] == {
        "submitted": 4, "finished": 0, "killed": 4, "lost": 0, "blocked": 0, "running": 0
    }  # fmt: skip


def test_a_run_that_is_cut_off_has_submitted_what_it_had():
    model = finished(1, **users(run__until=3000.0))
    assert model.summary()["jobs"]["submitted"] == 2
    assert model.summary()["jobs"]["running"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_thoughts_are_the_same_under_every_policy(policy):
    """Each job comes its think time after the last task of the user's previous one has ended, or at the next border."""
    given = users(
        policy__name=policy, workload__arrivals__users_per_node=3, workload__arrivals__jobs_per_user=4,
        workload__arrivals__think_s={"kind": "exponential", "mean": 0.01}, workload__cpu_ms__kind="exponential",
        workload__cpu_ms__mean=100.0, workload__arrivals__first_gap_s=0.01, workload__io_per_ms__mean=0.05,
        workload__tasks__parallel_share=0.5, workload__tasks__maximum=4, workload__tasks__barrier_ms=30.0,
        **needed_by(policy),
    )  # fmt: skip
    model = finished(4, **given)
    home = finished(4, **given | {"policy__name": "none"})
    for name in ("think_ns", "cpu_ms", "home", "tasks"):
        assert np.array_equal(model.jobs[name], home.jobs[name]), name
    end_ns = np.zeros(len(model.jobs), np.int64)
    np.maximum.at(end_ns, model.engine.records["job"], model.engine.records["finish_ns"])
    waits = np.flatnonzero(np.arange(len(model.jobs)) % 4)
    border_ns = (end_ns[waits - 1] // 10_000_000 + 1) * 10_000_000
    thought_ns = end_ns[waits - 1] + model.jobs["think_ns"][waits]
    assert np.array_equal(model.jobs["arrival_ns"][waits], np.maximum(thought_ns, border_ns))
    assert (thought_ns < border_ns).any()
    assert (thought_ns > border_ns).any()


@pytest.mark.slow
@settings(max_examples=15)
@given(
    st.sampled_from(POLICIES), st.sampled_from(["papers", "negotiated"]), st.integers(0, 2**62), st.integers(1, 4),
    st.sampled_from([0.0, 0.01, 1.0]), st.sampled_from([1.0, 10.0, 250.0]), st.booleans(),
)  # fmt: skip
def test_stepping_and_running_leave_the_same_bytes(policy, mode, seed, nodes, think_s, slice_ms, with_background):
    given = users(
        cluster__nodes=nodes, cluster__slice_ms=slice_ms, policy__name=policy, negotiation__mode=mode,
        **needed_by(policy),
        workload__arrivals__users_per_node=2, workload__arrivals__jobs_per_user=3,
        workload__arrivals__first_gap_s=0.05, workload__arrivals__think_s__mean=think_s,
        workload__cpu_ms__kind="exponential", workload__cpu_ms__mean=80.0, workload__io_per_ms__mean=0.05,
        measure__period_ms=500.0,
    )  # fmt: skip
    if with_background and policy != "pooled":
        given["workload__background"] = [{"node": 0, "cpu_share": 0.4, "period_ms": 70.0, "memory_mb": 300.0}]
    ran = finished(seed, **given)
    stepped = ClusterModel(scenario(**given), seed=seed)
    while stepped.running:
        stepped.step()
    assert ran.summary()["jobs"]["finished"] == nodes * 2 * 3
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()
    assert ran.decisions_frame().equals(stepped.decisions_frame())
    assert ran.nodes_frame().equals(stepped.nodes_frame())


def test_job_agents_come_when_their_user_submits_them():
    model = ClusterModel(scenario(**users()), seed=1)
    seen = []
    while model.running:
        model.step()
        seen += [agent.job for agent in model.agents if type(agent).__name__ == "Job" and agent.job not in seen]
    assert seen == [0, 2, 1, 3]


def test_users_may_be_at_some_nodes_only():
    model = finished(1, **users(cluster__nodes=3, workload__arrivals__user_nodes=[2, 0]))
    assert [(home, arrival) for home, arrival, _ in timeline(model)][::2] == [(2, 0), (0, 1000)]


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match=r"user_nodes: node 2: must be below cluster\.nodes 2"):
        scenario(**users(workload__arrivals__user_nodes=[0, 2]))
    with pytest.raises(InputError, match=r"closed: its jobs come when others have ended"):
        jobs_per_second(scenario(**users()))
    with pytest.raises(InputError, match=r"arrivals\.kind closed takes none.*found workload\.jobs"):
        scenario(**users(workload__jobs=10))
    with pytest.raises(InputError, match=r"allowed are 50,000,000"):
        ClusterModel(scenario(**users(workload__arrivals__jobs_per_user=50_000_000)))
