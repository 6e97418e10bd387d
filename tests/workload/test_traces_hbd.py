"""Harchol-Balter and Downey's runs: one is chosen, the others are alternatives."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import read_trace, trace_info, write_csv

TWO = """run,host,submit_s,cpu_s,prog
0,5,0.5,0.09,make
0,3,0.7,0.005,stty
4,1,0.2,2,sed
4,0,3599.3,2.01,csh
4,2,3599.3,1573.5,sim
"""


@pytest.fixture
def two(tmp_path: Path) -> Path:
    path = tmp_path / "two.csv"
    path.write_text(TWO)
    return path


def test_the_chosen_run_in_our_units(two: Path) -> None:
    trace = read_trace(two, run=4)
    expected = pd.DataFrame(
        {
            "arrival_ms": [200.0, 3_599_300.0, 3_599_300.0],
            "home": [1.0, 0.0, 2.0],
            # 2.01 * 1000 is 2009.9999999999998 in floating point.
            "cpu_ms": [2000.0, 2010.0, 1_573_500.0],
            "name": ["sed", "csh", "sim"],
        }
    )
    pd.testing.assert_frame_equal(trace.jobs, expected, check_exact=True)
    assert (trace.format, trace.rows, trace.skipped) == ("hbd", 5, {"belongs to another run": 2})


def test_without_a_choice_there_are_no_jobs_but_there_is_information(two: Path) -> None:
    trace = read_trace(two)
    with pytest.raises(InputError, match=r"none is chosen .*workload\.trace\.run.* 0 \(2 jobs\), 4 \(3 jobs\)"):
        _ = trace.jobs
    with pytest.raises(InputError, match="none is chosen"):
        write_csv(trace, two.with_name("out.csv"))
    assert not two.with_name("out.csv").exists()
    info = trace_info(trace)
    assert (info["rows"], info["jobs"], info["skipped"]) == (5, 5, {})
    assert info["runs"]["0"] == {
        "jobs": 2,
        "span_s": pytest.approx(0.2),
        "cpu_s": {"mean": pytest.approx(0.0475), "max": pytest.approx(0.09)},
        # Both jobs' 0.095 s over 0.2 s.
        "kept_busy": {"cores": pytest.approx(0.475), "memory_mb": None},
    }
    assert list(info["runs"]) == ["0", "4"]
    assert info["runs"]["4"]["jobs"] == 3


def test_a_run_that_is_not_there(two: Path) -> None:
    with pytest.raises(InputError, match=r"run = 3 .*allowed 0 \(2 jobs\), 4 \(3 jobs\)"):
        read_trace(two, run=3)


def test_a_file_of_one_run_needs_no_choice(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("run,host,submit_s,cpu_s\n6,0,1,2\n")
    trace = read_trace(path)
    assert trace.jobs.to_dict("list") == {"arrival_ms": [1000.0], "home": [0.0], "cpu_ms": [2000.0]}
    assert "runs" not in trace_info(trace)


def test_order_is_judged_within_a_run(tmp_path: Path) -> None:
    path = tmp_path / "mixed.csv"
    head = "run,host,submit_s,cpu_s\n"
    path.write_text(head + "1,0,5,1\n0,0,2,1\n1,0,6,1\n0,0,3,1\n")
    assert read_trace(path, run=0).jobs["arrival_ms"].tolist() == [2000.0, 3000.0]
    path.write_text(head + "1,0,5,1\n0,0,2,1\n1,0,4,1\n0,0,3,1\n")
    with pytest.raises(InputError, match=r"line 4: submit_s = 4\.0 goes back") as caught:
        read_trace(path, run=0)
    assert len(caught.value.problems) == 1


def test_wrong_cells_and_missing_columns(tmp_path: Path) -> None:
    path = tmp_path / "wrong.csv"
    path.write_text("run,host,submit_s,cpu_s\n0,-1,1,2\nx,0,2,0\n")
    with pytest.raises(InputError) as caught:
        read_trace(path)
    messages = [problem.split("wrong.csv, ")[1] for problem in caught.value.problems]
    assert [message.split(" = ")[0] for message in messages] == ["line 2: host", "line 3: cpu_s", "line 3: run"]
    path.write_text("run,submit_s,cpu_s\n0,1,2\n")
    with pytest.raises(InputError, match="column 'host' is missing"):
        read_trace(path)
