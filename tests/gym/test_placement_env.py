"""Placement as an environment: a run of the same jobs, decided from outside."""

from __future__ import annotations

import copy
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from support import busy, finished, same_records, scenario

from cluster_abm.errors import InputError
from cluster_abm.gym import ENV_ID, FEATURES, PlacementEnv, play
from cluster_abm.policy.parts.features import DOWN, HOME, TASKS, features_of

# What they share is compiled for ten seconds.
pytestmark = pytest.mark.slow

SITUATIONS = {
    "negotiated": {},
    "papers": {"negotiation__mode": "papers"},
    "far nodes": {"interconnect__latency_ms": 3.0},
    "contended links": {"interconnect__mode": "contended", "workload__initial_data_mb__mean": 2.0},
    "unlike nodes": {"cluster__group": [{"count": 2, "cpu_speed": 2.0, "cores": 2}, {"count": 1, "disk_channels": 4}]},
    "failing nodes": {"failures__event": [{"node": 1, "at_s": 4.0, "for_s": 6.0}, {"node": 3, "at_s": 8.0}]},
}


def home(observation):
    return int(observation[:, HOME].argmax())


def shortest_queue(observation):
    """What jsq chooses by the same knowledge: fewest tasks; on a tie home, else the next node after it."""
    me = home(observation)
    return (me + int(np.roll(observation[:, TASKS], -me).argmin())) % len(observation)


def episode(env, choose, seed=None):
    """Play an episode: what was rewarded, and how many decisions there were."""
    observation, info = env.reset(seed=seed)
    total, decisions, is_over = 0.0, 0, False
    while not is_over:
        assert env.observation_space.contains(observation)
        decisions += info["decisions"]
        observation, reward, terminated, truncated, info = env.step(choose(observation))
        total, is_over = total + reward, terminated or truncated
    assert not observation.any()
    return total, decisions


@pytest.mark.parametrize("situation", SITUATIONS)
def test_home_as_the_action_gives_the_run_of_policy_none(situation):
    settings = busy(policy__name="none", **SITUATIONS[situation])
    env = PlacementEnv(scenario(**settings))
    _, decisions = episode(env, home, seed=3)
    run = finished(3, **settings)
    assert same_records(env.model, run)
    assert decisions == len(run.jobs_frame()) > 50
    ours, theirs = env.model.summary(), run.summary()
    # What is observed is reported, which costs messages where there are any; under `none` nothing is.
    assert theirs["metrics"].pop("messages_per_job") == 0.0
    assert (ours["metrics"].pop("messages_per_job") > 0.0) == (situation != "papers")
    assert ours["metrics"] == theirs["metrics"]
    assert ours["jobs"] == theirs["jobs"]


@pytest.mark.parametrize("situation", ["negotiated", "papers", "far nodes", "contended links"])
def test_the_choice_of_jsq_gives_the_run_of_jsq(situation):
    # jsq's refusals are its own: an environment's node takes what it is sent.
    settings = busy(policy__name="jsq", negotiation__refusals=False, **SITUATIONS[situation])
    env = PlacementEnv(scenario(**settings))
    episode(env, shortest_queue, seed=5)
    run = finished(5, **settings)
    assert run.summary()["metrics"]["remote_executions"] > 10
    assert same_records(env.model, run)
    assert env.model.summary()["metrics"] == run.summary()["metrics"]


@pytest.mark.parametrize("situation", SITUATIONS)
def test_an_observation_is_what_the_load_manager_of_the_home_knows(situation):
    env = PlacementEnv(scenario(**busy(**SITUATIONS[situation])), seed=2)
    observation, info = env.reset()
    seen_down = False
    while info["decisions"]:
        model = env.model
        job, rank = int(model._arrivals.job[model._first]), int(model._arrivals.rank[model._first])
        manager = int(model.homes()[0])
        task = model.parts.announcements.of(job, rank)
        model.parts.views.look()
        view = model.view_of(model.load_managers[manager])
        assert np.array_equal(observation.T, features_of(task, view))
        seen_down |= observation[:, DOWN].any()
        observation, _, _, _, info = env.step(shortest_queue(observation))
    assert seen_down == (situation == "failing nodes")


@pytest.mark.slow
def test_the_return_is_minus_the_bounded_slowdown():
    env = PlacementEnv(scenario(**busy()), seed=7)
    total, _ = episode(env, shortest_queue)
    summary = env.model.summary()
    assert summary["jobs"]["finished"] == summary["jobs"]["submitted"]
    assert total == pytest.approx(-summary["metrics"]["bounded_slowdown"], rel=1e-9)


@pytest.mark.parametrize("until", ["drained", 9_000.0])
def test_the_return_by_tasks_is_minus_the_mean_response(until):
    # Sequential jobs; where time ends the run, those that are left count for as long as they were there.
    settings = busy(workload__tasks__parallel_share=0.0, run__until=until)
    env = PlacementEnv(scenario(**settings), reward="tasks")
    total, decisions = episode(env, home, seed=1)
    jobs = env.model.jobs_frame()
    arrivals_ms = env.model.engine.jobs["arrival_ns"][:decisions] / 1e6
    left = np.setdiff1d(np.arange(decisions), jobs["job"])
    assert (len(left) > 0) == (until != "drained")
    response_ms = (jobs["finish_ms"] - jobs["arrival_ms"]).sum() + (env.model.now_ms - arrivals_ms[left]).sum()
    assert total == pytest.approx(-response_ms / 1000.0 / env.model.engine.total_tasks, rel=1e-9)
    if until == "drained":
        assert total == pytest.approx(-env.model.summary()["metrics"]["mean_response_ms"] / 1000.0, rel=1e-9)


def test_time_that_is_up_truncates_and_jobs_that_have_ended_terminate():
    for until, expected in (("drained", (True, False)), (5_000.0, (False, True))):
        env = PlacementEnv(scenario(**busy(run__until=until)))
        observation, info = env.reset()
        ends = (False, False)
        while not any(ends):
            assert "summary" not in info
            observation, _, *ends, info = env.step(home(observation))
        assert tuple(ends) == expected
        assert info["summary"] == env.model.summary()
        with pytest.raises(gymnasium.error.ResetNeeded):
            env.step(0)


@pytest.mark.parametrize("decisions", [1, 5])
def test_gymnasium_finds_nothing_to_warn_of(decisions):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(ENV_ID, scenario="quickstart", workload__duration_s=20.0, decisions=decisions)
        check_env(env.unwrapped)


def test_several_decisions_a_step_are_those_of_one_by_one():
    settings = scenario(**busy(policy__name="none"))
    one, several = PlacementEnv(settings, seed=4), PlacementEnv(settings, seed=4, decisions=6)
    seen, _ = one.reset()
    table, info = several.reset()
    assert table.shape == (6, 4, len(FEATURES))
    assert np.array_equal(table[0], seen)
    sizes = set()
    while info["decisions"]:
        asked = info["decisions"]
        sizes.add(asked)
        assert (table[:asked, :, HOME].sum(axis=1) == 1.0).all()
        assert not table[asked:].any()
        # The first of a step is what one decision a step would see; the others see the same instant.
        assert np.array_equal(table[0], seen)
        for _ in range(asked):
            seen, *_ = one.step(home(seen))
        table, _, _, _, info = several.step(table[:, :, HOME].argmax(axis=1))
    assert {1, 6} <= sizes
    assert same_records(one.model, several.model)


def test_episodes_count_their_seeds_upwards():
    env = PlacementEnv("quickstart", seed=11, workload__duration_s=20.0)
    first, info = env.reset()
    assert info["seed"] == 11
    assert env.reset()[1]["seed"] == 12
    again, info = env.reset(seed=11)
    assert info["seed"] == 11
    assert np.array_equal(first, again)
    assert env.reset()[1]["seed"] == 12


def test_gymnasium_runs_several_side_by_side():
    envs = gymnasium.make_vec(
        ENV_ID, num_envs=3, vectorization_mode="sync", scenario="quickstart", workload__duration_s=20.0
    )
    observations, _ = envs.reset(seed=1)
    assert observations.shape == (3, 32, len(FEATURES))
    assert len({one.tobytes() for one in observations}) == 3
    for _ in range(20):
        observations, rewards, *_ = envs.step(observations[:, :, TASKS].argmin(axis=1))
    assert rewards.shape == (3,)
    envs.close()


def test_a_player_is_a_function_of_an_observation():
    settings = scenario(**busy(policy__name="none"))
    assert play(home, settings, [1, 2]) == [
        finished(seed, **busy(policy__name="none")).summary()["metrics"]["bounded_slowdown"] for seed in (1, 2)
    ]


@pytest.mark.parametrize("action", [4, -1, 1.5, [0, 1], "home", None])
def test_an_action_that_is_no_node(action):
    env = PlacementEnv(scenario())
    env.reset()
    with pytest.raises(InputError, match=r"action = "):
        env.step(action)


def test_what_is_wrong_is_named():
    for arguments, words in (
        ({"reward": "slowdwon"}, "did you mean 'slowdown'"),
        ({"decisions": 0}, "decisions = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"render_mode": "human"}, "render_mode = 'human'"),
        ({"cluster__nods": 3}, "cluster.nods"),
    ):
        with pytest.raises(InputError, match=words):
            PlacementEnv("quickstart", **arguments)
    with pytest.raises(gymnasium.error.ResetNeeded):
        PlacementEnv("quickstart").step(0)
    with pytest.raises(InputError, match="bandwidths are measured"):
        PlacementEnv(scenario(negotiation__bandwidths="measured")).reset()
    groups = [{"count": 2, "policy": "random"}]
    with pytest.raises(InputError, match=r"cluster\.group\.0\.policy"):
        PlacementEnv(scenario(cluster__group=groups)).reset()
    with pytest.raises(InputError, match="there is nothing to decide"):
        PlacementEnv(scenario(workload__utilisation=1e-9)).reset()


def test_without_gymnasium_the_extra_is_named():
    code = "import sys; sys.modules['gymnasium'] = None; import cluster_abm.gym"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    assert "pip install '.[gym]'" in done.stderr


def steps(env, actions):
    """What an environment says to actions, until its episode is over."""
    found, is_over = [], False
    for action in actions:
        if is_over:
            break
        observation, reward, terminated, truncated, info = env.step(action)
        is_over = terminated or truncated
        found.append((observation.tobytes(), reward, terminated, truncated, repr(info)))
    return found


@pytest.mark.parametrize("reward", ["slowdown", "tasks"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_a_begun_environment_can_be_copied(situation, reward):
    """Copies go on as the original does, and leave it as it is whatever is done to them."""
    settings = busy(**SITUATIONS[situation])
    env, untouched = (PlacementEnv(scenario(**settings), reward=reward, seed=3) for _ in range(2))
    nodes = env.action_space.n
    actions = np.random.default_rng(7).integers(0, nodes, 10_000)
    for one in (env, untouched):
        one.reset()
        steps(one, actions[:40])
    same, other = copy.deepcopy(env), copy.deepcopy(env)
    copied_again = copy.deepcopy(same)
    # Other actions in one of them, first.
    assert steps(other, (actions[40:] + 1) % nodes) != []
    expected = steps(untouched, actions[40:])
    assert len(expected) > 10
    assert steps(same, actions[40:]) == expected
    assert steps(env, actions[40:]) == expected
    assert steps(copied_again, actions[40:]) == expected
    assert same.model.summary() == untouched.model.summary() != other.model.summary()
    assert same_records(same.model, untouched.model)


def test_a_copy_before_the_first_and_after_the_last_decision():
    env = PlacementEnv(scenario(**busy()), seed=3, decisions=3)
    copied = copy.deepcopy(env)
    assert copied.model is None
    first, second = env.reset()[0], copied.reset()[0]
    assert first.tobytes() == second.tobytes()
    actions = np.random.default_rng(7).integers(0, 4, (10_000, 3))
    begun = copy.deepcopy(env)
    assert steps(begun, actions) == steps(env, actions)
    over = copy.deepcopy(env)
    assert over.model.summary() == env.model.summary()
    assert over.reset()[0].tobytes() == env.reset()[0].tobytes()


def test_a_copy_through_gymnasiums_wrappers():
    env = gymnasium.make(ENV_ID, scenario=scenario(**busy()), seed=3)
    env.reset()
    env.step(1)
    copied = copy.deepcopy(env)
    assert steps(copied, [0, 1, 2, 3] * 5) == steps(env, [0, 1, 2, 3] * 5)


def test_a_run_to_which_more_was_done_is_not_copied():
    env = PlacementEnv(scenario(**busy()), seed=3)
    env.reset()
    steps(env, [0] * 20)
    job = int(env.model.engine.tasks["job"][env.model.engine.tasks["state"] != 0][0])
    env.model.job_actions.kill(job)
    with pytest.raises(InputError, match="cannot be copied: more was done to it"):
        copy.deepcopy(env)
