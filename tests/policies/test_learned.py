"""The policy `learned`: weights that are data, checked when read, and the runs that they give."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.cli import main
from cluster_abm.errors import InputError
from cluster_abm.gym import PlacementEnv
from cluster_abm.policies import create
from cluster_abm.policies.learned import shipped
from cluster_abm.policy.parts.features import COST, DOWN, FEATURES, HOME, features_of, put_features, squashed
from cluster_abm.policy.parts.scorer import FORMAT, LARGEST_WEIGHT, Scorer, read_scorer
from cluster_abm.scenario.schema import PolicyChoice
from cluster_abm.study.design.fingerprint import cell_key

NAMES = list(FEATURES)
SITUATIONS = {
    "negotiated": {},
    "papers": {"negotiation__mode": "papers"},
    "contended links": {"interconnect__mode": "contended", "workload__initial_data_mb__mean": 2.0},
    "unlike nodes": {"cluster__group": [{"count": 2, "cpu_speed": 2.0, "cores": 2}, {"count": 1, "disk_channels": 4}]},
}


def linear(**weights):
    return Scorer.linear([weights.get(name, 0.0) for name in NAMES])


def network():
    """A scorer of two layers with weights drawn at random: whatever it decides, it has to decide twice alike."""
    draws = np.random.default_rng(5)
    return Scorer((
        (draws.normal(size=(6, len(NAMES))), draws.normal(size=6)), (draws.normal(size=(1, 6)), np.zeros(1)),
    ))  # fmt: skip


def table(home=0, down=(), **rows):
    """Features of three nodes, all 0 but those named."""
    found = np.zeros((len(NAMES), 3), np.float32)
    found[HOME, home] = 1.0
    found[DOWN, list(down)] = 1.0
    for name, values in rows.items():
        found[NAMES.index(name)] = values
    return found


def test_scores_worked_by_hand():
    assert linear(tasks=-2.0, home=1.0).scores(table(home=1, tasks=[0.25, 0.5, 0.0])).tolist() == [-0.5, 0.0, 0.0]
    # max(0, tasks - 0.25) and max(0, 0.5 - io); twice the first less the second, and 1.
    first = np.zeros((2, len(NAMES)))
    first[0, NAMES.index("tasks")], first[1, NAMES.index("io")] = 1.0, -1.0
    scorer = Scorer(((first, np.array([-0.25, 0.5])), (np.array([[2.0, -1.0]]), np.array([1.0]))))
    assert scorer.scores(table(tasks=[0.0, 0.5, 0.75], io=[0.0, 0.25, 1.0])).tolist() == [0.5, 1.25, 2.0]


def test_squashed_numbers_keep_their_order_and_bounds():
    assert squashed(0.0, 4.0) == 0.0
    assert squashed(4.0, 4.0) == 0.5
    assert squashed(np.inf, 4.0) == 1.0
    many = squashed(np.arange(1000.0), 4.0).astype(np.float32)
    assert (np.diff(many) > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("make", [shipped, network])
def test_a_run_under_it_is_the_episode_that_its_weights_play(tmp_path, situation, make):
    settings = busy(**SITUATIONS[situation])
    scorer, file = make(), tmp_path / "weights.json"
    scorer.save(file)
    run = finished(3, **settings | {"policy__name": "learned", "policy__file": str(file)})
    assert run.summary()["metrics"]["remote_executions"] > 10
    env = PlacementEnv(scenario(**settings), seed=3)
    observation, info = env.reset()
    while info["decisions"]:
        observation, _, _, _, info = env.step(scorer.choose(observation.T))
    assert same_records(env.model, run)


@pytest.mark.slow
@pytest.mark.parametrize("situation", [*SITUATIONS, "failing"])
@pytest.mark.parametrize("make", [shipped, network])
def test_it_decides_the_same_in_compiled_code_in_python_and_step_by_step(tmp_path, situation, make):
    failing = {
        "failures__node__kind": "exponential", "failures__node__mean_up_s": 3.0, "failures__node__mean_down_s": 1.0,
        "failures__on_failure": "restart", "workload__duration_s": 8.0, "run__until": 12_000.0,
    }  # fmt: skip
    settings = busy(policy__name="learned", **SITUATIONS.get(situation, failing))
    make().save(tmp_path / "weights.json")
    settings["policy__file"] = str(tmp_path / "weights.json")
    setup = scenario(**settings)
    compiled, plain, stepped = (ClusterModel(setup, seed=2, compile_decisions=form) for form in (True, False, True))
    assert compiled.decides_in_python == ""
    compiled.run()
    plain.run()
    while stepped.running:
        stepped.step()
    assert len(compiled.decisions_frame()) > 10
    for other in (plain, stepped):
        assert same_records(compiled, other)
        assert compiled.decisions_frame().equals(other.decisions_frame())


@pytest.mark.slow
def test_features_without_a_weight_are_not_measured():
    policy = create(PolicyChoice(name="learned"))
    assert [name for name, read in zip(NAMES, policy.reads, strict=True) if not read] == ["down"]
    model = ClusterModel(scenario(**busy(policy__name="learned")), seed=1)
    model.run(until_ms=5_000.0)
    view, task = model.view_of(model.load_managers[0]), model.parts.announcements.of(0, 0)
    some, all_of_them = np.ones((len(NAMES), view.nodes), np.float32), features_of(task, view)
    put_features(some, task, view, np.array([name in ("tasks", "cost", "io_wait") for name in NAMES]))
    for name, found, whole in zip(NAMES, some, all_of_them, strict=True):
        assert found.tolist() == (whole if name in ("home", "tasks", "cost", "io_wait") else 0.0 * whole).tolist()


@pytest.mark.slow
def test_the_least_tasks_are_the_queue_that_jsq_joins(tmp_path):
    linear(tasks=-1.0).save(tmp_path / "least.json")
    settings = busy(negotiation__mode="papers")
    learned = finished(2, **settings | {"policy__name": "learned", "policy__file": str(tmp_path / "least.json")})
    assert same_records(learned, finished(2, **settings | {"policy__name": "jsq"}))


def test_what_is_saved_is_read_back(tmp_path):
    scorer = Scorer(network().layers, words="of a test")
    scorer.save(tmp_path / "w.json")
    found = read_scorer(tmp_path / "w.json")
    assert found.words == "of a test"
    for (weights, bias), (others, other_bias) in zip(found.layers, scorer.layers, strict=True):
        assert np.array_equal(weights, others)
        assert np.array_equal(bias, other_bias)


def document(**changed):
    zeros = [[0.0] * len(NAMES)]
    plain = {"format": FORMAT, "words": "", "features": NAMES, "layers": [{"weights": zeros, "bias": [0.0]}]}
    return json.dumps(plain | changed)


LAYER = {"weights": [[0.0] * len(NAMES)], "bias": [0.0]}
BAD_FILES = {
    "nothing": ("", "no JSON"),
    "no JSON": ("weights = [1, 2]", "no JSON"),
    "no text": (pickle.dumps({"weights": [1.0]}), "no JSON"),
    "nested without end": ("[" * 100_000, "no JSON"),
    "a list": ("[1, 2]", "format = 'list'"),
    "another format": (document(format="keras"), "format = 'keras'"),
    "an unknown key": (document(laers=[]), "unknown key 'laers'; did you mean 'layers'"),
    "other features": (document(features=["load"]), "features = "),
    "features in another order": (document(features=NAMES[::-1]), "in this order"),
    "no layer": (document(layers=[]), "there are 0"),
    "layers without end": (document(layers=[LAYER] * 9), "there are 9"),
    "a layer too few inputs": (document(layers=[{"weights": [[1.0]], "bias": [0.0]}]), r"layers\[0\]: .* needed are"),
    "layers that do not fit": (document(layers=[LAYER, LAYER]), r"layers\[1\]: .* needed are \(1, 1\)"),
    "rows of unlike lengths": (document(layers=[{"weights": [[1.0], [1.0, 2.0]], "bias": [0.0]}]), "one length"),
    "no numbers": (document(layers=[LAYER | {"bias": ["1"]}]), "bias: only numbers"),
    "truth values": (document(layers=[LAYER | {"bias": [True]}]), "bias: only numbers"),
    "not a number": (document(layers=[LAYER | {"bias": [float("nan")]}]), "allowed are numbers"),
    "endless": (document(layers=[LAYER | {"bias": [float("inf")]}]), "allowed are numbers"),
    "too large": (document(layers=[LAYER | {"bias": [10 * LARGEST_WEIGHT]}]), "allowed are numbers"),
    "400 digits": (document(layers=[LAYER | {"bias": [10**400]}]), "too large"),
    "a layer that is none": (document(layers=[3]), "layers: each is"),
    "a key too many": (document(layers=[LAYER | {"activation": "tanh"}]), "layers: each is"),
    "weights in one row": (document(layers=[{"weights": [0.0], "bias": [0.0]}]), "layers: each is"),
    "no words": (document(words=3), "words: a text"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD_FILES)
def test_a_file_that_is_wrong_is_named_with_what_is_allowed(tmp_path, kind):
    content, words = BAD_FILES[kind]
    file = tmp_path / "weights.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=rf"weights\.json: .*{words}"):
        create(PolicyChoice(name="learned", file=str(file)))


def test_weights_that_a_program_makes_are_checked_too():
    with pytest.raises(InputError, match="scorer: layers"):
        Scorer.linear([1.0, 2.0])


def test_a_wrong_file_ends_a_command_with_exit_code_2(tmp_path, capfd):
    file = tmp_path / "w.json"
    for content, words in ((None, "w.json"), (document(layers=[]), "there are 0")):
        if content is not None:
            file.write_text(content)
        for command in (["run", "quickstart", "--policy"], ["compare", "quickstart", "--seeds", "2", "--policies"]):
            with pytest.raises(SystemExit) as left:
                main([*command, "learned", "--set", f"policy.file={file}"])
            told = capfd.readouterr().err
            assert left.value.code == 2
            assert str(file) in told
            assert words in told
            assert "Traceback" not in told


def test_results_of_a_study_depend_on_what_the_file_holds(tmp_path):
    file = tmp_path / "w.json"
    linear(tasks=-1.0).save(file)
    settings = scenario(policy__name="learned", policy__file=str(file))
    before = cell_key(settings)
    assert cell_key(settings) == before
    linear(tasks=-1.0, io=-0.5).save(file)
    assert cell_key(settings) != before


@pytest.mark.slow
def test_it_says_what_it_compared():
    model = finished(1, **busy(policy__name="learned"))
    decided = model.decisions_frame()
    moved = decided[decided["target"] != decided["source"]]
    assert len(moved) > 10
    assert (moved["load_there"] >= moved["load_here"]).all()
    assert (decided.loc[decided["target"] == decided["source"], "reason"] == "no node scores higher").all()
    assert 0 < len(decided[decided["rule"] == "highest score"]) == len(decided)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["delay", "contended"])
def test_the_cost_is_that_which_policies_count_with(mode):
    # `features_of` computes it for all nodes at once.
    settings = busy(
        interconnect__mode=mode, negotiation__bandwidths="measured", workload__initial_data_mb__mean=2.0,
        policy__name="learned", cluster__group=[{"count": 2, "disk_mb_per_s": 20.0}],
    )  # fmt: skip
    model = ClusterModel(scenario(**settings), seed=1)
    model.run(until_ms=8_000.0)
    view, task = model.view_of(model.load_managers[1]), model.parts.announcements.of(0, 0)
    costs = features_of(task, view)[COST]
    assert costs.tolist() == [np.float32(squashed(view.cost_ms(task, node), 1000.0)) for node in range(4)]
    assert costs[1] == 0.0
    assert (costs[[0, 2, 3]] > 0.0).all()


def test_the_shipped_weights_are_those_that_the_guide_judges():
    found = read_scorer(Path(__file__).parents[2] / "docs" / "how-to" / "learned.json").layers[0][0][0].copy()
    # A node that is down is never chosen: whatever was learnt about it has no effect.
    found[DOWN] = 0.0
    assert np.array_equal(found, shipped().layers[0][0][0])
