"""Expected response times: what a load manager compares before it sends a task away."""

from __future__ import annotations

import math
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from cluster_abm.formulas import (
    buffer_beside_kb,
    buffer_share_kb,
    closed_response_ms,
    cpu_share,
    data_kb,
    disk_share,
    explicit_io_per_ms,
    hit_rate,
    mg1_response_ms,
    mgq_response_ms,
    node_faults_per_ms,
    open_disk,
    page_load_ms,
    service_ms,
    sharing,
)
from cluster_abm.jit import inlinable
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.capacities import position_in
from cluster_abm.policy.view import ArrivingTask, Hardware, View

HIGHEST_RHO = 0.99
ESTIMATORS = ("closed", "mg1", "cpu-memory", "closed-without-paging")
CLOSED, MG1, CPU_MEMORY, WITHOUT_PAGING = range(4)


class Estimating(Policy):
    """A policy that estimates responses by one of several formulas."""

    class Parameters(Policy.Parameters):
        """How responses are estimated."""

        estimator: Literal["closed", "mg1", "cpu-memory", "closed-without-paging"] = Field(
            "closed",
            description="expected response time: closed; the paper's own (1) with rho at most 0.99; by CPU queue and "
            "paging alone, blind to explicit I/O; or closed, blind to paging",
        )
        rates: Literal["raw", "effective"] = Field(
            "raw", description="I/O rates in estimates and loads: lambda, or less buffer hits and with page faults"
        )

        @model_validator(mode="after")
        def _agree(self) -> Self:
            if self.rates == "effective" and self.estimator == "closed-without-paging":
                raise ValueError(
                    "rates = 'effective' counts page faults, estimator = 'closed-without-paging' leaves them out; "
                    "allowed with it is rates = 'raw'"
                )
            return self

    parameters: Parameters

    @property
    def effective_rates(self) -> bool:
        """Whether I/O counts as it reaches the disk."""
        return self.parameters.rates == "effective"

    @property
    def estimator(self) -> int:
        """CLOSED, MG1 or CPU_MEMORY."""
        return position_in(ESTIMATORS, self.parameters.estimator)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Also refuses if a task that was to gain would not gain any more, by what is true here."""
        refusal = super().accept(task, decision, view)
        if refusal or math.isnan(decision.response_here_ms):
            return refusal
        response_ms = self.response_at_ms(task, view, view.me, False)
        return "" if decision.response_here_ms > response_ms + decision.cost_ms else "no gain any more"

    def response_at_ms(self, task: ArrivingTask, view: View, place: int, is_there: bool) -> float:
        """r(k,j) of a task on a node [ms].

        Args:
            task: an arriving task, or a task of the own node.
            view: what is known.
            place: the node.
            is_there: whether the node's loads include the task.
        """
        return response_on(
            view.loads[place], view.hardware[place], is_there, task.cpu_ms, task.age_ms, task.io_per_ms,
            task.request_kb, task.memory_mb, task.reaccess_rate, self.estimator,
            self.effective_rates,
        )  # fmt: skip


@inlinable
def response_on(
    load: Any,
    node: Hardware,
    is_there: bool,
    cpu_ms: float,
    age_ms: float,
    io_per_ms: float,
    request_kb: float,
    memory_mb: float,
    reaccess_rate: float,
    estimator: int,
    effective_rates: bool,
) -> float:
    """Expected response of a task on a node, computed on the node's tasks and this one [ms]; also compiled.

    Args:
        load: the node's row of the load table.
        node: its hardware.
        is_there: whether the row includes the task.
        cpu_ms, age_ms: CPU still to receive, and received, at speed 1 [ms].
        io_per_ms, request_kb, memory_mb, reaccess_rate: as the task announces them.
        estimator: CLOSED; MG1, which is WAL-PM (1) with E(L) per core at least 1 and rho at most 0.99 (settled); or
            CPU_MEMORY: `closed` without explicit I/O, by the CPU queue as it is; or WITHOUT_PAGING: `closed` without
            page faults.
        effective_rates: I/O rates without buffer hits, page faults counted as I/O; the row must be of such rates too.
    """
    request_ms = service_ms(request_kb, node.seek_rotation_ms, node.disk_mb_per_s)
    faults_per_ms = load["faults_per_ms"]
    if not is_there:
        faults_per_ms = node_faults_per_ms(
            load["memory_mb"] + memory_mb, node.user_memory_mb, node.fault_rate_per_ms, node.fault_ratio_cap,
            node.overflow_only, node.by_oversize, load["accesses"],
        )  # fmt: skip
    page_ms = page_load_ms(faults_per_ms, cpu_ms, node.fault_service_ms)
    page_transfer_ms = page_load_ms(faults_per_ms, cpu_ms, node.fault_transfer_ms)
    if estimator == WITHOUT_PAGING:
        page_ms = page_transfer_ms = 0.0
    remaining_ms = cpu_ms / node.speed
    if estimator == CPU_MEMORY:
        tasks = load["cpu_queue"] if is_there else load["cpu_queue"] + 1.0
        return closed_response_ms(
            remaining_ms, 0.0, 0.0, page_ms, tasks, 0.0, page_transfer_ms, node.cores, node.disk_channels
        )
    rate, counted_faults = io_per_ms, 0.0
    if effective_rates:
        stream = io_per_ms * request_kb
        streams = load["stream"] if is_there else load["stream"] + stream
        buffer_kb = node.buffer_mb * 1000.0
        if node.by_oversize:
            joins_kb = 0.0 if is_there else memory_mb * 1000.0
            buffer_kb = buffer_beside_kb(load["cache_mb"] * 1000.0, load["free_mb"] * 1000.0, joins_kb)
        share_kb = buffer_share_kb(stream, streams, buffer_kb)
        all_data_kb = data_kb(io_per_ms, age_ms + cpu_ms, request_kb, reaccess_rate)
        rate = explicit_io_per_ms(io_per_ms, hit_rate(reaccess_rate, share_kb, all_data_kb))
        counted_faults = faults_per_ms * node.speed
    rate *= node.speed
    queue = load["queue"]
    if not is_there:
        queue += cpu_share(rate, request_ms, counted_faults, node.fault_service_ms)
    if estimator == MG1:
        work = 0.0 if is_there else rate * request_ms
        rates = load["io_per_ms"] * node.speed + (0.0 if is_there else rate)
        clamped = sharing(queue, node.cores)
        if node.disk_channels > 1:
            return mgq_response_ms(
                remaining_ms, rate, clamped, rates, load["disk_work"] + work, load["disk_square"] + work * request_ms,
                node.seek_rotation_ms, int(node.disk_channels), HIGHEST_RHO,
            )  # fmt: skip
        disk_rate, rho, mean_ms, square_ms2 = open_disk(
            rates, load["disk_work"] + work, load["disk_square"] + work * request_ms, clamped
        )
        return mg1_response_ms(remaining_ms, rate, clamped, disk_rate, min(rho, HIGHEST_RHO), mean_ms, square_ms2)
    others_at_disk = load["at_disk"]
    if is_there:
        own = disk_share(rate, request_ms, counted_faults, node.fault_service_ms)
        others_at_disk = max(0.0, others_at_disk - own)
    transfer_ms = remaining_ms * rate * (request_kb / node.disk_mb_per_s) + page_transfer_ms
    return closed_response_ms(
        remaining_ms, rate, request_ms, page_ms, queue, others_at_disk, transfer_ms, node.cores, node.disk_channels
    )
