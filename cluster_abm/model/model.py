"""The cluster as a Mesa model: the order of one slice, and what a user asks a run for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from cluster_abm.arguments import (
    CALLABLE_OR_NONE,
    FLAG,
    TIME_OR_NONE,
    Kind,
    check_arguments,
    from_on,
    of_class,
    whole_number,
)
from cluster_abm.engine.tables import NEVER, Table
from cluster_abm.model.acting.actions import check_pooled
from cluster_abm.model.acting.director import Director
from cluster_abm.model.agents.base import has_own
from cluster_abm.model.agents.job import Job
from cluster_abm.model.agents.load_manager import LoadManager
from cluster_abm.model.agents.node import Node
from cluster_abm.model.agents.register import JobRegister
from cluster_abm.model.assembly import assemble
from cluster_abm.model.deciding.compilability import NOT_WANTED, compilability_of
from cluster_abm.model.deciding.compiled.negotiation import CompiledNegotiation
from cluster_abm.model.managed_policies import policies_of
from cluster_abm.model.mesa_adapter import MesaAdapter
from cluster_abm.model.observing.collecting import RunCollector
from cluster_abm.model.part import wire
from cluster_abm.model.run_display import RunDisplay
from cluster_abm.model.setup import nanoseconds, resolve, seed_of
from cluster_abm.model.talking.opening import conversation_of
from cluster_abm.model.waiting.queues import TaskArrivals
from cluster_abm.model.window import Window
from cluster_abm.model.wiring import (
    actions_of,
    acts_at_boundaries,
    compiled_negotiation_of,
    head_node_of,
    placement_of,
    queues_of,
    vars_of_compiled,
    windows_of,
)
from cluster_abm.policies import AnyPolicy, Policy, View
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import LARGEST

# What a misspelt keyword may mean.
ARGUMENTS = (
    "scenario", "seed", "rng", "policy", "keep_decisions", "compile_decisions", "agents_step", "record", "overrides",
    "network",
)  # fmt: skip


class ClusterModel(RunDisplay, MesaAdapter):
    """A run of one scenario under its policy, or policies, from one seed: a `mesa.Model`.

    `step()` goes one slice, in which each load manager, node and job steps; `run()` leaps to the scenario's end. Then
    `summary()` has the metrics, `jobs_frame()`, `nodes_frame()` and `decisions_frame()` are pandas tables, and `plot()`
    is the picture.

    Example:
        >>> import cluster_abm as ca
        >>> model = ca.ClusterModel("quickstart", policy="jsq", seed=1, cluster__nodes=16, policy__heterogeneous=True)
        >>> model.run()
        >>> model.setup.cluster.nodes, model.summary()["jobs"]["running"]
        (16, 0)

    Args:
        scenario: a Scenario, the name of a shipped one, or the path of a TOML file.
        seed: the run's seed; default: `rng`, then the scenario's.
        rng: Mesa's name for the seed.
        policy: the policy, in the scenario's place: a name, FILE.py:CLASS, a class, or an object with its parameters.
        keep_decisions: False: decisions are counted and not kept; `decisions_frame` is then empty, and says so.
        compile_decisions: False: load managers decide in Python, with the same results: for a debugger, or to compare.
        agents_step: False: `step` serves all nodes in one compiled call instead of having each agent step, with the
            same results, 10 to 100 times as fast.
        record: keep what `recording` needs: with the same results, at some 15 % more time. Decisions are then kept.
        overrides: dotted keys laid over the scenario, {"cluster.nodes": 64}.
        network: a networkx graph that joins the nodes, as of `load_scenario`; `graph` is a copy of it.
        kwargs: (so named for Mesa) any key of a scenario, `__` for the dot: cluster__nodes=64 is `cluster.nodes`, and
            policy__d=3 a parameter of the policy (`cluster_abm.list_keys()`, `list_policies()`).

    Raises:
        InputError: the scenario, a keyword, the policy or the trace is not right.

    Attributes:
        node_class, load_manager_class, job_class: classes of the agents; a subclass of the model may name its own.
            Where one of them overrides `step`, or `LoadManager.report`, it is called once a slice, by `run` too.
        params: the keywords as given, with the scenario's name.
        setup: the checked scenario.
        running: False once the scenario's end is reached.
        compiled_class, policies_of: what decides in compiled code, and the policies of a scenario's load managers.
        turn: the part of a slice that agents act in just now: "managers", "nodes", "jobs", or "" between slices.
        parts: what the agents work with.
        end_ns: when the run ends [ns]; None: once all jobs have ended.
        decides_in_python: why load managers decide about arriving tasks in Python; "": they do in compiled code.
    """

    node_class: type[Node] = Node
    load_manager_class: type[LoadManager] = LoadManager
    job_class: type[Job] = Job
    compiled_class: type[CompiledNegotiation] = CompiledNegotiation
    policies_of = staticmethod(policies_of)

    def __init__(
        self,
        scenario: Scenario | str | Path = "quickstart",
        seed: int | None = None,
        *,
        rng: Any = None,
        policy: AnyPolicy | None = None,
        keep_decisions: bool = True,
        compile_decisions: bool = True,
        agents_step: bool = True,
        record: bool = False,
        overrides: Mapping[str, object] | None = None,
        network: Any = None,
        **kwargs: Any,
    ) -> None:
        check_arguments(
            keep_decisions=(keep_decisions, FLAG),
            compile_decisions=(compile_decisions, FLAG),
            agents_step=(agents_step, FLAG),
            record=(record, FLAG),
        )
        setup = resolve(scenario, kwargs, policy, overrides, ARGUMENTS, network)
        self.run_seed = seed_of(seed, rng, setup)
        super().__init__(rng=self.run_seed)
        self.setup, self.negotiation = setup, setup.negotiation
        self.params = {"scenario": setup.name, **({} if policy is None else {"policy": policy}), **kwargs}
        if overrides:
            self.params["overrides"] = dict(overrides)
        if network is not None:
            self.params["network"] = network
        self.turn = ""
        own = policy if isinstance(policy, Policy) else None
        parts = self.parts = assemble(
            setup, self.run_seed, keep_decisions or record, self.policies_of(setup, own), record
        )
        self.engine, self.staging, self.policy = parts.engine, parts.staging, parts.policies.main
        self.node_agents = [self.node_class(self, index) for index in range(setup.cluster.nodes)]
        self.load_managers = [self.load_manager_class(self, index) for index in range(setup.cluster.nodes)]
        classes = {LoadManager: self.load_manager_class, Node: self.node_class, Job: self.job_class}
        # Kinds of agents with a step of a user's, which is always called; and those that step when `step` is called.
        self._own_steps = frozenset(kind for kind, own in classes.items() if has_own(own, kind, "step"))
        # All nodes of the pooled reference are one station: none of them has a slice of its own.
        self._all_step = frozenset(classes) if agents_step and not self.policy.pooled else self._own_steps
        self._is_leaping = False
        self._managers_report = has_own(self.load_manager_class, LoadManager, "report")
        own_steps = bool(self._own_steps) or self._managers_report
        self._goes_slice_by_slice = own_steps or type(self).step is not ClusterModel.step
        check_pooled(self.policy, not self._own_steps.isdisjoint((Node, Job)))
        self.jobs_register = JobRegister(
            make_agent=partial(self.job_class, self),
            engine=parts.engine,
            schedule=parts.submissions.schedule,
            is_kept=Job in self._own_steps,
            task_records=parts.task_records,
        )
        form = NOT_WANTED
        if compile_decisions:
            form = compilability_of(
                setup, parts, has_own(self.load_manager_class, LoadManager, *LoadManager.ON_ARRIVAL)
            )
        self.decides_in_python = form.reason
        compiled = talk = None
        if form.talk is not None and form.policy is not None:
            talk = vars_of_compiled(parts, setup, form.policy) | {"compiled": form.talk}
        elif form.policy is not None:
            compiled = compiled_negotiation_of(self.compiled_class, parts, setup, form.policy)
        if compiled is not None and parts.submissions.queue is not None:
            parts.submissions.starter, compiled = head_node_of(parts, compiled), None
        self.placement = placement_of(parts, self.load_managers, compiled)
        parts.submissions.compiled = queues_of(parts, self.placement)
        self.conversation = conversation_of(
            parts, setup, self.run_seed, self.load_managers, self.placement.starts, talk
        )
        self.node_actions, self.job_actions = actions_of(
            parts, self.conversation, lambda: self.turn, self.jobs_register.update
        )
        self._director = wire(
            Director,
            vars(parts),
            node_actions=self.node_actions,
            job_actions=self.job_actions,
            load_managers=self.load_managers,
        )
        self._periodic = acts_at_boundaries(parts)
        self._windows = windows_of(parts, setup, self.placement, self.conversation)
        self.end_ns = self._windows.end_ns
        parts.reports.send_when_due()
        parts.reports.receive()
        self.datacollector = RunCollector(self.node_agents, parts.measurements, parts.clock.slice_ns)
        self._stop_if_over()
        if not self.running:
            # No job is submitted: the last row is the first one.
            self._collect()

    # ---- one slice -------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One slice, in which load managers, nodes and jobs step, in this order; after the end nothing."""
        if self.running:
            self._go_to(self.parts.clock.next_boundary_ns, self._own_steps if self._is_leaping else self._all_step)
        else:
            self._steps_after_end += 1
            # Mesa counts calls, we count slices.
            self.steps = self.parts.clock.slices

    def _live_until(self, boundary_ns: int, stepping: frozenset[type] | None = None) -> Iterator[TaskArrivals]:
        """The order of a slice. Each group of arriving tasks is to be placed before the next one is asked for.

        `run` passes a later boundary, the next at which agents talk, with the same result.

        Args:
            boundary_ns: live until then [ns].
            stepping: the kinds of agents whose `step` is called; None: those with one of a user's.
        """
        parts, stepping = self.parts, self._own_steps if stepping is None else stepping
        parts.failures.occur()
        parts.degrading.act()
        self._director.act()
        yield from parts.submissions.arrive(boundary_ns)
        boundary_ns = self.conversation.go_on(boundary_ns)
        self._managers_act(LoadManager in stepping)
        window = self._windows.window(boundary_ns)
        if parts.transfers.in_transit:
            parts.transfers.advance(window.end_ns)
        self._nodes_live(window, Node in stepping, Job in stepping)
        self._jobs_go_on(window, Job in stepping)
        self._stop_if_over()
        self.steps = parts.clock.slices
        for acting in self._periodic:
            acting.act()
        self.jobs_register.update()
        self._send_reports()
        parts.task_records.forget(parts.submissions.schedule, self.conversation, self.jobs_register)
        if parts.measurements.observe(is_last=not self.running):
            with parts.measurements.held():
                self._collect()

    def _go_to(self, boundary_ns: int, stepping: frozenset[type] | None = None) -> None:
        """Live until a boundary; load managers place the tasks that arrive, or keep them waiting."""
        for arrivals in self._live_until(boundary_ns, stepping):
            if self.conversation.is_on:
                self.conversation.arrive(arrivals)
            elif not self.placement.place(arrivals):
                self.parts.submissions.put_back(arrivals)

    def _managers_act(self, step: bool) -> None:
        """Load managers take samples; those whose policies' period has come offer running tasks to each other."""
        self.parts.sampling.act()
        asked = self.parts.periodic.next_round()
        if step:
            managers = self.agents_by_type[self.load_manager_class]
            if not self.parts.availability.up.all():
                managers = managers.select(lambda manager: manager.node.is_up)
            with self._turn_of("managers"):
                managers.do("step")
        elif asked:
            with self._turn_of("managers"):
                for node in self.placement.willing(asked):
                    self.load_managers[node].step()

    def _nodes_live(self, window: Window, step: bool, jobs_step: bool) -> None:
        """Nodes serve their tasks up to the window's end: each by its own step, or all in one compiled call."""
        engine, clock = self.parts.engine, self.parts.clock
        if not (step or jobs_step):
            clock.now_ns = engine.serve(window.end_ns, window.until_end_of_task, window.until_idle)
            return
        if step:
            with self._turn_of("nodes"):
                self.agents_by_type[self.node_class].do("step")
        engine.serve_others(window.end_ns)
        engine.end_slice(window.end_ns, opens_barriers=not jobs_step)
        clock.now_ns = window.end_ns

    def _jobs_go_on(self, window: Window, step: bool) -> None:
        """Barriers open by the jobs' steps, or have opened in the engine; what jobs that ended leave is settled."""
        parts = self.parts
        if step:
            self.jobs_register.update()
            with self._turn_of("jobs"):
                # One job's step may kill another job, which does not step then.
                self.agents_by_type[self.job_class].do(self._step_of_job if Job in self._own_steps else "step")
        if parts.engine.memory_is_limited and parts.transfers.in_transit:
            parts.transfers.cancel_of_killed()
        if window.until_end_of_task:
            parts.submissions.schedule.note_ends()

    def _step_of_job(self, job: Job) -> None:
        if job.job in self.jobs_register:
            job.step()

    def _send_reports(self) -> None:
        """When the exchange period has come, load managers report; what has arrived becomes known."""
        parts = self.parts
        if self._managers_report:
            parts.reports.collect()
            with self._turn_of("managers"):
                for node in np.flatnonzero(parts.availability.up).tolist():
                    self.load_managers[node].report()
            parts.reports.send_collected()
        else:
            parts.reports.send_when_due()
        parts.reports.receive()

    @contextmanager
    def _turn_of(self, agents: str) -> Iterator[None]:
        """In the block it is these agents' part of the slice; afterwards none's, whatever a step of a user's raises."""
        self.turn = agents
        try:
            yield
        finally:
            self.turn = ""

    # ---- many slices -----------------------------------------------------------------------------------------

    def run(self, progress: Callable[[float], None] | None = None, until_ms: float | None = None) -> None:
        """To the scenario's end, or to a time: then agents can be acted upon, and `run` or `step` go on.

        Where a user's agents, or model, have a `step` of their own, slice by slice; else from one boundary at which
        agents talk to the next. The result is the same as by `step`.

        Args:
            progress: called now and then with the fraction done, 0..1 (of the time, or of the tasks).
            until_ms: the run stops at the first slice boundary not before this time [ms]; None: at the scenario's end.

        Raises:
            InputError: `until_ms` is no finite time.
        """
        check_arguments(progress=(progress, CALLABLE_OR_NONE), until_ms=(until_ms, TIME_OR_NONE))
        total_tasks = max(1, self.engine.total_tasks)
        until_ns = NEVER
        if until_ms is not None:
            until_ns = self.parts.clock.boundary_from(nanoseconds(min(float(until_ms), LARGEST)))
        was_leaping, self._is_leaping = self._is_leaping, True
        try:
            while self.running and self.now_ns < until_ns:
                if self._goes_slice_by_slice:
                    self.step()
                else:
                    self._go_to(min(until_ns, self._windows.next_boundary_ns()))
                if progress is not None:
                    done = self.now_ns / self.end_ns if self.end_ns else self.engine.finished / total_tasks
                    progress(min(1.0, done))
        finally:
            self._is_leaping = was_leaping

    def _stop_if_over(self) -> None:
        """End of the run: the time is up, or (drained) all jobs have ended."""
        clock, engine, submissions = self.parts.clock, self.parts.engine, self.parts.submissions
        if self.end_ns is not None:
            self.running = clock.now_ns < self.end_ns
        elif self.parts.failures.is_hopeless or submissions.is_stuck or self.conversation.is_stuck:
            self.running = False
        elif submissions.all_started and engine.live == 0 and not self.conversation.held:
            self.running = False
            # However far this window reached, the run ends with the slice in which the last task did.
            if engine.finished:
                end_ns = clock.boundary_up_to(engine.last_finish_ns) + clock.slice_ns
                if end_ns > clock.now_ns:
                    # A disk still serves the request of a task that was killed.
                    engine.serve(end_ns)
                clock.now_ns = end_ns

    # ---- what agents see -------------------------------------------------------------------------------------

    @property
    def _node(self) -> Kind:
        nodes = len(self.node_agents)
        return Kind(f"a node from 0 to {nodes - 1}", lambda value: whole_number(value) in range(nodes))

    def true_loads(self, node: int) -> Any:
        """The load row of a node as it is now (a row of a table that is reused: copy to keep)."""
        check_arguments(node=(node, self._node))
        return self.parts.views.true_row(node)

    def view_of(self, manager: LoadManager, refused: frozenset[int] = frozenset()) -> View:
        """What a load manager knows now, to keep."""
        check_arguments(manager=(manager, of_class(LoadManager)), refused=(refused, of_class(frozenset, set)))
        self.parts.views.look()
        view = self.parts.views.of(manager.index, refused)
        return replace(view, loads=view.loads.copy())

    def records_of(self, job: int) -> Table:
        """Records of a job's tasks that have ended."""
        check_arguments(job=(job, from_on(0)))
        return self.jobs_register.records_of(job)
