"""Placement as an environment for learners, with Gymnasium's interface (extra `gym`).

from cluster_abm.gym import PlacementEnv

env = PlacementEnv(scenario="quickstart", seed=1)
observation, info = env.reset()
"""

from __future__ import annotations

try:
    import gymnasium as _gymnasium
except ImportError as _problem:
    raise ImportError(
        "cluster_abm.gym needs Gymnasium, the extra `gym`: pip install '.[gym]'", name="gymnasium"
    ) from _problem

from cluster_abm.gym.env import ENV_ID, PlacementEnv
from cluster_abm.gym.evaluation import OPPONENTS, Evaluation, evaluate, play
from cluster_abm.gym.held_out import HELD_OUT, TRAINING, held_out, training
from cluster_abm.policy.parts.features import FEATURES
from cluster_abm.policy.parts.scorer import Scorer, read_scorer

__all__ = [
    "ENV_ID",
    "FEATURES",
    "HELD_OUT",
    "OPPONENTS",
    "TRAINING",
    "Evaluation",
    "PlacementEnv",
    "Scorer",
    "evaluate",
    "held_out",
    "play",
    "read_scorer",
    "training",
]

if ENV_ID not in _gymnasium.registry:
    _gymnasium.register(id=ENV_ID, entry_point="cluster_abm.gym.env:PlacementEnv")
