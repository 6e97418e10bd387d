"""What runs need is compiled ahead, by several processes, and only what no process has compiled yet."""

from __future__ import annotations

import json
import os
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


COUNTED = """
import json

import numba.core.event
compiled = []


class Listener(numba.core.event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event):
        pass


numba.core.event.register("numba:compile", Listener())
from cluster_abm import ClusterModel
ClusterModel("wal-pm-fig2", policy__name="wal-pm", run__until=20_000.0).run()
print(json.dumps(compiled))
"""
AHEAD = """
from cluster_abm.scenario import load_scenario
from cluster_abm.study.runner.ahead import compile_part, missing_parts
for part in missing_parts([load_scenario("wal-pm-fig2", {"policy.name": "wal-pm"})]):
    compile_part(part)
"""


@pytest.mark.slow
def test_a_run_compiles_nothing_that_was_compiled_ahead(tmp_path):
    def told(script):
        environment = {**os.environ, "CLUSTER_ABM_CACHE_DIR": str(tmp_path)}
        return subprocess.run(
            [sys.executable, "-c", script], env=environment, check=True, capture_output=True, text=True
        ).stdout

    told(AHEAD)
    assert json.loads(told(COUNTED)) == []
