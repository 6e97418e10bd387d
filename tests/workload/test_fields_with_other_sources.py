"""Fields of a map with other sources, patterns of numbers, times of unknown unit, and lists of batch systems."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.traces import read_trace
from cluster_abm.workload.traces.mapping.forms import (
    asked_cores,
    asked_gpus,
    clock_or_seconds_ms,
    entries,
    largest,
    slots,
    slots_by_host,
)


@pytest.fixture
def trace_of(tmp_path):
    def read(text, **fields):
        path = tmp_path / "table.csv"
        path.write_text(text)
        return read_trace(path, columns=ColumnMap.model_validate({"submit": "submit", "run": "run"} | fields))

    return read


def same(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("n1/0", 1), ("n1/0+n1/1+n2/0", 3), ("n1/0-3", 4), ("n1/2-2", 1), ("n1/0*8+n2/1*4", 12), ("n1/0,2,4-6", 5),
        ("n1/7+n2/0-1+n3/0*3", 6),
    ],
)  # fmt: skip
def test_slots_of_hosts(text, cores):
    assert slots(text) == cores


def test_no_slots():
    assert np.isnan(slots("[host]/0*0"))
    for text in ("n1", "n1/", "n1/a", "n1/0+", "n1/0*", "n1/1*99999999999"):
        with pytest.raises(ValueError, match="not read"):
            slots(text)


@pytest.mark.parametrize(
    ("text", "cores"),
    [("n1", 1), ("16*n1", 16), ("n1 n1 n2 n2", 4), ("16*n1 3*n-2.site n3", 20), ("1*n1 0*n2", 1), ("007*7n", 7)],
)
def test_slots_by_host(text, cores):
    assert slots_by_host(text) == cores


def test_no_slots_by_host():
    assert np.isnan(slots_by_host(""))
    assert np.isnan(slots_by_host("0*n1"))
    for text in ("*n1", "n1 x*n2", "2*", "-1*n1", "1.5*n1", "9999999999*n1", "2*3*n1"):
        with pytest.raises(ValueError, match="not read"):
            slots_by_host(text)


@pytest.mark.parametrize(
    ("text", "cores", "gpus"),
    [
        ("4:ppn=8", 32, None), ("3", 3, None), ("node07:ppn=4", 4, None), ("2:ppn=8:gpus=3+n1:ppn=4:gpus=1", 20, 7),
        ("1:ppn=24:gpu=4:reqmem=128849018880:gpu", 24, 4), ("2:ppn=2#shared", 4, None), ("n1+n2", 2, None),
        # A name that begins with a number is one node.
        ("7node:ppn=2", 2, None),
    ],
)  # fmt: skip
def test_nodes_that_were_asked_for(text, cores, gpus):
    assert asked_cores(text) == cores
    assert np.isnan(asked_gpus(text)) if gpus is None else asked_gpus(text) == gpus


def test_lists_and_clocks():
    assert (entries("a b c"), largest("3 1e3 20"), largest("7")) == (3, 1000, 7)
    with pytest.raises(ValueError, match="could not convert"):
        largest("1 x")
    assert clock_or_seconds_ms("90") == clock_or_seconds_ms("00:01:30") == 90_000
    assert clock_or_seconds_ms("1-00:00:01") == 86_401_000
    with pytest.raises(ValueError, match="not read"):
        clock_or_seconds_ms("soon")


def test_another_source_counts_where_the_first_says_nothing(trace_of):
    # 3 cores; 2 of the second source; 5 of the third, behind one that cannot be read and one without a value.
    trace = trace_of(
        "submit,run,a,b,c,ann,bob\n0,10,3,9,,x,\n1,10,,2,,,y\n2,10,odd,,5,,\n3,10,,,odd,x,y\n4,10,1,odd,,,\n",
        cores={"column": "a", "otherwise": {"column": "b", "otherwise": "c"}},
        user={"column": "ann", "otherwise": {"column": "bob", "otherwise": {"value": "nobody"}}},
    )
    same(trace.table["tasks"], [3, 2, 5, 1])
    assert trace.table["user"].tolist() == ["x", "y", "nobody", "nobody"]
    assert trace.skipped == {"cores not read": 1}
    # What was not read, but for which another source stood in, is no matter.
    assert not any("not read" in note for note in trace.noted)


def test_each_source_has_its_own_unit(trace_of):
    trace = trace_of(
        "submit,run,mb,text\n0,1,2,\n0,1,,4K\n",
        memory={"column": "mb", "unit": "MB", "otherwise": {"column": "text", "unit": "size"}},
    )
    same(trace.table["memory_mb"], [2.0, 0.004096])
    with pytest.raises(ValidationError, match="memory: needs a unit"):
        ColumnMap.model_validate({"submit": "s", "memory": {"column": "a", "unit": "B", "otherwise": "b"}})
    with pytest.raises(ValidationError, match="cores: unit = 'iso': allowed: 1, milli"):
        ColumnMap.model_validate({"submit": "s", "cores": {"column": "a", "otherwise": {"column": "b", "unit": "iso"}}})


def test_there_are_at_most_ten_sources():
    field = {"column": "a"}
    for _ in range(9):
        field = {"column": "a", "otherwise": field}
    assert len(ColumnMap.model_validate({"submit": field}).fields["submit"].sources) == 10
    with pytest.raises(ValidationError, match="otherwise: 11 sources: allowed up to 10"):
        ColumnMap.model_validate({"submit": {"column": "a", "otherwise": field}})


def test_a_number_out_of_a_text(trace_of):
    trace = trace_of(
        'submit,run,tres\n0,1,"1=20,2=512,1001=2"\n1,1,"2=64,1=4"\n2,1,"2=64"\n',
        cores={"column": "tres", "pattern": "(?:^|,)1=([0-9]+)"},
        memory={"column": "tres", "pattern": "(?:^|,)2=([0-9]+)", "unit": "MiB"},
        requested={"column": "tres", "pattern": "(?:^|,)1001=([0-9]+)", "unit": "min"},
    )
    same(trace.table["tasks"], [20, 4])
    same(trace.table["memory_mb"], [512 * 1.048576 / 20, 64 * 1.048576 / 4])
    same(trace.table["requested_ms"], [120_000, np.nan])
    assert trace.skipped == {"no cores": 1}


def test_a_pattern_of_another_source_is_checked(trace_of):
    with pytest.raises(InputError, match=r"workload.trace.columns.cores.pattern = 'x\(': .*allowed: a regular"):
        trace_of("submit,run,a\n0,1,2\n", cores={"column": "a", "otherwise": {"column": "a", "pattern": "x("}})


def test_instants_of_any_unit_since_1970(trace_of):
    # The same instants, a minute apart: in s, ms, us, ns.
    trace = trace_of(
        "submit,run\n1700000000,1\n1700000060000,1\n1700000120000000,1\n1700000180000000000,1\n",
        submit={"column": "submit", "unit": "epoch"},
    )
    same(trace.table["arrival_ms"], [0, 60_000, 120_000, 180_000])
    assert trace.begins_at_ms == 1.7e12
    # Of an expression too: seconds as floats.
    later = trace_of("submit,run\n1700000000.25,1\n", submit={"expr": "submit + 1", "unit": "epoch"})
    assert later.begins_at_ms == 1_700_000_001_250


def test_durations_have_no_epoch():
    with pytest.raises(ValidationError, match="run: unit = 'epoch': allowed: ns, us"):
        ColumnMap.model_validate({"submit": "s", "run": {"column": "r", "unit": "epoch"}})


def test_texts_that_one_field_does_not_know(trace_of):
    """99 and "none" are not known where the field says so; as an id and as a user they are what they are."""
    trace = trace_of(
        "submit,run,id,who,limit,tres\n0,10,99,none,99,c=99\n1,10,7,ann,7,c=2\n2,10,8,nil,None,c=none\n",
        job="id",
        user={"column": "who", "missing": ["NIL"]},
        requested={"column": "limit", "missing": ["99", "none"]},
        cores={"column": "tres", "pattern": "c=(.*)", "missing": ["99"], "otherwise": {"value": 3}},
        missing=["none"],
    )
    assert trace.table["job"].tolist() == ["99", "7", "8"]
    # That of the map counts in all columns, those of the field beside it.
    assert trace.table["user"].tolist() == ["", "ann", ""]
    same(trace.table["requested_ms"], [np.nan, 7000, np.nan])
    same(trace.table["tasks"], [3, 2, 3])
    assert trace.noted == {}


def test_texts_that_an_expression_or_parents_do_not_know(trace_of):
    trace = trace_of(
        "submit,run,a,b,id,after\n0,10,-1,1,x,root\n1,10,2,1,root,x\n2,10,2,-1,y,root\n",
        cpu={"expr": "a + b", "missing": ["-1"]},
        job="id",
        parents={"column": "after", "missing": ["root"]},
    )
    # 3 s where both are known, else the run time. A job may be called root, although parents of this name are none.
    same(trace.table["cpu_ms"], [10_000, 3000, 10_000])
    assert trace.table["job"].tolist() == ["x", "root", "y"]
    assert trace.table["after"].tolist() == ["", "x", ""]


def test_a_filter_sees_what_only_a_field_does_not_know(trace_of):
    trace = trace_of(
        "submit,run,limit\n0,10,99\n1,10,5\n2,10,60\n",
        requested={"column": "limit", "missing": ["99"]},
        filter="limit > 50",
    )
    same(trace.table["requested_ms"], [np.nan, 60_000])
    assert trace.skipped == {"left out by the filter": 1}


def test_a_value_is_known():
    with pytest.raises(ValidationError, match="missing: goes with column, columns or expr"):
        ColumnMap.model_validate({"submit": "s", "cores": {"value": 1, "missing": ["1"]}})
