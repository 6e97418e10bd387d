"""What runs need is compiled ahead, by several processes, and only what no process has compiled yet."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from cluster_abm.scenario import load_scenario
from cluster_abm.study.runner import ahead
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder for what is compiled."""
    monkeypatch.setattr(ahead, "cache_folder", lambda: str(tmp_path))
    return tmp_path


def under(*policies, **settings):
    return [load_scenario("cpu-bound", {"policy.name": policy, **settings}) for policy in policies]


def kinds(scenarios):
    return [part.kind for part in ahead.missing_parts(scenarios)]


@pytest.mark.parametrize(("policies", "expected"), [
    (["none"], ["engine"]),
    (["batch-system"], ["engine", "policy", "head"]),
    # What migrates periodically does so in Python.
    (["load-class"], ["engine", "placement", "policy"]),
    (["jsq"], ["engine", "placement", "policy"]),
    (["wal-pm", "none", "jsq", "wal-pm"], ["engine", "placement", "migration", "policy", "policy"]),
])  # fmt: skip
def test_parts_are_those_that_policies_need(folder, policies, expected):
    assert kinds(under(*policies)) == expected


def test_what_is_there_is_not_missing(folder):
    for part in ahead.missing_parts(under("jsq")):
        (folder / part.key).touch()
    assert kinds(under("jsq")) == []
    assert kinds(under("wal-pm")) == ["migration", "policy"]
    unlike = {"cluster.group": [{"count": 1, "cpu_speed": 2.0}, {"count": 31}]}
    assert kinds(under("jsq", **unlike)) == ["policy"]


def test_what_was_compiled_of_other_sources_is_missing(folder, monkeypatch):
    for name in ("stamp_of", "stamp_of_kernels"):
        monkeypatch.setattr(ahead, name, lambda *_: "of-other-sources")
    for part in ahead.missing_parts(under("jsq")):
        (folder / part.key).touch()
    assert kinds(under("jsq")) == []
    monkeypatch.undo()
    monkeypatch.setattr(ahead, "cache_folder", lambda: str(folder))
    assert kinds(under("jsq")) == ["engine", "placement", "policy"]


def test_nothing_is_compiled_ahead_where_nothing_can_be_kept(monkeypatch):
    monkeypatch.setattr(ahead, "cache_folder", lambda: None)
    assert kinds(under("jsq")) == []


def test_each_part_is_compiled_once_and_one_that_fails_is_left_to_the_run(folder, monkeypatch):
    compiled = []

    def fails(scenario):
        raise RuntimeError("no room on the disk")

    for kind in ("engine", "policy"):
        monkeypatch.setitem(ahead._COMPILERS, kind, lambda _, kind=kind: compiled.append(kind))
    monkeypatch.setitem(ahead._COMPILERS, "placement", fails)
    looks = []
    parts = ahead.missing_parts(under("jsq", "power-of-d"))
    ahead.compile_ahead(InlineExecutor(), parts, quiet=True, look=lambda: looks.append(1))
    assert compiled == ["engine", "policy", "policy"]
    assert looks
    assert kinds(under("jsq", "power-of-d")) == ["placement"]


def test_an_interrupt_ends_it(folder, monkeypatch):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setitem(ahead._COMPILERS, "engine", lambda _: None)
    with pytest.raises(KeyboardInterrupt):
        ahead.compile_ahead(InlineExecutor(), ahead.missing_parts(under("none")), quiet=True, look=interrupted)


# Prints which compiled code, by its files, a process asks for.
ASKED_FOR = """
import json
import os

from cluster_abm import ClusterModel
from cluster_abm.jit.kept import KeptCode
from cluster_abm.scenario import load_scenario
from cluster_abm.study.runner import ahead

asked, path_of = [], KeptCode._path


def noted(*given):
    asked.append(os.path.relpath(path_of(*given), ahead.cache_folder()))
    return path_of(*given)


KeptCode._path = noted
"""
RUN = "ClusterModel('wal-pm-fig2', policy__name='wal-pm', run__until=20_000.0).run()"
AHEAD = """
ahead._is_there = lambda _: False
for part in ahead.missing_parts([load_scenario("wal-pm-fig2", {"policy.name": "wal-pm"})]):
    ahead.compile_part(part)
"""


@pytest.mark.slow
def test_a_run_needs_nothing_that_is_not_compiled_ahead():
    """Whatever is there already: to compile all anew would take a minute."""

    def asked_for(script):
        lines = [ASKED_FOR, script, "print(json.dumps(asked))"]
        told = subprocess.run(
            [sys.executable, "-c", "\n".join(lines)], check=True, capture_output=True, text=True
        ).stdout
        return set(json.loads(told))

    # What is compiled now asks for the code of all that it calls, too; what is there already does not.
    asked_for(RUN)
    ran = asked_for(RUN)
    assert len(ran) > 5
    assert ran <= asked_for(AHEAD)
