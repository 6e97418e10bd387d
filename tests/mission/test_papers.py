""" "By the documents' cost and load metrics": the papers' tables and figures are run again by one command,
`cluster-abm reproduce all`, and docs/papers/index.md says of each what came out."""

from __future__ import annotations

from pathlib import Path

import pytest

import cluster_abm as ca
from cluster_abm.study.papers.plan import reproduction_names

PAGE = Path(__file__).parents[2] / "docs" / "papers" / "index.md"
VERDICTS = ("reproduced", "shape", "not reproduced")


def verdicts_of_the_page() -> dict[str, tuple[str, str]]:
    """Verdict and reason of each reproduction, by its name, from the table "At a glance"."""
    lines = PAGE.read_text(encoding="utf-8").split("## At a glance")[1].split("##")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("|")]
    return {name.strip("` "): (verdict, why) for _, names, verdict, why in rows[2:] for name in names.split(",")}


def test_each_table_and_figure_has_a_verdict_and_a_reason():
    page = verdicts_of_the_page()
    assert sorted(page) == reproduction_names()
    assert {verdict for verdict, _ in page.values()} <= set(VERDICTS)
    assert all(len(why) > 10 for _, why in page.values())
    assert sum(verdict == "not reproduced" for verdict, _ in page.values()) <= 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["memory-centric-fig1", "wal-pm-example", "lmip-fig2"])
def test_the_page_says_what_a_run_gives(name):
    """Of those that take seconds."""
    assert ca.reproduce(name, quiet=True).verdict == verdicts_of_the_page()[name][0]
