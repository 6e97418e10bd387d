"""Printed tables: as narrow as their cells, nothing lost from their heads."""

import click
import pytest
from script_options import measured

from cluster_abm.cli.tables import table_text


def test_a_head_that_is_longer_than_its_cells_takes_several_lines():
    rows = [
        {"policy": "none", "slowdown [95 %]": "34.25 [20.41, 57.79]", "slowdown of none / its own": "", "n": 3},
        {"policy": "power-of-d", "slowdown [95 %]": "2.43", "slowdown of none / its own": "14.07x", "n": 12},
    ]
    assert table_text(rows).splitlines() == [
        "                                   slowdown of",
        "    policy      slowdown [95 %] none / its own  n",
        "      none 34.25 [20.41, 57.79]                 3",
        "power-of-d                 2.43         14.07x 12",
    ]


def test_heads_that_fit_take_one_line():
    assert table_text([{"policy": "none", "CPU busy": "4%"}]).splitlines() == ["policy CPU busy", "  none       4%"]


def test_an_interval_stays_with_its_unit():
    lines = table_text([{"of the gap closed [95 %]": "1"}]).splitlines()
    assert [line.strip() for line in lines] == ["of the gap", "closed [95 %]", "1"]


def test_a_table_that_was_never_written_is_asked_for(tmp_path):
    with pytest.raises(click.UsageError, match=r"there is no .*scale\.csv: name its folder by --out"):
        measured(tmp_path / "scale.csv")
    (tmp_path / "scale.csv").write_text("nodes,buffer\n4,08\n")
    assert measured(tmp_path / "scale.csv", dtype={"buffer": str}).iloc[0].tolist() == [4, "08"]
