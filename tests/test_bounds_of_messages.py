"""How much messages, lists and tables show: with exactly as many as they show, and with one more."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pandas as pd
import pytest

from cluster_abm.bounded_files import shown
from cluster_abm.cli.tables import table_text
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.scenario.filling.values import value_of as as_toml
from cluster_abm.scenario.interconnect import Interconnect
from cluster_abm.scenario.shipped import all_of, nearest
from cluster_abm.scenario.wording.other_names import keys_ending_in
from cluster_abm.study.calibration.observed import read_observed
from cluster_abm.study.listings import _listing
from cluster_abm.study.results import Results
from cluster_abm.workload.text.problems import Problems
from cluster_abm.workload.traces import read_trace


def problems_of(call, *arguments, **keys):
    """The lines of an error."""
    with pytest.raises(InputError) as refused:
        call(*arguments, **keys)
    return str(refused.value).splitlines()


def test_three_hundred_characters_of_a_path():
    assert shown("x" * 300) == "x" * 300
    assert shown("x" * 301) == "x" * 300 + "... (301 characters)"
    assert shown("a\nb") == "'a\\nb'"


@pytest.mark.parametrize(
    ("count", "more"), [(10, []), (11, ["f.csv: 1 more problems"]), (1010, ["f.csv: 1,000 more problems"])]
)
def test_ten_problems_of_a_file(count, more):
    found = Problems("f.csv")
    # Those of the first lines, in whichever order they were found.
    found.add((line, "wrong") for line in range(count, 5, -1))
    found.add_rows(range(5), range(1, 6), lambda row: "wrong")
    lines = problems_of(found.refuse)
    assert (len(lines), lines[10:]) == (min(count, 10) + len(more), more)
    assert all(f"line {place + 1}" in line for place, line in enumerate(lines[:10]))


@pytest.mark.parametrize(("count", "more"), [(10, []), (11, ["1 more such values"])])
def test_ten_wrong_values_of_a_graph(tmp_path, count, more):
    links = [{"source": "0", "target": str(other), "bandwidth_mbps": -1} for other in range(1, count + 1)]
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"nodes": [{"id": str(node)} for node in range(count + 1)], "links": links}))
    lines = problems_of(Network, Interconnect(file=str(path)), count + 1)
    assert [line.partition("and ")[2] for line in lines[10:]] == more
    assert sum("bandwidth_mbps = -1" in line for line in lines) == 10


@pytest.mark.parametrize(("count", "more"), [(10, False), (11, True)])
def test_ten_parts_of_a_graph(tmp_path, count, more):
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"nodes": [{"id": f"v{node}"} for node in range(count)], "links": []}))
    (line,) = problems_of(Network, Interconnect(file=str(path)), count)
    assert f"{count} parts that nothing joins: 1 vertex (with " in line
    assert line.count("1 vertex (with ") == 10
    assert (" and 1 more; one is needed" in line) == more


def test_twelve_names_are_all_named_and_of_more_the_command_that_lists_them():
    names = [f"n{number}" for number in range(13)]
    assert all_of(names[:12], "list") == f"allowed: {', '.join(names[:12])}"
    assert all_of(names, "list") == "`list` lists all 13"
    # Without a command there is nothing else to say.
    assert all_of(names) == nearest("zzzzz", names) == f"allowed: {', '.join(names)}"


def test_three_keys_that_end_alike():
    keys = [f"{letter}.seek_ms" for letter in "abcd"]
    assert keys_ending_in("seek_ms", keys[:3]) == keys[:3]
    assert keys_ending_in("seek_ms", keys) == []


def test_heads_of_a_table_have_fourteen_columns_at_least():
    # "seven and six" has 13 letters, "seven and seven" 15.
    assert table_text([{"a": 1, "seven or seven": 2}]).splitlines()[0].split() == ["a", "seven", "or", "seven"]
    assert len(table_text([{"a": 1, "seven or seven": 2}]).splitlines()) == 2
    assert len(table_text([{"a": 1, "seven and seven": 2}]).splitlines()) == 3


@pytest.mark.parametrize(("rows", "cut"), [(500, ""), (501, "the first 500 of 501 rows")])
def test_five_hundred_rows_of_a_list_in_a_notebook(rows, cut):
    html = _listing([{"name": f"n{row}", "summary": "s"} for row in range(rows)], "name")._repr_html_()
    assert html.count("<td") == 2 * 500
    assert ("the first" in html) == bool(cut)
    assert cut in html


@pytest.mark.parametrize(("count", "more"), [(5, []), (6, ["failed: 1 more: see column error"])])
def test_five_runs_that_failed(count, more):
    rows = [{"point": row, "policy": "jsq", "seed": 1, "status": "failed", "error": "E: x"} for row in range(count)]
    table = pd.DataFrame([*rows, {"point": 9, "policy": "jsq", "seed": 2, "status": "finished", "error": None}])

    class Stub(SimpleNamespace):
        def __getitem__(self, name):
            return table[name]

    lines = Results._errors(Stub(runs=table))
    assert lines == [f"failed: point {row}, policy jsq, seed 1: E: x" for row in range(5)] + more


@pytest.mark.parametrize(("count", "end"), [(5, ""), (6, ", ...")])
def test_five_jobs_of_a_cycle(tmp_path, count, end):
    path = tmp_path / "jobs.csv"
    rows = "".join(f"0,10,j{row},j{(row + 1) % count}\n" for row in range(count))
    path.write_text(f"arrival_ms,cpu_ms,job,after\n{rows}")
    (line,) = problems_of(read_trace, path)
    assert line.endswith(
        f"({count} in a cycle): " + ", ".join(f"line {at}" for at in [2, *range(count + 1, 2, -1)][:5]) + end
    )


@pytest.mark.parametrize(("spread", "allowed"), [
    # From 1e-9 to 10 times the value, both included; of 4 that is 4e-9 to 40.
    ("4e-9", True), ("3.9e-9", False), ("40", True), ("40.1", False), ("1", True), ("0", False),
])  # fmt: skip
def test_a_standard_deviation_is_a_billionth_to_ten_times_its_value(tmp_path, spread, allowed):
    path = tmp_path / "observed.csv"
    path.write_text(f"metric,value,sd\nmean_slowdown,4,{spread}\n")
    if allowed:
        assert read_observed(path, as_toml).rows[0].log_sd == pytest.approx(float(spread) / 4)
    else:
        (line,) = problems_of(read_observed, path, as_toml)
        assert line.endswith(f"sd = {spread!r}: allowed: a number from 1e-09 to 10 times the value, or nothing")


@pytest.mark.parametrize("interval", ["0,8", "4,8", "2,4", "2,inf", "8,2", ",8"])
def test_an_interval_holds_its_value_within(tmp_path, interval):
    path = tmp_path / "observed.csv"
    path.write_text(f"metric,value,ci_low,ci_high\nmean_slowdown,4,{interval}\n")
    with pytest.raises(InputError):
        read_observed(path, as_toml)
