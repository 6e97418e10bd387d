"""What the documentation says of files and old names is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cluster_abm
from cluster_abm import Policy, View, policies
from cluster_abm.old_names import OLD_NAMES, current, note_again
from cluster_abm.policies import available
from cluster_abm.policy import talking

ROOT = Path(cluster_abm.__file__).parents[1]
STATIONS = (ROOT / "docs" / "concepts" / "stations.md").read_text(encoding="utf-8")


def test_the_files_that_a_station_touches_are_there_and_are_as_many_as_the_page_says():
    named = re.findall(r"^\| `([\w/.]+\.py)` \| (.+) \|$", STATIONS, re.MULTILINE)
    assert [file for file, _ in named if not (ROOT / file).is_file()] == []
    assert len({file for file, _ in named}) == len(named) > 30
    assert f"A GPU changes {len(named)} files and adds one" in STATIONS.replace("\n", " ")
    assert not (ROOT / "cluster_abm" / "engine" / "gpu.py").exists()


def test_the_picture_of_a_view_names_what_there_is():
    knowledge = (ROOT / "cluster_abm" / "model" / "knowing" / "knowledge.py").read_text(encoding="utf-8")
    for name in re.findall(r"`(begin_view|end_view)`", STATIONS):
        assert f"def {name}(" in knowledge


def test_old_names_work(capsys):
    note_again()
    for one in OLD_NAMES:
        match one.kind:
            case "policy":
                assert current("policy", one.old) == one.new in available()
                assert f"note: policy {one.old!r} is called {one.new!r} now" in capsys.readouterr().err
                # Once a command.
                assert current("policy", one.old) == one.new
                assert capsys.readouterr().err == ""
            case "class of `cluster_abm.policies`":
                assert getattr(policies, one.old) is getattr(policies, one.new)
            case "attribute of `View`":
                assert {one.old, one.new} <= {*dir(View), *View.__dataclass_fields__}
            case "attribute of `Policy`":
                assert getattr(Policy, one.old) == getattr(Policy, one.new)
            case "class of `cluster_abm.policies.talking`":
                assert getattr(talking, one.old) is getattr(talking, one.new)
            case kind:
                pytest.fail(f"no test for old names of {kind}")


def test_the_minor_version_of_numba_in_ci_is_one_that_is_allowed():
    pinned = re.search(r"^numba==0\.(\d+)\.\*$", (ROOT / ".ci" / "constraints.txt").read_text(), re.MULTILINE)
    lowest = re.search(r'"numba>=0\.(\d+)"', (ROOT / "pyproject.toml").read_text())
    assert pinned is not None
    assert lowest is not None
    assert int(pinned[1]) >= int(lowest[1])
