"""IOCM's five applications as workloads."""

from __future__ import annotations

from functools import cache
from typing import Any

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.formulas import service_ms
from cluster_abm.scenario import shipped_path
from cluster_abm.scenario.cluster import Cluster
from cluster_abm.scenario.distributions import LARGEST, Distribution, RequestSize
from cluster_abm.scenario.schema import Workload

# Sizes of requests spread around their mean as IOCM's do: Gamma, half the mean.
REQUEST_SPREAD = 0.5


@cache
def applications() -> dict[str, dict[str, Any]]:
    """What is known or assumed of each application, by name (scenarios/applications.csv)."""
    table: dict[Any, Any] = pd.read_csv(shipped_path("applications.csv")).set_index("application").to_dict("index")
    return table


def as_application(workload: Workload, cluster: Cluster) -> Workload:
    """The workload with what its application says in place of the distributions; itself if it names none.

    Every process of a run is alike: it computes `cpu_share` of the time that it takes alone on a default node.
    """
    chosen = workload.application
    if chosen.name == "none":
        return workload
    facts = applications()[chosen.name]
    cpu_share = facts["cpu_share"] if chosen.cpu_share is None else chosen.cpu_share
    request_kb, requests = facts["request_kb"], facts["requests_per_process"] * chosen.scale
    io_ms = requests * service_ms(request_kb, cluster.disk_seek_rotation_ms, cluster.disk_mb_per_s)
    cpu_ms = io_ms * cpu_share / (1.0 - cpu_share)
    processes = facts["processes"]
    if not cpu_ms <= LARGEST:
        raise InputError(
            f"workload.application.scale = {chosen.scale:g}: a task of it would compute {cpu_ms:.3g} ms: "
            f"allowed is {LARGEST:g}"
        )
    size = RequestSize(kind="gamma", mean=request_kb, sd=REQUEST_SPREAD * request_kb)
    widths = {"parallel_share": 1.0, "minimum": processes, "maximum": processes, "widths": {}}
    tasks = workload.tasks.model_copy(update=widths)
    return workload.model_copy(
        update={
            "tasks": tasks,
            "cpu_ms": Distribution(kind="fixed", mean=cpu_ms),
            "io_per_ms": Distribution(kind="fixed", mean=requests / cpu_ms),
            "request_kb": size,
            "no_io_share": 0.0,
            "initial_data_mb": Distribution(kind="fixed", mean=0.0),
            "write_share": facts["write_share"],
        }
    )
