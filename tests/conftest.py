"""What all tests share: how hypothesis searches, and ears for Ctrl-C."""

from __future__ import annotations

import gc
import os
import sys

import pytest
from chromium import chromium
from hypothesis import HealthCheck, settings
from support import hearing_ctrl_c

from cluster_abm.policy.finding import registry

__all__ = ["chromium"]  # a fixture of every folder

# How long an example takes depends on what else the machine does and on what was compiled before: no test measures it.
settings.register_profile("cluster_abm", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("cluster_abm")

# On a machine that is busy a run may take ten seconds: what it then says of its progress is in no test's way.
os.environ["CLUSTER_ABM_PROGRESS"] = "none"

# Ten thousand tests are millions of objects that live to the end: the garbage collector need not look at them again.
gc.disable()


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


@pytest.fixture
def ctrl_c():
    """Ctrl-C is heard as at a terminal, by this process and by those that it starts."""
    with hearing_ctrl_c():
        yield
