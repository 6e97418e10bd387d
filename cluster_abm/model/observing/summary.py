"""The summary of a run: what `cluster-abm run --json` prints."""

from __future__ import annotations

from typing import Any

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import KILLED, LOST
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.failures import FailureProcess
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.staging import Staging
from cluster_abm.model.observing.existing import existing
from cluster_abm.model.setup import watts_of
from cluster_abm.results.metrics import RunData, known
from cluster_abm.results.summary import by_program, ended_jobs, finished_jobs
from cluster_abm.scenario import Scenario


def counted_jobs(run: RunData) -> tuple[int, int, int]:
    """How many jobs have finished, were killed, and were lost."""
    killed, lost = (len(ended_jobs(run.records, outcome)) for outcome in (KILLED, LOST))
    return len(finished_jobs(run.records, run.widths)), killed, lost


def run_data(
    scenario: Scenario,
    engine: EngineState,
    clock: Clock,
    departures: Departures,
    log: DecisionLog,
    failures: FailureProcess,
    availability: Availability,
    staging: Staging | None,
    messages: int,
    submitted: int,
    pooled: bool,
) -> RunData:
    """What the metrics of a run so far are computed from.

    Args:
        messages: how many messages load managers have sent.
        submitted: how many jobs were submitted.
        pooled: whether the policy has all nodes be one station.
    """
    cpu_ns, disk_ns = engine.busy_ns(clock.now_ns)
    of_failures = failures.metrics()
    of_data = {} if staging is None else staging.metrics()
    return RunData(
        records=engine.ordered_records(),
        jobs=engine.jobs,
        widths=engine.widths,
        nodes=engine.serving_nodes,
        cores=engine.nodes["cores"],
        channels=engine.nodes["channels"],
        cpu_ns=cpu_ns,
        disk_ns=disk_ns,
        in_device_ns=engine.in_device_ns(clock.now_ns),
        down_ns=availability.down_ns(clock.now_ns),
        watts=watts_of(scenario.cluster),
        now_ns=clock.now_ns,
        last_finish_ns=engine.last_finish_ns,
        counted={
            "migrations": departures.migrations,
            "remote_executions": departures.remote_executions,
            "refused_offers": log.refused_offers,
            "messages": messages,
            "submitted": submitted,
            **of_failures,
            **of_data,
        },
        exists=existing(scenario, pooled, availability.can_change),
    )


def program_metrics(programs: tuple[str, ...], run: RunData) -> dict[str, Any]:
    """The metrics of each program, under the key "programs"; nothing where no program has a profile."""
    if not programs:
        return {}
    of_programs = by_program(run.finished, run.jobs, programs)
    return {
        "programs": {program: {name: known(value) for name, value in of.items()} for program, of in of_programs.items()}
    }
