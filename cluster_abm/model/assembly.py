"""The parts of a run, made from its scenario in the order in which they need each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cluster_abm.clock import Clock, whole_ns
from cluster_abm.engine.pooled.state import PooledState
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import NS_PER_MS
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.model.buffer_control import BufferController
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.deciding.in_python import NegotiationInPython
from cluster_abm.model.deciding.periodic import PeriodicOffers
from cluster_abm.model.deciding.questions import Questions
from cluster_abm.model.deciding.truths import Witness
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.degrading import Degrading
from cluster_abm.model.failing.failures import BrokenRoutes, FailureProcess, Orphans
from cluster_abm.model.failing.outages import OutagePlan
from cluster_abm.model.failing.recovery import Recovery, RecoveryDecisions
from cluster_abm.model.knowing.averages import Averages
from cluster_abm.model.knowing.reports import Reports, reports_of
from cluster_abm.model.knowing.sampling import SampleTaking
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.managed_policies import ManagedPolicies, is_obeyed, knows_true_state, prepare
from cluster_abm.model.message_losses import message_losses
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.remote_memory import RemoteMemory
from cluster_abm.model.moving.routes_in_use import RoutesInUse
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.moving.staging import Staging, staging_of
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.observing.happenings import Happenings
from cluster_abm.model.observing.measured_window import check_from_s
from cluster_abm.model.observing.measurements import Measurements
from cluster_abm.model.observing.task_records import TaskRecords
from cluster_abm.model.part import wire
from cluster_abm.model.policy_checks import check_all_asked, check_needs, check_waiting
from cluster_abm.model.script import Script
from cluster_abm.model.setup import background, check_initial_memory, nanoseconds, node_table
from cluster_abm.model.talking.mail import Mail
from cluster_abm.model.waiting.cores import Cores, are_counted, are_given
from cluster_abm.model.waiting.dependents import Dependents
from cluster_abm.model.waiting.holding import holding_of
from cluster_abm.model.waiting.queues import Submissions
from cluster_abm.model.waiting.submission_times import SubmissionTimes
from cluster_abm.model.waiting.users import Users
from cluster_abm.scenario import Scenario
from cluster_abm.workload import RunJobs, are_closed, bound_ms, key, work_of


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of a run that its agents work with. Each part knows those that it uses, and none knows the model."""

    work: RunJobs
    clock: Clock
    policies: ManagedPolicies
    engine: EngineState
    live: LiveNetwork
    availability: Availability
    staging: Staging | None
    transfers: Transfers
    routes_in_use: RoutesInUse
    departures: Departures
    reports: Reports
    remote_memory: RemoteMemory
    buffers: BufferController
    averages: Averages
    sampling: SampleTaking
    announcements: Announcements
    cores: Cores
    views: Views
    questions: Questions
    negotiation: NegotiationInPython
    mail: Mail
    periodic: PeriodicOffers
    log: DecisionLog
    failures: FailureProcess
    degrading: Degrading
    script: Script
    submissions: Submissions
    measurements: Measurements
    happenings: Happenings
    task_records: TaskRecords


def assemble(
    setup: Scenario, run_seed: int, keep_decisions: bool, policies: ManagedPolicies, record: bool = False
) -> Parts:
    """Make the parts of a run, whose load managers have these policies.

    Args:
        setup, run_seed, keep_decisions, record: as of ClusterModel.
        policies: of the load managers.

    Raises InputError: something in the scenario does not fit together.
    """
    keeps_rows = setup.measure.records == "all"
    if record and not keeps_rows:
        raise InputError(
            'record: measure.records = "summary" keeps no rows of tasks and decisions, of which a recording is made: '
            'allowed "all" (the default)'
        )
    clock, is_pooled = Clock(nanoseconds(setup.cluster.slice_ms)), policies.main.pooled
    live = LiveNetwork(Network(setup.interconnect, setup.cluster.nodes))
    work = work_of(setup, run_seed, may_be_late=not (keeps_rows or is_pooled or policies.any_is_prepared))
    check_all_asked(policies.distinct)
    check_waiting(policies.distinct)
    check_needs(policies.distinct, setup, work)
    prepare(policies, work.arriving if len(work.arriving) else work.jobs, work.announced_ms)
    staging = staging_of(setup.data, run_seed, work, live.network, is_pooled)
    engine = _engine_of(setup, run_seed, work, clock, policies, record)
    are_instant = is_obeyed(policies.main, setup.negotiation)
    all_is_known = knows_true_state(policies.main, setup.negotiation)
    are_timed = setup.negotiation.bandwidths == "measured" and not is_pooled
    engine.nodes["measures_bandwidths"] = are_timed
    # By their names, the parts that have been made: each takes those that its fields are called after.
    made: dict[str, Any] = {
        "work": work,
        "clock": clock,
        "policies": policies,
        "live": live,
        "staging": staging,
        "engine": engine,
        "availability": Availability(setup.cluster.nodes),
        "losses": message_losses(run_seed, setup.interconnect.loss_share),
        "happenings": Happenings(record),
        "run_seed": run_seed,
        "timeout_ms": setup.negotiation.timeout_ms,
        "are_instant": are_instant,
    }
    is_contended = setup.interconnect.mode == "contended" and not is_pooled
    made["transfers"] = wire(
        Transfers, made, is_contended=is_contended, are_timed=are_timed, load_links=policies.any_compares_links
    )
    made["routes_in_use"] = wire(RoutesInUse, made, links_can_fail=setup.failures.links_can_fail)
    made["departures"] = wire(Departures, made, settings=setup.negotiation)
    are_sent = policies.any_uses_reports and not all_is_known
    made["reports"] = reports_of(setup, made, are_sent)
    has_remote_memory = setup.cluster.remote_memory and not is_pooled
    made["remote_memory"] = wire(RemoteMemory, made, settings=setup.cluster, is_on=has_remote_memory)
    made["cores"] = wire(
        Cores, made, is_counted=are_counted(policies.main), are_given=are_given(policies.main)
    )  # fmt: skip
    if setup.workload.kind == "trace" and work.parents is None:
        check_from_s(setup.measure.from_s, int(work.arriving["arrival_ns"][-1]))
    made["task_records"] = wire(
        TaskRecords, made, are_kept=keeps_rows, bound_ns=bound_ms(setup) * NS_PER_MS,
        from_ns=whole_ns(setup.measure.from_s * 1000.0),
    )  # fmt: skip
    made["views"] = wire(
        Views,
        made,
        settings=setup.negotiation,
        data=None if staging is None else staging.map,
        policy_key=np.uint64(key(run_seed, "policy")),
        all_is_known=all_is_known,
    )
    witness = wire(Witness, made, all_is_known=all_is_known) if record else None
    made["log"] = DecisionLog(clock, keep_decisions and keeps_rows, witness)
    is_controlled = setup.cluster.buffer_control.kind == "feedback" and not is_pooled
    made["buffers"] = wire(BufferController, made, settings=setup.cluster.buffer_control, is_on=is_controlled)
    made["averages"] = wire(Averages, made, are_taken=policies.any_needs_averages)
    made["sampling"] = wire(SampleTaking, made)
    made["questions"] = wire(Questions, made, tasks=engine.total_tasks)
    made["mail"] = wire(Mail, made, slice_ns=clock.slice_ns)
    made["periodic"] = wire(PeriodicOffers, made)
    made["announcements"] = wire(
        Announcements, made, jobs=work.jobs, requested_ms=work.requested_ms, announced_ms=work.announced_ms
    )
    made["negotiation"] = wire(
        NegotiationInPython,
        made,
        most_offers=setup.negotiation.offers,
        refusals=setup.negotiation.refusals and not are_instant,
    )
    made["recovery"] = wire(Recovery, made, decisions=wire(RecoveryDecisions, made))
    made["broken_routes"] = wire(BrokenRoutes, made)
    made["orphans"] = wire(Orphans, made, are_lost=setup.failures.on_failure == "lost")
    plan = OutagePlan(setup.failures, setup.cluster.nodes, live.whole, run_seed, clock)
    script = made["script"] = wire(Script, made, acts=setup.script)
    failures = made["failures"] = wire(
        FailureProcess,
        made,
        settings=setup.failures,
        may_fail=setup.may_fail,
        plan=plan,
        acts_to_come=lambda: script.are_to_come,
    )
    made["degrading"] = wire(Degrading, made, causes=setup.failures.degrade, network=live.whole)
    made["schedule"] = _schedule_of(setup, made)
    made["holding"] = holding_of(setup, made, are_sent)
    made["submissions"] = wire(Submissions, made, may_change=lambda: failures.are_to_come)
    made["measurements"] = wire(
        Measurements,
        made,
        period_ms=setup.measure.period_ms,
        has_averages=policies.any_needs_averages,
        keeps_rows=keeps_rows,
    )
    return wire(Parts, made)


def _engine_of(
    setup: Scenario, run_seed: int, work: RunJobs, clock: Clock, policies: ManagedPolicies, record: bool
) -> EngineState:
    """The engine of a run, with its background programs. Raises InputError."""
    main = policies.main
    make_engine = PooledState if main.pooled else EngineState
    service_key = key(run_seed, "service")
    nodes = node_table(setup.cluster)
    engine = make_engine(
        nodes, work.jobs, service_key, clock.slice_ns, main.effective_rates, work.phases, record,
        keeps_records=setup.measure.records == "all", are_single=work.late is not None, demands=work.demands,
    )  # fmt: skip
    if setup.workload.background:
        engine.start_background(background(setup, engine.nodes, main))
    if work.initial:
        check_initial_memory(work, engine.nodes)
        engine.start_initial(work.initial)
    if setup.failures.can_happen and main.pooled:
        raise InputError(f"failures: policy {main.name!r} pools all nodes; none of them can fail")
    if setup.failures.degrade and main.pooled:
        raise InputError(f"failures.degrade: policy {main.name!r} pools all nodes; none of them can be slow")
    if setup.script and main.pooled:
        raise InputError(f"script: policy {main.name!r} pools all nodes; nothing can be done to one of them")
    return engine


def _schedule_of(setup: Scenario, made: Mapping[str, Any]) -> SubmissionTimes:
    """When jobs are submitted: at known times, or when others have ended."""
    work: RunJobs = made["work"]
    if are_closed(setup):
        return wire(Users, made)
    if work.parents is not None and work.earliest_ns is not None:
        return wire(Dependents, made, parents=work.parents, earliest_ns=list(work.earliest_ns))
    return wire(SubmissionTimes, made)
