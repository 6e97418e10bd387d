"""The lower bound `srpt-pool`: by hand, beside every kind of policy, and where there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import BY_SIZE, PLAIN, busy, finished, scenario

from cluster_abm import ClusterModel, compare, load_scenario
from cluster_abm.errors import InputError
from cluster_abm.policies import available, create
from cluster_abm.scenario.schema import PolicyChoice
from cluster_abm.study.lower_bound import lower_bound

# What a job waits for is the CPU alone; every job is the same.
FIXED = {
    **PLAIN, "workload__cpu_ms": {"kind": "fixed", "mean": 100.0},
    "workload__io_per_ms": {"kind": "fixed", "mean": 0.0},
    "workload__utilisation": 0.95, "workload__duration_s": 60.0, "negotiation__mode": "papers",
}  # fmt: skip
TABLE = {
    "fixed demands at load .95": FIXED,
    "heavy tails": FIXED | {
        "workload__cpu_ms": {"kind": "lognormal", "mean": 100.0, "sd": 400.0}, "workload__utilisation": 0.8,
    },
    "unlike nodes": FIXED | {
        "cluster__group": [{"count": 1, "cpu_speed": 4.0, "cores": 2}, {"count": 2, "cpu_speed": 0.5}],
        "workload__utilisation": 0.7,
    },
    "everything": busy(),
    "reads": {
        "workload__io_per_ms": {"kind": "fixed", "mean": 0.2},
        "workload__cpu_ms": {"kind": "exponential", "mean": 50.0},
        "workload__utilisation": 0.1, "cluster__buffer_mb": 0.0, "workload__reaccess_rate": 0.0,
        "cluster__disk_channels": 2, "negotiation__remote_execution_ms": 0.0, "workload__duration_s": 40.0,
    },
    "drawn seeks": {
        "workload__io_per_ms": {"kind": "fixed", "mean": 0.2}, "workload__utilisation": 0.1,
        "cluster__disk_latency": "exponential", "workload__reaccess_rate": 2.0, "workload__duration_s": 40.0,
        "cluster__group": [{"count": 2, "disk_latency": "fixed", "disk_seek_rotation_ms": 2.0}],
    },
    "barriers": {
        "workload__tasks__parallel_share": 1.0, "workload__tasks__barrier_ms": 40.0, "workload__utilisation": 0.6,
        "workload__duration_s": 300.0,
        "workload__tasks__communication_ms": 3.0,
    },
}  # fmt: skip
POLICIES = ("none", "lwl", "central-queue", "pooled", "iolb-pm", "jsq")


def found(policy, seed, **overrides):
    """Mean response of a run [ms], and the bound."""
    model = finished(seed, **{**overrides, "policy__name": policy})
    jobs = model.summary()["jobs"]
    assert jobs["finished"] == jobs["submitted"] > 0
    bound = lower_bound(scenario(**overrides), seed)
    assert bound.jobs == jobs["finished"]
    return model.summary()["metrics"]["mean_response_ms"], bound.mean_response_ms


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("policy", POLICIES)
def test_no_policy_is_below_it(policy, name):
    response_ms, bound_ms = found(policy, 3, **TABLE[name])
    assert bound_ms <= response_ms * (1 + 1e-9)


# Scenarios in which all tasks announce the same demand.
SAME_DEMANDS = ("fixed demands at load .95", "unlike nodes")
# What a policy `needs`, these scenarios do not say.
PAIRS = [
    (policy, name)
    for policy, kind in sorted(available().items()) if not kind.needs
    for name in TABLE if not (policy in BY_SIZE and name in SAME_DEMANDS)
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "name"), PAIRS)
def test_no_policy_at_all_is_below_it(policy, name):
    # Policies that look at every waiting task take minutes where long queues build up.
    shorter = {"workload__duration_s": 15.0} if TABLE[name] is FIXED else {}
    response_ms, bound_ms = found(policy, 1, **TABLE[name] | shorter)
    assert bound_ms <= response_ms * (1 + 1e-9)


def jobs_of(tmp_path, rows, **more):
    """Overrides of a log: arrival_ms, cpu_ms, tasks, io_per_ms."""
    path = tmp_path / "jobs.csv"
    lines = [f"{arrival},0,{cpu},{io},1,{tasks}" for arrival, cpu, tasks, io in rows]
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks\n" + "\n".join(lines) + "\n")
    return {
        **PLAIN,
        "workload__kind": "trace",
        "workload__trace__file": str(path),
        "workload__utilisation": None,
        **more,
    }


def bound_ms(**overrides):
    return lower_bound(scenario(**overrides), 1).mean_response_ms


def test_alone_on_the_fastest_node(tmp_path):
    """Jobs of 1,000 ms that never meet: 1,000 at speed 1, 250 at speed 4. Two tasks of a job run side by side."""
    rows = [(0, 1000, 1, 0), (60_000, 1000, 2, 0)]
    assert bound_ms(**jobs_of(tmp_path, rows)) == pytest.approx(1000, rel=1e-9)
    fast = {"cluster__group": [{"count": 1, "cpu_speed": 4.0}]}
    assert bound_ms(**jobs_of(tmp_path, rows, **fast)) == pytest.approx(250, rel=1e-9)


def test_all_cores_as_one_server(tmp_path):
    """Two cores in all: of three jobs of 10, 20 and 30 s at once the shortest first end after 5, 15 and 30 s; of the
    pool that shares its processors the mean is (15 + 25 + 30)/3 s, and (10 + 20 + 30)/3 = 20 s alone."""
    rows = [(0, 10_000, 1, 0), (0, 20_000, 1, 0), (0, 30_000, 1, 0)]
    one = jobs_of(tmp_path, rows, cluster__nodes=1, cluster__cores=2)
    # Alone (20 s) is more than (5 + 15 + 30)/3.
    assert bound_ms(**one) == pytest.approx(20_000, rel=1e-9)
    # On one core it is (10 + 30 + 60)/3.
    assert bound_ms(**one | {"cluster__cores": 1}) == pytest.approx(100_000 / 3, rel=1e-9)
    # Of tasks side by side all have to end: 40 s of CPU in all.
    wide = jobs_of(tmp_path, [(0, 10_000, 4, 0)], cluster__nodes=1, cluster__cores=2)
    assert bound_ms(**wide) == pytest.approx(20_000, rel=1e-9)


def test_device_time_is_what_a_run_spends_there(tmp_path):
    """One job alone, without buffer and paging: its response is the bound, CPU and device time."""
    given = jobs_of(
        tmp_path, [(0, 2000, 1, 0.05)], cluster__buffer_mb=0.0, cluster__page_fault_rate_per_ms=0.0,
        workload__reaccess_rate=0.0, cluster__nodes=2,
    )  # fmt: skip
    model = finished(1, **given)
    record = model.engine.ordered_records()[0]
    assert record["requests"] > 50
    assert bound_ms(**given) == pytest.approx(2000 + record["io_ns"] / 1e6, rel=1e-9)
    # Jobs that come all at once: one after the other through one disk, however fast the CPU.
    many = jobs_of(
        tmp_path, [(0, 2000, 1, 0.05)] * 8, cluster__buffer_mb=0.0, cluster__page_fault_rate_per_ms=0.0,
        workload__reaccess_rate=0.0, cluster__nodes=1, cluster__cpu_speed=100.0,
    )  # fmt: skip
    times = np.sort([one["io_ns"] / 1e6 for one in finished(1, **many).engine.ordered_records()])
    assert bound_ms(**many) == pytest.approx(np.cumsum(times).mean(), rel=1e-6)


def test_an_access_that_a_buffer_may_serve_takes_no_device_time(tmp_path):
    """Half of the accesses are read again (rate 1): those that may be hits are left out, whatever the buffer's size."""
    rows = [(0, 20_000, 1, 0.05)]
    without = jobs_of(tmp_path, rows, cluster__buffer_mb=0.0, workload__reaccess_rate=1.0, cluster__nodes=1)
    with_buffer = without | {"cluster__buffer_mb": 50.0}
    all_ms, some_ms = bound_ms(**without) - 20_000, bound_ms(**with_buffer) - 20_000
    assert 0.35 * all_ms < some_ms < 0.65 * all_ms


def test_where_arrivals_depend_on_ends_there_is_none():
    closed = {"workload__arrivals__kind": "closed", "workload__arrivals__users_per_node": 2,
              "workload__arrivals__jobs_per_user": 3}  # fmt: skip
    assert lower_bound(scenario(**closed), 1) is None
    compared = compare(scenario(**closed), ["none", "srpt-pool"], seeds=2, workers=1, quiet=True)
    entry = compared.as_json()["policies"]
    assert entry["srpt-pool"]["mean_response_ms"] is None
    assert entry["none"]["gap_closed"] is None


@pytest.mark.parametrize(
    "overrides",
    [
        {"run__until": 15_000.0},
        # Memory and swap for one task alone: others are killed.
        {
            "cluster__memory_mb": 40.0,
            "cluster__swap_mb": 0.0,
            "cluster__buffer_mb": 0.0,
            "workload__memory_mb": {"kind": "fixed", "mean": 30.0},
        },
        {"failures__on_failure": "lost", "failures__event": [{"node": 0, "at_s": 5.0, "for_s": 5.0}]},
    ],
    ids=["unfinished", "killed", "lost"],
)
def test_where_jobs_do_not_finish_there_is_none(overrides):
    hard = {"workload__utilisation": 0.95, **overrides}
    compared = compare(scenario(**hard), ["none", "srpt-pool"], seeds=2, workers=1, quiet=True)
    jobs = compared.runs[["jobs.submitted", "jobs.finished"]]
    assert (jobs["jobs.submitted"] > jobs["jobs.finished"]).any()
    document = compared.as_json()
    assert document["policies"]["srpt-pool"]["mean_response_ms"] is None
    assert document["policies"]["none"]["gap_closed"] is None


def test_it_is_a_row_of_a_comparison_with_a_mean_response_alone():
    compared = compare(scenario(), ["none", "srpt-pool", "jsq"], seeds=3, workers=1, quiet=True)
    assert compared.policies == ("none", "jsq")
    document = compared.as_json()
    assert list(document["policies"]) == ["none", "jsq", "srpt-pool"]
    row = document["policies"]["srpt-pool"]
    assert row.keys() == document["policies"]["none"].keys()
    bounds = [lower_bound(scenario(), seed).mean_response_ms for seed in (1, 2, 3)]
    assert row["mean_response_ms"] == pytest.approx(math.fsum(bounds) / 3)
    assert all(value is None for name, value in row.items() if name != "mean_response_ms")
    assert {name for pair in document["pairs"] for name in (pair["a"], pair["b"])} == {"none", "jsq"}
    assert "srpt-pool" not in compared.best()
    assert list(compared.estimates("mean_response_ms").index) == ["none", "jsq", "srpt-pool"]
    assert list(compared.estimates().index) == ["none", "jsq"]
    # 0 as none, 1 as the bound, of the mean response.
    none, jsq = (math.fsum(compared.values(name, "mean_response_ms")) / 3 for name in ("none", "jsq"))
    share = (none - jsq) / (none - row["mean_response_ms"])
    assert document["policies"]["jsq"]["gap_closed"] == pytest.approx(share)
    assert document["policies"]["none"]["gap_closed"] == 0.0
    assert compare(scenario(), ["none", "jsq"], seeds=2, workers=1, quiet=True).gap_closed("jsq") is None


@pytest.mark.slow
def test_fixed_demands_close_no_more_than_the_gap():
    """At load .95 lwl is better than the pooled reference, and still not below the bound."""
    compared = compare(scenario(**FIXED), ["none", "lwl", "pooled", "srpt-pool"], seeds=4, workers=1, quiet=True)
    mean = {name: compared.estimate(name, "mean_response_ms").mean for name in ("none", "lwl", "pooled", "srpt-pool")}
    assert mean["lwl"] < mean["pooled"]
    assert all(compared.gap_closed(name).mean <= 1 for name in compared.policies)


def test_python_refuses_it_too():
    with pytest.raises(InputError, match="'srpt-pool': a lower bound"):
        ClusterModel("quickstart", policy="srpt-pool")


def test_the_old_name_works_wherever_a_name_is_taken(tmp_path):
    assert load_scenario("quickstart", {"policy.name": "ideal"}).policy.name == "pooled"
    assert ClusterModel(scenario(policy__name="ideal")).policy_name == "pooled"
    assert ClusterModel(scenario(), policy="ideal").policy_name == "pooled"
    assert create(PolicyChoice(name="ideal")).name == "pooled"
    file = tmp_path / "old.toml"
    file.write_text(
        '[workload]\nutilisation = 0.5\nduration_s = 5.0\n[compare]\npolicies = ["none", "ideal"]\nseeds = 2\n'
    )
    assert load_scenario(file).compare.policies == ("none", "pooled")
    found = compare(file, workers=1, quiet=True)
    assert found.policies == ("none", "pooled")
    assert found.values("ideal", "mean_slowdown") == found.values("pooled", "mean_slowdown")
