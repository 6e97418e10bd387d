"""Scenarios that are held out for judging: frozen by name, and none that is learnt from."""

from __future__ import annotations

import hashlib
import json

import pytest
from support import busy, finished, scenario

from cluster_abm.errors import InputError
from cluster_abm.gym import FEATURES, HELD_OUT, TRAINING, Scorer, evaluate, held_out, training
from cluster_abm.gym.held_out import FIRST_SEED
from cluster_abm.scenario import Scenario
from cluster_abm.study.compare import compare

# What they share is compiled for ten seconds.
pytestmark = pytest.mark.slow

# What each name stands for. A name whose settings change has to become another name (-v2): figures that were published
# under it would otherwise be about other jobs.
FROZEN = {
    "cpu-bound-v1": "7d9cc1286f265150",
    "heavy-tails-v1": "5417a41402f772ca",
    "stale-news-v1": "30335dfb42715da9",
    "io-bound-v1": "e4ec41ebe886c457",
    "parallel-io-v1": "1481bbabeb2b9602",
    "unlike-nodes-v1": "3c30824952fd56a6",
    "memory-bound-v1": "a14ba6226fd6d129",
}


@pytest.mark.parametrize("name", HELD_OUT)
def test_a_name_stands_for_the_same_settings_and_seeds_for_ever(name):
    entry = HELD_OUT[name]
    written = json.dumps([entry.settings, list(entry.seeds)], sort_keys=True)
    assert hashlib.sha256(written.encode()).hexdigest()[:16] == FROZEN[name]


def test_every_name_is_a_scenario():
    assert len({held_out(name).run.seed for name in HELD_OUT}) == 1
    for name in HELD_OUT:
        assert isinstance(held_out(name), Scenario)
        assert held_out(name).name == name
        assert held_out(name).run.seed == FIRST_SEED
    for name in TRAINING:
        assert training(name).name == name


def test_none_of_them_is_learnt_from():
    assert not set(HELD_OUT) & set(TRAINING)
    settings = [json.dumps(entry.settings, sort_keys=True) for entry in (*HELD_OUT.values(), *TRAINING.values())]
    assert len(set(settings)) == len(settings)
    assert all(training(name).run.seed < FIRST_SEED for name in TRAINING)


def test_an_unknown_name():
    with pytest.raises(InputError, match="did you mean 'io-bound-v1'"):
        held_out("io-bound")
    with pytest.raises(InputError, match="did you mean 'io-bound'"):
        training("io-bond")


def test_an_evaluation_is_a_comparison_on_the_same_jobs():
    settings = scenario(**busy())
    found = evaluate("jsq", settings, ["none", "iolb", "jsq"], seeds=3, workers=1)
    beside = compare(settings, ["jsq", "none", "iolb"], 3, workers=1, quiet=True)
    assert found.seeds == beside.seeds
    assert {name: list(values) for name, values in found.values.items()} == {
        name: beside.values(name, "bounded_slowdown") for name in ("jsq", "none", "iolb")
    }
    differences = found.differences()
    assert set(differences) == {"none", "iolb"}
    assert differences["none"].difference.mean == pytest.approx(
        sum(beside.values("jsq", "bounded_slowdown")) / 3 - sum(beside.values("none", "bounded_slowdown")) / 3
    )


def test_a_scorer_that_stays_at_home_is_policy_none():
    at_home = Scorer.linear([1.0 if name == "home" else 0.0 for name in FEATURES])
    found = evaluate(at_home, scenario(**busy()), ["none"], seeds=2, name="stays", workers=1)
    assert found.values["stays"] == found.values["none"]
    assert not found.differences()["none"].significant
    assert found.lines()[-1].endswith("]  not significant")
    policy_none = finished(1, **busy(policy__name="none")).summary()["metrics"]["bounded_slowdown"]
    assert found.values["none"][0] == policy_none


def test_an_opponent_that_cannot_run_is_left_out_and_named():
    failing = scenario(**busy(failures__event=[{"node": 1, "at_s": 4.0, "for_s": 2.0}]))
    found = evaluate("jsq", failing, ["none", "pooled"], seeds=2, workers=1)
    assert set(found.values) == {"jsq", "none"}
    assert "pools all nodes" in found.left_out["pooled"]
    assert any("cannot run here" in line for line in found.lines())


def test_what_is_wrong_with_an_evaluation_is_named():
    with pytest.raises(InputError, match="did you mean 'jsq'"):
        evaluate("jsqq", scenario(), ["none"], seeds=1, workers=1)
    with pytest.raises(InputError, match="did you mean 'jsq'"):
        evaluate("none", scenario(), ["jsqq"], seeds=1, workers=1)
    with pytest.raises(InputError, match="seeds = 1000: io-bound-v1 has 12"):
        evaluate("none", "io-bound-v1", ["jsq"], seeds=1000)
