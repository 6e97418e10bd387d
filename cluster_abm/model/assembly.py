"""The parts of a run, made from its scenario in the order in which they need each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cluster_abm.clock import Clock
from cluster_abm.engine.pooled.state import PooledState
from cluster_abm.engine.state import EngineState
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.model.buffer_control import BufferController
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.deciding.in_python import NegotiationInPython
from cluster_abm.model.deciding.periodic import PeriodicOffers
from cluster_abm.model.deciding.questions import Questions
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.broken_routes import BrokenRoutes
from cluster_abm.model.failing.degrading import Degrading
from cluster_abm.model.failing.failures import FailureProcess
from cluster_abm.model.failing.orphans import Orphans
from cluster_abm.model.failing.outages import OutagePlan
from cluster_abm.model.failing.recovery import Recovery, RecoveryDecisions
from cluster_abm.model.knowing.averages import Averages
from cluster_abm.model.knowing.reports import Reports, reports_of
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.managed_policies import ManagedPolicies, prepare
from cluster_abm.model.message_losses import message_losses
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.remote_memory import RemoteMemory
from cluster_abm.model.moving.routes_in_use import RoutesInUse
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.moving.staging import Staging, staging_of
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.observing.measurements import Measurements
from cluster_abm.model.policy_checks import check_all_asked, check_needs, check_waiting
from cluster_abm.model.setup import background, most_threads, nanoseconds, node_table
from cluster_abm.model.talking.mail import Mail
from cluster_abm.model.waiting.dependents import Dependents
from cluster_abm.model.waiting.holding import holding_of
from cluster_abm.model.waiting.queues import Submissions
from cluster_abm.model.waiting.submission_times import SubmissionTimes
from cluster_abm.model.waiting.users import Users
from cluster_abm.scenario import Scenario
from cluster_abm.workload import Work, are_closed, key, work_of


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts of a run that its agents work with. Each part knows those that it uses, and none knows the model."""

    work: Work
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
    announcements: Announcements
    views: Views
    questions: Questions
    negotiation: NegotiationInPython
    mail: Mail
    periodic: PeriodicOffers
    log: DecisionLog
    failures: FailureProcess
    degrading: Degrading
    submissions: Submissions
    measurements: Measurements


def assemble(setup: Scenario, run_seed: int, keep_decisions: bool, policies: ManagedPolicies) -> Parts:
    """Make the parts of a run, whose load managers have these policies.

    Args:
        setup, run_seed, keep_decisions: as of ClusterModel.
        policies: of the load managers.

    Raises:
        InputError: something in the scenario does not fit together.
    """
    clock = Clock(nanoseconds(setup.cluster.slice_ms))
    main, is_pooled = policies.main, policies.main.pooled
    live = LiveNetwork(Network(setup.interconnect, setup.cluster.nodes))
    work = work_of(setup, run_seed)
    check_all_asked(policies.distinct)
    check_waiting(policies.distinct)
    check_needs(policies.distinct, setup, work)
    jobs = work.jobs
    prepare(policies, jobs)
    staging = staging_of(setup.data, run_seed, jobs, live.network, is_pooled)
    engine = _engine_of(setup, run_seed, work, clock, policies)
    availability = Availability(setup.cluster.nodes)
    all_is_known = setup.negotiation.mode == "papers" or (main.central and not main.talks)
    are_timed = setup.negotiation.bandwidths == "measured" and not is_pooled
    engine.nodes["measures_bandwidths"] = are_timed
    losses = message_losses(run_seed, setup.interconnect.loss_share)
    transfers = Transfers(
        engine=engine,
        clock=clock,
        live=live,
        staging=staging,
        is_contended=setup.interconnect.mode == "contended" and not is_pooled,
        are_timed=are_timed,
        load_links=policies.any_compares_links,
    )
    routes_in_use = RoutesInUse(engine=engine, live=live, links_can_fail=setup.failures.links_can_fail)
    departures = Departures(
        engine=engine,
        clock=clock,
        transfers=transfers,
        routes_in_use=routes_in_use,
        staging=staging,
        settings=setup.negotiation,
    )
    are_sent = policies.any_uses_reports and not all_is_known
    reports = reports_of(
        setup, engine=engine, clock=clock, live=live, availability=availability, losses=losses, are_sent=are_sent
    )
    remote_memory = RemoteMemory(
        engine=engine,
        clock=clock,
        live=live,
        availability=availability,
        settings=setup.cluster,
        is_on=setup.cluster.remote_memory and not is_pooled,
    )
    views = Views(
        engine=engine,
        clock=clock,
        live=live,
        availability=availability,
        policies=policies,
        reports=reports,
        remote_memory=remote_memory,
        settings=setup.negotiation,
        data=None if staging is None else staging.map,
        policy_key=np.uint64(key(run_seed, "policy")),
        all_is_known=all_is_known,
    )
    buffers = BufferController(
        engine=engine,
        clock=clock,
        availability=availability,
        settings=setup.cluster.buffer_control,
        is_on=setup.cluster.buffer_control.kind == "feedback" and not is_pooled,
    )
    questions = Questions(
        tasks=engine.total_tasks,
        live=live,
        availability=availability,
        timeout_ms=setup.negotiation.timeout_ms,
        losses=losses,
        are_instant=all_is_known,
    )
    mail = Mail(
        live=live,
        availability=availability,
        timeout_ms=setup.negotiation.timeout_ms,
        slice_ns=clock.slice_ns,
        losses=losses,
        are_instant=all_is_known,
    )
    periodic = PeriodicOffers(clock=clock, availability=availability, policies=policies, reports=reports, views=views)
    log = DecisionLog(clock, keep_decisions)
    announcements = Announcements(jobs=jobs, requested_ms=work.requested_ms, staging=staging)
    negotiation = NegotiationInPython(
        engine=engine,
        availability=availability,
        views=views,
        log=log,
        departures=departures,
        most_offers=setup.negotiation.offers,
        refusals=setup.negotiation.refusals,
    )
    recovery = Recovery(
        engine=engine,
        clock=clock,
        decisions=RecoveryDecisions(
            engine=engine,
            availability=availability,
            announcements=announcements,
            policies=policies,
            views=views,
            log=log,
        ),
        staging=staging,
        transfers=transfers,
        departures=departures,
    )
    failures = FailureProcess(
        settings=setup.failures,
        plan=OutagePlan(setup.failures, setup.cluster.nodes, live.whole, run_seed, clock),
        engine=engine,
        clock=clock,
        availability=availability,
        broken_routes=BrokenRoutes(
            engine=engine,
            live=live,
            availability=availability,
            routes_in_use=routes_in_use,
            transfers=transfers,
            recovery=recovery,
        ),
        orphans=Orphans(
            engine=engine,
            clock=clock,
            availability=availability,
            transfers=transfers,
            recovery=recovery,
            are_lost=setup.failures.on_failure == "lost",
        ),
    )
    schedule = _schedule_of(setup, engine, clock, work)
    holding = holding_of(
        setup,
        engine=engine,
        clock=clock,
        policies=policies,
        views=views,
        availability=availability,
        announcements=announcements,
        schedule=schedule,
        periodic=periodic,
        live=live,
        are_sent=are_sent,
    )
    submissions = Submissions(
        engine=engine,
        clock=clock,
        availability=availability,
        schedule=schedule,
        holding=holding,
        may_change=lambda: failures.are_to_come,
    )
    degrading = Degrading(
        causes=setup.failures.degrade,
        nodes=setup.cluster.nodes,
        network=live.whole,
        transfers=transfers,
        engine=engine,
        clock=clock,
        run_seed=run_seed,
    )
    return Parts(
        work=work,
        clock=clock,
        policies=policies,
        engine=engine,
        live=live,
        availability=availability,
        staging=staging,
        transfers=transfers,
        routes_in_use=routes_in_use,
        departures=departures,
        reports=reports,
        remote_memory=remote_memory,
        buffers=buffers,
        averages=Averages(engine=engine, clock=clock, are_taken=policies.any_needs_averages),
        announcements=announcements,
        views=views,
        questions=questions,
        negotiation=negotiation,
        mail=mail,
        periodic=periodic,
        log=log,
        failures=failures,
        degrading=degrading,
        submissions=submissions,
        measurements=Measurements(
            engine=engine, clock=clock, period_ms=setup.measure.period_ms, has_averages=policies.any_needs_averages
        ),
    )


def _engine_of(setup: Scenario, run_seed: int, work: Work, clock: Clock, policies: ManagedPolicies) -> EngineState:
    """The engine of a run, with its background programs. Raises InputError."""
    main = policies.main
    make_engine = PooledState if main.pooled else EngineState
    service_key = key(run_seed, "service")
    nodes = node_table(setup.cluster)
    engine = make_engine(nodes, work.jobs, service_key, clock.slice_ns, main.effective_rates, work.phases)
    engine.use_threads(most_threads(setup.run.threads))
    if setup.workload.background:
        engine.start_background(background(setup, engine.nodes, main))
    if setup.failures.can_happen and main.pooled:
        raise InputError(f"failures: policy {main.name!r} pools all nodes; none of them can fail")
    if setup.failures.degrade and main.pooled:
        raise InputError(f"failures.degrade: policy {main.name!r} pools all nodes; none of them can be slow")
    return engine


def _schedule_of(setup: Scenario, engine: EngineState, clock: Clock, work: Work) -> SubmissionTimes:
    """When jobs are submitted: at known times, or when others have ended."""
    if are_closed(setup):
        return Users(engine=engine, clock=clock)
    if work.parents is not None and work.earliest_ns is not None:
        return Dependents(engine=engine, clock=clock, parents=work.parents, earliest_ns=list(work.earliest_ns))
    return SubmissionTimes(engine=engine)
