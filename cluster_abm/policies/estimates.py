"""Expected response times of a task that is on the own node already, here and elsewhere: what a migration gains."""

from __future__ import annotations

from typing import Literal

from cluster_abm.formulas import (
    closed_response_ms,
    cpu_share,
    disk_share,
    mg1_response_ms,
    open_disk,
    page_load_ms,
)
from cluster_abm.policies.view import Candidate, Newcomer, View

Estimator = Literal["closed", "mg1"]
HIGHEST_RHO = 0.99


def response_here_ms(task: Candidate, view: View, estimator: Estimator) -> float:
    """r(i,j) of a task on the own node, whose loads it is part of [ms]."""
    me, node = view.me, view.hardware[view.me]
    io_per_ms, request_ms = task.io_per_ms * node.speed, task.request_on(node)
    if estimator == "mg1":
        sums = (view.load("io_per_ms", me) * node.speed, view.load("disk_work", me), view.load("disk_square", me))
        return _by_mg1(task.cpu_on(node), io_per_ms, view.load("queue", me), *sums)
    page_ms = page_load_ms(view.load("faults_per_ms", me), task.cpu_ms, node.fault_service_ms)
    others_at_disk = view.load("at_disk", me) - disk_share(io_per_ms, request_ms)
    return closed_response_ms(
        task.cpu_on(node), io_per_ms, request_ms, page_ms, view.load("queue", me), max(0.0, others_at_disk)
    )


def response_there_ms(task: Newcomer, view: View, place: int, estimator: Estimator) -> float:
    """r(k,j) of a task on a node that it is not part of, computed on that node's tasks plus this one [ms]."""
    node = view.hardware[place]
    io_per_ms, request_ms = task.io_per_ms * node.speed, task.request_on(node)
    queue = view.load("queue", place) + cpu_share(io_per_ms, request_ms, 0.0, 0.0)
    if estimator == "mg1":
        work = io_per_ms * request_ms
        sums = (
            view.load("io_per_ms", place) * node.speed + io_per_ms,
            view.load("disk_work", place) + work,
            view.load("disk_square", place) + work * request_ms,
        )
        return _by_mg1(task.cpu_on(node), io_per_ms, queue, *sums)
    return closed_response_ms(
        task.cpu_on(node), io_per_ms, request_ms, view.page_ms(task, place), queue, view.load("at_disk", place)
    )


def _by_mg1(cpu_ms: float, io_per_ms: float, queue: float, rates: float, work: float, squares_ms: float) -> float:
    """WAL-PM (1) with E(L) at least 1 and rho at most 0.99 (settled: docs/model.md, Expected response)."""
    clamped = max(1.0, queue)
    rate, rho, mean_ms, square_ms2 = open_disk(rates, work, squares_ms, clamped)
    return mg1_response_ms(cpu_ms, io_per_ms, clamped, rate, min(rho, HIGHEST_RHO), mean_ms, square_ms2)
