"""Maps of columns guessed for tables in published schemas, with their names and without."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import lzma
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from guessing_tables import SCHEMAS, MadeTable, made_table

from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.traces import read_trace
from cluster_abm.workload.traces.guessing import THRESHOLD, Guess, guess
from cluster_abm.workload.traces.guessing.writing import map_text

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
SEEDS = (1, 2, 3)
# What says when a job came, how long it ran, and how wide it is.
NEEDED = ("submit", "run", "cores")


def guessed(text: str) -> Guess:
    return guess(iter([text.encode()]), "table.csv")


def column_of(found: Guess, field: str) -> str | int | None:
    entry = found.map.get(field) or found.map.get("resources", {}).get(field.removeprefix("resources."))
    return None if entry is None else entry.get("column")


def wrong_fields(found: Guess, table: MadeTable, *, named: bool) -> dict[str, str | int | None]:
    """Fields that were taken from a column that is not theirs."""
    right = {name: [table.column(one, named=named) for one in columns] for name, columns in table.truth.items()}
    fields = [name for name in found.sure if name != "filter" and "expr" not in found.map.get(name, {})]
    return {name: column_of(found, name) for name in fields if column_of(found, name) not in right.get(name, [])}


def judged(found: Guess, truth: dict[str, list[str | int]]) -> dict[str, str]:
    """right, empty or wrong, of what is needed: start stands for submission, and start with end for the run time."""
    result = {}
    for name in NEEDED:
        column = column_of(found, name)
        if name == "submit" and column is None:
            column = column_of(found, "start")
        if name == "run" and column is None and column_of(found, "end") is not None:
            pair = [column_of(found, one) for one in ("start", "end")]
            matches = all(one in truth.get(of, []) for one, of in zip(pair, ("start", "end"), strict=True))
            result[name] = "right" if matches else "empty" if None in pair else "wrong"
            continue
        if name == "cores" and column is None:
            column = column_of(found, "tasks")
        allowed = truth.get(name) or (truth.get("start", []) if name == "submit" else [])
        result[name] = "empty" if column is None else "right" if column in allowed else "wrong"
    return result


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("schema", [name for name in SCHEMAS if made_table(name, 1, 30).header])
def test_with_names_all_that_is_needed_is_found_and_nothing_is_wrong(schema, seed):
    table = made_table(schema, seed)
    found = guessed(table.text())
    assert wrong_fields(found, table, named=True) == {}
    times = {"submit", "start", "end", "run", "cores"} & table.truth.keys()
    assert times <= found.sure.keys()
    assert min(found.sure[name] for name in times) >= 0.7
    ColumnMap.model_validate(found.map).check_complete()


@pytest.mark.slow
def test_without_names_four_of_five_are_found_and_none_of_the_times_is_wrong():
    counts = dict.fromkeys(NEEDED, 0)
    for schema in SCHEMAS:
        for seed in SEEDS:
            table = made_table(schema, seed)
            found = guessed(table.text(named=False))
            truth = {name: [table.column(one, named=False) for one in of] for name, of in table.truth.items()}
            result = judged(found, truth)
            assert result["submit"] != "wrong"
            assert result["run"] != "wrong"
            for name in NEEDED:
                counts[name] += result[name] == "right"
    least = 0.8 * len(SCHEMAS) * len(SEEDS)
    assert {name: count for name, count in counts.items() if count < least} == {}


@pytest.mark.slow
def test_what_is_said_to_be_surer_is_right_more_often():
    sure: dict[bool, list[bool]] = {True: [], False: []}
    for schema in SCHEMAS:
        for named in (True, False):
            table = made_table(schema, 4)
            found = guessed(table.text(named=named))
            wrong = wrong_fields(found, table, named=named)
            for name, value in found.sure.items():
                assert THRESHOLD <= value <= 1.0
                if name != "filter":
                    sure[value >= 0.8].append(name not in wrong)
    assert len(sure[True]) > 50
    assert sum(sure[True]) >= 0.98 * len(sure[True])
    assert sum(sure[False]) >= 0.8 * len(sure[False])


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_guess_reads_its_file(schema, named, tmp_path):
    table = made_table(schema, 5, 300)
    file = tmp_path / "table.csv"
    file.write_text(table.text(named=named))
    found = guessed(table.text(named=named))
    trace = read_trace(file, columns=ColumnMap.model_validate(found.map))
    assert trace.rows == 300 == len(trace.table) + sum(trace.skipped.values())
    assert len(trace.table) >= 0.85 * 300
    assert tomllib.loads(map_text(found, "table.csv")) == found.map


def test_run_times_that_are_read_are_those_of_the_table(tmp_path):
    # Three jobs of 30 s, 60 s and 90 s; columns whose names say nothing of seconds or milliseconds.
    rows = [
        f"{at},{at * 100},{at * 100 + 5},{at * 100 + 5 + run},{run * 1000},4"
        for at, run in enumerate((30, 60, 90) * 10)
    ]
    file = tmp_path / "a.csv"
    file.write_text("id,submitted,started,ended,runtime,cores\n" + "\n".join(rows) + "\n")
    found = guessed(file.read_text())
    assert found.map["run"] == {"column": "runtime", "unit": "ms"}
    trace = read_trace(file, columns=ColumnMap.model_validate(found.map))
    assert sorted(set(trace.table["cpu_ms"])) == [30_000.0, 60_000.0, 90_000.0]
    assert set(trace.table["tasks"]) == {4.0}


def test_columns_that_tell_nothing_are_left_empty():
    # Two columns that rise and fall alike, and a text: nothing here is a time or a number of cores.
    text = "c1,c2,c3\n" + "".join(f"{at * 7919 % 104729},{at * 31 % 97 + 0.5},w\n" for at in range(1, 200))
    found = guessed(text)
    assert found.sure.keys() <= {"job"}
    assert found.missing.startswith("no column of times of submission or start was found")


def test_a_limit_is_no_run_time():
    # Called walltime, but always more than from start to end.
    rows = [f"{at * 10},{at * 10 + 1},{at * 10 + 1 + at % 7 * 50 + 3},600" for at in range(50)]
    found = guessed("submit_s,start_s,stop_s,walltime_s\n" + "\n".join(rows) + "\n")
    assert column_of(found, "requested") == "walltime_s"
    assert found.map["run"] == {"expr": "stop_s - start_s", "unit": "s"}


def test_the_time_from_submission_to_end_is_no_run_time():
    rows = [f"{at * 10},{at * 10 + at % 9 * 20},{at * 10 + at % 9 * 20 + at % 7 * 50 + 3}" for at in range(50)]
    cells = [[int(cell) for cell in row.split(",")] for row in rows]
    text = "submit,start,end,duration\n" + "".join(f"{a},{b},{c},{c - a}\n" for a, b, c in cells)
    found = guessed(text)
    assert found.map["run"] == {"expr": "end - start", "unit": "s"}
    assert "from submission to end" in found.unsure["run"]


def test_swapped_names_are_doubted():
    # What is called the end lies before the start in every row.
    text = "submit,start,end\n" + "".join(f"{at * 10},{at * 10 + 500},{at * 10 + 5}\n" for at in range(50))
    found = guessed(text)
    assert not {"start", "end"} <= found.map.keys()


def test_states_of_jobs_that_have_not_run_are_left_out_by_a_filter():
    rows = [f"{at},{at + 1},{at + 9},{'PENDING' if at % 5 == 0 else 'COMPLETED'}" for at in range(40)]
    found = guessed("submit,start,end,job state\n" + "\n".join(rows) + "\n")
    assert found.map["filter"] == '`job state` not in ["PENDING"]'


def test_minus_one_stands_for_not_known():
    rows = [f"{at * 10},{-1 if at % 4 == 0 else at},2" for at in range(40)]
    found = guessed("submit,run_s,cores\n" + "\n".join(rows) + "\n")
    assert found.map["missing"] == ["-1"]


def test_memory_without_a_unit_is_left_empty_with_the_reason():
    found = guessed("submit,run_s,mem\n" + "".join(f"{at * 10},{at + 1},{at % 4 * 100}\n" for at in range(40)))
    assert "memory" not in found.map
    assert "no unit" in found.unsure["memory"]


def test_a_table_of_few_rows_is_read_by_its_names():
    found = guessed("submit,run_s,cores\n0,5,1\n10,7,2\n")
    assert {name: column_of(found, name) for name in NEEDED} == {"submit": "submit", "run": "run_s", "cores": "cores"}


REAL = {
    "schedules/grid5000/noise2-seed7.csv.xz": {
        "submit": ["submit_s"],
        "start": ["start_s"],
        "end": ["stop_s"],
        "cores": ["nodes"],
    },
    "schedules/slurm-micro/slurm_acct.out.xz": {
        "submit": ["Submit"],
        "run": ["Elapsed"],
        "cores": ["NCPUS", "ReqCPUS"],
    },
    "schedules/slurm-micro/requests.csv.xz": {"submit": ["submit_s"], "run": ["run_s"], "cores": ["tasks"]},
    "logs/alibaba-gpu-2023-pods.csv.xz": {
        "submit": ["creation_time"],
        "start": ["scheduled_time"],
        "end": ["deletion_time"],
        "cores": ["cpu_milli"],
    },
    "HPC2N-2002-2.2-cln.swf.xz": {"submit": [2], "run": [4], "cores": [5, 8]},
    "NASA-iPSC-1993-3.1-cln.swf.xz": {"submit": [2], "run": [4], "cores": [5, 8]},
    "SDSC-SP2-1998-4.2-cln.swf.xz": {"submit": [2], "run": [4], "cores": [5, 8]},
    "LANL-CM5-1994-4.1-cln.swf.xz": {"submit": [2], "run": [4], "cores": [5, 8]},
}


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="needs the logs")
def test_real_files_without_names():
    """Four of five of each field at least, and no time that is wrong. Design and test are the same here."""
    counts = dict.fromkeys(NEEDED, 0)
    for name, truth in REAL.items():
        with lzma.open(DATA / name, "rt") as file:
            text = file.read(2**22)
        if not name.endswith(".swf.xz"):
            head, _, body = text.partition("\n")
            separator = "|" if "|" in head else ","
            names = next(csv.reader(io.StringIO(head), delimiter=separator))
            text = separator.join(f"c{at + 1}" for at in range(len(names))) + "\n" + body
            truth = {field: [f"c{names.index(str(one)) + 1}" for one in of] for field, of in truth.items()}
        result = judged(guessed(text), truth)
        assert "wrong" not in (result["submit"], result["run"]), name
        for field in NEEDED:
            counts[field] += result[field] == "right"
    assert min(counts.values()) >= 0.8 * len(REAL)


@pytest.mark.parametrize("order", ["by end", "by nothing"])
def test_the_order_of_the_rows_is_no_matter_where_durations_tell_the_times(order):
    table = made_table("batsim", 6)
    end = table.names.index("finish_time")
    rows = sorted(table.rows, key=lambda row: float(row[end]) if order == "by end" else hash_of(row[0]))
    found = guessed(replace(table, rows=rows).text(named=False))
    needed = {"submit": "submission_time", "start": "starting_time", "end": "finish_time", "run": "execution_time"}
    assert {name: column_of(found, name) for name in needed} == {
        name: table.column(column, named=False) for name, column in needed.items()
    }


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("kind", ["json-lines", "json", "parquet"])
def test_a_guess_reads_other_layouts(kind, tmp_path):
    # Forty jobs of 3 s or 4 s on two cores, their times as seconds since 1970.
    begin = 1_600_000_000
    rows = [
        {
            "id": f"j{at}",
            "submit_time": begin + at,
            "start_time": begin + at + 5,
            "end_time": begin + at + 8 + at % 2,
            "cpus": 2,
        }
        for at in range(40)
    ]
    file = tmp_path / "file"
    if kind == "parquet":
        import pandas as pd

        frame = pd.DataFrame(rows)
        for name in ("submit_time", "start_time", "end_time"):
            frame[name] = pd.to_datetime(frame[name], unit="s")
        frame.to_parquet(file)
    else:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        file.write_text(text if kind == "json-lines" else json.dumps({"version": 1, "jobs": rows}))
    found = guess(iter([file.read_bytes()]), "file")
    assert found.map["file"]["kind"] == kind
    trace = read_trace(file, columns=ColumnMap.model_validate(found.map))
    assert (trace.rows, len(trace.table)) == (40, 40)
    assert sorted(set(trace.table["cpu_ms"])) == [3000.0, 4000.0]
    assert set(trace.table["recorded_wait_ms"]) == {5000.0}
