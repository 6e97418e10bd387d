"""Where windows of a log begin, what load their jobs offer, and how many nodes that asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cluster_abm.scenario import Scenario
from cluster_abm.workload.jobs import work_of
from cluster_abm.workload.offered import OfferedLoad, offered_load

NS_PER_S = 1e9


def windows(span_s: float, length_s: float, count: int) -> list[float]:
    """Where `count` windows of `length_s` begin [s]: one in the middle of each `count`-th part of the span.

    They are disjoint, and nothing but the log's length chooses them.

    Raises:
        ValueError: they do not fit into the span.
    """
    part = span_s / count
    if length_s > part:
        raise ValueError(f"{count} windows of {length_s:g} s do not fit into {span_s:g} s")
    return [(place + 0.5) * part - length_s / 2.0 for place in range(count)]


def offered(scenario: Scenario, seed: int, window_s: float) -> OfferedLoad:
    """The load that a run's jobs offer over a window of this length [s].

    Of jobs with parents as if each came when its workflow does; of a window with few jobs, or jobs that come all at
    once, over the whole window and not from the first arrival to the last.

    Raises:
        InputError: of the scenario's trace.
    """
    work = work_of(scenario, seed)
    jobs = work.jobs.copy()
    if work.earliest_ns is not None:
        jobs["arrival_ns"] = work.earliest_ns
    # Arrivals say here how long the window is, and nothing else.
    jobs["arrival_ns"][0], jobs["arrival_ns"][-1] = 0, round(window_s * NS_PER_S)
    found = offered_load(scenario, work._replace(jobs=jobs, parents=None))
    assert found is not None  # it has a window
    return found


def mean_load(loads: Sequence[OfferedLoad]) -> dict[str, float]:
    """The mean over windows, by resource."""
    return {name: float(np.mean([load.as_dict()[name] for load in loads])) for name in loads[0].as_dict()}


def nodes_for(load: dict[str, float], nodes: int, target: float) -> int:
    """The fewest equal nodes on which no resource is offered more than `target`, if on `nodes` it is `load`; two at
    least, among which there is something to balance."""
    # Nothing more than a rounding error asks for another node.
    return max(2, math.ceil(nodes * max(load.values()) / target - 1e-9))
