"""A run by user, by group of users and by group of nodes, and its waits beside the log's: worked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import PLAIN, scenario

from cluster_abm import ClusterModel
from cluster_abm.cli.shares import print_shares, print_waits
from cluster_abm.errors import InputError
from cluster_abm.model.observing import shares
from cluster_abm.study.runner.measuring import measure_run

# Node 0, first come, first served: ann's job 0-20; ben's, of 10 ms, waits until 20, and ends at 30; ann's second one
# 40-50. ann has slowdowns 1 and 1, waits 0 and 0, responses 20 and 10, and 30 of the 40 ms of CPU. ben has slowdown 3,
# wait 20, response 30. The last job, at node 1, is of no known user: 0-40, so that there are 80 ms in all.
LOG = (
    "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,recorded_wait_ms,user,group\n"
    "0,0,20,0,1,5,ann,lab\n0,0,10,0,1,35,ben,lab\n0,1,40,0,1,,,\n40,0,10,0,1,,ann,\n"
)


def model_of(folder: Path, text: str = LOG, **more: Any) -> ClusterModel:
    path = folder / "jobs.csv"
    path.write_text(text)
    given = PLAIN | {
        "workload__kind": "trace", "workload__trace__file": str(path), "cluster__nodes": 2, "run__until": 100.0,
        "measure__bound_ms": 1.0,
    }  # fmt: skip
    model = ClusterModel(scenario(**given | more), seed=1)
    model.run()
    return model


def test_by_user(tmp_path: Path) -> None:
    found = model_of(tmp_path).by_user().set_index("name")
    assert found.index.tolist() == ["ann", "ben"]
    assert found.loc["ann"].to_dict() == pytest.approx({
        "jobs": 2, "bounded_slowdown": 1.0, "mean_wait_ms": 0.0, "mean_response_ms": 15.0, "cpu_share": 30 / 80,
    })  # fmt: skip
    assert found.loc["ben"].to_dict() == pytest.approx({
        "jobs": 1, "bounded_slowdown": 3.0, "mean_wait_ms": 20.0, "mean_response_ms": 30.0, "cpu_share": 10 / 80,
    })  # fmt: skip


@pytest.mark.parametrize(("headline", "column", "ann", "ben"), [
    ("mean_slowdown", "mean_slowdown", 1.0, 3.0),
    ("geometric_slowdown", "geometric_slowdown", 1.0, 3.0),
    ("p95_slowdown", "p95_slowdown", 1.0, 3.0),
    ("mean_slowdown_job", "mean_slowdown_job", 1.0, 3.0),
    ("mean_slowdown_cpu", "mean_slowdown_cpu", 1.0, 3.0),
    ("mean_slowdown_cpu_io", "mean_slowdown_cpu_io", 1.0, 3.0),
    ("mean_response_ms", "mean_response_ms", 15.0, 30.0),
    ("mean_wait_ms", "mean_wait_ms", 0.0, 20.0),
    # A user's makespan would only say when its last job was submitted.
    ("makespan_ms", "bounded_slowdown", 1.0, 3.0),
])  # fmt: skip
def test_users_are_compared_by_the_headline(tmp_path: Path, headline: str, column: str, ann: float, ben: float) -> None:
    model = model_of(tmp_path, measure__headline=headline)
    assert model.by_user().set_index("name")[column].to_dict() == pytest.approx({"ann": ann, "ben": ben})
    index = (ann + ben) ** 2 / (2 * (ann**2 + ben**2))
    assert model.summary()["metrics"]["jain_users"] == pytest.approx(index)


def test_geometric_mean_and_percentile_of_two_jobs(tmp_path: Path) -> None:
    """One user's slowdowns are 1 and 3: sqrt(3), and 1 + .95 (3 - 1)."""
    log = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,user\n0,0,20,0,1,ann\n0,0,10,0,1,ann\n"
    for headline, value in (("geometric_slowdown", 3**0.5), ("p95_slowdown", 2.9), ("bounded_slowdown", 2.0)):
        found = model_of(tmp_path, log, measure__headline=headline).by_user()
        assert found[headline].tolist() == pytest.approx([value])


def test_by_group_of_users(tmp_path: Path) -> None:
    found = model_of(tmp_path).by_group()
    assert found.to_dict("records") == [pytest.approx({
        "name": "lab", "jobs": 2, "bounded_slowdown": 2.0, "mean_wait_ms": 10.0, "mean_response_ms": 25.0,
        "cpu_share": 30 / 80,
    })]  # fmt: skip


def test_by_group_of_nodes(tmp_path: Path) -> None:
    """Node 0 is a group of its own, with two cores: 40 ms of 2 x 100; node 1: 40 of 100."""
    found = model_of(tmp_path, cluster__group=[{"count": 1, "cores": 2, "cpu_speed": 1.0}]).by_node_group()
    assert found["name"].tolist() == ["group 1", "others"]
    assert found["nodes"].tolist() == [1, 1]
    assert found["cpu_utilisation"].tolist() == pytest.approx([40 / 200, 40 / 100])
    assert found["disk_utilisation"].tolist() == [0.0, 0.0]


def test_a_group_of_all_nodes_leaves_no_others(tmp_path: Path) -> None:
    found = model_of(tmp_path, cluster__group=[{"count": 2}]).by_node_group()
    assert found["name"].tolist() == ["group 1"]
    assert found["cpu_utilisation"].tolist() == pytest.approx([80 / 200])


def test_waits_of_the_same_jobs(tmp_path: Path) -> None:
    """The log knows two waits, 5 and 35 ms; here these jobs waited for 0 and 20 ms."""
    found = model_of(tmp_path).summary()
    assert found["recorded_wait_s"] == pytest.approx(
        {"jobs": 2, "mean": 0.020, "median": 0.020, "p95": 0.0335, "max": 0.035}
    )
    assert found["simulated_wait_s"] == pytest.approx(
        {"jobs": 2, "mean": 0.010, "median": 0.010, "p95": 0.019, "max": 0.020}
    )
    row = measure_run(model_of(tmp_path))
    assert (row["recorded_wait_s.mean"], row["simulated_wait_s.mean"]) == pytest.approx((0.020, 0.010))


def test_waits_by_width(tmp_path: Path) -> None:
    """On two cores: a job of two tasks starts at once, and two jobs of one task wait for its 10 ms. The log knows of
    4, 6 and 8 ms; of the last job, which has no width there, it says 1 ms."""
    text = (
        "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,tasks,recorded_wait_ms\n"
        "0,0,10,0,1,2,4\n0,0,10,0,1,1,6\n0,0,10,0,1,1,8\n50,0,10,0,1,,1\n"
    )
    found = model_of(tmp_path, text, cluster__nodes=1, cluster__cores=2).summary()
    assert found["recorded_wait_s"]["jobs"] == 4
    for name, of_two, of_one in (("recorded", [0.004], [0.006, 0.008]), ("simulated", [0.0], [0.010, 0.010])):
        by_width = found[f"{name}_wait_s"]["by_width"]
        assert list(by_width) == ["1", "2-4"]
        for band, waits in (("2-4", of_two), ("1", of_one)):
            mean = sum(waits) / len(waits)
            p95 = waits[0] + 0.95 * (waits[-1] - waits[0])
            assert by_width[band] == pytest.approx({"jobs": len(waits), "mean": mean, "median": mean, "p95": p95})
    row = measure_run(model_of(tmp_path, text, cluster__nodes=1, cluster__cores=2))
    assert "recorded_wait_s.by_width" not in row


def test_of_jobs_that_have_not_finished_no_wait_counts(tmp_path: Path) -> None:
    """Cut at 25 ms, when ann's first job has ended, and ben's has not."""
    found = model_of(tmp_path, run__until=25.0).summary()
    assert (found["recorded_wait_s"]["jobs"], found["recorded_wait_s"]["max"]) == (1, pytest.approx(0.005))
    assert [row["name"] for row in found["by_user"]["rows"]] == ["ann"]


def test_jobs_that_are_there_at_time_0_belong_to_no_user(tmp_path: Path) -> None:
    """One such job comes before those of the log, whose users and waits stay theirs."""
    initial = [{"node": 1, "cpu_ms": 10.0, "io_per_ms": 0.0, "memory_mb": 1.0}]
    found = model_of(tmp_path, workload__initial=initial).summary()
    assert {row["name"]: row["jobs"] for row in found["by_user"]["rows"]} == {"ann": 2, "ben": 1}
    assert found["recorded_wait_s"]["mean"] == pytest.approx(0.020)


def test_the_summary_has_the_tables_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = model_of(tmp_path, "arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n0,0,20,0,1\n").summary()
    assert not plain.keys() & {"by_user", "by_group", "by_node_group", "recorded_wait_s", "simulated_wait_s"}
    assert "jain_users" not in plain["metrics"]
    monkeypatch.setattr(shares, "MOST_ROWS", 1)
    found = model_of(tmp_path).summary()["by_user"]
    assert (found["count"], [row["name"] for row in found["rows"]]) == (2, ["ann"])


def test_a_user_without_a_finished_job_has_no_means(tmp_path: Path) -> None:
    """ben's only job is killed for want of memory."""
    log = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,user\n0,0,20,0,1,ann\n5,0,10,0,900,ben\n"
    more = {"cluster__memory_mb": 100.0, "cluster__swap_mb": 1.0, "cluster__buffer_mb": 0.0}
    found = model_of(tmp_path, log, **more).summary()
    ben = found["by_user"]["rows"][1]
    assert (ben["jobs"], ben["bounded_slowdown"], ben["mean_wait_ms"]) == (0, None, None)
    assert found["metrics"]["jain_users"] == 1.0


def test_where_rows_are_not_kept_there_are_no_users(tmp_path: Path) -> None:
    model = model_of(tmp_path, measure__records="summary")
    found = model.summary()
    assert not found.keys() & {"by_user", "by_group", "recorded_wait_s"}
    assert "jain_users" not in found["metrics"]
    with pytest.raises(InputError, match=r'by_user\(\): measure.records = "summary" keeps no rows'):
        model.by_user()


def test_asked_metrics_of_totals(tmp_path: Path) -> None:
    """Responses 20, 30, 40 and 10 ms: quantiles to half a per cent; within 30 ms are three of four."""
    asked = ("p50_response_ms", "response_within_31_ms")
    for records in ("all", "summary"):
        found = model_of(tmp_path, measure__records=records, measure__metrics=asked).summary()["metrics"]
        assert found["response_within_ms"] == {"31": 0.75}
        assert 20 * 0.995 <= found["p50_response_ms"] <= 30 * 1.005


def test_ten_users_are_printed_and_the_rest_counted(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"name": f"u{number}", "jobs": 1, "bounded_slowdown": None, "mean_wait_ms": 2000.0, "mean_response_ms": 1.0,
         "cpu_share": 0.08}
        for number in range(12)
    ]  # fmt: skip
    print_shares({"by_user": {"count": 30, "rows": rows}})
    printed = capsys.readouterr().out
    assert "u9" in printed
    assert "u10" not in printed
    assert "20 more: 20 % of the CPU time" in printed
    assert "2 s" in printed


def test_recorded_waits_stand_above_those_of_policies(capsys: pytest.CaptureFixture[str]) -> None:
    def waits(mean: float) -> dict[str, float]:
        return {"jobs": 2.0, "mean": mean, "median": 1.0, "p95": 3.0, "max": 4.0}

    print_waits({name: {"recorded_wait_s": waits(7.0), "simulated_wait_s": waits(mean)}
                 for name, mean in (("none", 11.0), ("jsq", 12.0))})  # fmt: skip
    lines = capsys.readouterr().out.splitlines()[-3:]
    assert [line.split()[:4] for line in lines] == [
        ["recorded", "in", "the", "log"], ["none", "2", "11", "s"], ["jsq", "2", "12", "s"],
    ]  # fmt: skip
    # No log; the lower bound; a policy under which no job has finished.
    nothing = dict.fromkeys(waits(1.0))
    print_waits({"none": {"mean_slowdown": 1.0}, "srpt-pool": {"recorded_wait_s": None},
                 "jsq": {"recorded_wait_s": nothing, "simulated_wait_s": nothing}})  # fmt: skip
    assert capsys.readouterr().out == ""
