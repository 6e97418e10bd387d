"""The parts of a run, made from its scenario in the order in which they need each other."""

from __future__ import annotations

from dataclasses import dataclass

from cluster_abm.clock import Clock
from cluster_abm.engine.pooled.state import PooledState
from cluster_abm.engine.state import EngineState
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.model.buffer_control import BufferController
from cluster_abm.model.deciding.announcements import Announcements
from cluster_abm.model.deciding.decisions import DecisionLog
from cluster_abm.model.deciding.periodic import PeriodicOffers
from cluster_abm.model.deciding.questions import Questions
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.degrading import Degrading
from cluster_abm.model.failing.failures import Failures
from cluster_abm.model.failing.outages import OutagePlan
from cluster_abm.model.failing.recovery import Recovery
from cluster_abm.model.knowing.averages import Averages
from cluster_abm.model.knowing.reports import Reports, reports_of
from cluster_abm.model.knowing.views import Views
from cluster_abm.model.managed_policies import ManagedPolicies, prepare
from cluster_abm.model.moving.departures import Departures
from cluster_abm.model.moving.remote_memory import RemoteMemory
from cluster_abm.model.moving.routes_in_use import RoutesInUse
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.moving.staging import Staging, staging_of
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.needs import check_all_asked, check_needs, check_waiting
from cluster_abm.model.observing.measurements import Measurements
from cluster_abm.model.setup import background, nanoseconds, node_table
from cluster_abm.model.talking.mail import Mail
from cluster_abm.model.waiting.dependents import Dependents
from cluster_abm.model.waiting.holding import holding_of
from cluster_abm.model.waiting.queues import Submissions
from cluster_abm.model.waiting.schedule import Schedule
from cluster_abm.model.waiting.users import Users
from cluster_abm.scenario import Scenario
from cluster_abm.workload import RunJobs, are_closed, key, work_of


@dataclass(frozen=True)
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
    announcements: Announcements
    views: Views
    questions: Questions
    mail: Mail
    periodic: PeriodicOffers
    log: DecisionLog
    failures: Failures
    degrading: Degrading
    submissions: Submissions
    measurements: Measurements


def assemble(setup: Scenario, run_seed: int, keep_decisions: bool, policies: ManagedPolicies) -> Parts:
    """Make the parts of a run, whose load managers have these policies.

    Args:
        setup, run_seed, keep_decisions: as of ClusterModel.
        policy: the object to take for the policy of all nodes; None: the scenario's is made.

    Raises:
        InputError: something in the scenario does not fit together.
    """
    clock = Clock(nanoseconds(setup.cluster.slice_ms))
    is_pooled = policies.main.pooled
    live = LiveNetwork(Network(setup.interconnect, setup.cluster.nodes))
    work = work_of(setup, run_seed)
    check_all_asked(policies.distinct)
    check_waiting(policies.distinct)
    check_needs(policies.distinct, setup, work)
    jobs = work.jobs
    prepare(policies, jobs)
    staging = staging_of(setup.data, run_seed, jobs, live.network, is_pooled)
    make_engine = PooledState if is_pooled else EngineState
    engine = make_engine(
        node_table(setup.cluster), jobs, key(run_seed, "service"), clock.slice_ns, policies.main.effective_rates,
        work.phases,
    )  # fmt: skip
    if setup.workload.background:
        engine.start_background(background(setup, engine.nodes, policies.main))
    if setup.failures.can_happen and is_pooled:
        raise InputError(f"failures: policy {policies.main.name!r} pools all nodes; none of them can fail")
    if setup.failures.degrade and is_pooled:
        raise InputError(f"failures.degrade: policy {policies.main.name!r} pools all nodes; none of them can be slow")
    availability = Availability(setup.cluster.nodes)
    knows_all = policies.main.central and not policies.main.talks
    all_is_known = setup.negotiation.mode == "papers" or knows_all
    are_timed = setup.negotiation.bandwidths == "measured" and not is_pooled
    engine.nodes["measures_bandwidths"] = are_timed
    is_contended = setup.interconnect.mode == "contended" and not is_pooled
    transfers = Transfers(engine, clock, live, staging, is_contended, are_timed, policies.any_compares_links)
    routes_in_use = RoutesInUse(engine, live, setup.failures.links_can_fail)
    departures = Departures(engine, clock, transfers, routes_in_use, staging, setup.negotiation)
    are_sent = policies.any_uses_reports and not all_is_known
    reports = reports_of(setup, run_seed, engine, clock, live, availability, are_sent)
    remote_memory = RemoteMemory(
        engine, clock, live, availability, setup.cluster, setup.cluster.remote_memory and not is_pooled
    )
    views = Views(
        engine, clock, live, availability, policies, reports, remote_memory, setup.negotiation,
        None if staging is None else staging.map, key(run_seed, "policy"), all_is_known,
    )  # fmt: skip
    is_controlled = setup.cluster.buffer_control.kind == "feedback" and not is_pooled
    buffers = BufferController(engine, clock, availability, setup.cluster.buffer_control, is_controlled)
    questions = Questions(
        engine.total_tasks, live, availability, setup.negotiation.timeout_ms, setup.interconnect.loss_share,
        key(run_seed, "messages"), all_is_known,
    )  # fmt: skip
    mail = Mail(
        live, availability, setup.negotiation.timeout_ms, clock.slice_ns, setup.interconnect.loss_share,
        key(run_seed, "messages"), all_is_known,
    )  # fmt: skip
    periodic = PeriodicOffers(clock, availability, policies, reports, views)
    log = DecisionLog(clock, keep_decisions)
    announcements = Announcements(jobs, work.requested_ms, staging)
    recovery = Recovery(
        engine, clock, availability, policies, views, log, announcements, staging, transfers, departures
    )
    plan = OutagePlan(setup.failures, setup.cluster.nodes, live.whole, run_seed, clock)
    failures = Failures(setup.failures, plan, engine, clock, live, availability, routes_in_use, transfers, recovery)
    schedule = _schedule_of(setup, engine, clock, work)
    holding = holding_of(
        setup, engine, clock, policies, views, availability, announcements, schedule, periodic, live, are_sent
    )
    submissions = Submissions(engine, clock, availability, schedule, holding, lambda: failures.are_to_come)
    degrading = Degrading(setup.failures.degrade, setup.cluster.nodes, live.whole, transfers, engine, clock, run_seed)
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
        averages=Averages(engine, clock, policies.any_needs_averages),
        announcements=announcements,
        views=views,
        questions=questions,
        mail=mail,
        periodic=periodic,
        log=log,
        failures=failures,
        degrading=degrading,
        submissions=submissions,
        measurements=Measurements(engine, clock, setup.measure.period_ms, policies.any_needs_averages),
    )


def _schedule_of(setup: Scenario, engine: EngineState, clock: Clock, work: RunJobs) -> Schedule:
    """When jobs are submitted: at known times, or when others have ended."""
    if are_closed(setup):
        return Users(engine, clock)
    if work.parents is not None and work.earliest_ns is not None:
        return Dependents(engine, clock, work.parents, list(work.earliest_ns))
    return Schedule(engine)
