"""Nodes and links that fail: schedules worked by hand, and what must hold whatever fails when."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import breakdown_sum_ns, busy, finished, same_records, scenario
from test_invariants import scenarios

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import FINISHED, FREE
from cluster_abm.errors import InputError
from cluster_abm.model.failing.outages import ups_and_downs
from cluster_abm.policies import Decision
from cluster_abm.scenario.failures import Outages


def two_nodes(tmp_path, jobs, events, nodes=2, **more):
    """Jobs (arrival_ms, home, cpu_ms[, columns]) on nodes without switches; `events`: (node, at_s, for_s)."""
    trace = tmp_path / "jobs.csv"
    rows = [",".join(str(value) for value in job) for job in jobs]
    trace.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks,initial_data_mb\n" + "\n".join(rows) + "\n")
    settings = {
        "cluster__nodes": nodes,
        "cluster__context_switch_ms": 0.0,
        "workload__kind": "trace",
        "workload__trace__file": str(trace),
        "policy__name": "none",
        "negotiation__mode": "papers",
        "failures__event": [
            {"node": node, "at_s": at_s} | ({} if for_s is None else {"for_s": for_s}) for node, at_s, for_s in events
        ],
    }
    return ClusterModel(scenario(**(settings | more)), seed=1)


def row(model, task=0):
    frame = model.jobs_frame()
    return frame[frame["task"] == task].iloc[0]


LONG = (0, 0, 10_000, 0, 8, 1, 0)


def test_from_scratch_everything_is_computed_again_elsewhere(tmp_path):
    """10 s of CPU from 0; node 0 fails at 4 s; the start elsewhere costs e = 100 ms: 4 + 0.1 + 10 s."""
    model = two_nodes(tmp_path, [LONG], [(0, 4.0, None)])
    model.run()
    task = row(model)
    assert task["finish_ms"] == 14_100
    assert (task["cpu_ms"], task["lost_cpu_ms"], task["migration_ms"], task["node"]) == (14_000, 4_000, 100, 1)
    assert (task["restarts"], task["remote"], task["outcome"]) == (1, True, "finished")
    assert task["slowdown"] == pytest.approx(1.41)
    # Time per CPU is per CPU that was of use.
    assert task["slowdown_cpu"] == pytest.approx(1.41)
    metrics = model.summary()["metrics"]
    assert (metrics["node_failures"], metrics["restarts"], metrics["lost_cpu_ms"]) == (1, 1, 4_000)


def test_an_image_under_way_to_a_node_that_fails_too_wakes_no_task_there(tmp_path):
    """Node 0 fails at 4 s. Node 1, which stands in for it and is busy, sends the checkpoint to node 2 in 6.4 s; at 5 s
    both fail, until 25 s. At 12 s no task is on any node, and the first goes on after 25 s, with 7 s of CPU."""
    model = two_nodes(
        tmp_path, [LONG, (0, 1, 10_000, 0, 8, 1, 0)], [(0, 4.0, None), (1, 5.0, 20.0), (2, 5.0, 20.0)], nodes=3,
        failures__on_failure="checkpoint", failures__checkpoint_period_ms=3000.0, interconnect__mode="contended",
        interconnect__bandwidth_mbps=10.0,
    )  # fmt: skip
    model.run(until_ms=12_000.0)
    assert not model.parts.availability.any_up
    assert model.engine.nodes["tasks"].tolist() == [0, 0, 0]
    model.run()
    assert row(model)["finish_ms"] >= 25_000 + 7_000
    assert row(model)["restarts"] == 2


def test_from_a_checkpoint_it_goes_on_where_that_was_taken(tmp_path):
    """Checkpoints at 3 s, ...; fails at 4 s: 1 s is lost. 8 MB at 128 MB/s and f: 62.5 + 100 ms; then 7 s."""
    model = two_nodes(
        tmp_path, [LONG], [(0, 4.0, None)], failures__on_failure="checkpoint", failures__checkpoint_period_ms=3000.0
    )
    model.run()
    task = row(model)
    assert task["finish_ms"] == pytest.approx(4_000 + 162.5 + 7_000)
    assert (task["cpu_ms"], task["lost_cpu_ms"]) == (11_000, 1_000)


def test_while_no_node_is_up_no_checkpoint_is_taken(tmp_path):
    """Checkpoint at 5 s; the only node is out from 7 to 17 s: then f = 100 ms, and the 5 s that were not saved."""
    model = two_nodes(
        tmp_path, [LONG], [(0, 7.0, 10.0)], nodes=1,
        failures__on_failure="checkpoint", failures__checkpoint_period_ms=5000.0,
    )  # fmt: skip
    model.run()
    task = row(model)
    assert (task["finish_ms"], task["lost_cpu_ms"]) == (17_000 + 100 + 5_000, 2_000)


def test_lost_jobs_are_counted_and_nobody_elses(tmp_path):
    """A job of two tasks, of which one is on the node that fails, is lost as a whole; the others finish."""
    jobs = [(0, 0, 10_000, 0, 8, 2, 0), (0, 1, 3_000, 0, 8, 1, 0), (5_000, 0, 1_000, 0, 8, 1, 0)]
    model = two_nodes(tmp_path, jobs, [(0, 4.0, None)], failures__on_failure="lost", policy__name="round-robin")
    model.run()
    counts = model.summary()["jobs"]
    assert (counts["lost"], counts["finished"], counts["submitted"]) == (1, 2, 3)
    frame = model.jobs_frame()
    assert frame["outcome"].tolist().count("lost") == 2
    assert (frame[frame["outcome"] == "lost"]["finish_ms"] == 4_000).all()
    assert frame[frame["outcome"] == "lost"]["slowdown"].isna().all()
    # The job submitted at the node that is out was taken in by the next one that is up.
    assert row(model, 3)["node"] == 1
    assert row(model, 3)["outcome"] == "finished"


def test_a_transfer_whose_target_fails_leaves_the_task_where_it_was(tmp_path):
    """A remote start of 100 ms + 1 MB x (1/128 + 2/40) s = 157.8 ms; its target fails at 100 ms: it starts at home."""
    job = (5, 0, 1_000, 0, 8, 1, 1)
    model = two_nodes(tmp_path, [job], [(1, 0.1, None)], policy__name="jsq")
    model.policy.place = lambda arriving, view: Decision(1, "test")
    model.run()
    task = row(model)
    assert (task["node"], task["finish_ms"], task["migration_ms"]) == (0, 1_100, 95)
    assert (task["remote"], task["restarts"], task["lost_cpu_ms"]) == (False, 0, 0)
    assert model.summary()["metrics"]["remote_executions"] == 0


@pytest.mark.parametrize("fails", [0, 1])
def test_a_migration_whose_source_or_target_fails(fails, tmp_path):
    """A task of 1 s migrates at 0.5 s, which takes 162.5 ms; at 0.6 s an end fails.

    The target: it goes on at the source at once. The source: it starts again at the target, which is up.
    """
    model = two_nodes(tmp_path, [(0, 0, 1_000, 0, 8, 1, 0)], [(fails, 0.6, None)])
    while model.now_ms < 500:
        model.step()
    slot = model.engine.slot_of(0, 0)
    model.parts.departures.migrations += 1
    model.engine.migrate(slot, 1, 162_500_000, model.now_ns)
    model.run()
    task = row(model)
    if fails == 1:
        assert (task["finish_ms"], task["node"], task["migrations"]) == (1_100, 0, 0)
        assert (task["lost_cpu_ms"], task["migration_ms"]) == (0, 100)
        assert model.summary()["metrics"]["migrations"] == 0
    else:
        assert (task["finish_ms"], task["node"], task["lost_cpu_ms"]) == (600 + 100 + 1_000, 1, 500)
        assert task["migration_ms"] == 100 + 100


def test_while_no_node_is_up_jobs_are_blocked_and_go_on_when_one_is(tmp_path):
    """The only node is out from 1 to 5 s: what has begun starts again then, what is submitted meanwhile too."""
    jobs = [(0, 0, 2_000, 0, 8, 1, 0), (2_000, 0, 1_000, 0, 8, 1, 0)]
    model = two_nodes(tmp_path, jobs, [(0, 1.0, 4.0)], nodes=1)
    while model.now_ms < 3_000:
        model.step()
    assert model.summary()["jobs"] == {
        "submitted": 2, "finished": 0, "killed": 0, "lost": 0, "blocked": 2, "running": 0,
    }  # fmt: skip
    model.run()
    first, second = row(model, 0), row(model, 1)
    assert first["blocked_ms"] == 4_000
    assert second["blocked_ms"] == 3_000
    # The first comes 0.1 s later (e), has lost a second's work, and ends when all 3 s are done; they share in between,
    # and the second has its other 0.9 s within a quantum of 5.1 + 1.8 s.
    assert (first["finish_ms"], first["lost_cpu_ms"]) == (8_000, 1_000)
    assert 6_890 <= second["finish_ms"] <= 6_900


def test_a_run_without_hope_ends_and_says_so(tmp_path):
    model = two_nodes(tmp_path, [LONG, (6_000, 1, 1_000, 0, 8, 1, 0)], [(0, 4.0, None), (1, 5.0, None)])
    model.run()
    # With the slice in which the last node failed.
    assert model.now_ms == 5_010
    counts = model.summary()["jobs"]
    assert (counts["submitted"], counts["blocked"], counts["running"]) == (1, 1, 0)


def test_barriers_that_were_passed_are_passed_again_unhindered(tmp_path):
    """Two tasks of 300 ms meet every 100 ms, alone on their nodes; one's node fails at 150 ms.

    Both come to the first barrier at 100 ms, which opens at 110 ms, and the other one to its second at 210 ms. The one
    that failed has lost 140 ms. It computes its first 200 ms in one go, comes to the second barrier at 350 ms, which
    opens at 360 ms, and both compute their last 100 ms.
    """
    model = two_nodes(
        tmp_path, [(0, 0, 300, 0, 8, 2, 0)], [(1, 0.15, None)], nodes=3, workload__tasks__barrier_ms=100.0,
        policy__name="round-robin", negotiation__remote_execution_ms=0.0,
    )  # fmt: skip
    model.run()
    frame = model.jobs_frame()
    assert frame["finish_ms"].tolist() == [460, 460]
    assert frame["lost_cpu_ms"].tolist() == [0, 140]
    assert frame["barrier_ms"].tolist() == [10 + 150, 10 + 10]
    assert (frame["dedicated_ms"] == 320).all()


def slow_devices(draw):
    """Devices that are slow: by schedule or at random, of a node or of all."""
    times = [
        {"at_s": draw(st.sampled_from([0.0, 0.05, 0.4]))},
        {"at_s": draw(st.sampled_from([0.013, 0.2])), "for_s": draw(st.sampled_from([0.05, 1.0]))},
        {"kind": "exponential", "mean_up_s": 0.2, "mean_down_s": draw(st.sampled_from([0.03, 0.5]))},
        {"kind": "weibull", "mean_up_s": 0.3, "mean_down_s": 0.1, "repair": "fixed"},
    ]
    cause = st.fixed_dictionaries(
        {"device": st.sampled_from(["cpu", "disk", "link"]), "factor": st.sampled_from([0.2, 1 / 3, 0.9])},
        optional={"nodes": st.just([0])},
    )
    return [one | draw(st.sampled_from(times)) for one in draw(st.lists(cause, max_size=3))]


def failing(draw):
    """Failures of any kind: by schedule and at random, of nodes often and for short; and devices that are slow."""
    event = st.fixed_dictionaries(
        {"at_s": st.sampled_from([0.0, 0.013, 0.2, 0.5, 1.0, 3.0]), "node": st.just(0)},
        optional={"for_s": st.sampled_from([0.05, 0.4, 5.0])},
    )
    return {
        "failures__event": draw(st.lists(event, max_size=3)),
        "failures__link": {
            "kind": draw(st.sampled_from(["none", "none", "exponential"])),
            "mean_up_s": draw(st.sampled_from([0.2, 3.0])),
            "mean_down_s": 0.2,
        },
        "failures__node": {
            "kind": draw(st.sampled_from(["none", "exponential", "weibull"])),
            "mean_up_s": draw(st.sampled_from([0.3, 2.0])),
            "mean_down_s": draw(st.sampled_from([0.05, 0.5])),
            "repair": draw(st.sampled_from(["exponential", "fixed"])),
        },
        "failures__on_failure": draw(st.sampled_from(["restart", "checkpoint", "lost"])),
        "failures__checkpoint_period_ms": draw(st.sampled_from([30.0, 400.0])),
        "negotiation__timeout_ms": draw(st.sampled_from([0.0, 40.0])),
        "interconnect__loss_share": draw(st.sampled_from([0.0, 0.0, 0.3])),
        "interconnect__mode": draw(st.sampled_from(["delay", "contended"])),
        "interconnect__kind": draw(st.sampled_from(["complete", "bus", "star", "torus", "tree"])),
        "interconnect__bandwidth_mbps": draw(st.sampled_from([10.0, 1024.0])),
        "interconnect__latency_ms": draw(st.sampled_from([0.0, 0.2, 40.0])),
        "data__files": draw(st.sampled_from([0, 0, 6])),
        "data__size_mb__mean": 0.1,
    }


@st.composite
def failing_scenarios(draw):
    overrides = draw(scenarios().filter(lambda chosen: chosen["policy__name"] != "pooled"))
    # Small work, so that what is computed again and again ends some time.
    overrides |= {
        "workload__duration_s": 0.5,
        "workload__cpu_ms__kind": "exponential",
        "workload__cpu_ms__mean": draw(st.sampled_from([5.0, 40.0])),
        "run__until": 4_000.0,
    }
    if "workload__utilisation" in overrides:
        overrides["workload__utilisation"] = draw(st.sampled_from([0.05, 0.3]))
    overrides |= failing(draw)
    slow = slow_devices(draw)
    if overrides["interconnect__mode"] != "contended" or overrides["interconnect__kind"] == "bus":
        # No transfers share links that are a node's own.
        slow = [cause for cause in slow if cause["device"] != "link"]
    return overrides | {"failures__degrade": slow}


@pytest.mark.slow
@settings(max_examples=12)
@given(failing_scenarios(), st.integers(0, 2**62))
def test_whatever_fails_every_job_ends_in_a_counted_state_and_time_adds_up(overrides, seed):
    check_that_every_job_ends_in_a_counted_state(overrides, seed)


@pytest.mark.slow
@pytest.mark.long
@settings(max_examples=66)
@given(failing_scenarios(), st.integers(0, 2**62))
def test_whatever_fails_every_job_ends_in_a_counted_state_in_many_more_clusters(overrides, seed):
    check_that_every_job_ends_in_a_counted_state(overrides, seed)


def check_that_every_job_ends_in_a_counted_state(overrides, seed):
    model = finished(seed, **overrides)
    jobs, records, nodes = model.jobs, model.engine.sorted_records(), model.engine.nodes
    counts = model.summary()["jobs"]
    assert sum(counts.values()) == 2 * counts["submitted"]
    assert counts["lost"] == 0 or overrides["failures__on_failure"] == "lost"
    # No task is in two places: ended tasks and live ones are all there are.
    live = model.engine.tasks[~np.isin(model.engine.tasks["state"], [FREE, 5])]
    everybody = np.concatenate([records["task"], live["task"]])
    assert len(np.unique(everybody)) == len(everybody)
    submitted = set(model.parts.submissions.schedule.taken(0, counts["submitted"]))
    started = sorted(submitted - model.held_jobs)
    waiting = sum(task.job not in model.held_jobs for task in model.conversation.waiting.all())
    background = len(overrides.get("workload__background", ()))
    assert len(everybody) == jobs["tasks"][started].sum() - waiting + background
    # Time adds up, and CPU is the demand and what was lost.
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])
    done = records[records["outcome"] == FINISHED]
    speeds = nodes["speed"] / nodes["cpu_factor"]
    demand_ns = jobs["cpu_ms"][done["job"]] * 1e6
    useful = done["cpu_ns"] - done["lost_cpu_ns"]
    slack = 2 + 2 * done["migrations"] + 2 * done["restarts"]
    slow = [cause["factor"] for cause in overrides["failures__degrade"] if cause["device"] == "cpu"]
    if speeds.min() == speeds.max() and not slow:
        wanted = np.array([max(1, math.floor(ns / speeds[0] + 0.5)) for ns in demand_ns])
        assert np.array_equal(useful, wanted)
    assert (done["cpu_ns"] + slack >= demand_ns / speeds.max()).all()
    if not slow:
        # A task that sets out is rounded to a nanosecond of its target, which is more of them on a slower node.
        assert (useful <= demand_ns / speeds.min() + slack * speeds.max() / speeds.min()).all()
    received = records["cpu_ns"].sum() + live["cpu_ns"].sum()
    assert nodes["cpu_busy_ns"].sum() == received
    # Nothing is on a node that is out but what waits for another one.
    down = ~model.parts.availability.up
    assert not nodes["tasks"][down].any()
    assert not nodes["demand_kb"][down].any()
    assert (nodes["running"][down] == 0).all()
    # Background programs go on for ever.
    if not len(live):
        for name in ("demand_kb", "stream", "tasks", "in_transit", "transit_kb", "allocated_kb_per_s", "accesses"):
            assert not nodes[name].any(), name


@pytest.mark.slow
@settings(max_examples=12)
@given(failing_scenarios(), st.integers(0, 2**62))
def test_failures_are_the_same_however_many_slices_a_call_advances(overrides, seed):
    overrides |= {"run__until": 4_000.0}
    ran = finished(seed, **overrides)
    stepped = ClusterModel(scenario(**overrides), seed=seed)
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()
    assert ran.decisions_frame().equals(stepped.decisions_frame())


@pytest.mark.slow
def test_failures_do_not_depend_on_the_policy():
    settings = busy(failures__node={"kind": "weibull", "mean_up_s": 2.0, "mean_down_s": 0.4}, run__until=20_000.0)
    down = []
    for policy in ("none", "jsq", "wal-pm"):
        model = ClusterModel(scenario(**(settings | {"policy__name": policy})), seed=4)
        seen = []
        while model.running:
            model.step()
            seen.append(model.parts.availability.up.tolist())
        down.append(seen)
    assert down[0] == down[1] == down[2]
    assert any(not all(state) for state in down[0])


@pytest.mark.parametrize(("kind", "shape"), [("exponential", 0.7), ("weibull", 0.7), ("weibull", 3.0)])
def test_times_up_and_down_have_their_means(kind, shape):
    """The mean of 20,000 draws is within five standard errors; a Weibull's variation by its formula."""
    outages = Outages(kind=kind, shape=shape, mean_up_s=50.0, mean_down_s=3.0)
    drawn = ups_and_downs(outages, np.random.default_rng(3))
    pairs = [(next(drawn), next(drawn)) for _ in range(20_000)]
    ups, downs = (np.array([pair[place][0] for pair in pairs]) for place in (0, 1))
    assert all(up[1] and not down[1] for up, down in pairs)
    k = 1.0 if kind == "exponential" else shape
    variation = math.sqrt(math.gamma(1 + 2 / k) / math.gamma(1 + 1 / k) ** 2 - 1)
    assert abs(ups.mean() - 50.0) < 5 * 50.0 * variation / math.sqrt(20_000)
    assert ups.std() / ups.mean() == pytest.approx(variation, rel=0.08)
    assert abs(downs.mean() - 3.0) < 5 * 3.0 / math.sqrt(20_000)


def test_an_unanswered_offer_costs_the_timeout_until_the_silence_is_believed():
    """Node 3 fails right after its first report; all are sent there. After three missed reports no node asks it."""
    model = ClusterModel(
        scenario(**busy(
            policy__name="jsq", negotiation__timeout_ms=70.0, negotiation__offers=1, workload__duration_s=10.0,
            failures__event=[{"node": 3, "at_s": 0.5}],
        )), seed=1,
    )  # fmt: skip
    model.policy.place = lambda arriving, view: Decision(view.me if 3 in view.refused else 3, "test")
    model.run()
    frame = model.decisions_frame()
    unanswered = frame[(frame["target"] == 3) & (frame["reason"] == "no answer") & (frame["time_ms"] > 500)]
    # Its last report is of time 0: it is missed for good once three periods have gone by.
    assert len(unanswered) > 3
    assert unanswered["time_ms"].max() <= 3_000
    tasks = model.jobs_frame().set_index("task").loc[unanswered["task"]]
    assert (tasks["migration_ms"] >= 70.0).all()
    assert (frame[frame["time_ms"] > 3_000]["target"] != 3).all()


def test_bad_failures_are_refused():
    with pytest.raises(InputError, match=r"node 7: must be below cluster.nodes 4"):
        scenario(failures__event=[{"node": 7, "at_s": 1.0}])
    with pytest.raises(InputError, match="give exactly one of them"):
        scenario(failures__event=[{"at_s": 1.0}])
    with pytest.raises(InputError, match="none of them can fail"):
        finished(policy__name="pooled", failures__event=[{"node": 1, "at_s": 1.0}])


STAR = {"interconnect__kind": "star", "policy__name": "jsq"}


def cut(tmp_path, link, at_s, for_s=None, **more):
    """A job of 1 s that starts on node 1 of three, a transfer of 157.8 ms; the link is out from `at_s` on."""
    model = two_nodes(tmp_path, [(5, 0, 1_000, 0, 8, 1, 1)], [], nodes=3, **(STAR | more))
    model = ClusterModel(
        model.setup, seed=1,
        failures__event=[{"link": link, "at_s": at_s} | ({} if for_s is None else {"for_s": for_s})],
    )  # fmt: skip
    model.policy.place = lambda arriving, view: Decision(1 if 1 not in view.refused else view.me, "test")
    return model


@pytest.mark.parametrize("link", [[0, "switch"], ["switch", 1]])
@pytest.mark.parametrize("mode", ["delay", "contended"])
def test_a_transfer_whose_link_fails_leaves_the_task_where_it_was(link, mode, tmp_path):
    model = cut(tmp_path, link, 0.1, interconnect__mode=mode)
    model.run()
    task = row(model)
    assert (task["node"], task["finish_ms"], task["migration_ms"]) == (0, 1_100, 95)
    assert model.summary()["metrics"]["link_failures"] == 1
    assert model.summary()["metrics"]["node_failures"] == 0


def test_a_transfer_that_does_not_use_the_link_goes_on(tmp_path):
    model = cut(tmp_path, [2, "switch"], 0.1)
    model.run()
    task = row(model)
    assert (task["node"], task["remote"]) == (1, True)
    assert task["migration_ms"] == pytest.approx(100 + 1000 / 128 + 50)


@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_who_is_cut_off_is_not_chosen(mode, tmp_path):
    """The link is out before the job comes: a load manager sees that no way leads there."""
    model = cut(tmp_path, [1, "switch"], 0.0, negotiation__mode=mode)
    model.run()
    task = row(model)
    assert (task["node"], task["migration_ms"]) == (0, 0)


def test_in_a_torus_ways_lead_round_a_node_that_is_out(tmp_path):
    """A ring of five, 0 to 2 by way of 1: two links of 10 ms; with node 1 out three links the other way round."""
    job = (5, 0, 1_000, 0, 8, 1, 0)
    travelled = []
    for out in ([], [(1, 0.0, None)]):
        model = two_nodes(
            tmp_path, [job], out, nodes=5, interconnect__kind="torus", interconnect__dimensions=(5,),
            interconnect__latency_ms=10.0, policy__name="jsq",
        )  # fmt: skip
        model.policy.place = lambda arriving, view: Decision(2, "test")
        model.run()
        travelled.append(row(model)["migration_ms"])
    # Going there, with e = 100 ms.
    assert travelled == [pytest.approx(100 + 20), pytest.approx(100 + 30)]


def test_a_link_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"failures.event.link = \[0, 1\]: the interconnect has no such link"):
        cut(tmp_path, [0, 1], 1.0)


def test_background_programs_go_on_with_their_node(tmp_path):
    """A program takes half of each second on node 0, which is out from 2 s to 5 s: of ten seconds it has seven."""
    model = two_nodes(
        tmp_path, [(9_000, 1, 1_000, 0, 8, 1, 0)], [(0, 2.0, 3.0)],
        workload__background=[{"node": 0, "cpu_share": 0.5, "memory_mb": 1.0}],
    )  # fmt: skip
    model.run()
    assert model.now_ms == pytest.approx(10_000, abs=10)
    assert model.busy_ns()[0][0] == pytest.approx(7 * 500_000_000, abs=500_000_001)
    assert model.summary()["jobs"]["finished"] == 1


MIDDLE = ("p", "q", "r")


def side_by_side(folder):
    """Nodes 0 and 1, joined by way of p, of q, and of r: the document of a graph file."""
    vertices = [{"id": "0"}, {"id": "1"}, *({"id": name, "kind": "switch"} for name in MIDDLE)]
    links = [{"source": end, "target": name, "bandwidth_mbps": 1024.0} for name in MIDDLE for end in ("0", "1")]
    path = folder / "graph.json"
    path.write_text(json.dumps({"directed": False, "multigraph": False, "nodes": vertices, "links": links}))
    return path


@pytest.mark.parametrize("mode", ["delay", "contended"])
@pytest.mark.parametrize("cuts_its_way", [False, True])
def test_a_transfer_keeps_the_way_by_which_it_set_out(mode, cuts_its_way, tmp_path):
    """Equal ways: the one taken after a failure elsewhere is another one, but not for those that are under way.

    As above: a transfer of 157.8 ms from 5 ms on. A way that it does not take is cut at 50 ms, another one at 100 ms.
    """
    model = two_nodes(
        tmp_path, [(5, 0, 1_000, 0, 8, 1, 1)], [], interconnect__kind="file", policy__name="jsq",
        interconnect__file=str(side_by_side(tmp_path)), interconnect__mode=mode,
    )  # fmt: skip
    (taken,) = {model.network.link_ends[link][1] for link in model.network.links_between(0, 1)} & set(MIDDLE)
    one, other = (name for name in MIDDLE if name != taken)
    then = taken if cuts_its_way else other
    events = [{"link": ["0", one], "at_s": 0.05}, {"link": ["0", then], "at_s": 0.1}]
    events = [{"link": [0, event["link"][1]], "at_s": event["at_s"]} for event in events]
    model = ClusterModel(model.setup, seed=1, failures__event=events)
    model.policy.place = lambda arriving, view: Decision(1, "test")
    model.run()
    task = row(model)
    assert (task["node"], task["migration_ms"]) == (
        (0, 95) if cuts_its_way else (1, pytest.approx(100 + 1000 / 128 + 50))
    )


def test_what_a_dead_node_reported_last_keeps_nobody_from_being_overloaded(tmp_path):
    """Node 3 fails with 997 s of work, the largest load ever reported; then 60 jobs of 1 s come to node 0."""
    jobs = [(0, 3, 1_000_000, 0, 8, 1, 0)] + [(10_000 + 10 * k, 0, 1_000, 0, 8, 1, 0) for k in range(60)]
    model = two_nodes(
        tmp_path, jobs, [(3, 3.0, None)], nodes=4, policy__name="clb", negotiation__mode="negotiated",
        negotiation__remote_execution_ms=1.0, failures__on_failure="lost",
    )  # fmt: skip
    model.run()
    frame = model.jobs_frame()
    # Three nodes share them; not quite evenly, since reports come once a second.
    assert frame["remote"].sum() > 20
    assert set(frame[frame["remote"]]["node"]) == {1, 2}


def ring(**more):
    """Eight nodes in a ring, 30 ms a hop: with one link cut, what took one hop takes seven."""
    return scenario(
        cluster__nodes=8, interconnect__kind="torus", interconnect__dimensions=(8,), interconnect__latency_ms=30.0,
        workload__duration_s=15.0, workload__cpu_ms__mean=500.0, workload__utilisation=0.6, policy__name="jsq",
        failures__event=[{"link": [0, 7], "at_s": 3.0}], **more,
    )  # fmt: skip


@pytest.mark.slow
def test_reports_that_go_a_long_way_round_arrive_whoever_looks_when():
    ran = ClusterModel(ring(), seed=1)
    ran.run()
    stepped, watched = ClusterModel(ring(), seed=1), ClusterModel(ring(), seed=1)
    while stepped.running:
        stepped.step()
        watched.step()
        for manager in watched.load_managers:
            manager.known_loads()
        if stepped.now_ms == 9_000:
            # From node 7 to 0 by way of all others in 210 ms: the report of 8 s is there.
            reports = stepped.parts.reports
            reports.receive()
            assert (reports.known.reported_ns[0, 1:] == 8_000_000_000).all()
    assert same_records(ran, stepped)
    assert same_records(ran, watched)
    assert ran.decisions_frame().equals(stepped.decisions_frame())
