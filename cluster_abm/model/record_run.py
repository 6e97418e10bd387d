"""`record`: a run, from its beginning to its end, as a recording."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cluster_abm.model.detailing import DetailedRun, window_of
from cluster_abm.model.model import ClusterModel
from cluster_abm.policies import AnyPolicy
from cluster_abm.recording import Recording
from cluster_abm.recording.details import with_detail
from cluster_abm.recording.keeping import excerpt_of
from cluster_abm.scenario import Scenario


def record(
    scenario: Scenario | str | Path = "quickstart",
    policy: AnyPolicy | None = None,
    seed: int | None = None,
    *,
    every: int | None = None,
    from_s: float | None = None,
    to_s: float | None = None,
    detail: tuple[float, float] | None = None,
    overrides: Mapping[str, object] | None = None,
    network: Any = None,
    progress: Callable[[float], None] | None = None,
    **keywords: Any,
) -> Recording:
    """Run a scenario to its end, and return what happened in it.

    Args:
        scenario, policy, seed, overrides, network: as of ClusterModel.
        every, from_s, to_s: the part of the run that is kept: as of ClusterModel.recording.
        detail: a window (from, to) [s] in which what each task does is kept at each moment (`Recording.detail_frame`).
        progress: called now and then with the fraction done, 0..1.
        keywords: any key of a scenario, `__` for the dot: cluster__nodes=64.

    Returns:
        the recording: `save`, `jobs_frame()`, `decisions_frame()`, `segments_frame()`.

    Raises:
        InputError: the scenario, a keyword, the policy or the trace is not right.
    """
    excerpt_of(every, from_s, to_s)
    span = None if detail is None else window_of(detail)
    model = ClusterModel(scenario, seed, policy=policy, record=True, overrides=overrides, network=network, **keywords)
    detailed = None if span is None else DetailedRun(model, span)
    (model if detailed is None else detailed).run(progress)
    recording = model.recording(every=every, from_s=from_s, to_s=to_s)
    return recording if detailed is None or span is None else with_detail(recording, detailed.notes(), *span)
