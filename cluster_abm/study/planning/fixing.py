"""The jobs of a scenario, fixed before the cluster is changed: a larger cluster does not get more of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.workload import are_closed, jobs_per_second, with_bound
from cluster_abm.workload.applications import as_application
from cluster_abm.workload.from_trace import chosen_jobs

# Keys that say themselves how many jobs come.
RATES = ("workload.jobs", "workload.jobs_per_s", "workload.utilisation")


class Fixed(NamedTuple):
    """A scenario whose jobs do not depend on the key any more, and what was done to it, in words."""

    scenario: Scenario
    notes: tuple[str, ...]


def with_fixed_jobs(scenario: Scenario, key: str) -> Fixed:
    """Have the scenario's jobs, and the bound of slowdowns, follow from what it is now, whatever the key will be.

    `workload.utilisation` becomes the rate that it means here. Homes are drawn by shares of the nodes: with more nodes
    each gets fewer jobs. Those that a trace names are drawn instead, unless the scenario itself says
    `homes = "file"`.

    Raises InputError: jobs that cannot be fixed: closed users of which each node has some.
    """
    notes: list[str] = []
    workload = scenario.workload
    is_said = workload.arrivals.user_nodes or workload.dispatchers
    if key == "cluster.nodes" and are_closed(scenario) and not is_said:
        raise InputError(
            "--over cluster.nodes: workload.arrivals.kind is closed, and every node has users of its own: more nodes "
            "have more jobs; name the nodes that have users in workload.arrivals.user_nodes, or set "
            "workload.dispatchers"
        )
    if key.startswith("cluster.") and workload.application.name != "none":
        name = workload.application.name
        plain = workload.application.model_copy(update={"name": "none"})
        workload = as_application(workload, scenario.cluster).model_copy(update={"application": plain})
        notes.append(f"workload.application {name}: its jobs are those of the scenario's own cluster")
    if workload.kind in ("synthetic", "sessions") and workload.utilisation is not None and key not in RATES:
        rate = jobs_per_second(scenario)
        notes.append(f"workload.utilisation = {workload.utilisation:g} is {rate:.6g} jobs per second, whatever {key}")
        workload = workload.model_copy(update={"utilisation": None, "jobs_per_s": rate})
    if key == "cluster.nodes" and workload.kind == "trace" and _named_homes(scenario) is not None:
        trace = workload.trace
        if trace.homes == "file" and "homes" not in trace.model_fields_set:
            workload = workload.model_copy(update={"trace": trace.model_copy(update={"homes": "drawn"})})
            notes.append(
                'homes are drawn from workload.home, and not those of the trace: set workload.trace.homes = "file" to '
                "keep them"
            )
    return Fixed(with_bound(scenario).model_copy(update={"workload": workload}), tuple(notes))


def most_named_home(scenario: Scenario) -> int | None:
    """The highest node that a trace names as a home, where its homes are taken; None: there is none."""
    homes = _named_homes(scenario) if scenario.workload.kind == "trace" else None
    return None if homes is None or np.isnan(homes).all() else int(np.nanmax(homes))


def _named_homes(scenario: Scenario) -> npt.NDArray[np.float64] | None:
    """The homes that a trace names, shape (jobs,); None: it names none, or they are not taken."""
    return chosen_jobs(scenario, scenario.run.seed)[1].get("home")
