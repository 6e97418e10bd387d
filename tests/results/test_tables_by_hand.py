"""Every column of the tables of a run, worked by hand: jobs.parquet, decisions.parquet, nodes.parquet, programs.

The runs, and the arithmetic of their times, stand in small_runs.py.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from small_runs import HEAD, begun, model_of
from support import PLAIN, finished

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.results.columns import DECISIONS, JOBS, NODES

NAN = math.nan

# Rows by (end, task). `disk`: T0 ends at 30, T1 at 41, R at 43, S at 53.
JOBS_BY_HAND: dict[str, dict[str, list[Any]]] = {
    "disk": {
        "job": [2, 2, 0, 1], "task": [2, 3, 0, 1], "home": [1, 1, 0, 0], "node": [1, 1, 0, 0],
        "arrival_ms": [20, 20, 0, 0], "finish_ms": [30, 41, 43, 53], "response_ms": [10, 21, 43, 53],
        "dedicated_ms": [10, 10, 40, 40], "slowdown": [1, 2.1, 43 / 40, 53 / 40],
        "slowdown_cpu_io": [1, 2.1, 43 / 40, 53 / 40], "slowdown_cpu": [1, 2.1, 43 / 20, 53 / 20],
        "cpu_ms": [10, 10, 20, 20], "cpu_queue_ms": [0, 11, 3, 9], "io_ms": [0, 0, 20, 20],
        "io_queue_ms": [0, 0, 0, 4], "io_requests": [0, 0, 2, 2], "page_faults": [0] * 4, "tasks_of_job": [2, 2, 1, 1],
        "outcome": ["finished"] * 4, "program": ["adder", "adder", "reader", "reader"], "remote": [False] * 4,
    },
    "paging": {
        "dedicated_ms": [50], "slowdown": [1], "slowdown_cpu_io": [50 / 35], "slowdown_cpu": [50 / 35],
        "paging_ms": [15], "page_faults": [3], "io_requests": [0], "io_ms": [0], "program": ["pager"],
    },
    "remote": {"task": [1, 0], "home": [0, 0], "node": [1, 0], "remote": [True, False], "migration_ms": [7, 0],
               "response_ms": [27, 100], "migrations": [0, 0], "slowdown": [27 / 20, 1]},
    "migration": {"task": [1, 0], "node": [0, 1], "remote": [False, False], "migration_ms": [0, 11],
                  "migrations": [0, 1], "finish_ms": [45, 111]},
    # Node 0 failed under A, task 0: of its 140 ms of CPU 40 were in vain.
    "failure": {
        "task": [1, 0], "home": [1, 0], "node": [1, 1], "remote": [False, True], "restarts": [0, 1],
        "cpu_ms": [30, 140], "lost_cpu_ms": [0, 40], "dedicated_ms": [30, 100], "slowdown": [1, 1.47],
        "slowdown_cpu_io": [1, 1.47], "slowdown_cpu": [1, 1.47], "migrations": [0, 0], "migration_ms": [0, 7],
    },
    # What has not finished has an end and a response, and no slowdown.
    "lost": {"task": [1, 0], "finish_ms": [30, 40], "outcome": ["finished", "lost"], "slowdown": [1, NAN],
             "slowdown_cpu_io": [1, NAN], "slowdown_cpu": [1, NAN], "cpu_ms": [30, 40]},
    "killed": {"task": [1, 0], "finish_ms": [5, 30], "outcome": ["killed", "finished"], "slowdown": [NAN, 1],
               "response_ms": [0, 30]},
    "barrier": {"barrier_ms": [11, 2], "cpu_queue_ms": [0, 18], "dedicated_ms": [19, 19], "finish_ms": [29, 38],
                "tasks_of_job": [2, 2], "job": [0, 0]},
    "held": {"blocked_ms": [0, 90], "response_ms": [95, 110], "dedicated_ms": [95, 20], "slowdown": [1, 5.5]},
}  # fmt: skip

STAY = {"time_ms": 0.0, "task": 0, "job": 0, "source": 0, "target": 0, "accepted": True}
BLANK = dict.fromkeys(("task_load", "load_here", "load_there", "response_here_ms", "response_there_ms", "cost_ms",
                       "mce"), NAN)  # fmt: skip
SHORTEST = BLANK | {"rule": "shortest queue", "index": "tasks", "task_load": 1.0}
A_TIE = SHORTEST | {"load_here": 0.0, "load_there": 0.0, "reason": "home is as short"}
CPU = BLANK | {"rule": "lines 16-20 (CPU)", "index": "cpu_ms", "load_there": 0.0}
BORN = BLANK | {"rule": "born at home", "index": "cpu_queue", "reason": "starts at its home"}
DECISIONS_BY_HAND: dict[str, list[dict[str, Any]]] = {
    # B, task 1, of the slice from 20 on.
    "remote": [
        STAY | A_TIE,
        STAY | SHORTEST | {"time_ms": 20.0, "task": 1, "job": 1, "target": 1, "load_here": 1.0, "load_there": 0.0,
                           "reason": ""},
    ],
    # Node 0 asks node 1, which has a task, too; now that it knows it stays.
    "refused": [
        STAY | A_TIE,
        STAY | A_TIE | {"task": 1, "job": 1, "source": 1, "target": 1},
        STAY | SHORTEST | {"task": 2, "job": 2, "target": 1, "load_here": 1.0, "load_there": 0.0, "accepted": False,
                           "reason": "not the shorter queue any more"},
        STAY | A_TIE | {"task": 2, "job": 2, "load_here": 1.0, "load_there": 1.0},
    ],
    # A: 100 ms is not below 0 - 0, and it would take 100 (1 + 0) at either node, at home for nothing.
    "cpu load": [
        STAY | CPU | {"task_load": 100.0, "load_here": 0.0, "response_here_ms": 100.0, "response_there_ms": 100.0,
                      "cost_ms": 0.0, "reason": "the gap in load would not narrow"},
        STAY | CPU | {"time_ms": 20.0, "task": 1, "job": 1, "target": 1, "task_load": 20.0, "load_here": 80.0,
                      "response_here_ms": 40.0, "response_there_ms": 20.0, "cost_ms": 7.0, "reason": ""},
    ],
    # The age of 20 over the cost of 11 ms; queues of 2, with the newcomer, and 0.
    "migration": [
        STAY | BORN,
        STAY | BORN | {"time_ms": 20.0, "task": 1, "job": 1},
        STAY | BORN | {"time_ms": 20.0, "target": 1, "rule": "age >= cost / (n - m)", "load_here": 2.0,
                       "load_there": 0.0, "cost_ms": 11.0, "mce": 20 / 11, "reason": ""},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """The runs of which tables are worked by hand."""
    return {name: model_of(name, tmp_path_factory.mktemp("run")) for name in JOBS_BY_HAND}


@pytest.mark.parametrize("run", JOBS_BY_HAND)
def test_rows_of_jobs(run, models):
    frame = models[run].jobs_frame()
    for name, expected in JOBS_BY_HAND[run].items():
        found = frame[name].tolist()
        numbers = not isinstance(expected[0], str)
        assert found == (pytest.approx(expected, nan_ok=True) if numbers else expected), name


@pytest.mark.parametrize("run", JOBS_BY_HAND)
def test_the_parts_of_a_response_are_all_of_it(run, models):
    frame = models[run].jobs_frame()
    assert frame[[f"{part}_ms" for part in BREAKDOWN]].sum(axis=1).tolist() == pytest.approx(
        frame["response_ms"].tolist()
    )


@pytest.mark.slow
@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("run", DECISIONS_BY_HAND)
def test_rows_of_decisions(run, compiled, tmp_path):
    model = begun(run, tmp_path, compiled)
    assert bool(model.decides_in_python) != compiled
    model.run()
    rows = model.decisions_frame().to_dict(orient="records")
    assert len(rows) == len(DECISIONS_BY_HAND[run])
    for row, expected in zip(rows, DECISIONS_BY_HAND[run], strict=True):
        assert row == {
            name: pytest.approx(value, nan_ok=True) if isinstance(value, float) else value
            for name, value in expected.items()
        }
    metrics = model.summary()["metrics"]
    moves = [row for row in DECISIONS_BY_HAND[run] if row["source"] != row["target"]]
    assert metrics["refused_offers"] == sum(not row["accepted"] for row in moves)
    assert metrics["remote_executions"] + metrics["migrations"] == sum(row["accepted"] for row in moves)


def is_of_graphs_or_files(column):
    return column.name.endswith("_vertex") or column.name == "cluster_t_ms"


def test_no_column_is_left_out():
    """Hits in the buffer hang on draws: the test after the next one."""
    worked = {name for table in JOBS_BY_HAND.values() for name in table}
    # Those of graphs and of files stand in tables of such runs alone: tests/interconnect, test_files_with_places.py.
    assert worked == {column.name for column in JOBS if not is_of_graphs_or_files(column)} - {"buffer_hits"}
    decided = [row for rows in DECISIONS_BY_HAND.values() for row in rows]
    assert all(
        set(row) == {column.name for column in DECISIONS if not is_of_graphs_or_files(column)} for row in decided
    )
    # Each has a value somewhere.
    assert all(any(row[name] == row[name] for row in decided) for name in BLANK)


def test_rows_of_nodes(tmp_path):
    """`disk`, at 40 ms. Node 0: R has had 5 + 10 + 2 ms of CPU and computes, S 5 + 10 and is at the disk, which was
    busy 5-15-25, 26-36 and from 37 on. Node 1: T0 had 10 ms and ended, T1 9 of 10. A task has 1 MB."""
    model = begun("disk", tmp_path, measure__period_ms=20.0)
    model.run(until_ms=40.0)
    true = [model.true_loads(node) for node in range(2)]
    model.run()
    frame = model.nodes_frame()
    assert frame["time_ms"].tolist() == [20.0, 20.0, 40.0, 40.0, 60.0, 60.0]
    assert frame["node"].tolist() == [0, 1] * 3
    at_40 = frame.iloc[2:4]
    expected = {"tasks": [2, 1], "memory_mb": [2, 1], "cpu_queue": [1, 1], "cpu_busy_ms": [32, 19],
                "disk_busy_ms": [33, 0], "load_cpu_ms": [3 + 5, 1], "faults_per_ms": [0, 0]}  # fmt: skip
    for name, values in expected.items():
        assert at_40[name].tolist() == pytest.approx(values), name
    # The others are the loads that managers see of their own node, under their own names.
    for column in NODES[2:-2]:
        if not column.when:
            index = column.name.removeprefix("load_")
            assert at_40[column.name].tolist() == [float(loads[index]) for loads in true], index
    assert [column.name for column in NODES if not column.when] == list(frame.columns)


def test_what_the_buffer_serves_is_no_request(tmp_path):
    """The accesses of a job are the same whatever the buffer: without one all go to the disk, and with one that holds
    data accessed again and again, h = 1 - 1e-9, none does."""
    trace = tmp_path / "jobs.csv"
    counts = []
    for reaccess in (0, 1e9):
        trace.write_text(f"{HEAD},reaccess_rate\n0,0,1000,0.02,1,1,{reaccess}\n")
        model = finished(1, **PLAIN, workload__kind="trace", workload__trace__file=str(trace), policy__name="none")
        (row,) = model.jobs_frame()[["io_requests", "buffer_hits"]].to_numpy().tolist()
        counts.append(row)
    (requests, none), (no_requests, hits) = counts
    assert requests == hits > 0
    assert none == no_requests == 0


def test_numbers_of_programs(models):
    """The means over the tasks of a program: wall over CPU, paging over what is not queueing, faults."""
    assert models["disk"].summary()["programs"] == {
        "reader": {"tasks": 2, "mean_slowdown_cpu": pytest.approx(48 / 20), "paging_percent": 0.0, "page_faults": 0.0},
        "adder": {"tasks": 2, "mean_slowdown_cpu": pytest.approx(1.55), "paging_percent": 0.0, "page_faults": 0.0},
    }
    assert models["paging"].summary()["programs"] == {
        "pager": {"tasks": 1, "mean_slowdown_cpu": pytest.approx(50 / 35), "paging_percent": pytest.approx(30.0),
                  "page_faults": 3.0},
    }  # fmt: skip
