"""A shipped policy copied into a user's file stays compiled, and decides the same."""

from __future__ import annotations

import inspect
import shutil
import sys

import pytest
from support import busy, mostly_slow, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.policies import available
from cluster_abm.policy.finding.files import load_policy

# Of each kind one: the least load, a draw, conditions on several loads, migration, places of data, classes of averages,
# what was placed lately, samples.
KINDS = ("jsq", "random", "iolb", "wal-pm", "data-majority", "load-class", "target-load", "load-risk")


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(KINDS, ("jsq",)))
def test_a_copy_is_compiled_and_decides_the_same(tmp_path, monkeypatch, name):
    shipped = available()[name]
    monkeypatch.chdir(tmp_path)
    shutil.copy(inspect.getsourcefile(shipped), "mine.py")
    copy = load_policy(f"mine.py:{shipped.__name__}")
    assert sys.modules[copy.__module__].__file__.endswith("mine.py")
    setup = scenario(**busy(policy__name=name, workload__duration_s=5.0))
    models = [ClusterModel(setup, seed=4), ClusterModel(setup, seed=4, policy=copy)]
    for model in models:
        assert model.decides_in_python == ""
        model.run()
    assert same_records(*models)
    assert models[0].decisions_frame().equals(models[1].decisions_frame())
