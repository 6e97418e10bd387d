"""The page of the architecture names what is there: its files exist, and each folder of the package has its line."""

from __future__ import annotations

import re
from pathlib import Path

import cluster_abm

PACKAGE = Path(cluster_abm.__file__).parent
PAGE = (PACKAGE.parent / "docs" / "concepts" / "architecture.md").read_text()


def test_files_that_the_page_names_exist():
    named = re.findall(r"`([a-z_/]+\.py)`", PAGE)
    assert len(named) > 15
    assert [name for name in named if not (PACKAGE / name).is_file()] == []


def test_each_folder_of_the_package_has_one_line_and_no_other_folder_has():
    folders = [path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")]
    house = PAGE.partition("## The folders of the package")[2].partition("Beside the package")[0]
    assert sorted(re.findall(r"^\| `([a-z_/]+)` \|", house, re.M)) == sorted(set(folders) - {"."})


def test_the_compiled_walk_of_an_arriving_task_opens_at_most_eight_files():
    walk = PAGE.partition("## The path of an arriving task")[2].partition("Policies that migrate")[0]
    assert 0 < len(re.findall(r"^\| `[a-z_/]+\.py` \|", walk, re.M)) <= 8
