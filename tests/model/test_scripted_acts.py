"""Acts of a scenario's script: by hand, against the same acts of agents, and of `failures`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import busy, scenario

import cluster_abm as ca
from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.model.agents.job import Job
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.script import NEEDS
from cluster_abm.study.design.policies import default_policies
from cluster_abm.workload import job_table
from cluster_abm.workload.pacing import ArrivalClock

# Every kind of act; some cannot be done.
ALL_ACTS = [
    {"at_s": 0.5, "act": "slow", "node": 0, "device": "disk", "factor": 0.3},
    {"at_s": 0.8, "act": "arrivals", "factor": 1.5},
    {"at_s": 1.0, "act": "fail", "node": 3},
    {"at_s": 1.0, "act": "slow", "node": 2, "device": "cpu", "factor": 0.5},
    {"at_s": 1.2, "act": "drain", "node": 1},
    {"at_s": 1.25, "act": "send", "task": 27, "node": 2},
    {"at_s": 1.3, "act": "kill", "job": 11},
    {"at_s": 1.3, "act": "kill", "job": 10_000},
    {"at_s": 1.7, "act": "recover", "node": 1},
    {"at_s": 1.7, "act": "recover", "node": 0},
    {"at_s": 2.0, "act": "recover", "node": 3},
    {"at_s": 2.1, "act": "arrivals", "factor": 0.5},
]
# One at least of each way to decide: compiled, in Python, holding, talking, migrating, central, with averages.
POLICIES = (
    "none", "random", "round-robin", "jsq", "power-of-d", "iolb", "iolb-pm", "wal-pm", "wal-re", "iocm-pm", "cm-pm",
    "combined", "easy", "batch-system", "jiq", "work-stealing", "hawk", "prequal", "contract-net", "tetris",
    "load-risk", "low-load",
)  # fmt: skip
# Under these task 27 is on node 2 already, waits elsewhere, or is refused there.
NOT_SENT = (
    "jsq",
    "iocm-pm",
    "combined",
    "easy",
    "batch-system",
    "jiq",
    "work-stealing",
    "hawk",
    "load-risk",
    "low-load",
)


def model_of(policy="jsq", script=(), seed=3, until=None, **given):
    keys = busy(policy__name=policy, **({"workload__duration_s": 3.0, "script": list(script)} | given))
    model = ClusterModel(scenario(**keys), seed=seed)
    model.run(until_ms=until)
    return model


def same(first, second):
    """Whether two runs are the same: every table, and the summary without its acts."""
    for name in ("jobs_frame", "nodes_frame", "decisions_frame"):
        if not getattr(first, name)().equals(getattr(second, name)()):
            return False
    return {**first.summary(), "acts": 0} == {**second.summary(), "acts": 0}


def agent_of(model, job):
    return next(agent for agent in model.agents_by_type[Job] if agent.job == job)


def outcomes(model):
    return [(act["act"], act["done"], act["why_not"]) for act in model.summary()["acts"]]


# ---- by hand -----------------------------------------------------------------------------------------------------


def one_job(tmp_path, script, **cluster):
    """A job of 3 s on node 0 of two, at time 0, and nothing that costs time."""
    trace = tmp_path / "jobs.csv"
    trace.write_text("arrival_ms,home,cpu_ms,memory_mb\n0,0,3000,1\n")
    data = {
        "policy": {"name": "none"},
        "cluster": {"nodes": 2, "context_switch_ms": 0.0, "page_fault_rate_per_ms": 0.0, **cluster},
        "workload": {"kind": "trace", "trace": {"file": str(trace)}}, "script": script,
        "negotiation": {"mode": "papers", "remote_execution_ms": 0.0},
    }  # fmt: skip
    model = ClusterModel(scenario_from(data, "one"), seed=1)
    model.run()
    return model


def end_s(model):
    return (model.engine.records["finish_ns"] / 1e9).tolist()


def test_a_slow_cpu_until_the_node_recovers(tmp_path):
    """1 s at full speed, then 2 s at a quarter give half a second: the other 1.5 s end at 4.5 s."""
    slow = {"at_s": 1.0, "act": "slow", "node": 0, "device": "cpu", "factor": 0.25}
    model = one_job(tmp_path, [slow, {"at_s": 3.0, "act": "recover", "node": 0}])
    assert end_s(model) == [4.5]
    assert model.engine.nodes["speed"].tolist() == [1.0, 1.0]


def test_a_second_factor_replaces_the_first(tmp_path):
    """1 s, then 1 s at a half, then a tenth: what is left, 1.5 s, lasts 15 s."""
    slow = {"act": "slow", "node": 0, "device": "cpu"}
    assert end_s(one_job(tmp_path, [slow | {"at_s": 1.0, "factor": 0.5}, slow | {"at_s": 2.0, "factor": 0.1}])) == [17]


def test_the_task_of_a_failed_node_starts_again_elsewhere(tmp_path):
    """It has had 1 s of CPU, which is lost; it starts from scratch on node 1 at 1 s."""
    model = one_job(tmp_path, [{"at_s": 1.0, "act": "fail", "node": 0}])
    assert model.engine.records["node"].tolist() == [1]
    assert model.summary()["metrics"]["lost_cpu_ms"] == 1000.0
    assert 4.0 <= end_s(model)[0] <= 4.2


def test_an_act_comes_at_the_first_boundary_that_is_not_before_its_time(tmp_path):
    """At 1.002 s is too late for the boundary at 1.000: it comes at 1.010. 1.01 s, and 1.99 at a half."""
    slow = {"at_s": 1.002, "act": "slow", "node": 0, "device": "cpu", "factor": 0.5}
    assert end_s(one_job(tmp_path, [slow])) == [pytest.approx(1.01 + 2 * 1.99)]


def test_a_killed_job_ends_at_once(tmp_path):
    model = one_job(tmp_path, [{"at_s": 1.0, "act": "kill", "job": 0}])
    assert model.summary()["jobs"]["killed"] == 1
    assert end_s(model) == [1.0]


# ---- the same as other ways to say it ---------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jsq", "wal-pm", "work-stealing", "easy"])
def test_fail_and_recover_are_those_of_failures_event(policy):
    acts = [{"at_s": 1.0, "act": "fail", "node": 2}, {"at_s": 1.5, "act": "recover", "node": 2}]
    event = {"at_s": 1.0, "for_s": 0.5, "node": 2}
    assert same(model_of(policy, acts), model_of(policy, failures__event=[event]))


@pytest.mark.parametrize("device", ["cpu", "disk"])
def test_slow_is_that_of_failures_degrade(device):
    acts = [
        {"at_s": 1.0, "act": "slow", "node": 2, "device": device, "factor": 0.4},
        {"at_s": 1.5, "act": "recover", "node": 2},
    ]
    cause = {"device": device, "factor": 0.4, "nodes": [2], "at_s": 1.0, "for_s": 0.5}
    assert same(model_of("wal-pm", acts), model_of("wal-pm", failures__degrade=[cause]))


def test_slow_links_are_those_of_failures_degrade():
    acts = [{"at_s": 1.0, "act": "slow", "node": 2, "device": "link", "factor": 0.1}]
    cause = {"device": "link", "factor": 0.1, "nodes": [2], "at_s": 1.0}
    shared = {"interconnect__mode": "contended", "workload__initial_data_mb": {"kind": "fixed", "mean": 0.3}}
    found = model_of("jsq", acts, **shared)
    assert same(found, model_of("jsq", failures__degrade=[cause], **shared))
    assert not same(found, model_of("jsq", **shared))


@pytest.mark.parametrize(("act", "does"), [
    ({"act": "drain", "node": 1}, lambda model: model.node_agents[1].drain()),
    ({"act": "kill", "job": 21}, lambda model: agent_of(model, 21).kill()),
    ({"act": "fail", "node": 1}, lambda model: model.node_agents[1].fail()),
])  # fmt: skip
def test_an_act_is_that_of_an_agent(act, does):
    by_hand = model_of("wal-pm", until=2000.0)
    does(by_hand)
    by_hand.run()
    assert same(model_of("wal-pm", [act | {"at_s": 2.0}]), by_hand)


def test_send_is_that_of_the_load_manager():
    by_hand = model_of("none", until=1000.0)
    tasks = by_hand.engine.tasks
    row = tasks[(tasks["state"] > 1) & (tasks["job"] >= 0)][0]
    task, node = int(row["task"]), int(row["node"])
    assert by_hand.load_managers[node].send(task, 3) == "accepted"
    by_hand.run()
    scripted = model_of("none", [{"at_s": 1.0, "act": "send", "task": task, "node": 3}])
    assert same(scripted, by_hand)
    assert outcomes(scripted) == [("send", True, "")]


# ---- arrivals ---------------------------------------------------------------------------------------------------


def arrivals_s(model):
    return model.engine.jobs["arrival_ns"] / 1e9


def test_the_arrival_clock_runs_faster_from_the_act_on():
    plain = arrivals_s(model_of())
    paced = arrivals_s(model_of(script=[{"at_s": 1.0, "act": "arrivals", "factor": 2.0}]))
    assert paced == pytest.approx(np.where(plain <= 1.0, plain, 1.0 + (plain - 1.0) / 2.0), abs=1e-9)
    assert (paced[plain <= 1.0] == plain[plain <= 1.0]).all()


def test_the_last_factor_holds_and_none_multiplies_another():
    """From 1 to 2 s the clock goes from 1 to 5; then it is as slow as at first."""
    plain = arrivals_s(model_of(workload__duration_s=10.0))
    script = [{"at_s": 2.0, "act": "arrivals", "factor": 1.0}, {"at_s": 1.0, "act": "arrivals", "factor": 4.0}]
    paced = arrivals_s(model_of(script=script, workload__duration_s=10.0))
    expected = np.where(plain <= 1, plain, np.where(plain <= 5, 1 + (plain - 1) / 4, 2 + (plain - 5)))
    assert paced == pytest.approx(expected, abs=1e-9)


def test_jobs_of_a_trace_and_their_children_come_sooner(tmp_path):
    trace = tmp_path / "jobs.csv"
    trace.write_text("arrival_ms,cpu_ms,memory_mb\n0,10,1\n4000,10,1\n")
    setup = scenario_from({
        "workload": {"kind": "trace", "trace": {"file": str(trace)}},
        "script": [{"at_s": 0.0, "act": "arrivals", "factor": 8.0}],
    }, "trace")  # fmt: skip
    assert job_table(setup, 1)["arrival_ns"].tolist() == [0, 500_000_000]


@pytest.mark.slow
@given(
    times_s=st.lists(st.floats(0, 100), min_size=1, max_size=30),
    acts=st.lists(st.tuples(st.floats(0, 60), st.floats(0.01, 100)), max_size=5),
)
def test_jobs_keep_their_order_and_the_clock_its_speed(times_s, acts):
    script = [{"at_s": at_s, "act": "arrivals", "factor": factor} for at_s, factor in acts]
    clock = ArrivalClock(scenario_from({"workload": {"utilisation": 0.5}, "script": script}, "paced"))
    shown_ns = np.sort((np.array(times_s) * 1e9).astype(np.int64))
    found_ns = clock.when_shown(shown_ns)
    assert (np.diff(found_ns) >= 0).all()
    # Between two times the clock has run as fast as its speeds say: integrated by hand.
    in_order = sorted((round(at_s * 1e9), number, factor) for number, (at_s, factor) in enumerate(acts))
    changes = [(-(-at_ns // 10_000_000) * 10_000_000, number, factor) for at_ns, number, factor in in_order]
    for shown, at in zip(shown_ns.tolist(), found_ns.tolist(), strict=True):
        speed, last, total = 1.0, 0, 0.0
        for when, _, factor in changes:
            if when > at:
                break
            total, last, speed = total + (when - last) * speed, when, factor
        assert total + (at - last) * speed == pytest.approx(shown, rel=1e-9, abs=100 * speed + 2)


# ---- what holds for all -----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("policy", [
    name if name in ("wal-pm", "jiq", "easy") else pytest.param(name, marks=pytest.mark.slow) for name in POLICIES
])  # fmt: skip
def test_all_acts_in_both_forms_and_by_steps(policy, tmp_path):
    requested = {"workload__requested_over_actual": {"kind": "uniform", "mean": 1.5}}
    keys = busy(policy__name=policy, workload__duration_s=3.0, script=ALL_ACTS, **requested)
    models = [
        ClusterModel(scenario(**keys), seed=3, record=True),
        ClusterModel(scenario(**keys), seed=3, record=True, compile_decisions=False),
        ClusterModel(scenario(**keys), seed=3, record=True),
    ]
    for model in models[:2]:
        model.run()
    while models[2].running:
        models[2].step()
    acts = models[0].summary()["acts"]
    assert len(acts) == len(ALL_ACTS)
    assert {act["act"] for act in acts if act["done"]} >= {*NEEDS} - ({"send"} if policy in NOT_SENT else set())
    for other in models[1:]:
        assert same(models[0], other)
        assert models[0].summary() == other.summary()
    for number, model in enumerate(models):
        model.recording().save(tmp_path / f"{number}.rec")
    assert len({(tmp_path / f"{number}.rec").read_bytes() for number in range(3)}) == 1
    plain = ClusterModel(scenario(**(keys | {"script": [ALL_ACTS[1], ALL_ACTS[-1]]})), seed=3)
    # The policy and the other acts change nothing about the jobs.
    assert plain.engine.jobs.tobytes() == models[0].engine.jobs.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["wal-pm", "jsq", "work-stealing"])
def test_before_the_first_act_nothing_is_changed(policy):
    scripted = model_of(
        policy, [{"at_s": 1.0, "act": "fail", "node": 1}, {"at_s": 1.0, "act": "arrivals", "factor": 3}],
        measure__period_ms=200.0,
    )  # fmt: skip
    plain = model_of(policy, measure__period_ms=200.0)
    for name, time in (("jobs_frame", "finish_ms"), ("decisions_frame", "time_ms"), ("nodes_frame", "time_ms")):
        first, second = (getattr(model, name)() for model in (scripted, plain))
        first, second = first[first[time] < 1000.0], second[second[time] < 1000.0]
        assert len(first) > 0
        assert first.reset_index(drop=True).equals(second.reset_index(drop=True))


def test_a_run_that_only_waits_goes_on_while_acts_are_to_come():
    """All nodes fail; without a recovery the run ends at once, with one hours later all jobs finish."""
    fail = [{"at_s": 1.0, "act": "fail", "node": node} for node in range(4)]
    ended = model_of("none", fail, cluster__nodes=4)
    assert ended.summary()["jobs"]["finished"] < ended.summary()["jobs"]["submitted"]
    assert ended.now_ms < 10_000.0
    woken = model_of("none", [*fail, {"at_s": 7200.0, "act": "recover", "node": 3}], cluster__nodes=4)
    assert woken.summary()["jobs"]["finished"] == len(woken.engine.jobs)
    assert woken.now_ms > 7_200_000.0


# ---- what cannot be done ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("script", "why"), [
    ([{"at_s": 1.0, "act": "kill", "job": 0}], "job 0: kill: it has ended already"),
    ([{"at_s": 1.0, "act": "kill", "job": 9999}], "job 9999: kill: there is no such job; the run has"),
    ([{"at_s": 0.0, "act": "kill", "job": 20}], "job 20: kill: it has not been submitted yet"),
    ([{"at_s": 1.0, "act": "send", "task": 0, "node": 1}], "task 0: send: it has ended already"),
    ([{"at_s": 1.0, "act": "recover", "node": 1}], "node 1: recover: it has neither failed nor does it drain"),
])  # fmt: skip
def test_what_cannot_be_done_is_told_and_changes_nothing(script, why):
    model = model_of("none", script)
    (act,) = model.summary()["acts"]
    assert not act["done"]
    assert act["why_not"].startswith(why)
    assert same(model, model_of("none"))


def test_a_second_failure_is_told():
    model = model_of("none", [{"at_s": 1.0, "act": "fail", "node": 1}, {"at_s": 1.5, "act": "fail", "node": 1}])
    assert outcomes(model)[1] == ("fail", False, "node 1: fail: it has failed already; recover brings it back")


def test_a_task_on_its_way_or_on_no_node_is_not_sent():
    fail = [{"at_s": 1.0, "act": "fail", "node": node} for node in range(4)]
    send = {"at_s": 1.5, "act": "send", "task": 0, "node": 1}
    model = model_of("none", [*fail, *({**send, "task": task} for task in (*range(40), 10**9))], cluster__nodes=4)
    why = {why.split(": ", 2)[2] for act, _, why in outcomes(model) if act == "send"}
    assert {one.split(";")[0] for one in why} == {
        "it has ended already", "it is on its way to a node", "it is on no node", "there is no such task",
    }  # fmt: skip


def test_acts_of_one_slice_come_in_the_order_of_their_times():
    acts = [{"at_s": 1.009, "act": "recover", "node": 1}, {"at_s": 1.001, "act": "fail", "node": 1}]
    assert [(act, done) for act, done, _ in outcomes(model_of("none", acts))] == [("fail", True), ("recover", True)]


def test_the_time_of_an_act_has_not_come_while_the_run_goes_on():
    model = model_of("none", [{"at_s": 2.0, "act": "fail", "node": 1}], until=1000.0)
    assert outcomes(model) == [("fail", False, "its time has not come yet")]


def test_an_act_after_the_end_is_told():
    model = model_of("none", [{"at_s": 9000.0, "act": "fail", "node": 1}])
    assert outcomes(model) == [("fail", False, "the run ended before")]


@pytest.mark.parametrize(("script", "why"), [
    ([{"at_s": 1.0, "act": "explode", "node": 1}], "script.0.act"),
    ([{"at_s": 1.0, "act": "fail", "node": 32}], "script.0.node 32: must be below cluster.nodes 32"),
    ([{"at_s": -1.0, "act": "fail", "node": 1}], "script.0.at_s"),
    ([{"at_s": 1.0, "act": "kill", "job": 1}] * 2 + [{"at_s": 1.0, "act": "fail"}],
     'script.2.node: act "fail" needs it; it takes node'),
    ([{"at_s": 1.0, "act": "fail", "node": 1, "job": 2}], 'script.0.job 2: act "fail" has none; it takes node'),
    ([{"at_s": 1.0, "act": "slow", "node": 1, "device": "cpu", "factor": 2}], "script.0.factor 2:"),
    ([{"at_s": 1.0, "act": "arrivals", "factor": 0}], "script.0.factor"),
    ([{"at_s": 1.0, "act": "slow", "node": 1, "device": "link", "factor": 0.5}], 'script.0.device "link": needs links'),
    ([{"at_s": 1.0, "act": "fail", "node": 1, "when": 2}], "script.0.when"),
])  # fmt: skip
def test_a_wrong_script_is_refused(script, why):
    with pytest.raises(InputError) as caught:
        ClusterModel("quickstart", overrides={"script": script})
    assert any(why in line for line in caught.value.problems), caught.value.problems


def test_closed_users_have_no_arrival_clock():
    with pytest.raises(InputError, match=r"script\.0\.act .arrivals.: jobs of workload.arrivals.kind .closed."):
        ca.load_scenario("lmip", {"script": [{"at_s": 1.0, "act": "arrivals", "factor": 2.0}]})


def test_pooled_references_refuse_a_script():
    with pytest.raises(InputError, match="script: policy 'pooled' pools all nodes"):
        model_of("pooled", [{"at_s": 1.0, "act": "fail", "node": 1}])


def test_a_comparison_of_pooled_references_alone_is_refused():
    keys = {"script": [{"at_s": 1.0, "act": "kill", "job": 1}], "compare.policies": ["pooled", "srpt-pool"]}
    with pytest.raises(InputError, match=r"compare\.policies = pooled, srpt-pool: all pool their nodes"):
        default_policies(ca.load_scenario("quickstart", keys))


def test_a_comparison_leaves_its_default_pooled_references_out():
    setup = ca.load_scenario("quickstart", {"script": [{"at_s": 1.0, "act": "kill", "job": 1}]})
    found = default_policies(setup)
    assert set(found.left_out) == {"pooled", "srpt-pool"}
    assert set(found.names) == set(setup.compare.policies) - {"pooled", "srpt-pool"}
    assert default_policies(ca.load_scenario("quickstart")).left_out == ()
