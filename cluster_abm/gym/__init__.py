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
        "cluster_abm.gym needs Gymnasium, the extra `gym`: pip install 'cluster-abm[gym]'", name="gymnasium"
    ) from _problem

from cluster_abm.gym.env import ENV_ID, PlacementEnv

__all__ = ["ENV_ID", "PlacementEnv"]

if ENV_ID not in _gymnasium.registry:
    _gymnasium.register(id=ENV_ID, entry_point="cluster_abm.gym.env:PlacementEnv")
