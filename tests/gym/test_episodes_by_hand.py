"""Short episodes by hand: rewards, times, rendering, and invalid actions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import PLAIN, scenario

from cluster_abm.errors import InputError
from cluster_abm.gym import FEATURES
from cluster_abm.gym.env import MOST_DECISIONS, PlacementEnv

# What they share is compiled for ten seconds.
pytestmark = pytest.mark.slow

# One task of 100 ms, one of 300 ms that comes at 1 s.
TWO = ["0,0,100,1", "1000,1,300,1"]


def env_of(folder: Path, rows: list[str], **options) -> PlacementEnv:
    path = folder / "jobs.csv"
    path.write_text("\n".join(["arrival_ms,home,cpu_ms,tasks", *rows]) + "\n")
    setup = scenario(
        **PLAIN, workload={"kind": "trace", "trace": {"file": str(path)}},
        workload__io_per_ms={"kind": "fixed", "mean": 0.0}, workload__initial_data_mb={"kind": "fixed", "mean": 0.0},
    )  # fmt: skip
    return PlacementEnv(setup, **options)


@pytest.mark.parametrize(("reward", "rewards"), [
    # Each job runs alone, so its slowdown is 1. It is divided by the 2 jobs.
    ("slowdown", [-0.5, -0.5]),
    # Responses of 0.1 and 0.3 s, divided by the 2 tasks.
    ("tasks", [-0.05, -0.15]),
])  # fmt: skip
def test_rewards_of_two_tasks_at_home(tmp_path, reward, rewards):
    env = env_of(tmp_path, TWO, reward=reward)
    _, info = env.reset()
    assert (info["now_ms"], info["decisions"]) == (0.0, 1)
    _, first, terminated, truncated, info = env.step(0)
    assert (info["now_ms"], info["decisions"], terminated, truncated) == (1000.0, 1, False, False)
    assert "summary" not in info
    observation, second, terminated, truncated, info = env.step(1)
    assert [first, second] == pytest.approx(rewards)
    assert (info["decisions"], terminated, truncated) == (0, True, False)
    assert info["summary"]["jobs"]["finished"] == 2
    assert not observation.any()


@pytest.mark.parametrize(("reward", "total"), [
    # Slowdowns of 1 and 2 of the tasks of a job: 1.5 on average. Responses of 0.1 and 0.2 s: 0.15 s on average.
    ("slowdown", -1.5), ("tasks", -0.15),
])  # fmt: skip
def test_two_tasks_of_a_job_one_after_the_other(tmp_path, reward, total):
    """Both tasks are on node 3, which has one core and an infinite quantum: they end after 100 and 200 ms."""
    env = env_of(tmp_path, ["0,0,100,2"], reward=reward, decisions=2)
    _, info = env.reset()
    assert info["decisions"] == 2
    _, found, terminated, _, info = env.step([3, 3])
    assert terminated
    assert found == pytest.approx(total)
    assert info["summary"]["metrics"]["mean_slowdown"] == pytest.approx(1.5)


@pytest.mark.slow
def test_rendering_shows_the_tasks_on_each_node(tmp_path):
    env = env_of(tmp_path, ["0,0,5000,1", "1000,1,300,1"], render_mode="ansi")
    assert env.render() is None
    env.reset()
    assert env.render() == "0 ms: 0 0 0 0\n"
    env.step(2)
    assert env.render() == "1000 ms: 0 0 1 0\n"
    silent = env_of(tmp_path, TWO)
    silent.reset()
    assert silent.render() is None


@pytest.mark.parametrize(("decisions", "is_right"), [
    (1, True), (MOST_DECISIONS, True), (MOST_DECISIONS + 1, False), (0, False), (True, False), (1.0, False),
])  # fmt: skip
def test_the_number_of_decisions_a_step(decisions, is_right):
    if not is_right:
        with pytest.raises(InputError, match=r"decisions = .*: must be a whole number of 1\.\.10000"):
            PlacementEnv(scenario(), decisions=decisions)
        return
    env = PlacementEnv(scenario(), decisions=decisions)
    nodes = (4, len(FEATURES))
    assert env.observation_space.shape == (nodes if decisions == 1 else (decisions, *nodes))
    assert env.action_space.shape == (() if decisions == 1 else (decisions,))
    assert (env.observation_space.low.min(), env.observation_space.high.max()) == (0.0, 1.0)
    assert env.model is None


@pytest.mark.parametrize(("action", "said"), [
    ([0, 1], "3 nodes as whole numbers"), ([0.0, 1.0, 2.0], "3 nodes as whole numbers"), (1, "3 nodes as whole"),
    ([[0, 1, 2]], "3 nodes as whole numbers"), ([0, 1, 4], r"allowed are nodes 0\.\.3"), ([-1, 0, 0], "allowed are"),
    (["a", "b", "c"], "3 nodes as whole numbers"),
])  # fmt: skip
def test_invalid_actions_of_several_decisions(tmp_path, action, said):
    env = env_of(tmp_path, TWO, decisions=3)
    env.reset()
    with pytest.raises(InputError, match=said):
        env.step(action)
    # No task was placed, and the episode goes on.
    assert env.step(np.array([3, 0, 0]))[4]["now_ms"] == 1000.0
