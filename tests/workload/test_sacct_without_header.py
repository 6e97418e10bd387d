"""`sacct -n`: which column is which, by known orders and by --fields, and what is told where it is not known."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.bounded_files import Limit
from cluster_abm.errors import InputError
from cluster_abm.workload.traces import Trace, read_trace
from cluster_abm.workload.traces.format import OpenTrace
from cluster_abm.workload.traces.recognition import beginning
from cluster_abm.workload.traces.slurm.orders import fields_of, known_orders, order_of
from cluster_abm.workload.traces.slurm.reading import slurm_trace

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
DAY = "2023-05-01T10:"
# Ids, times, states and widths of two jobs and a step, by sacct's names.
ROWS: list[dict[str, str]] = [
    {"jobid": "7", "jobname": "a", "state": "COMPLETED", "submit": f"{DAY}00:00", "start": f"{DAY}00:05",
     "end": f"{DAY}01:05", "elapsedraw": "60", "elapsed": "00:01:00", "ncpus": "2", "alloccpus": "2",
     "totalcpu": "01:30.500", "exitcode": "0:0", "user": "ann", "group": "phys", "account": "acc",
     "partition": "short", "alloctres": "cpu=2,gres/gpu=1", "eligible": f"{DAY}00:00", "nnodes": "1",
     "timelimit": "00:10:00", "timelimitraw": "10", "jobidraw": "7", "gid": "5", "uid": "6", "reqcpus": "2"},
    {"jobid": "7.batch", "jobname": "batch", "state": "COMPLETED", "submit": f"{DAY}00:05", "start": f"{DAY}00:05",
     "end": f"{DAY}01:05", "elapsedraw": "60", "elapsed": "00:01:00", "ncpus": "2", "ntasks": "1",
     "alloccpus": "2", "totalcpu": "01:30.500", "maxrss": "1M", "exitcode": "0:0"},
    {"jobid": "8_1", "jobname": "b", "state": "CANCELLED by 5", "submit": f"{DAY}00:02", "start": f"{DAY}00:02",
     "end": f"{DAY}00:12", "elapsedraw": "10", "elapsed": "00:00:10", "ncpus": "1", "alloccpus": "1",
     "totalcpu": "00:05", "exitcode": "0:15", "user": "bob", "group": "bio", "account": "acc", "eligible": "Unknown",
     "nnodes": "1", "timelimit": "UNLIMITED", "jobidraw": "9", "gid": "5", "uid": "6", "reqcpus": "1"},
]  # fmt: skip


def lines(order: tuple[str, ...], end: str = "") -> list[str]:
    return ["|".join(row.get(name.lower(), "") for name in order) + end for row in ROWS]


def write(folder: Path, rows: list[str]) -> Path:
    path = folder / "jobs.txt"
    path.write_text("\n".join(rows) + "\n")
    return path


def by_fields(path: Path, *fields: str) -> Trace:
    data = path.read_bytes()
    return slurm_trace(OpenTrace(*beginning(iter([data])), str(path), Limit(1, "")), fields)


@pytest.mark.parametrize("end", ["", "|"])
@pytest.mark.parametrize("order", known_orders()[:-1])
def test_known_orders_are_read_as_with_a_header(tmp_path: Path, order: tuple[str, ...], end: str) -> None:
    """Without an option, also where each line ends with a bar (`sacct -p`)."""
    headed = read_trace(write(tmp_path, ["|".join(order) + end, *lines(order, end)]))
    bare = read_trace(write(tmp_path, lines(order, end)))
    pd.testing.assert_frame_equal(bare.jobs, headed.jobs, check_exact=True)
    assert (bare.rows, bare.skipped, bare.noted) == (headed.rows, headed.skipped, headed.noted)
    assert bare.filled == headed.filled | {"columns": f"no header: read as {', '.join(order)}"}
    # By hand: 90.5 s on two processors, 5 s on one; or the run times where the order has no CPU times.
    timed = "TotalCPU" in order
    assert bare.jobs["cpu_ms"].tolist() == ([45_250.0, 5000.0] if timed else [60_000.0, 10_000.0])
    assert bare.jobs["recorded_wait_ms"].tolist() == [5000.0, 0.0]


def test_any_order_by_a_list_of_fields(tmp_path: Path) -> None:
    """Names in any case, with widths; several lists are one; a name that comes again is passed over."""
    order = ("State", "ElapsedRaw", "JobID", "Submit", "NCPUS", "State", "JobName")
    path = write(tmp_path, lines(order))
    with pytest.raises(InputError, match="7 columns without a header, in no order that is known: say it with --fields"):
        read_trace(path, format="sacct")
    trace = by_fields(path, "state%20,ELAPSEDRAW,jobid%-5", "submit,ncpus,state,JobName%30")
    assert trace.jobs["arrival_ms"].tolist() == [0.0, 2000.0]
    assert trace.jobs["tasks"].tolist() == [2.0, 1.0]
    assert trace.jobs["name"].tolist() == ["a", "b"]


def test_a_name_with_bars_in_it_is_counted(tmp_path: Path) -> None:
    order = known_orders()[0]
    path = write(tmp_path, [*lines(order), lines(order)[2].replace("8_1", "8_2") + "|c|d"])
    trace = read_trace(path)
    assert len(trace.jobs) == 3
    assert trace.noted["values beyond the last column, ignored (a job's name with | in it)"] == 1
    assert trace.jobs["name"].tolist() == ["a", "b", "b"]


def test_one_odd_line_does_not_hide_an_order(tmp_path: Path) -> None:
    order = known_orders()[0]
    path = write(tmp_path, [*lines(order), "cut|off"])
    with pytest.raises(InputError, match=r"line 4: 2 values where there are 26 columns \(cut off\?\)"):
        read_trace(path)


def test_half_of_the_lines_is_not_enough() -> None:
    order = known_orders()[5]
    good = [line.split("|") for line in lines(order)][:1]
    assert order_of([*good, ["x"]], [order]) is None
    assert order_of([*good, *good, ["x"]], [order]) == order
    assert order_of([], [order]) is None


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("jobid", "x7"), ("state", "DREAMING"), ("submit", "12"), ("submit", "yesterday"), ("elapsedraw", "1:00"),
        ("ncpus", "two"), ("totalcpu", "fast"),
    ],
)  # fmt: skip
def test_values_tell_an_order(column: str, cell: str) -> None:
    order = known_orders()[5]
    cells = [row.get(name.lower(), "") if name.lower() != column else cell for row in ROWS for name in order]
    rows = [cells[at : at + len(order)] for at in range(0, len(cells), len(order))]
    assert order_of([line.split("|") for line in lines(order)], [order]) == order
    # 12 is a time since 1970, which is "never" so early; all others cannot stand there.
    assert order_of(rows, [order]) == (order if cell == "12" else None)


def test_slurms_default_has_no_submit_time(tmp_path: Path) -> None:
    default = known_orders()[-1]
    for rows in (lines(default), ["|".join(default), *lines(default)]):
        with pytest.raises(InputError) as told:
            read_trace(write(tmp_path, rows))
        assert len(told.value.problems) == 1
        assert "column missing: Submit, ElapsedRaw (or Elapsed)" in str(told.value)
        assert "(sacct's default columns); `sacct -P --format=JobID,JobName,State,Submit," in str(told.value)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ("JobID,State", "not the order of this file: 11 values for 2 columns"),
        ("JobID,State,Submit,Start,End,ElapsedRaw,NCPUS,NTasks,TotalCPU,MaxRSS,JobName",
         "not the order of this file: State would be 'a'"),
        ("JobID,,State", "allowed: the list that `sacct -o` was given"),
        ("", "allowed: the list that `sacct -o` was given"),
        (",".join(["x"] * 101), "up to 100 names"),
        ("JobID,JobName,State,x,Start,End,ElapsedRaw,NCPUS,NTasks,TotalCPU,MaxRSS", "column missing: Submit;"),
    ],
)  # fmt: skip
def test_fields_that_do_not_fit_are_told_in_one_line(tmp_path: Path, fields: str, told: str) -> None:
    with pytest.raises(InputError) as problem:
        by_fields(write(tmp_path, lines(known_orders()[5])), fields)
    assert told in str(problem.value)
    assert len(problem.value.problems) == 1


def test_fields_beside_a_header_or_json_are_refused(tmp_path: Path) -> None:
    order = known_orders()[5]
    with pytest.raises(InputError, match="its first line names the columns; leave it out"):
        by_fields(write(tmp_path, ["|".join(order), *lines(order)]), "JobID,State")
    with pytest.raises(InputError, match="it is JSON; leave it out"):
        by_fields(write(tmp_path, ['{"jobs": [{"job_id": 1, "time": {"submission": 5}}]}']), "JobID,State")


def test_widths_and_cases_of_fields() -> None:
    assert fields_of(["JobID%20, jobname%-30", "STATE%"], "x") == ("JobID", "jobname", "STATE")
    assert fields_of(["State,x,state"], "x") == ("State", "x", "state (3)")


@pytest.mark.skipif(not DATA.is_dir(), reason="the real logs are not here; CLUSTER_ABM_DATA says where")
def test_a_real_file() -> None:
    """Four lines of Open XDMoD's sample, counted in an editor: three ran, on 256, 36 and 48 processors."""
    trace = read_trace(DATA / "logs" / "sacct-noheader.log")
    assert (trace.rows, trace.skipped) == (4, {"zero run time": 1})
    assert trace.jobs["tasks"].tolist() == [256.0, 36.0, 48.0]
    # 2015-06-26 13:57:00 to 06-28 02:55:50; 3 days of run time; a limit of 14:20:00.
    assert trace.jobs["recorded_wait_ms"][0] == (36 * 3600 + 58 * 60 + 50) * 1000.0
    assert trace.jobs["cpu_ms"][0] == 3 * 86_400_000.0
    assert trace.jobs["requested_ms"][2] == (14 * 60 + 20) * 60_000.0
    assert trace.jobs["name"].tolist() == ["1AbC-2-3", "100-Floors-of-Frights", "anonjobname"]
