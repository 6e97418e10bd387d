"""What must hold in every run, over random scenarios."""

import hashlib
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import BY_SIZE, breakdown_sum_ns, busy, finished, mostly_slow, needed_by, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import AT_DISK, FINISHED, FIRST_BACKGROUND, FREE, NEVER
from cluster_abm.policies import available

POLICIES = sorted(available())
# Two small programs with changing demands, of 12 and 60 ms of CPU.
PROGRAMS = str(Path(__file__).parent / "programs.csv")
random_runs = settings(max_examples=40)


@st.composite
def scenarios(draw):
    choose = {
        "cluster__nodes": st.integers(1, 6),
        "cluster__slice_ms": st.sampled_from([1.0, 7.3, 10.0, 250.0]),
        "cluster__quantum_ms": st.sampled_from([0.5, 10.0, 33.3, "inf"]),
        "cluster__cores": st.sampled_from([1, 1, 2, 3, 8]),
        "cluster__disk_channels": st.sampled_from([1, 1, 2, 4]),
        "cluster__disk_latency": st.sampled_from(["fixed", "fixed", "exponential"]),
        "cluster__context_switch_ms": st.sampled_from([0.0, 0.1, 1.0]),
        "cluster__memory_mb": st.sampled_from([15.0, 60.0, 640.0]),
        "cluster__buffer_in_memory": st.just(False),
        "cluster__buffer_mb": st.sampled_from([0.0, 1.0, 160.0]),
        "cluster__page_fault_ratio_cap": st.just(1.5),
        "cluster__page_fault_law": st.sampled_from(["demand", "overflow"]),
        "cluster__paging": st.sampled_from(["rate", "oversize"]),
        "cluster__swap_mb": st.sampled_from([None, None, 5.0, 60.0]),
        "cluster__system_mb": st.sampled_from([0.0, 2.5]),
        "cluster__fault_evenness": st.sampled_from([0.0, 0.3]),
        "workload__programs__mix": st.sampled_from([{}, {}, {"light": 1.0, "grows": 1.0}]),
        "cluster__cpu_speed": st.sampled_from([1.0, 0.37, 3.0]),
        "workload__duration_s": st.sampled_from([0.5, 5.0]),
        "workload__utilisation": st.sampled_from([0.05, 0.3, 1.5]),
        "workload__cpu_ms__kind": st.sampled_from(["exponential", "fixed", "pareto", "hbd97"]),
        "workload__cpu_ms__mean": st.sampled_from([1.0, 40.0, 150.0]),
        "workload__io_per_ms__kind": st.sampled_from(["fixed", "uniform"]),
        "workload__io_per_ms__mean": st.sampled_from([0.0, 0.01, 0.2]),
        "workload__request_kb__kind": st.sampled_from(["fixed", "exponential", "gamma"]),
        "workload__request_kb__per": st.sampled_from(["request", "job"]),
        "workload__reaccess_rate": st.sampled_from([0.0, 3.0]),
        "workload__tasks__parallel_share": st.sampled_from([0.0, 0.5, 1.0]),
        "workload__tasks__maximum": st.integers(2, 9),
        "workload__tasks__barrier_ms": st.sampled_from([0.0, 3.3, 100.0]),
        "workload__tasks__communication_ms": st.sampled_from([0.0, 25.0]),
        "workload__initial_data_mb__mean": st.sampled_from([0.0, 0.5]),
        "workload__home__kind": st.sampled_from(["uniform", "skewed"]),
        "negotiation__mode": st.sampled_from(["papers", "negotiated"]),
        "negotiation__remote_execution_ms": st.sampled_from([0.0, 3.3, 100.0]),
        "interconnect__latency_ms": st.sampled_from([0.0, 2.5]),
        "cluster__exchange_period_ms": st.sampled_from([20.0, 1000.0]),
        "policy__name": st.sampled_from(POLICIES),
        "cluster__remote_memory": st.sampled_from([False, False, True]),
    }
    overrides = {name: draw(values) for name, values in choose.items()}
    overrides |= needed_by(overrides["policy__name"])
    if overrides["policy__name"] in BY_SIZE and overrides["workload__cpu_ms__kind"] == "fixed":
        overrides["workload__cpu_ms__kind"] = "exponential"
    if overrides["workload__programs__mix"]:
        overrides["workload__programs__file"] = PROGRAMS
    if overrides["cluster__swap_mb"] is None:
        del overrides["cluster__swap_mb"]
    if overrides["workload__cpu_ms__mean"] == 1.0:
        # Tens of thousands of tiny tasks in overload would show nothing more, and policies that migrate look at each.
        overrides |= {
            "workload__duration_s": 0.5,
            "workload__utilisation": min(0.3, overrides["workload__utilisation"]),
        }
    if draw(st.booleans()):
        unlike = {"count": 1, "cpu_speed": 2.0, "memory_mb": 20.0, "disk_mb_per_s": 11.0}
        unlike |= {"cores": draw(st.integers(1, 8)), "disk_channels": draw(st.integers(1, 4))}
        overrides["cluster__group"] = [unlike]
    # As much work for all cores together as there would be for a few.
    overrides["workload__duration_s"] /= max(1, overrides["cluster__cores"] // 2)
    if draw(st.booleans()) and overrides["policy__name"] != "pooled":
        # As much memory as leaves room: a node that background alone fills never starts what a policy holds.
        program = {"node": 0, "memory_mb": 4.0, "period_ms": draw(st.sampled_from([3.7, 100.0, 1000.0]))}
        program |= draw(st.sampled_from([{"cpu_share": 1.0}, {"cpu_share": 0.2, "io_per_ms": 0.05}]))
        overrides["workload__background"] = [program]
        if overrides["cluster__quantum_ms"] == "inf":
            # A program that never waits would have its core for good.
            overrides["cluster__quantum_ms"] = 10.0
    if draw(st.booleans()):
        overrides |= {
            "workload__arrivals__kind": "closed",
            "workload__arrivals__users_per_node": draw(st.integers(1, 3)),
            "workload__arrivals__jobs_per_user": draw(st.integers(1, 6)),
            "workload__arrivals__first_gap_s": draw(st.sampled_from([0.0, 0.1])),
            "workload__arrivals__think_s__mean": draw(st.sampled_from([0.0, 0.05, 2.0])),
        }
        del overrides["workload__utilisation"]
    return overrides


def shortest_fault_ns(nodes, overrides):
    """How long a page fault takes at least [ns]: seeks may be drawn, and another node's memory takes twice the
    latency."""
    seeks = 0 if overrides["cluster__disk_latency"] == "fixed" else nodes["fault_seek_ns"]
    least_ns = (nodes["fault_ns"] - seeks).min()
    return (
        min(least_ns, 2e6 * overrides["interconnect__latency_ms"]) if overrides["cluster__remote_memory"] else least_ns
    )


def check_disks(model, overrides, least_fault_ns, done, whole):
    """Disk time was given to requests and to page faults, and to nothing else.

    Args:
        model, overrides: the run.
        least_fault_ns: as `shortest_fault_ns` has it.
        done: records of the tasks that have finished.
        whole: whether these are all there were, and none has migrated.
    """
    nodes, engine = model.engine.serving_nodes, model.engine
    records, programs = engine.sorted_records(), engine.tasks[engine.tasks["task"] >= FIRST_BACKGROUND]
    io_ns = records["io_ns"].sum() + programs["io_ns"].sum()
    # A task that is killed while it waits for the disk has asked for what was never served, as a program may at the
    # end.
    waived_ns = (len(records) - len(done) + len(programs)) * nodes["fault_ns"].max()
    if (engine.nodes["channels"] == 1).all() and overrides["cluster__disk_latency"] == "fixed":
        paging_ns = [nodes["faults"].sum() * ns for ns in (least_fault_ns, nodes["fault_ns"].max())]
        assert paging_ns[0] - waived_ns <= nodes["disk_busy_ns"].sum() - io_ns <= paging_ns[1]
        if whole and not overrides["cluster__remote_memory"]:
            fault_ns = nodes["fault_ns"][records["node"] % len(nodes)]
            assert nodes["disk_busy_ns"].sum() == (records["io_ns"] + records["faults"] * fault_ns).sum()
        return
    if overrides["policy__name"] == "pooled":
        return
    # A disk has at most one request a channel; in the device they seek, wait for the bus, and transfer.
    busy_ns, in_device_ns = engine.busy_ns(model.now_ns)[1], engine.in_device_ns(model.now_ns)
    assert (busy_ns <= in_device_ns).all()
    assert (in_device_ns <= nodes["channels"] * busy_ns).all()
    if whole:
        for node in range(len(nodes)):
            mine = records[records["node"] == node]
            least_ns = mine["io_ns"].sum() + mine["faults"].sum() * least_fault_ns
            most_ns = (mine["io_ns"] + mine["io_queue_ns"] + mine["paging_ns"]).sum()
            assert least_ns <= in_device_ns[node] <= most_ns


@pytest.mark.slow
@random_runs
@given(scenarios(), st.integers(0, 2**62))
def test_work_is_conserved_and_nothing_is_left_behind(overrides, seed):
    model = finished(seed, **overrides)
    jobs, records, nodes = model.jobs, model.engine.sorted_records(), model.engine.serving_nodes

    # Every task ends exactly once, on a node, and every job in exactly one state.
    assert np.array_equal(np.sort(records["task"]), np.arange(jobs["tasks"].sum()))
    counts = model.summary()["jobs"]
    assert counts["finished"] + counts["killed"] == counts["submitted"] == len(jobs)
    assert sum(counts.values()) == 2 * counts["submitted"]
    done = records["outcome"] == FINISHED
    assert done.all() or (nodes["limit_kb"] < NEVER).any()

    # CPU received is the demand on the node that gave it, to the nanosecond; a task that migrated between unlike nodes
    # got it from both.
    stayed, moved = done & (records["migrations"] == 0), done & (records["migrations"] > 0)
    speed = nodes["speed"][records["node"] % len(nodes)]
    demand_ms = jobs["cpu_ms"][records["job"]]
    wanted = np.array([max(1, math.floor(ms * 1e6 / s + 0.5)) for ms, s in zip(demand_ms, speed, strict=True)])
    assert np.array_equal(records["cpu_ns"][stayed], wanted[stayed])
    slack_ns = 1 + records["migrations"][moved]
    assert (records["cpu_ns"] >= demand_ms * 1e6 / nodes["speed"].max() - 1)[moved].all()
    assert (records["cpu_ns"][moved] <= demand_ms[moved] * 1e6 / nodes["speed"].min() + slack_ns).all()
    assert (records["cpu_ns"] <= demand_ms * 1e6 / nodes["speed"].min() + 1 + records["migrations"])[~done].all()
    programs = model.engine.tasks[model.engine.tasks["task"] >= FIRST_BACKGROUND]
    assert nodes["cpu_busy_ns"].sum() == records["cpu_ns"].sum() + programs["cpu_ns"].sum()

    # The parts of the wall time add up to it.
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])
    assert nodes["faults"].sum() == records["faults"].sum() + programs["faults"].sum()
    least_ns = shortest_fault_ns(nodes, overrides)
    check_disks(model, overrides, least_ns, records[done], whole=done.all() and stayed.all() and not len(programs))
    assert (records["paging_ns"] >= records["faults"] * least_ns)[done].all()
    # A program has made all its accesses.
    if overrides["workload__programs__mix"]:
        made = (records["requests"] + records["hits"])[done]
        assert np.array_equal(made, np.array([3, 6])[jobs["program"][records["job"]]][done])
    assert (records["io_queue_ns"] >= 0).all()
    assert (records["cpu_queue_ns"] >= 0).all()
    assert nodes["requests"].sum() == records["requests"].sum() + programs["requests"].sum()

    if not len(jobs):
        # Over before it began: background programs have not even entered.
        assert model.now_ns == 0
        return
    # Memory, traffic and rows are free again, but for background programs, which go on.
    assert nodes["background"].sum() == len(programs) == len(overrides.get("workload__background", ()))
    own = {"tasks": len(programs), "demand_kb": programs["memory_kb"].sum()}
    own |= {name: programs[name].sum() for name in ("stream", "accesses")}
    for name in ("demand_kb", "stream", "tasks", "in_transit", "transit_kb", "allocated_kb_per_s", "accesses"):
        assert nodes[name].sum() == own.get(name, 0), name
        assert not nodes[name][1:].any(), name
    others = model.engine.tasks[model.engine.tasks["task"] < FIRST_BACKGROUND]
    assert (others["state"] == FREE).all()
    running = model.engine.tables.cores["running"]
    assert np.isin(running, [-1, *np.flatnonzero(model.engine.tasks["task"] >= FIRST_BACKGROUND)]).all()


@pytest.mark.slow
@settings(max_examples=12)
@given(scenarios(), st.integers(0, 2**62))
def test_stepping_and_running_leave_the_same_bytes(overrides, seed):
    overrides |= {"workload__duration_s": 0.5, "workload__cpu_ms__kind": "exponential"}
    # Slices of 1 ms show no more than those of 7.3 ms, and users that think make tens of thousands of them.
    overrides["cluster__slice_ms"] = max(7.3, overrides["cluster__slice_ms"])
    ran = finished(seed, **overrides)
    stepped = ClusterModel(scenario(**overrides), seed=seed)
    while stepped.running:
        stepped.step()
    assert same_records(ran, stepped)
    assert ran.summary() == stepped.summary()
    assert ran.decisions_frame().equals(stepped.decisions_frame())
    assert ran.nodes_frame().equals(stepped.nodes_frame())


def accesses_by_task(model):
    records = model.engine.sorted_records()
    order = np.argsort(records["task"])
    return (records["requests"] + records["hits"])[order], records["io_ns"][order]


@pytest.mark.slow
@pytest.mark.parametrize("policy", mostly_slow(name for name in POLICIES if name != "none"))
def test_a_tasks_accesses_and_their_sizes_are_the_same_under_every_policy(policy):
    at_home = finished(5, **busy(policy__name="none", cluster__buffer_mb=0.0))
    moved = finished(5, **busy(policy__name=policy, cluster__buffer_mb=0.0))
    for first, second in zip(accesses_by_task(at_home), accesses_by_task(moved), strict=True):
        assert np.array_equal(first, second)


def disk_queue(model, node):
    tasks, queue = model.engine.tasks, []
    slot = model.engine.nodes["disk_head"][node]
    while slot != -1:
        assert tasks["state"][slot] == AT_DISK
        queue.append((int(tasks["task"][slot]), int(tasks["since_ns"][slot])))
        slot = tasks["next"][slot]
    return queue


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_disk_serves_first_come_first_served(seed):
    model = ClusterModel(scenario(**busy(cluster__slice_ms=1.0, workload__duration_s=5.0)), seed=seed)
    before = [[] for _ in range(4)]
    longest = 0
    while model.running:
        model.step()
        for node in range(4):
            queue = disk_queue(model, node)
            asked_at = [since for _, since in queue]
            assert asked_at == sorted(asked_at)
            # Tasks that were waiting before are at the front, in the old order: none was overtaken.
            still = [entry for entry in before[node] if entry in queue]
            assert queue[: len(still)] == still
            assert still == before[node][len(before[node]) - len(still) :]
            before[node] = queue
            longest = max(longest, len(queue))
    assert longest >= 3


def test_the_order_in_which_nodes_are_served_is_irrelevant():
    """The same jobs with the nodes renumbered: every task meets the same fate on its renumbered node."""
    plain = ClusterModel(scenario(**busy(policy__name="none")), seed=3)
    turned = ClusterModel(scenario(**busy(policy__name="none")), seed=3)
    new_number = np.array([2, 0, 3, 1])
    turned.jobs["home"] = new_number[turned.jobs["home"]]
    plain.run()
    turned.run()
    first, second = plain.engine.sorted_records(), turned.engine.sorted_records()
    assert np.array_equal(new_number[first["node"]], second["node"])
    for name in first.dtype.names:
        if name not in ("home", "node"):
            assert np.array_equal(first[name], second[name]), name


FINGERPRINT = """
import hashlib, sys
sys.path.insert(0, sys.argv[1])
from support import busy, finished
print(hashlib.sha256(finished(11, **busy()).jobs_frame().to_csv().encode()).hexdigest())
"""


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_in_another_process(request):
    tests = str(request.config.rootpath / "tests")
    other = subprocess.run(
        [sys.executable, "-c", FINGERPRINT, tests], capture_output=True, text=True, check=True
    ).stdout.strip()
    here = finished(11, **busy()).jobs_frame().to_csv()
    assert hashlib.sha256(here.encode()).hexdigest() == other
    assert finished(12, **busy()).jobs_frame().to_csv() != here


def test_the_workload_does_not_depend_on_the_policy():
    tables = [ClusterModel(scenario(**busy(policy__name=name)), seed=9).jobs for name in POLICIES]
    assert all(np.array_equal(table, tables[0]) for table in tables)
