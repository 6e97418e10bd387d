"""What all tests share: how hypothesis searches, and ears for Ctrl-C."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from chromium import chromium
from compiled_first import compile_first
from hypothesis import HealthCheck, settings
from support import COMPILED_IN_ALL, hearing_ctrl_c
from warm import warm_process

from cluster_abm.compiling.translating import NotCompilable, is_of_package
from cluster_abm.model.deciding import compilability
from cluster_abm.policies import available
from cluster_abm.policy.finding import registry

__all__ = ["chromium"]  # a fixture of every folder

# What pyproject.toml chooses where nothing else is chosen.
FAST = "not slow"

# How long an example takes depends on what else the machine does and on what was compiled before: no test measures it.
settings.register_profile("cluster_abm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("cluster_abm")

# On a machine that is busy a run may take ten seconds: what it then says of its progress is in no test's way.
os.environ["CLUSTER_ABM_PROGRESS"] = "none"

# Ten thousand tests are millions of objects that live to the end: the garbage collector need not look at them again.
gc.disable()


def is_whole(config):
    """Whether the whole suite runs, or all of its fast tests, or all slow ones."""
    return config.args == ["tests"]


def pytest_configure(config):
    """Before the whole suite runs in several processes, what most tests need is compiled once, each part by one."""
    is_first = not hasattr(config, "workerinput") and getattr(config.option, "numprocesses", None)
    if is_first and is_whole(config) and not config.option.collectonly:
        compile_first(COMPILED_IN_ALL if config.option.markexpr == FAST else available())


def pytest_pycollect_makeitem(collector, name, obj):
    """Of the fast tests, slow ones are not even made: they are thousands, which would be left out one by one."""
    if collector.config.option.markexpr == FAST and is_whole(collector.config):
        marks = getattr(obj, "pytestmark", ()) if collector.istestfunction(obj, name) else ()
        return [] if any(mark.name == "slow" for mark in marks) else None
    return None


# Files whose slow tests take more than a minute together: more than half of the time of all of them.
LONG_FILES = frozenset((
    "test_compiled_decisions", "test_compiled_head_node", "test_contract", "test_copies_of_shipped_policies",
    "test_coverage", "test_examples", "test_fig_1", "test_figures_for_print", "test_for_everybody_on_the_page",
    "test_fork_join", "test_held_in_compiled_code", "test_interrupt", "test_intervals", "test_keys_without_effect",
    "test_large_nodes", "test_large_runs", "test_later_policies", "test_many_channels", "test_many_cores",
    "test_output", "test_papers", "test_pictures", "test_policies_elsewhere", "test_public_interface",
    "test_queueing", "test_reach", "test_recorded_runs", "test_report", "test_runs_of_the_page", "test_sheets",
    "test_short_runs_on_processes", "test_talk_in_compiled_code", "test_talking", "test_testing", "test_textbook",
))  # fmt: skip


def pytest_addoption(parser):
    parser.addoption(
        "--long-part",
        metavar="K/N",
        help="of the tests marked long, and of those of long files, only every N-th, from the K-th on (default: all)",
    )


def pytest_collection_modifyitems(config, items):
    """Leave out tests marked long, and tests of long files, that belong to another part."""
    part = config.getoption("--long-part")
    if part is None:
        return
    turn, parts = map(int, part.split("/"))
    if gone := LONG_FILES - {path.stem for path in Path(__file__).parent.rglob("test_*.py")}:
        raise pytest.UsageError(f"LONG_FILES in tests/conftest.py names files that are not there: {sorted(gone)}")
    long = [item for item in items if item.get_closest_marker("long") or item.path.stem in LONG_FILES]
    left_out = {item for place, item in enumerate(long) if place % parts != turn % parts}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


def pytest_collection_finish():
    gc.enable()
    gc.freeze()


@pytest.fixture(autouse=True)
def own_policies(monkeypatch):
    """What is registered in a test, or loaded from a file, is forgotten after it."""
    known = registry.available()
    before = known.copy()
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(registry, "_given", {})
    yield
    known.clear()
    known.update(before)


@pytest.fixture(scope="session", autouse=True)
def few_policies_compile(request):
    """In the fast suite shipped policies decide in Python, but for some in the plain form: compiling takes minutes.

    Both forms give the same bytes, and the slow suite holds them against each other under every policy.
    """
    if request.config.option.markexpr != FAST:
        yield
        return
    compiled = compilability.compiled_policy

    def compiled_in_the_fast_suite(policy, has_data=False, has_capacities=False):
        is_shipped = is_of_package(type(policy)) and policy.name in available()
        if is_shipped and (policy.name not in COMPILED_IN_ALL or has_data or has_capacities):
            raise NotCompilable("the fast suite decides in Python")
        return compiled(policy, has_data=has_data, has_capacities=has_capacities)

    with pytest.MonkeyPatch.context() as patch:
        # Of the session, so that runs of fixtures that many tests share are among them.
        patch.setattr(compilability, "compiled_policy", compiled_in_the_fast_suite)
        yield


@pytest.fixture(scope="session")
def warm():
    """A warm process, in whose forks scripts run."""
    with warm_process() as process:
        yield process


@pytest.fixture
def ctrl_c():
    """Ctrl-C is heard as at a terminal, by this process and by those that it starts."""
    with hearing_ctrl_c():
        yield
