"""What a notebook shows of a comparison: every cell of its tables, by hand."""

from __future__ import annotations

import re

from test_sentences_of_comparisons import comparison

# Mean slowdowns 10 and 4, responses as many seconds; the bound's mean is 2 s: b closes (10 - 4)/(10 - 2).
TWO = {"none": [9.0, 11.0, 10.0], "b": [3.0, 5.0, 4.0]}
BOUND = [1000.0, 3000.0, 2000.0]
HEAD = [
    "policy", "bounded slowdown [95 %]", "times none", "95th percentile of slowdown",
    "mean response of a job", "CPU busy", "disk busy",
]  # fmt: skip


def tables_of(html: str) -> list[list[list[str]]]:
    """The texts of all cells, by table and row."""
    tables = re.findall(r"<table>.*?</table>", html, re.DOTALL)
    rows = [re.findall(r"<tr>.*?</tr>", table, re.DOTALL) for table in tables]
    return [[re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in table] for table in rows]


def without_intervals(rows: list[list[str]]) -> list[list[str]]:
    return [[re.sub(r" \[.*\]", "", cell) for cell in row] for row in rows]


def test_policies_and_the_bound_below_them():
    head, *rows = tables_of(comparison(TWO, bound=BOUND)._repr_html_())[0]
    assert head == [*HEAD, "of the gap, none to srpt-pool"]
    assert without_intervals(rows) == [
        ["none", "10", "", "9", "10 s", "50 %", "25 %", "0 %"],
        ["b", "4", "0.393", "9", "4 s", "50 %", "25 %", "75 %"],
        ["srpt-pool", "", "", "", "2 s", "", "", ""],
    ]


def test_without_a_bound_there_is_no_gap_and_no_row_of_it():
    head, *rows = tables_of(comparison(TWO)._repr_html_())[0]
    assert head == HEAD
    assert [row[0] for row in rows] == ["none", "b"]


def test_of_one_policy_there_is_no_ratio():
    head, row = tables_of(comparison({"b": [3.0, 5.0, 4.0]})._repr_html_())[0]
    assert head == [name for name in HEAD if name != "times none"]
    assert without_intervals([row]) == [["b", "4", "9", "4 s", "50 %", "25 %"]]


def test_each_pair_has_a_row():
    pairs = tables_of(comparison(TWO | {"c": [3.0, 5.0, 4.0]})._repr_html_())[1]
    assert [row[:2] for row in pairs[1:]] == [["b", "none"], ["c", "none"]]
    # (3/9 5/11 4/10)^(1/3), and equal values of b and c.
    assert [row[2].partition(" ")[0] for row in pairs[1:]] == ["0.393", "0.393"]
    assert [row[3] for row in pairs[1:]] == ["better", "better"]
