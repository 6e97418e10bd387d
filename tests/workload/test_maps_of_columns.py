"""Maps of columns: what each key does, by tables of a few rows whose jobs are worked out by hand."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload import work_of
from cluster_abm.workload.traces import read_trace, trace_info
from cluster_abm.workload.traces.mapping.maps import map_in

S = {"unit": "s"}
PLAIN = {"submit": {"column": "at", **S}, "run": {"column": "took", **S}}


@pytest.fixture
def read(tmp_path):
    """Reads a text by a map."""

    def read_text(text, found, name="table.csv", **more):
        path = tmp_path / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, newline="")
        return read_trace(path, columns=ColumnMap.model_validate(found), **more)

    return read_text


def problems_of(call, *given, **more):
    with pytest.raises(InputError) as caught:
        call(*given, **more)
    return "\n".join(caught.value.problems)


def column(trace, name):
    return trace.table[name].tolist()


# ---- where a table lies ----


@pytest.mark.parametrize("between", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_any_separator_is_told_by_the_first_line(read, between, end):
    text = end.join(between.join(cells) for cells in (("at", "took"), ("5", "2"), ("7", "4"))) + end
    trace = read(text, PLAIN)
    assert (column(trace, "arrival_ms"), column(trace, "cpu_ms")) == ([0.0, 2000.0], [2000.0, 4000.0])
    assert trace.format == "map"


def test_columns_are_named_in_any_case_or_by_their_positions_from_one(read):
    text = "AT,Took\n5,2\n7,4\n"
    by_position = {"submit": {"column": 1, **S}, "run": {"expr": "$2", **S}}
    assert column(read(text, PLAIN), "cpu_ms") == column(read(text, by_position), "cpu_ms") == [2000.0, 4000.0]


def test_a_table_without_a_header(read):
    found = {"file": {"header": False}, "submit": {"column": 2, **S}, "run": {"column": 1, **S}}
    trace = read("2,5\n4,7\n", found)
    assert (trace.rows, column(trace, "cpu_ms")) == (2, [2000.0, 4000.0])
    named = {"file": {"header": False, "names": ["took", "at"]}, **PLAIN}
    assert column(read("2,5\n4,7\n", named), "cpu_ms") == [2000.0, 4000.0]


def test_lines_of_json_and_a_document(read):
    lines = '{"at": 5, "took": 2}\n{"at": 7, "took": 4}\n'
    assert column(read(lines, PLAIN, "table.jsonl"), "cpu_ms") == [2000.0, 4000.0]
    document = json.dumps({"log": {"jobs": [{"at": 5, "took": 2}, {"at": 7, "took": 4}]}})
    found = {"file": {"kind": "json", "rows": "log.jobs"}, **PLAIN}
    assert column(read(document, found, "table.json"), "cpu_ms") == [2000.0, 4000.0]


def test_parquet_with_numbers_dates_and_nothing(tmp_path):
    frame = pd.DataFrame({
        "at": pd.to_datetime(["2023-05-01 10:00:00", "2023-05-01 10:00:07", None]), "took": [2, 4, 6],
        "who": pd.Categorical(["ann", None, "bob"]),
    })  # fmt: skip
    frame.to_parquet(tmp_path / "table.parquet")
    found = ColumnMap.model_validate({"submit": {"column": "at"}, "run": {"column": "took", **S}, "user": "who"})
    trace = read_trace(tmp_path / "table.parquet", columns=found)
    assert (column(trace, "arrival_ms"), column(trace, "user")) == ([0.0, 7000.0], ["ann", ""])
    assert trace.skipped == {"no submit time": 1}
    assert trace.begins_at_ms == 1682935200000.0  # date -u -d 2023-05-01T10:00:00 +%s


def test_rows_of_another_width_are_counted_with_their_reason(read):
    trace = read("at,took\n5,2\n6\n7,4\n8,1,1\n", PLAIN)
    assert (trace.rows, len(trace.table)) == (4, 2)
    assert sum(trace.skipped.values()) == 2


def test_the_parts_of_a_folder_are_one_table(tmp_path):
    for number in (10, 2, 1):
        (tmp_path / f"part-{number}.csv").write_text(f"at,took\n{number},{number}\n")
    (tmp_path / "notes.md").write_text("x")
    trace = read_trace(tmp_path, columns=ColumnMap.model_validate(PLAIN))
    assert column(trace, "cpu_ms") == [1000.0, 2000.0, 10_000.0]
    assert trace.noted == {"other files of the folder, not read": 1}


# ---- numbers ----


@pytest.mark.parametrize(("unit", "cell", "run_ms"), [
    ("ns", "3e9", 3000), ("us", "3000000", 3000), ("ms", "3000", 3000), ("s", "3", 3000), (None, "3", 3000),
    ("min", "3", 180_000), ("h", "3", 10_800_000), ("d", "3", 259_200_000), ("clock", "1-02:03:04", 93_784_000),
    ("clock", "02:03.5", 123_500), (None, "00:01:30", 90_000),
])  # fmt: skip
def test_durations(read, unit, cell, run_ms):
    found = PLAIN | {"run": {"column": "took"} | ({} if unit is None else {"unit": unit})}
    assert column(read(f"at,took\n5,{cell}\n", found), "cpu_ms") == [run_ms]


@pytest.mark.parametrize(("unit", "cell", "megabytes"), [
    ("B", "4000000", 4.0), ("kB", "4000", 4.0), ("MB", "4", 4.0), ("GB", "0.004", 4.0), ("TB", "0.004", 4000.0),
    ("KiB", "1000", 1.024), ("MiB", "1", 1.048576), ("GiB", "1", 1073.741824), ("TiB", "1", 1099511.627776),
    ("size", "1.5K", 0.001536), ("size", "2 GB", 2147.483648),
])  # fmt: skip
def test_sizes(read, unit, cell, megabytes):
    found = PLAIN | {"memory": {"column": "memory", "unit": unit}}
    assert column(read(f"at,took,memory\n5,1,{cell}\n", found), "memory_mb") == [pytest.approx(megabytes, rel=1e-12)]


def test_shares_of_a_machine(read):
    found = PLAIN | {
        "cores": {"column": "cpu", "unit": "share"}, "memory": {"column": "memory", "unit": "share"},
        "machine": {"cores": 64, "memory_mb": 1000},
    }  # fmt: skip
    trace = read("at,took,cpu,memory\n0,10,0.0625,0.5\n", found)
    # 4 cores, which share 500 MB.
    assert (column(trace, "tasks"), column(trace, "memory_mb"), column(trace, "cpu_ms")) == ([4.0], [125.0], [10_000.0])
    assert "64 cores" in trace.filled["machine.cores"]


@pytest.mark.parametrize(("cell", "unit", "tasks", "cpu_ms"), [
    ("3", "1", 3.0, 10_000.0), ("2500", "milli", 3.0, 10_000 * 2.5 / 3), ("500", "milli", 1.0, 5000.0),
    ("150", "percent", 2.0, 7500.0),
])  # fmt: skip
def test_cores_become_tasks_which_share_the_work(read, cell, unit, tasks, cpu_ms):
    found = PLAIN | {"cores": {"column": "cores", "unit": unit}}
    trace = read(f"at,took,cores\n0,10,{cell}\n", found)
    assert (column(trace, "tasks"), column(trace, "cpu_ms")) == ([tasks], [pytest.approx(cpu_ms, abs=1e-6)])


def test_tasks_with_cores_each(read):
    found = PLAIN | {
        "tasks": "tasks", "cores": {"column": "each", "per": "task"},
        "memory": {"column": "memory", "unit": "MB", "per": "task"},
    }  # fmt: skip
    trace = read("at,took,tasks,each,memory\n0,10,3,2,100\n0,10,4,0.5,100\n", found)
    # Three tasks of two cores are six, of half the memory each; four of half a core are four.
    assert column(trace, "tasks") == [6.0, 4.0]
    assert column(trace, "memory_mb") == [50.0, 100.0]
    assert column(trace, "cpu_ms") == [10_000.0, 5000.0]


def test_used_cpu_time_counts_and_is_cut_to_what_the_cores_can_give(read):
    found = PLAIN | {"cores": "cores", "cpu": {"column": "cpu", **S}}
    trace = read("at,took,cores,cpu\n0,10,2,6\n0,10,2,30\n0,10,2,\n0,10,2,0\n", found)
    assert column(trace, "cpu_ms") == [3000.0, 10_000.0, 10_000.0]
    assert trace.noted["CPU time above that of its processors, cut to it"] == 1
    assert trace.noted["CPU time not known, run time used"] == 1
    assert trace.skipped == {"zero CPU time": 1}


def test_bytes_of_the_disk_and_of_calls(read):
    text = "at,took,read,written\n0,10,30000000,10000000\n"
    fields = {name: {"column": name.removeprefix("disk_"), "unit": "B"} for name in ("disk_read", "disk_written")}
    trace = read(text, PLAIN | fields)
    assert (column(trace, "disk_mb"), column(trace, "write_share")) == ([40.0], [0.25])
    calls = {name: field | {"by": "calls"} for name, field in fields.items()}
    # 0.1 x 30 + 0.37 x 10
    assert column(read(text, PLAIN | calls), "disk_mb") == [pytest.approx(6.7)]


def test_counted_resources(read):
    found = PLAIN | {"resources": {"gpu": "gpus", "licence": {"value": 1}}}
    trace = read("at,took,gpus\n0,10,2\n0,10,0\n0,10,\n", found)
    assert column(trace, "resources") == ["gpu:2;licence:1", "licence:1", "licence:1"]
    assert trace_info(trace)["resources"] == {
        "gpu": {"jobs": 1, "total": 2.0}, "licence": {"jobs": 3, "total": 3.0},
    }  # fmt: skip


# ---- times ----


def test_the_run_time_and_the_wait_follow_from_the_instants(read):
    found = {name: {"column": name, **S} for name in ("submit", "start", "end")}
    trace = read("submit,start,end\n100,130,150\n90,90,95\n", found)
    assert (column(trace, "arrival_ms"), column(trace, "cpu_ms")) == ([0.0, 10_000.0], [5000.0, 20_000.0])
    assert column(trace, "recorded_wait_ms") == [0.0, 30_000.0]
    assert trace.noted == {"submitted before the row above, sorted": 1}


def test_without_a_start_a_job_starts_so_long_before_its_end(read):
    found = {"submit": {"column": "a", **S}, "end": {"column": "c", **S}, "run": {"column": "b", **S}}
    assert column(read("a,b,c\n0,20,50\n", found), "recorded_wait_ms") == [30_000.0]


def test_without_a_submission_the_start_stands_in(read):
    trace = read("b,c\n5,20\n9,10\n", {"start": {"column": "b", **S}, "end": {"column": "c", **S}})
    assert column(trace, "arrival_ms") == [0.0, 4000.0]
    assert trace.filled["arrival_ms"] == "start: the file says no submission"
    assert trace_info(trace)["recorded_wait_s"] is None


@pytest.mark.parametrize(("field", "cells", "apart_s"), [
    ({"unit": "iso"}, ["2023-05-01T10:00:00", "2023-05-01 10:00:09.5"], 9.5),
    ({}, ["2023-05-01T10:00:00+02:00", "2023-05-01T10:00:00Z"], 7200.0),
    # The night in which Berlin's clocks go from 2:00 to 3:00, and that in which 2:30 comes twice: the first is meant.
    ({"unit": "iso", "zone": "Europe/Berlin"}, ["2023-03-26 01:30:00", "2023-03-26 03:30:00"], 3600.0),
    ({"unit": "iso", "zone": "Europe/Berlin"}, ["2023-10-29 02:30:00", "2023-10-29 03:30:00"], 7200.0),
    ({"unit": "iso", "zone": "Europe/Berlin"}, ["2023-05-01 10:00:00", "2023-05-01T09:00:00Z"], 3600.0),
    ({"unit": "date", "format": "%m/%d/%Y %H:%M:%S"}, ["05/01/2023 10:00:00", "05/02/2023 10:00:01"], 86_401.0),
    ({"unit": "us"}, ["1682935200000000", "1682935200250000"], 0.25),
])  # fmt: skip
def test_instants(read, field, cells, apart_s):
    text = "at,took\n" + "".join(f"{cell},1\n" for cell in cells)
    trace = read(text, PLAIN | {"submit": {"column": "at", **field}})
    assert column(trace, "arrival_ms") == [0.0, pytest.approx(apart_s * 1000.0, rel=1e-9)]


def test_texts_with_a_zone_beside_texts_without_one_are_not_compared(read):
    rows = ["2023-05-01T10:00:00+02:00"] * 3 + ["2023-05-01T10:00:00"]
    trace = read("at,took\n" + "".join(f"{cell},1\n" for cell in rows), PLAIN | {"submit": {"column": "at"}})
    assert (len(trace.table), trace.skipped) == (3, {"submit not read": 1})


def test_dates_in_an_expression_are_seconds(read):
    rows = ["2023-05-01 10:00:00,2023-05-01 10:01:30", "2023-05-01T10:00:00,2023-05-01T11:00:00", "2023-05-01 10:00,x"]
    text = "at,done\n" + "\n".join(rows) + "\n"
    trace = read(text, {"submit": "at", "run": {"expr": "done - at", **S}})
    assert (column(trace, "cpu_ms"), trace.skipped) == ([90_000.0, 3_600_000.0], {"run time not read": 1})
    zoned = text.replace(" 10:01:30", "T10:01:30+02:00").replace("01 10:00:00", "01T10:00:00+01:00")
    kept = read("\n".join(zoned.split("\n")[:2]) + "\n", {"submit": "at", "run": {"expr": "at - done", **S}})
    assert column(kept, "cpu_ms") == [3_510_000.0]


# ---- expressions and filters ----

STATES = "at,took,state,code\n0,1,DONE,0\n0,2,FAILED,1\n0,3,done,\n0,4,,2\n"


@pytest.mark.parametrize(("expression", "kept"), [
    ('state == "DONE"', [1]), ('state in ["DONE", "FAILED"]', [1, 2]), ('not state in ["DONE"]', [2, 3, 4]),
    ('state not in ["DONE"]', [2, 3, 4]), ("code > 0", [2, 4]), ("code in [0, 2]", [1, 4]), ("code != 1", [1, 3, 4]),
    ('took > 1 and code < 2 or state == "done"', [2, 3]), ("(took + 1) * 2 >= 8", [3, 4]), ("-took < -3", [4]),
    ("`took` / 0 < 1 or $2 == 2", [2]), ('state != ""', [1, 2, 3]), ('"DONE" == state', [1]), ("took - at <= 1", [1]),
])  # fmt: skip
def test_a_filter_keeps_the_rows_for_which_it_holds(read, expression, kept):
    trace = read(STATES, PLAIN | {"filter": expression})
    assert [value / 1000 for value in column(trace, "cpu_ms")] == kept
    assert trace.skipped == {"left out by the filter": 4 - len(kept)}
    assert trace.rows == 4


@pytest.mark.parametrize(("key", "expression", "says"), [
    ("filter", "took +", "its end"), ("filter", "took", "gives a number"), ("filter", "__import__('os')", "not read"),
    ("filter", "took ** 2 > 1", "not read"), ("filter", "took > 1 > 0", "allowed here: an operator"),
    ("filter", "a and b > 1", "a number where"), ("filter", "(" * 60 + "took > 1" + ")" * 60, "deep"),
    ("filter", "took > " + "1" * 2000, "allowed up to"), ("filter", 'state in [DONE]', "a number, or a text"),
    ("run", "took > 1", "gives a truth"), ("run", 'took * "2"', "calculates with the text"), ("run", '"3"', "a text"),
    ("run", "(took > 1) + 1", "a truth where"), ("run", "took.real", "is not there"), ("run", "$9", "column 9 is not"),
    ("run", "f(took)", "not read at"), ("run", "took; at", "not read"), ("run", "lambda: 1", "not read"),
])  # fmt: skip
def test_an_expression_that_cannot_be_read_says_where(read, key, expression, says):
    found = PLAIN | {key: expression if key == "filter" else {"expr": expression, **S}}
    with pytest.raises((InputError, ValueError), match=r".") as caught:
        read(STATES, found)
    assert says in str(caught.value)


# ---- words ----


def test_ids_of_several_columns_patterns_and_constants(read):
    found = PLAIN | {
        "job": {"columns": ["array", "task"]}, "user": {"column": "who", "pattern": "^([^@]*)@"},
        "partition": {"value": "all"}, "name": "program",
    }  # fmt: skip
    text = 'at,took,array,task,who,program\n0,1,7,1,ann@here,"a, b"\n1,1,7,2,bob,x\n2,1,7,2,cy@there,x\n'
    trace = read(text, found)
    assert column(trace, "job") == ["7/1", "7/2", ""]
    assert trace.noted == {"job id seen before": 1}
    assert column(trace, "user") == ["ann", "", "cy"]
    assert column(trace, "partition") == ["all"] * 3
    assert column(trace, "name") == ["a, b", "x", "x"]


def test_parents_that_are_no_jobs_are_not_waited_for(read):
    found = PLAIN | {"job": "id", "parents": "after"}
    trace = read("at,took,id,after\n0,1,a,\n0,0,b,\n0,1,c,a b\n0,1,d,a;c\n0,1,e,z\n", found)
    assert column(trace, "job") == ["a", "c", "d", "e"]
    assert trace.parents is not None
    assert [*zip(trace.parents.waiting.tolist(), trace.parents.parent.tolist(), strict=True)] == [
        (1, 0),
        (2, 0),
        (2, 1),
    ]
    assert trace.noted == {"comes after a job that is none here, not waited for": 2}


def test_alibabas_names_of_tasks_carry_their_parents(read):
    found = PLAIN | {
        "job": {"columns": ["job", "task"], "form": "task-name"},
        "parents": {"columns": ["job", "task"], "form": "task-name"},
    }  # fmt: skip
    trace = read("at,took,job,task\n0,1,j1,M1\n0,1,j1,R2_1\n0,1,j2,M1\n0,1,j1,J3_2_1\n0,1,j1,task_Xy\n", found)
    assert column(trace, "job") == ["j1/1", "j1/2", "j2/1", "j1/3", "j1/task_Xy"]
    assert trace.parents is not None
    assert trace.parents.waiting.tolist() == [1, 3, 3]
    assert trace.parents.parent.tolist() == [0, 1, 0]


# ---- several rows a job, several jobs a row ----

EVENTS = {
    "job": "id", "cores": "cores",
    "events": {"kind": "what", "time": {"column": "at", "unit": "us"}, "submit": ["S"], "start": ["R"],
               "end": ["E", "K"]},
}  # fmt: skip


def test_a_job_is_its_events(read):
    text = (
        "at,id,what,cores\n0,a,S,2\n1000000,b,S,1\n3000000,a,R,\n5000000,a,K,\n6000000,a,R,\n7000000,b,R,1\n"
        "9000000,a,E,\n9500000,a,X,\n11000000,c,S,1\n"
    )
    trace = read(text, EVENTS)
    # a: submitted at 0, waits 3 s, runs 2 + 3 s on 2 cores. b never ends, c never starts. Six rows are events of jobs
    # that have another row; X is no event that counts.
    assert (column(trace, "arrival_ms"), column(trace, "tasks")) == ([0.0], [2.0])
    assert (column(trace, "cpu_ms"), column(trace, "recorded_wait_ms")) == ([5000.0], [3000.0])
    assert trace.rows == 9 == len(trace.table) + sum(trace.skipped.values())
    assert trace.skipped == {"event of a job, counted with it": 5, "another event": 1, "no run time": 2}


def test_events_in_any_order_of_rows_are_taken_by_their_times(read):
    rows = ["0,a,S,2", "3000000,a,R,", "9000000,a,E,"]
    forwards, backwards = ("at,id,what,cores\n" + "\n".join(lines) + "\n" for lines in (rows, rows[::-1]))
    assert read(forwards, EVENTS).table.equals(read(backwards, EVENTS).table)


COUNTS = {"job": "f", "name": "f", "spread": {"first": "1", "last": "3", "each_s": 60}}


def test_counts_are_spread_over_their_intervals(read):
    trace = read("f,1,2,3\na,2,0,1\nb,0,,4\n", COUNTS)
    # Two in the first minute: at a quarter and three quarters of it; b's four begin at an eighth of the third.
    arrivals = [15.0, 45.0, 127.5, 142.5, 150.0, 157.5, 172.5]
    assert (trace.table["arrival_ms"] / 1000).tolist() == [at - 15.0 for at in arrivals]
    assert column(trace, "name") == ["a", "a", "b", "b", "a", "b", "b"]
    assert (trace.rows, trace.noted["rows of counts"]) == (7, 2)
    assert "cpu_ms" not in trace.table


def test_a_sample_of_counts_has_the_same_jobs_whatever_the_block(read, monkeypatch):
    text = "f,1,2,3\n" + "".join(f"f{number},{number},3,{number % 7}\n" for number in range(40))
    whole = read(text, COUNTS, sample=0.25)
    monkeypatch.setattr("cluster_abm.workload.traces.mapping.spreading.MOST_AT_ONCE", 5)
    pieces = read(text + "\n", COUNTS, sample=0.25)
    assert pieces.table.sort_values(["arrival_ms", "name"], ignore_index=True).equals(
        whole.table.sort_values(["arrival_ms", "name"], ignore_index=True)
    )
    total = sum(range(40)) + 120 + sum(number % 7 for number in range(40))
    assert whole.rows == total == len(whole.table) + whole.skipped["not in the sample"]
    # Binomial(1,014, 1/4): 253 +- 4 x 13.8
    assert 198 < len(whole.table) < 309


# ---- samples ----


def test_a_sample_is_chosen_by_the_id_whatever_the_order_the_block_or_the_form(read, tmp_path, monkeypatch):
    rows = [f"{number},1,j{number}" for number in range(400)]
    found = PLAIN | {"job": "id"}
    whole = read("at,took,id\n" + "\n".join(rows) + "\n", found, sample=0.1)
    kept = set(column(whole, "job"))
    assert whole.sample == 0.1
    assert whole.skipped == {"not in the sample": 400 - len(kept)}
    # Binomial(400, 0.1): 40 +- 4 x 6
    assert 16 < len(kept) < 64
    monkeypatch.setattr("cluster_abm.workload.traces.layouts.table.BLOCK", 300)
    assert set(column(read("at,took,id\n" + "\n".join(rows[::-1]) + "\n", found, sample=0.1), "job")) == kept
    lines = "".join(json.dumps({"at": number, "took": 1, "id": f"j{number}"}) + "\n" for number in range(400))
    assert set(column(read(lines, found, "table.jsonl", sample=0.1), "job")) == kept
    # A larger sample has the jobs of the smaller one.
    assert kept < set(column(read("at,took,id\n" + "\n".join(rows) + "\n", found, sample=0.3), "job"))


@pytest.mark.parametrize("workflow", [{}, {"workflow": "flow"}])
def test_a_sample_has_whole_workflows(read, workflow):
    rows = [
        f"0,1,w{flow}-{step},{f'w{flow}-{step - 1}' if step else ''},w{flow}" for step in range(3) for flow in range(60)
    ]
    found = PLAIN | {"job": "id", "parents": "after"} | workflow
    trace = read("at,took,id,after,flow\n" + "\n".join(rows) + "\n", found, sample=0.2)
    flows = pd.Series(column(trace, "job")).str.partition("-")[0].value_counts()
    # Binomial(60, 0.2): 12 +- 4 x 3.1
    assert 0 < len(flows) < 25
    assert set(flows) == {3}
    assert trace.parents is not None
    assert len(trace.parents.parent) == 2 * len(flows)
    assert "not waited for" not in str(trace.noted)


def test_formats_without_ids_are_sampled_by_their_rows(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms\n" + "".join(f"{number},5\n" for number in range(300)))
    kept = read_trace(path, sample=0.2)
    assert kept.rows == 300 == len(kept.table) + kept.skipped["not in the sample"]
    assert set(kept.table["arrival_ms"]) < set(read_trace(path, sample=0.4).table["arrival_ms"])
    info = trace_info(kept)["sample"]
    assert info["share"] == 0.2
    assert "1/5 of the cluster's nodes" in info["note"]


# ---- what is wrong ----


@pytest.mark.parametrize(("found", "text", "says"), [
    (PLAIN | {"user": "nobody"}, "at,took\n1,1\n", ["column 'nobody' is not there", "at, took"]),
    (PLAIN | {"user": 3}, "at,took\n1,1\n", ["column 3 is not there: allowed 1 to 2"]),
    # 1,682,935,200,000 ms read as s: the year 55,000.
    (PLAIN, "at,took\n1682935200000,1\n1682935200001,1\n", ["after the year 5138", "row 1: submit = '1682935200000'"]),
    # 10^10 s are 317 years.
    (PLAIN, "at,took\n1,10000000000\n2,1\n", ["beyond 32 years", "1 of 2 rows", "row 1: run = '10000000000'"]),
    (PLAIN | {"memory": {"column": "took", "unit": "GiB"}}, "at,took\n1,10000000000\n",
     ["bytes are beyond 2^63", "row 1: memory = '10000000000'"]),
    ({"start": {"column": "b", **S}, "end": {"column": "a", **S}}, "a,b\n1,2\n3,9\n8,8.5\n",
     ["are start and end swapped?", "3 of 3 rows", "row 1: start = '2', end = '1'"]),
    ({"submit": {"column": "b", **S}, "start": {"column": "a", **S}, "end": {"column": "c", **S}},
     "a,b,c\n1,2,3\n3,9,10\n8,8.5,9\n", ["are submit and start swapped?", "row 2: submit = '9', start = '3'"]),
    ({"submit": {"column": "a", **S}, "run": {"expr": "a - b", **S}}, "a,b\n1,2\n3,9\n",
     ["negative", "run = -1000 ms"]),
    (PLAIN, "at,took\n1,often\n2,never\n3,3\n", ["run cannot be read as a number of \"s\"", "row 1: run = 'often'"]),
    (PLAIN, "at,took\n0,1\n1682935200,1\n1682935300,1\n", ["more than 16 years from the middle", "row 1"]),
    (PLAIN | {"job": {"column": "at", "pattern": "(("}}, "at,took\n1,1\n", ["columns.job.pattern", "RE2"]),
    (PLAIN | {"job": {"column": "at", "pattern": "1"}}, "at,took\n1,1\n", ["no group"]),
    (PLAIN, "at,took\n", ["no row"]),
    (PLAIN, "", ["empty"]),
    (PLAIN, b"at,took\n1,\xff\n", ["no text in UTF-8"]),
    (PLAIN, b"at,took\n1,2\n1,2\n1,2\n1,2,\xff\n", ["no text in UTF-8"]),
    (PLAIN, "at,took\n1,0\n2,0\n", ["none of its 2 rows is a job that ran (2: zero run time)"]),
])  # fmt: skip
def test_a_map_that_must_be_wrong_is_refused_with_the_rows_that_show_it(read, found, text, says):
    told = problems_of(read, text, found)
    assert "table.csv" in told or "columns" in told
    for part in says:
        assert part in told


def test_single_bad_rows_are_counted_by_their_reason(read):
    fields = {name: {"column": name, **S} for name in ("submit", "start", "end")}
    good = "".join(f"{number},{number + 1},{number + 2},1\n" for number in range(100, 200))
    bad = "x,1,2,1\n,1,2,1\n5,9,7,1\n5,9,y,1\n5,,,1\n5,6,7,\n5,6,7,0\n5,6,6,1\n0,0,99999999999,1\n"
    trace = read("submit,start,end,cores\n" + good + bad, fields | {"cores": "cores"})
    assert trace.skipped == {
        "submit not read": 1, "no submit time": 1, "ends before it starts": 1, "run time not read": 1,
        "no run time": 1, "no cores": 2, "zero run time": 1, "run time beyond 32 years": 1,
    }  # fmt: skip
    assert trace.rows == 109 == len(trace.table) + 9


def test_one_submission_at_the_begin_of_time_is_left_out(read):
    rows = "".join(f"{1682935200 + number},1\n" for number in range(50))
    trace = read("at,took\n1,1\n" + rows, PLAIN)
    assert trace.skipped == {"submitted more than 32 years from the others": 1}


def test_jobs_beyond_the_limit_are_refused_with_the_way_out(read):
    text = "at,took\n" + "1,1\n" * 40_000
    assert "--sample 1/100" in problems_of(read, text, PLAIN, max_mb=1)
    assert len(read(text, PLAIN, max_mb=1, sample=0.1).table) < 5000


@pytest.mark.parametrize(("found", "says"), [
    ({"run": "took"}, "allowed: a map with submit"), (PLAIN | {"submitted": "at"}, "submitted"),
    (PLAIN | {"memory": "m"}, "needs a unit"), (PLAIN | {"run": {"column": "took", "unit": "MB"}}, "unit = 'MB'"),
    (PLAIN | {"cores": {"column": "c", "unit": "share"}}, "machine.cores"),
    (PLAIN | {"run": {"column": "took", "expr": "took"}}, "one of column"),
    (PLAIN | {"submit": {"column": "at", "unit": "iso", "zone": "Mars/Base"}}, "no such time zone"),
    (PLAIN | {"submit": {"column": "at", "unit": "date"}}, "format"), (PLAIN | {"parents": "p"}, "needs job"),
    (PLAIN | {"resources": {"gpu": {"column": "g", "per": "task"}}}, "per = 'task'"),
    (PLAIN | {"memory": {"column": "m", "unit": "MB", "by": "calls"}}, "by = 'calls'"),
    (PLAIN | {"run": {"column": "took", "zone": "Europe/Berlin"}}, "zone = "),
    (PLAIN | {"submit": {"column": 0}}, "submit"), (PLAIN | {"resources": {"g p u": "x"}}, "a name as gpu"),
    (EVENTS | {"submit": "at"}, "events: needs job, and no submit"),
])  # fmt: skip
def test_a_scenario_says_what_is_wrong_with_its_map(found, says):
    given = {"workload": {"kind": "trace", "trace": {"file": "x.csv", "columns": found}}}
    told = problems_of(scenario_from, given, "mine.toml")
    assert "workload.trace" in told
    assert says in told


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            'filee = 1\nfile = { sepparator = "," }\nsubmit = { colum = "a" }\n',
            [
                "unknown key 'file.sepparator'; did you mean 'file.separator'?",
                "unknown key 'filee'; did you mean 'file'?",
                "unknown key 'submit.colum'; did you mean 'submit.column'?",
            ],
        ),
        (
            'run = { column = "b", unit = "mile" }\nsubmit = { column = "a", unit = "parsec" }\nfilter = "1 +"\n',
            [
                "submit: unit = 'parsec': allowed: ",
                "; run: unit = 'mile': allowed: ",
                "; filter: '1 +': not read at its end",
            ],
        ),
    ],
)
def test_a_file_with_a_map_says_all_that_is_wrong_at_once(tmp_path, text, lines):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    said = problems_of(map_in, path)
    assert all(line in said for line in lines), said


def test_a_map_of_ones_own_may_change_fields_of_a_shipped_one(tmp_path):
    names = (
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
    )
    path = tmp_path / "pods.csv"
    path.write_text(f"{names}\np0,2000,1,0,0,,LS,Failed,0,30,10\np1,4000,1,0,0,,BE,Succeeded,0,30,10\n")
    assert len(read_trace(path).table) == 2
    changed = ColumnMap.model_validate({"filter": 'pod_phase == "Succeeded"', "group": "qos"})
    trace = read_trace(path, format="alibaba-gpu-2023", columns=changed)
    assert (column(trace, "tasks"), column(trace, "group"), trace.format) == ([4.0], ["BE"], "alibaba-gpu-2023")


def test_of_the_machine_that_shares_are_of_one_number_may_be_changed(tmp_path):
    path = tmp_path / "events.csv"
    cells = ["1,0,,0,u,0,0,0.5,0.25,0,0", "1,0,,1,u,0,0,0.5,0.25,0,0", "1,0,,4,u,0,0,0.5,0.25,0,0"]
    path.write_text("".join(f"{at}000000,,{row}\n" for at, row in zip((600, 610, 620), cells, strict=True)))
    before = read_trace(path, format="google-2011")
    changed = ColumnMap.model_validate({"machine": {"cores": 8}})
    after = read_trace(path, format="google-2011", columns=changed)
    # Half of 8 cores; a quarter of the memory, which is as before.
    assert column(after, "tasks") == [4.0]
    memory_mb = [trace.table["memory_mb"] * trace.table["tasks"] for trace in (before, after)]
    assert memory_mb[0].tolist() == pytest.approx(memory_mb[1].tolist())


def test_a_run_takes_its_jobs_by_a_map(tmp_path):
    (tmp_path / "table.csv").write_text("at,took,cpus\n10,2,1\n13,4,3\n")
    given = {
        "cluster": {"nodes": 4},
        "workload": {"kind": "trace", "trace": {
            "file": str(tmp_path / "table.csv"), "columns": PLAIN | {"cores": "cpus"},
        }},
    }  # fmt: skip
    jobs = work_of(scenario_from(given, "mine.toml"), 1).jobs
    assert (jobs["cpu_ms"].tolist(), jobs["tasks"].tolist()) == ([2000.0, 4000.0], [1, 3])


def test_no_number_of_a_map_is_lost_in_a_large_table(tmp_path):
    """Sums of a table of several blocks, held to pandas."""
    generator = np.random.default_rng(5)
    rows = 30_000
    frame = pd.DataFrame({
        "at": np.sort(generator.integers(0, 10**6, rows)), "took": generator.integers(0, 500, rows),
        "cores": generator.integers(0, 9, rows), "state": generator.choice(["a", "b", ""], rows),
    })  # fmt: skip
    frame.to_csv(tmp_path / "table.csv", index=False)
    found = ColumnMap.model_validate(PLAIN | {"cores": "cores", "filter": 'state != "b"'})
    trace = read_trace(tmp_path / "table.csv", columns=found)
    used = frame[(frame["state"] != "b") & (frame["took"] > 0) & (frame["cores"] > 0)]
    assert len(trace.table) == len(used)
    work_s = (trace.table["cpu_ms"] * trace.table["tasks"]).sum() / 1000
    assert work_s == pytest.approx((used["took"] * used["cores"]).sum(), rel=1e-12)
    assert trace.skipped["left out by the filter"] == (frame["state"] == "b").sum()


# ---- found by the fuzzers ----


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"cores": {"columns": ["a", "b"]}}, "cores: columns make an id together: allowed: column, expr or value"),
        ({"resources": {"gpu": {"column": "a", "otherwise": {"columns": ["b"]}}}}, "resources.gpu: columns make an id"),
        ({"job": {"expr": "a - 1"}}, "job: expr gives a number: allowed: column, columns or value"),
        ({"user": {"column": "a", "otherwise": {"expr": "a"}}}, "user: expr gives a number"),
    ],
)
def test_a_source_that_a_field_cannot_have_is_refused(more, says):
    with pytest.raises(ValueError, match=says):
        ColumnMap.model_validate(PLAIN | more)


def test_a_pattern_of_the_time_of_events_needs_a_group(read):
    found = {
        "job": "id",
        "events": {"kind": "what", "time": {"column": "at", "pattern": "."}, "start": ["S"], "end": ["E"]},
    }
    assert "events.time.pattern = '.': no group" in problems_of(read, "id,what,at\na,S,1\na,E,2\n", found)


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ({"disk_read": {"value": 1e308, "unit": "GiB"}}, "in 2 of 2 rows"),
        ({"cores": {"expr": "took * 1e308"}}, "in 2 of 2 rows: row 1: cores = inf"),
    ],
)
def test_what_is_beyond_all_numbers_is_refused_as_absurd(read, field, says):
    assert says in problems_of(read, "at,took\n5,20\n7,40\n", PLAIN | field)


# ---- blocks, and cells that are not what they should be ----


def test_rows_of_another_width_change_neither_the_sample_nor_the_numbers_of_rows(read, monkeypatch):
    rows = [f"{number},{number % 97 + 1}" for number in range(3000)]
    clean = read("at,took\n" + "\n".join(rows) + "\n", PLAIN, sample=0.1)
    for place in range(2900, 0, -113):
        rows.insert(place, "7")
    text = "at,took\n" + "\n".join(rows) + "\n"
    kept = [read(text, PLAIN, sample=0.1).table]
    for block in (200, 1000, 5000):
        monkeypatch.setattr("cluster_abm.workload.traces.layouts.table.BLOCK", block)
        kept.append(read(text, PLAIN, sample=0.1).table)
    assert all(table.equals(clean.table) for table in kept)


@pytest.mark.parametrize("block", [40, 2**20])
def test_the_numbers_of_rows_in_messages_count_those_of_another_width(read, monkeypatch, block):
    monkeypatch.setattr("cluster_abm.workload.traces.layouts.table.BLOCK", block)
    text = "at,took\n" + "1\n2\n3,often\n4\n5,never\n" + "6,seldom\n" * 5
    told = problems_of(read, text, PLAIN)
    assert "row 3: run = 'often'; row 5: run = 'never'; row 6: run = 'seldom'" in told


@pytest.mark.parametrize(("expression", "kept"), [
    ("took >= 100", [100, 1000]), ("took == 100", [100]), ("took != 100", [99, 1000]), ('took == "100"', [100]),
    ('took in ["100.0", "x"]', [100]), ("at < took", [99, 100, 1000]), ("took == took", [99, 100, 1000]),
])  # fmt: skip
def test_a_cell_that_is_no_number_changes_no_other_row_of_a_filter(read, expression, kept):
    text = "at,took\n0,99\n0,100\n0,1000\n0,abc\n"
    trace = read(text, PLAIN | {"filter": expression})
    assert [value / 1000 for value in column(trace, "cpu_ms")] == kept


def test_truths_in_a_filter_whatever_the_form(read, tmp_path):
    found = PLAIN | {"filter": "ok == 1"}
    lines = '{"at": 5, "took": 2, "ok": true}\n{"at": 7, "took": 4, "ok": false}\n'
    pd.DataFrame({"at": [5, 7], "took": [2, 4], "ok": [True, False]}).to_parquet(tmp_path / "t.parquet")
    for trace in (
        read(lines, found, "t.jsonl"), read("at,took,ok\n5,2,True\n7,4,False\n", found),
        read_trace(tmp_path / "t.parquet", columns=ColumnMap.model_validate(found)),
    ):  # fmt: skip
        assert column(trace, "cpu_ms") == [2000.0]


def test_workflows_of_a_sample_do_not_depend_on_the_order_of_rows(read):
    rows = [
        f"{step},1,w{flow}-{step},{f'w{flow}-{step - 1}' if step else ''}" for step in range(3) for flow in range(60)
    ]
    found = PLAIN | {"job": "id", "parents": "after"}
    first, back = ("at,took,id,after\n" + "\n".join(lines) + "\n" for lines in (rows, rows[::-1]))
    assert set(column(read(first, found, sample=0.2), "job")) == set(column(read(back, found, sample=0.2), "job"))


SWF_ROW = "{} {} 0 60 1 60 -1 1 90 -1 1 3 4 -1 -1 -1 -1 -1\n"
OURS = "{1}000,60000,{0}\n"
SACCT_ROW = "{0}|COMPLETED|2023-05-01T10:00:{1:02d}|60|1\n"


@pytest.mark.parametrize(("name", "head", "row"), [
    ("log.swf", "", SWF_ROW), ("jobs.csv", "arrival_ms,cpu_ms,job\n", OURS),
    ("sacct.txt", "JobID|State|Submit|ElapsedRaw|NCPUS\n", SACCT_ROW),
])  # fmt: skip
def test_formats_with_ids_are_sampled_by_them(tmp_path, name, head, row):
    """Rows put in front change no choice: a job is known by its id, 1000 for the one submitted at 0 s."""
    rows = [row.format(1000 + at, at) for at in range(60)]
    (tmp_path / name).write_text(head + "".join(rows))
    whole = read_trace(tmp_path / name, sample=0.3)
    (tmp_path / name).write_text(head + "".join(row.format(at, 0) for at in range(5)) + "".join(rows))
    more = read_trace(tmp_path / name, sample=0.3)
    later = [trace.table["arrival_ms"][trace.table["arrival_ms"] > 0].tolist() for trace in (whole, more)]
    shifted = [[at - times[0] for at in times] for times in later]
    assert shifted[0] == shifted[1]
    assert 5 < len(shifted[0]) < 35
    assert ("job" in whole.table) == (name == "jobs.csv")


def test_parquet_whose_types_are_odd(tmp_path):
    at = pd.to_datetime(["2023-05-01 10:00:00.000000001", "2023-05-01 10:00:07.000000000"])
    table = pa.table({
        "at": pa.array(at), "took": pa.array(pd.to_timedelta([1500, 2500], unit="ms")),
        "cores": pa.array([Decimal("2.00"), Decimal("4.00")], pa.decimal128(10, 2)),
    })  # fmt: skip
    parquet.write_table(table, tmp_path / "t.parquet")
    found = ColumnMap.model_validate({"submit": "at", "run": "took", "cores": "cores"})
    trace = read_trace(tmp_path / "t.parquet", columns=found)
    assert (column(trace, "arrival_ms"), column(trace, "tasks")) == ([0.0, 7000.0], [2.0, 4.0])
    assert column(trace, "cpu_ms") == [1500.0, 2500.0]


def test_parquet_with_a_zone_in_one_column_and_none_in_the_other_is_refused(tmp_path):
    at = pd.to_datetime(["2023-05-01 10:00:00", "2023-05-01 10:00:07"])
    frame = pd.DataFrame({"at": at.tz_localize("Europe/Berlin"), "began": at, "done": at + pd.Timedelta("1h")})
    frame.to_parquet(tmp_path / "t.parquet")
    found = {"submit": "at", "start": "began", "end": "done"}
    told = problems_of(read_trace, tmp_path / "t.parquet", columns=ColumnMap.model_validate(found))
    assert "with a zone in all rows or in none" in told
    local = ColumnMap.model_validate(
        found | {one: {"column": found[one], "zone": "Europe/Berlin"} for one in ("start", "end")}
    )
    assert column(read_trace(tmp_path / "t.parquet", columns=local), "recorded_wait_ms") == [0.0, 0.0]


def test_dates_with_fractions_of_a_second(read):
    field = {"column": "at", "unit": "date", "format": "%d.%m.%Y %H:%M:%S.%f", "zone": "Europe/Berlin"}
    trace = read("at,took\n01.05.2023 10:00:00.25,1\n01.05.2023 10:00:02.5,1\nx,1\n", PLAIN | {"submit": field})
    assert (column(trace, "arrival_ms"), trace.skipped) == ([0.0, 2250.0], {"submit not read": 1})


def test_what_a_job_does_not_need_is_not_known_if_it_is_absurd(read):
    rows = "".join(f"{number},{number + 1},{number + 2},9,1\n" for number in range(100))
    found = {name: {"column": name, **S} for name in ("submit", "start", "end")}
    found |= {"requested": {"column": "asked", **S}, "resources": {"gpu": "gpus"}}
    text = "submit,start,end,asked,gpus\n" + rows + "5,6,7,1e300,1e308\n"
    trace = read(text, found)
    assert len(trace.table) == 101
    assert trace.noted["requested time beyond 32 years, taken as not known"] == 1
    assert trace.noted["resources.gpu beyond 2^31, taken as not known"] == 1
    assert column(trace, "resources").count("gpu:1") == 100
    late = "".join(f"{number},{10**10 + number},{10**10 + number + 5},9,1\n" for number in range(20))
    told = problems_of(read, text + late, found)
    assert "waits for more than 32 years (a wrong unit?) in 20 of 121 rows: row 102: submit = '0'" in told


@pytest.mark.parametrize(("found", "says"), [
    (PLAIN | {"user": {"column": "u", "unit": "s"}}, "a text has none"),
    (PLAIN | {"cores": {"column": "c", "per": "core"}}, "per = 'core'"),
    (PLAIN | {"run": {"column": "r", "form": "task-name"}}, "form = 'task-name'"),
    (PLAIN | {"user": {"column": "u", "form": "pbs-gpus"}}, "form = 'pbs-gpus'"),
    ({"submit": {"column": "a", "unit": "epoch", "zone": "Europe/Berlin"}}, "unit 'epoch' has none"),
    (PLAIN | {"run": {"expr": " + ".join(["1"] * 400), **S}}, "allowed up to 150"),
])  # fmt: skip
def test_keys_that_would_change_nothing_and_endless_sums_are_refused(found, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        ColumnMap.model_validate(found)


def test_as_many_terms_as_are_allowed(read):
    trace = read("at,took\n0,1\n", PLAIN | {"run": {"expr": " + ".join(["took"] * 151), **S}})
    assert column(trace, "cpu_ms") == [151_000.0]
