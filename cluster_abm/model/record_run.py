"""`record`: a run, from its beginning to its end, as a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cluster_abm.model.model import ClusterModel
from cluster_abm.policies import AnyPolicy
from cluster_abm.recording import Recording
from cluster_abm.scenario import Scenario


def record(
    scenario: Scenario | str | Path = "quickstart",
    policy: AnyPolicy | None = None,
    seed: int | None = None,
    *,
    overrides: Mapping[str, object] | None = None,
    network: Any = None,
    progress: Callable[[float], None] | None = None,
    **kwargs: Any,
) -> Recording:
    """Run a scenario to its end, and return what happened in it.

    Args:
        scenario, policy, seed, overrides, network: as of ClusterModel.
        progress: called now and then with the fraction done, 0..1.
        kwargs: any key of a scenario, `__` for the dot: cluster__nodes=64.

    Raises:
        InputError: the scenario, a keyword, the policy or the trace is not right.
    """
    model = ClusterModel(scenario, seed, policy=policy, record=True, overrides=overrides, network=network, **kwargs)
    model.run(progress)
    return model.recording()
