"""CITATION.cff: the version is the package's, and everything in it is complete."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from cluster_abm import __version__

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
CITATION: dict[str, Any] = yaml.safe_load((ROOT / "CITATION.cff").read_text())
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
REFERENCES = (ROOT / "docs" / "references.md").read_text()
WHERE = {"article": ("journal", "volume"), "conference-paper": ("conference", "collection-title")}


def test_it_cites_this_version_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert CITATION["cff-version"] == "1.2.0"
    assert (CITATION["title"], CITATION["type"]) == ("cluster_abm", "software")
    assert CITATION["version"] == __version__ == project["version"]
    assert CITATION["authors"] == project["authors"]
    assert CITATION["license"] == "MIT"
    assert CITATION["message"]
    assert CITATION["abstract"]


def test_it_has_a_date_exactly_if_the_version_has_been_released() -> None:
    dates = dict(re.findall(r"^## \[([\d.]+)\] - (\d{4}-\d\d-\d\d)$", CHANGELOG, re.M))
    assert str(CITATION.get("date-released", "")) == dates.get(__version__, "")


@pytest.mark.parametrize("reference", CITATION["references"], ids=lambda reference: reference["doi"])
def test_a_reference_is_complete_and_is_that_of_the_page(reference: dict[str, Any]) -> None:
    for field in (*WHERE[reference["type"]], "title", "year", "start", "authors"):
        assert reference[field], field
    for author in reference["authors"]:
        assert author.get("name") or (author["given-names"] and author["family-names"])
    assert f"https://doi.org/{reference['doi']}" in REFERENCES
    words = " ".join(REFERENCES.split())
    assert reference["title"].lower() in words.lower()


def test_the_five_papers_are_cited() -> None:
    notes = " ".join(reference["notes"] for reference in CITATION["references"])
    for paper in ("IOLB", "WAL-PM", "IOCM", "MCLS", "LMIP"):
        assert f"{paper}:" in notes
