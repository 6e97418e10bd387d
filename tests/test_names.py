"""One name, one thing: no two classes of the package, and no two modules that others import from, are called alike."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import cluster_abm

PACKAGE = Path(cluster_abm.__file__).parent


@pytest.mark.slow
def test_no_class_name_stands_twice():
    """Classes inside other classes apart: each policy has its `Parameters`."""
    files_of = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for one in ast.parse(path.read_text()).body:
            if isinstance(one, ast.ClassDef):
                files_of[one.name].append(path.relative_to(PACKAGE).as_posix())
    twice = {name: files for name, files in files_of.items() if len(files) > 1}
    assert twice == {}


def test_the_two_sources_of_random_numbers_have_names_of_their_own():
    assert list(PACKAGE.rglob("streams.py")) == []
    for name in ("engine/random_numbers.py", "workload/generators.py"):
        assert (PACKAGE / name).is_file()
