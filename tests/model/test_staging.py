"""Tasks wait for the files of their job: what the table of jobs says, against times by hand.

Six nodes in three clusters; 800 Mbps (100 MB/s) inside a cluster, 80 Mbps (10 MB/s) between clusters, no latency.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import breakdown_sum_ns, busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, shipped_path

CLUSTER_OF = np.array([0, 0, 1, 1, 2, 2])


def wide_area(**overrides):
    """Overrides of such a cluster, with files of some MB."""
    return {
        "cluster__nodes": 6,
        "interconnect__kind": "clusters",
        "interconnect__clusters": 3,
        "interconnect__bandwidth_mbps": 800.0,
        "interconnect__trunk_bandwidth_mbps": 80.0,
        "interconnect__trunk_latency_ms": 0.0,
        "workload__cpu_ms__mean": 100.0,
        "workload__utilisation": 0.4,
        "negotiation__remote_execution_ms": 7.0,
        "data__files": 20,
        "data__size_mb": {"kind": "uniform", "mean": 2.0},
        "data__copies": 2,
        "data__affinity": 0.5,
        "data__drift_period_s": 5.0,
    } | overrides


def fetch_ms(model, job, node):
    """The time to fetch a job's files to a node one after another, written down from the description."""
    total = 0.0
    for file in model.staging.files_of(job):
        holders = model.staging.catalogue.holders[file].tolist()
        inside = [holder for holder in holders if CLUSTER_OF[holder] == CLUSTER_OF[node]]
        if node not in holders:
            total += model.staging.catalogue.size_mb[file] / (0.1 if inside else 0.01)
    return total


def test_one_file_of_50_mb_takes_nothing_half_a_second_or_five():
    model = finished(
        **wide_area(data__files=1, data__size_mb={"kind": "fixed", "mean": 50.0}, data__copies=1,
                    data__files_per_job={"minimum": 1, "maximum": 1})
    )  # fmt: skip
    holder = int(model.staging.catalogue.holders[0, 0])
    waits_ms = model.jobs_frame().groupby("home")["migration_ms"].unique()
    for home in range(6):
        near = 500.0 if CLUSTER_OF[home] == CLUSTER_OF[holder] else 5000.0
        assert waits_ms[home].tolist() == [0.0 if home == holder else near]


def test_where_there_is_one_cluster_all_others_are_near():
    keys = {f"interconnect__{name}": None for name in ("clusters", "trunk_bandwidth_mbps", "trunk_latency_ms")}
    model = finished(
        **wide_area(interconnect__kind="complete", data__files=1, data__size_mb={"kind": "fixed", "mean": 50.0},
                    data__copies=1, data__files_per_job={"minimum": 1, "maximum": 1}, **keys)
    )  # fmt: skip
    frame = model.jobs_frame()
    elsewhere = frame["home"] != model.staging.catalogue.holders[0, 0]
    assert frame["migration_ms"].tolist() == (500.0 * elsewhere).tolist()
    assert model.summary()["metrics"]["fetched_between_clusters_mb"] == 0


def test_the_shipped_sites_are_two_and_two_near():
    # Three nodes a site; a - b - c - d, b to c is the trunk. Latencies: 0.1 ms at each end, 1 ms in a pair.
    settings = load_scenario(
        "wide-area-data",
        {
            "interconnect": {
                "file": str(shipped_path("networks", "two-pairs.json")), "nodes_per_vertex": 3,
                "bandwidth_mbps": 1000.0, "latency_ms": 0.1, "trunk_bandwidth_mbps": 80.0, "trunk_latency_ms": 20.0,
            },
            "data.size_mb": {"kind": "fixed", "mean": 10.0},
            "workload.duration_s": 1.0,
        },
    )  # fmt: skip
    data = ClusterModel(settings).staging.map
    assert data.cluster_of.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    file = next(file for file, (holder, _) in enumerate(data.holders.tolist()) if holder < 3)
    holder = int(data.holders[file, 0])
    far_ms = [80 + 0.2, 80 + 1.2, 1000 + 21.2, 1000 + 22.2]
    expected = [0.0 if node == holder else far_ms[node // 3] for node in range(12)]
    assert data.transfer_ms(file)[0] == pytest.approx(expected)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["none", "jsq", "data-access", "data-majority"])
def test_the_wait_is_travel_time_at_home_and_elsewhere(policy):
    model = finished(**wide_area(policy__name=policy))
    frame, decided = model.jobs_frame(), model.decisions_frame()
    travels_ms = frame["remote"] * 7.0
    expected = [fetch_ms(model, job, node) for job, node in zip(frame["job"], frame["node"], strict=True)]
    assert frame["migration_ms"].to_numpy() == pytest.approx(travels_ms + np.array(expected), abs=1e-5)
    if policy == "data-access":
        best = [min(fetch_ms(model, job, node) for node in range(6)) for job in frame["job"]]
        assert np.array(expected) == pytest.approx(best, abs=1e-9)
        there = decided.set_index("job")["load_there"].reindex(frame["job"])
        assert there.to_numpy() == pytest.approx(expected, abs=1e-9)
    # Waiting is not service: no task's time in isolation includes it.
    assert frame["dedicated_ms"].to_numpy() == pytest.approx(frame["cpu_ms"].to_numpy())


def test_blind_to_load_all_herd_where_the_data_lies_and_with_load_they_do_not():
    # One file on one node, a second away over the wide area; 24 s of CPU are submitted in 10 s.
    hot = wide_area(data__files=1, data__size_mb={"kind": "fixed", "mean": 10.0}, data__copies=1,
                    data__files_per_job={"minimum": 1, "maximum": 1}, workload__duration_s=10.0)  # fmt: skip
    blind = finished(**hot, policy__name="data-access")
    assert set(blind.jobs_frame()["node"]) == {int(blind.staging.catalogue.holders[0, 0])}
    aware = finished(**hot, policy__name="data-access", policy__load_weight_ms=100.0)
    assert set(aware.jobs_frame()["node"]) > set(blind.jobs_frame()["node"])
    assert aware.jobs_frame()["response_ms"].mean() < blind.jobs_frame()["response_ms"].mean()


def test_what_was_fetched_is_counted_whence_it_came():
    model = finished(**wide_area())
    near_mb = far_mb = 0.0
    for job, node in model.jobs_frame()[["job", "node"]].to_numpy():
        for leg in model.staging.legs(job, node):
            assert leg.holder in model.staging.catalogue.holders[leg.file]
            assert leg.holder != node
            same = CLUSTER_OF[leg.holder] == CLUSTER_OF[node]
            near_mb, far_mb = near_mb + leg.mb * same, far_mb + leg.mb * (not same)
    assert min(near_mb, far_mb) > 0
    metrics = model.summary()["metrics"]
    assert metrics["fetched_mb"] == pytest.approx(near_mb + far_mb)
    assert metrics["fetched_between_clusters_mb"] == pytest.approx(far_mb)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["hbd", "wal-pm"])
def test_who_migrates_fetches_at_the_target_and_who_is_sent_on_does_not_wait_at_home(policy):
    more = {
        "workload__utilisation": 0.8,
        "workload__cpu_ms": {"kind": "lifetime", "minimum": 50.0, "maximum": 20000.0},
        "negotiation__mode": "papers",
        "negotiation__migration_ms": 11.0,
        "policy__effectiveness": "remaining",
        "workload__io_per_ms__mean": 0.02 * (policy == "wal-pm"),
        "cluster__page_fault_rate_per_ms": 0.0,
    }
    model = finished(**wide_area(policy__name=policy, **more))
    frame = model.jobs_frame().set_index("task")
    moves = model.decisions_frame()
    moves = moves[moves["accepted"] & (moves["source"] != moves["target"])]
    cases = {"migrated": 0, "sent on at once": 0, "sent on later": 0}
    for task, own in moves.groupby("task"):
        row = frame.loc[task]
        fetched = own["cost_ms"] + [fetch_ms(model, row["job"], node) for node in own["target"]]
        if row["remote"]:
            # It had been fetching its files to its home.
            first = own.iloc[0]
            lost_ms = max(0.0, first["time_ms"] - row["arrival_ms"])
            cases["sent on later" if lost_ms else "sent on at once"] += 1
        else:
            lost_ms = fetch_ms(model, row["job"], row["home"])
            cases["migrated"] += 1
        assert row["migration_ms"] == pytest.approx(lost_ms + fetched.sum(), abs=1e-4)
    assert cases["migrated"] > 0
    if policy == "wal-pm":
        assert min(cases.values()) > 0
    records = model.engine.sorted_records()
    assert np.array_equal(breakdown_sum_ns(records), records["finish_ns"] - records["arrival_ns"])


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["none", "data-access", "data-majority", "wal-pm"])
@pytest.mark.parametrize("mode", ["papers", "negotiated"])
def test_leaping_and_stepping_leave_the_same_bytes(policy, mode):
    settings = scenario(
        **busy(**wide_area(policy__name=policy, negotiation__mode=mode, policy__load_weight_ms=50.0,
                           workload__duration_s=8.0))
    )  # fmt: skip
    leaping, stepping = ClusterModel(settings, seed=3), ClusterModel(settings, seed=3)
    leaping.run()
    while stepping.running:
        stepping.step()
    assert same_records(leaping, stepping)
    assert leaping.summary() == stepping.summary()
    assert leaping.decisions_frame().equals(stepping.decisions_frame())


def test_jobs_need_the_same_files_under_every_policy_and_other_ones_from_another_seed():
    def drawn(seed, policy):
        model = ClusterModel(scenario(**wide_area(policy__name=policy)), seed=seed)
        found = model.staging.catalogue
        return [column.tolist() for column in (found.size_mb, found.holders, found.first_file, found.needed_files)]

    assert drawn(5, "none") == drawn(5, "data-access") == drawn(5, "wal-pm")
    assert drawn(5, "none") != drawn(6, "none")


def test_the_jobs_of_a_trace_need_files_too(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,home,cpu_ms,tasks\n" + "".join(f"{500 * job},{job % 6},40,2\n" for job in range(20)))
    model = finished(**wide_area(workload={"kind": "trace", "trace": {"file": str(path)}}))
    frame = model.jobs_frame()
    assert len(frame) == 40
    expected = [fetch_ms(model, job, home) for job, home in zip(frame["job"], frame["home"], strict=True)]
    assert frame["migration_ms"].to_numpy() == pytest.approx(expected, abs=1e-5)
    assert frame["migration_ms"].max() > 0


def test_all_nodes_as_one_station_have_all_files():
    model = finished(**wide_area(policy__name="pooled"))
    assert model.staging is None
    assert model.jobs_frame()["migration_ms"].max() == 0


def test_without_files_nothing_is_drawn_and_no_word_said():
    model = finished(**busy())
    assert model.staging is None
    assert "fetched_mb" not in model.summary()["metrics"]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"data__files": 3}, r"data\.files_per_job\.maximum 4: must be at most files, 3"),
        ({"data__copies": 7}, r"data\.copies 7: must be at most cluster\.nodes, 6"),
        ({"data__copies": 0}, r"data\.copies = 0: .*greater than or equal to 1"),
        ({"cluster__nodes": 60_000, "data__files": 1000}, r"data\.files 1000: on 60000 nodes allowed are 333"),
        ({"data__files_per_job": {"minimum": 5}}, r"data\.files_per_job\.maximum 4: must not be below minimum 5"),
        ({"data__affinity": 1.5}, r"data\.affinity = 1\.5"),
        ({"data__drift_period_s": 0.0}, r"data\.drift_period_s = 0\.0"),
        ({"data__size_mb": {"kind": "gamma", "mean": 5.0}}, r"data\.size_mb\.sd 0\.0 of a gamma distribution"),
        ({"data__popularity": 1.0}, r"data\.popularity'; did you mean 'data.popularity_skew'"),
    ],
)
def test_wrong_keys_are_named_with_what_is_allowed(keys, message):
    with pytest.raises(InputError, match=message):
        scenario(**wide_area(**keys))


def test_files_that_never_come_are_refused():
    model = ClusterModel(scenario(**wide_area(data__copies=1)), seed=1)
    nodes = np.arange(6)

    def apart(source):
        return np.where(nodes == source, math.inf, 0.0), np.where(nodes == source, 0.0, math.inf)

    object.__setattr__(model.staging.map, "routes_from", apart)
    with pytest.raises(InputError, match=r"data: job \d+ would wait inf ms for its files on node \d"):
        model.run()
