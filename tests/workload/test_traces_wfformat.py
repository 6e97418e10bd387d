"""WfFormat: tasks of a workflow by hand, both generations of the schema, and graphs that are none."""

from __future__ import annotations

import json
import lzma
import os
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import LogReading, Trace, read_trace, trace_info, write_csv, write_parquet

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "wfinstances"
needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason="the real workflows are not here; CLUSTER_ABM_DATA says where"
)

# a -> zero -> {b, c} -> d; c also after a directly; `lone` was never run.
PARENTS = {"a": [], "zero 1": ["a"], "b_ID2": ["zero 1"], "c": ["zero 1", "a"], "d": ["b_ID2", "c"], "lone": []}
RAN: dict[str, dict[str, Any]] = {
    "a": {"runtimeInSeconds": 10.0, "avgCPU": 250.0, "coreCount": 4, "memoryInBytes": 9_000_000},
    "zero 1": {"runtimeInSeconds": 0, "avgCPU": 90.0},
    "b_ID2": {"runtimeInSeconds": 2.01, "avgCPU": 100.0, "readBytes": 50_000_000, "writtenBytes": 10_000_000},
    "c": {"runtimeInSeconds": 4, "avgCPU": 180, "coreCount": 1, "memoryInBytes": 0},
    "d": {"runtimeInSeconds": 3.5, "readBytes": 1_000_000},
}


def document(parents: dict[str, list[str]] = PARENTS, ran: dict[str, dict[str, Any]] = RAN) -> dict[str, Any]:
    """Schema 1.5."""
    described = [{"name": name, "id": name, "parents": before, "children": []} for name, before in parents.items()]
    return {
        "name": "w",
        "schemaVersion": "1.5",
        "workflow": {
            "specification": {"tasks": described},
            "execution": {"tasks": [{"id": name} | fields for name, fields in ran.items()]},
        },
    }


def read(folder: Path, content: object, **options: object) -> Trace:
    path = folder / "w.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_trace(path, **options)  # type: ignore[arg-type]


def refused(folder: Path, content: object) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, content)
    assert all("w.json" in problem for problem in caught.value.problems)
    return "\n".join(caught.value.problems)


def test_the_jobs_by_hand(tmp_path: Path) -> None:
    trace = read(tmp_path, document())
    nan = float("nan")
    expected = pd.DataFrame(
        {
            "arrival_ms": [0.0] * 4,
            # 10 s at 2.5 cores on three tasks; all of 2.01 s; 1.8 cores of one are one; no avgCPU: one core.
            "cpu_ms": [round(25_000 / 3, 6), 2010.0, 4000.0, 3500.0],
            "memory_mb": [3.0, nan, nan, nan],
            "tasks": [3.0, 1.0, 1.0, 1.0],
            # 10 % of 50 MB and 37 % of 10 MB; 10 % of 1 MB.
            "write_share": [nan, 3.7 / 8.7, nan, 0.0],
            "disk_mb": [nan, 8.7, nan, 0.1],
            "recorded_run_ms": [10_000.0, 2010.0, 4000.0, 3500.0],
            "name": ["a", "b", "c", "d"],
            "job": ["a", "b_ID2", "c", "d"],
            # What comes after the task of 0 s comes after its parent.
            "after": ["", "a", "a", "b_ID2 c"],
        }
    )
    pd.testing.assert_frame_equal(trace.jobs, expected, rtol=1e-12)
    assert trace.parents is not None
    assert trace.parents.first.tolist() == [0, 0, 1, 2, 4]
    assert trace.parents.parent.tolist() == [0, 0, 1, 2]
    assert trace.rows == 6
    assert trace.skipped == {"in the specification, not in the execution": 1, "zero run time": 1}
    assert trace.noted == {
        "no avgCPU, run time taken as CPU time": 1,
        "avgCPU above coreCount, cut to it": 1,
        "memory 0, read as not known": 1,
        "bytes of calls, shares of them taken for the disk's": 2,
        "comes after a skipped task, hence after what that came after": 2,
    }


def test_the_graph_in_numbers(tmp_path: Path) -> None:
    info = trace_info(read(tmp_path, document()))
    # a (25/3 s), c (4 s), d (3.5 s).
    assert info["dependence"] == {
        "jobs_with_parents": 3, "dependences": 4, "depth": 3, "critical_path_s": pytest.approx(25 / 3 + 7.5),
    }  # fmt: skip
    assert "0.1 x readBytes + 0.37 x writtenBytes" in info["filled"]["disk_mb"]
    assert info["filled"]["arrival_ms"].startswith("all 0")


def test_the_older_schema_says_the_same(tmp_path: Path) -> None:
    """Before 1.4: one list, parents by name, memory in KB, other names."""
    new = {
        "runtimeInSeconds": "runtime",
        "readBytes": "bytesRead",
        "writtenBytes": "bytesWritten",
        "coreCount": "cores",
    }
    tasks = []
    for name, before in PARENTS.items():
        fields = {new.get(key, key): value for key, value in RAN.get(name, {}).items()}
        if "memoryInBytes" in fields:
            fields["memory"] = fields.pop("memoryInBytes") / 1024
        tasks.append({"name": name, "parents": before} | fields)
    expected = read(tmp_path, document())
    for key in ("tasks", "jobs"):
        found = read(tmp_path, {"workflow": {key: tasks}})
        pd.testing.assert_frame_equal(found.jobs, expected.jobs)
        assert found.skipped == {"no run time": 1, "zero run time": 1}


def test_shares_are_the_scenarios(tmp_path: Path) -> None:
    trace = read(tmp_path, document(), reading=LogReading(disk_read_share=1.0, disk_write_share=0.0))
    assert trace.jobs["disk_mb"].dropna().tolist() == [50.0, 1.0]


def test_it_converts_without_losing_a_digit_or_a_parent(tmp_path: Path) -> None:
    trace = read(tmp_path, document())
    write_csv(trace, tmp_path / "o.csv")
    write_parquet(trace, tmp_path / "o.parquet")
    for name in ("o.csv", "o.parquet"):
        again = read_trace(tmp_path / name)
        pd.testing.assert_frame_equal(again.jobs, trace.jobs, check_exact=True)
        for found, expected in zip(again.parents, trace.parents, strict=True):  # type: ignore[arg-type]
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("parents", "words"),
    [
        ({"a": ["d"], "d": ["b"], "b": ["a"], "c": []}, "tasks that wait for each other (3 in a cycle)"),
        ({"a": ["a"]}, "task 'a': parents has 'a': a task cannot come after itself"),
        ({"a": [], "b": ["x"]}, "task 'b': parents has 'x': no task has this id"),
        ({"a b": [], "a_b": []}, "task 2: id = 'a_b': allowed: each id once"),
        ({" ": []}, "task 1: id = ' ': allowed: a text that is not blank"),
    ],
)
def test_graphs_that_are_none(tmp_path: Path, parents: dict[str, list[str]], words: str) -> None:
    assert words in refused(tmp_path, document(parents, {name: {"runtimeInSeconds": 1} for name in parents}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"workflow"', "line 1: not JSON"),
        (json.dumps(document())[:-200], "not JSON"),
        ('{"workflow": ' + "[" * 200_000, "nested too deeply"),
        ('{"workflow": {"x": ' + "1" * 5000 + "}}", "too many digits"),
        ('{"workflow": 5}', "no WfFormat"),
        ('{"workflow": {"tasks": []}}', "workflow.tasks: allowed is a list of tasks"),
        ('{"workflow": {"tasks": [3]}}', "workflow.tasks: allowed is a list of tasks"),
        ('{"workflow": {"specification": {"tasks": [{"id": "a"}]}}}', "workflow.execution.tasks: allowed is a list"),
        ('{"workflow": {"tasks": [{"id": 5}]}}', "task 1: id = '5'"),
        ('{"workflow": {"tasks": [{"id": "a", "parents": "b"}]}}', "task 'a': parents: allowed: a list of ids"),
        (document(ran=RAN | {"stray": {}}), "task 'stray': in the execution, not in the specification"),
        (
            document(ran=RAN | {"d": {"runtimeInSeconds": "3 s"}}),
            "task 'd': runtimeInSeconds = '3 s': allowed: a number",
        ),
        (document(ran=RAN | {"d": {"runtimeInSeconds": True}}), "runtimeInSeconds = 'True'"),
        (document(ran=RAN | {"d": {"avgCPU": float("nan")}}), "avgCPU = 'nan'"),
        (document(ran={"a": {"runtimeInSeconds": -1}}), "none of its 6 rows is a job that ran (5: in the"),
    ],
)
def test_files_that_are_no_workflow(tmp_path: Path, content: object, words: str) -> None:
    assert words in refused(tmp_path, content)


def test_rows_that_lie_are_counted(tmp_path: Path) -> None:
    lies: dict[str, dict[str, Any]] = {
        "b_ID2": {"runtimeInSeconds": -5},
        "c": {"runtimeInSeconds": 5, "readBytes": 2**63},
        "d": {"runtimeInSeconds": 1e300, "avgCPU": 10**400},
        "lone": {"runtimeInSeconds": 1, "writtenBytes": -1},
    }
    trace = read(tmp_path, document(ran=RAN | lies))
    assert trace.skipped == {
        "negative run time": 1, "zero run time": 1, "bytes beyond 2^63": 1, "negative bytes": 1,
        "cpu_ms not a number above 0 to 1e+12": 1,
    }  # fmt: skip
    assert trace.parents is None


@needs_data
def test_the_real_workflows_are_accounted_for() -> None:
    for path in sorted(DATA.glob("*.json.xz")):
        trace = read_trace(path)
        with lzma.open(path) as file:
            workflow = json.load(file)["workflow"]
        ran = pd.DataFrame(workflow["execution"]["tasks"])
        good = ran[(ran["runtimeInSeconds"] > 0) & (ran["avgCPU"] > 0)]
        assert trace.rows == len(ran) == len(trace.jobs) + sum(trace.skipped.values())
        assert sorted(trace.jobs["job"]) == sorted(good["id"])
        cpu_s = (trace.jobs["cpu_ms"] * trace.jobs["tasks"]).sum() / 1000
        assert cpu_s == pytest.approx((good["runtimeInSeconds"] * good["avgCPU"]).sum() / 100)
        # A job comes after another, directly or through others, as it does in the file.
        given = networkx.DiGraph([(p, t["id"]) for t in workflow["specification"]["tasks"] for p in t["parents"]])
        assert trace.parents is not None
        ids = trace.jobs["job"].tolist()
        children = np.repeat(np.arange(len(ids)), np.diff(trace.parents.first))
        ours = networkx.DiGraph([(ids[p], ids[c]) for p, c in zip(trace.parents.parent, children, strict=True)])
        for job in ids:
            before = networkx.ancestors(ours, job) if job in ours else set()
            assert before == (networkx.ancestors(given, job) & set(ids) if job in given else set())
