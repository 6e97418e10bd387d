"""The cluster as a Mesa model: the order of one slice, and everything that hangs on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import mesa
import numpy as np
import numpy.typing as npt
import pandas as pd

from cluster_abm.engine.pooled import PooledState
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import KILLED, LOST, NEVER, NS_PER_MS, Table
from cluster_abm.interconnect import Network
from cluster_abm.model.agents import LoadManager, Node
from cluster_abm.model.averages import Averages
from cluster_abm.model.failures import Failures
from cluster_abm.model.job_agents import JobAgents
from cluster_abm.model.measurements import Measurements
from cluster_abm.model.negotiation import Negotiations
from cluster_abm.model.remote_memory import RemoteMemory
from cluster_abm.model.setup import background, nanoseconds, node_table, resolve, seed_of
from cluster_abm.model.staging import staging_of
from cluster_abm.model.submissions import Newcomers, Submissions
from cluster_abm.model.transfers import Transfers
from cluster_abm.policies import View, create
from cluster_abm.policies.calling import CheckedPolicy
from cluster_abm.results.frames import jobs_frame
from cluster_abm.results.summary import (
    breakdown_ms,
    by_program,
    ended_jobs,
    finished_jobs,
    finished_records,
    job_metrics,
    makespan_spread_ms,
)
from cluster_abm.scenario import Scenario
from cluster_abm.workload import are_closed, job_table, key, phase_table, program_names

Integers = npt.NDArray[np.int64]


class ClusterModel(mesa.Model):
    """A run of one scenario under one policy from one seed.

    Args:
        scenario: a Scenario, the name of a shipped one, or the path of a TOML file.
        seed: the run's seed; default: `rng`, then the scenario's.
        rng: Mesa's name for the seed.
        keep_decisions: False: decisions are counted and not kept; `decisions_frame` is then empty, and says so.
        keywords: scalar overrides, `__` for the dot: ClusterModel("quickstart", cluster__nodes=64).

    Raises:
        InputError: the scenario, a keyword, the policy or the trace is not right.

    Attributes:
        params: the keywords as given, with the scenario's name.
        setup: the checked scenario.
        running: False once the scenario's end is reached.
    """

    _steps_after_end = 0

    def __init__(
        self,
        scenario: Scenario | str | Path = "quickstart",
        seed: int | None = None,
        *,
        rng: Any = None,
        keep_decisions: bool = True,
        **keywords: Any,
    ) -> None:
        setup = resolve(scenario, keywords)
        self.run_seed = seed_of(seed, rng, setup)
        super().__init__(rng=self.run_seed)
        self.setup = setup
        self.keep_decisions = keep_decisions
        self.params = {"scenario": setup.name, **keywords}
        self.policy = create(setup.policy)
        self.asked = CheckedPolicy(self.policy, setup.cluster.nodes)
        self.negotiation = setup.negotiation
        self.network = Network(setup.interconnect, setup.cluster.nodes)
        self.jobs: Table = job_table(setup, self.run_seed)
        self.staging = staging_of(setup.data, self.run_seed, self.jobs, self.network, self.policy.pooled)
        self.slice_ns = nanoseconds(setup.cluster.slice_ms)
        engine = PooledState if self.policy.pooled else EngineState
        self.engine = engine(
            node_table(setup.cluster), self.jobs, key(self.run_seed, "service"), self.slice_ns,
            self.policy.effective_rates, phase_table(setup),
        )  # fmt: skip
        self._has_background = bool(setup.workload.background)
        if self._has_background:
            self.engine.start_background(background(setup, self.engine.nodes, self.policy))
        self._kills_can_happen = bool((self.engine.nodes["limit_kb"] != NEVER).any())
        self.now_ns = 0
        self._end_ns = None if setup.run.until == "drained" else self._border_from(nanoseconds(float(setup.run.until)))
        self.node_agents = [Node(self, index) for index in range(setup.cluster.nodes)]
        self.load_managers = [LoadManager(self, index) for index in range(setup.cluster.nodes)]
        if self.policy.central:
            # They all speak for one head node.
            for manager in self.load_managers:
                manager.notes = self.load_managers[0].notes
        self._job_agents = JobAgents(self)
        self.failures = Failures(self)
        self.transfers = Transfers(self)
        self.remote_memory = RemoteMemory(self)
        # What else has its turn at a border: in most runs nothing.
        self._periodic = [one for one in (self.remote_memory, Averages(self)) if one.due_ns < NEVER]
        self.negotiations = Negotiations(self)
        self._submissions = Submissions(self)
        self._measurements = Measurements(self)
        self.datacollector = self._measurements.default_collector()
        self._stop_if_over()
        if not self.running:
            # Nobody comes. Mesa's batch_run takes the last row that was collected, so there has to be one.
            self.datacollector.collect(self)

    # ---- one slice -------------------------------------------------------------------------------------------

    def step(self) -> None:
        """One slice; after the end nothing."""
        if self.running:
            self._live_until(self.now_ns + self.slice_ns)
        else:
            self._steps_after_end += 1
        # Mesa counts calls, we count slices.
        self.steps = self.now_ns // self.slice_ns

    def _live_until(self, border_ns: int) -> None:
        """The order of a slice; `run` passes a later border, the next control point, with the same result."""
        if self.now_ns >= self.failures.due_ns:
            self.failures.strike()
        for newcomers in self._submissions.arrive(border_ns):
            targets, delays_ns = self.negotiations.place(newcomers)
            self._travel(newcomers, targets, delays_ns)
        self.negotiations.relieve()
        # Who waits is asked again when a task has ended, unless the policy looks only now and then.
        schedule = self._submissions.schedule
        waits_for_end = schedule.waits_for_ends
        waits_for_end = waits_for_end or (bool(self._submissions.held) and self.asked.acts_every_ms is None)
        if self._submissions.is_stuck and self._end_ns is None:
            # It is the last one.
            border_ns = self.now_ns + self.slice_ns
        if (waits_for_end or self._kills_can_happen) and self.transfers.in_flight:
            # Where a window may end early, or who is under way be killed, transfers must not run ahead of it.
            border_ns = self.now_ns + self.slice_ns
        if self.transfers.in_flight:
            self.transfers.advance(border_ns)
        # Background programs would go on after the last task has ended, to whatever border is asked for.
        until_empty = self._has_background and self._end_ns is None and self._submissions.all_in
        # At each border inside the window the engine lets jobs meet whose tasks have all come to their barrier.
        self.now_ns = self.engine.serve(border_ns, until_finish=waits_for_end, until_empty=until_empty)
        if self._kills_can_happen and self.transfers.in_flight:
            self.transfers.forget_the_dead()
        if waits_for_end:
            schedule.hear_of_ends()
        self._stop_if_over()
        self.steps = self.now_ns // self.slice_ns
        for one in self._periodic:
            one.act()
        self._job_agents.complete()
        self.negotiations.report()
        self._measurements.observe()

    def _travel(self, newcomers: Newcomers, targets: Integers, delays_ns: Integers) -> None:
        """Tasks that are not under way yet set out; each enters its node at its exact instant."""
        waiting = slice(self.negotiations.already_sent, None)
        if len(newcomers.job[waiting]):
            # None of these leaves the node that has taken it in.
            self.engine.admit(*(column[waiting] for column in (*newcomers, targets, delays_ns, targets)))
            if self.transfers.is_contended and self.staging is not None:
                tasks = self.jobs["first_task"][newcomers.job[waiting]] + newcomers.member[waiting]
                for task, target in zip(tasks.tolist(), targets[waiting].tolist(), strict=True):
                    self.transfers.begin(self.engine.slot_of(target, task), target, 0, 0.0, 0.0)

    # ---- many slices -----------------------------------------------------------------------------------------

    def run(self, progress: Callable[[float], None] | None = None) -> None:
        """To the scenario's end.

        Args:
            progress: called now and then with the fraction done, 0..1 (of the time, or of the tasks).
        """
        total_tasks = max(1, int(self.jobs["tasks"].sum()))
        while self.running:
            self._live_until(self._next_control_point_ns())
            if progress is not None:
                done = self.now_ns / self._end_ns if self._end_ns else self.engine.finished / total_tasks
                progress(min(1.0, done))

    @property
    def time(self) -> float:
        """Mesa's clock (3.5 and later): the number of slices, also after `run` has leapt over many.

        After the end it counts calls of `step`: a clock that stood still would make Mesa call for ever.
        """
        return float(self.steps + self._steps_after_end)

    @time.setter
    def time(self, _: float) -> None:
        # Mesa writes what the slices say already; a leap of `run` it would not know of.
        pass

    def _next_control_point_ns(self) -> int:
        """The next border at which agents talk or somebody looks: until then the engine is alone."""
        candidates = [self._measurements.due_ns, self.negotiations.acting_due_ns, self.failures.due_ns]
        if self._periodic:
            candidates += [one.due_ns for one in self._periodic]
        if self._end_ns is not None:
            candidates.append(self._end_ns)
        if self.policy.uses_reports and self.negotiation.mode == "negotiated":
            candidates.append(self.negotiations.reports.due_ns)
        if self._submissions.last_look_ns > self.now_ns:
            candidates.append(self._submissions.last_look_ns)
        schedule = self._submissions.schedule
        if self.policy.acts_on_arrival or schedule.waits_for_ends:
            # Newcomers of this slice are placed now; those of a later one by what is known at its start, or after
            # those who come earlier than they do because a job ends in between.
            after_slice_ns = schedule.first_after(self.now_ns + self.slice_ns - 1)
            candidates.append(after_slice_ns // self.slice_ns * self.slice_ns)
        return max(self.now_ns + self.slice_ns, min(candidates))

    def _border_from(self, time_ns: int) -> int:
        """The first slice border not before a time."""
        return -(-time_ns // self.slice_ns) * self.slice_ns

    def _stop_if_over(self) -> None:
        """End of the run: the time is up, or (drained) all jobs have come and gone."""
        if self._end_ns is not None:
            self.running = self.now_ns < self._end_ns
        elif self.failures.is_hopeless or self._submissions.is_stuck:
            self.running = False
        elif self._submissions.all_in and self.engine.live == 0:
            self.running = False
            # However far this window reached, the run ends with the slice in which the last task did.
            if self.engine.finished:
                end_ns = self.engine.last_finish_ns // self.slice_ns * self.slice_ns + self.slice_ns
                if end_ns > self.now_ns:
                    # A disk still serves somebody who was killed.
                    self.engine.serve(end_ns)
                self.now_ns = end_ns

    # ---- what agents see -------------------------------------------------------------------------------------

    def true_loads(self, node: int) -> Any:
        """The load row of a node as it is now (a row of a table that is reused: copy to keep)."""
        return self.negotiations.true_row(node)

    def view_of(self, manager: LoadManager, refused: frozenset[int] = frozenset()) -> View:
        """What a load manager knows now, to keep."""
        view = self.negotiations.view_of(manager, refused)
        return replace(view, loads=view.loads.copy())

    @property
    def agents(self) -> Any:
        """All agents: nodes, load managers, and the jobs that have arrived and not finished."""
        self._job_agents.materialise()
        return super().agents

    @agents.setter
    def agents(self, agents: Any) -> None:
        mesa.Model.agents.fset(self, agents)

    @property
    def agents_by_type(self) -> Any:
        """Agents by class, jobs included."""
        self._job_agents.materialise()
        return super().agents_by_type

    @property
    def agent_types(self) -> list[type]:
        """Classes of the agents there are."""
        self._job_agents.materialise()
        return super().agent_types

    def records_of(self, job: int) -> Table:
        """Records of a job's finished tasks."""
        return self._job_agents.records_of(job)

    # ---- results ---------------------------------------------------------------------------------------------

    @property
    def now_ms(self) -> float:
        """Simulated time [ms]."""
        return self.now_ns / NS_PER_MS

    @property
    def submitted_jobs(self) -> int:
        """Jobs that have arrived so far."""
        return self._submissions.schedule.submitted

    def submitted_between(self, first: int, last: int) -> list[int]:
        """The jobs that arrived from the `first`-th to the one before the `last`-th, in that order."""
        return self._submissions.schedule.taken(first, last)

    @property
    def held_jobs(self) -> set[int]:
        """Numbers of the jobs that have been submitted and that the policy holds back."""
        return self._submissions.held

    def take_back(self, job: int) -> None:
        """A job that nobody takes goes on waiting at the head of its queue."""
        self._submissions.take_back(job)

    def busy_ns(self) -> tuple[Integers, Integers]:
        """CPU and disk time given by each node until now, shape (nodes,) each [ns]."""
        return self.engine.busy_ns(self.now_ns)

    def job_counts(self, finished: int, killed: int, lost: int) -> dict[str, int]:
        """How many jobs were submitted so far and, of these, have ended so or so, are blocked, and run."""
        left = self.submitted_jobs - finished - killed - lost
        # Where no node is up, nobody runs: who has begun waits for one.
        blocked = len(self.held_jobs) if self.failures.any_up else left
        return {
            "submitted": self.submitted_jobs, "finished": finished, "killed": killed, "lost": lost,
            "blocked": blocked, "running": left - blocked,
        }  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """The run in numbers, as `cluster-abm run --json` prints them; metrics without data are None."""
        records, nodes = self.engine.sorted_records(), self.engine.serving_nodes
        finished = len(finished_jobs(records, self.jobs))
        killed, lost = (len(ended_jobs(records, outcome)) for outcome in (KILLED, LOST))
        of_finished = finished_records(records)
        cpu_ns, disk_ns = self.busy_ns()
        capacity_ns = max(1, self.now_ns * len(self.engine.nodes))
        programs = program_names(self.setup)
        return {
            "scenario": self.setup.name,
            "policy": self.policy.name,
            "seed": self.run_seed,
            "slices": self.now_ns // self.slice_ns,
            "simulated_ms": self.now_ms,
            "jobs": self.job_counts(finished, killed, lost),
            "metrics": {
                **job_metrics(of_finished, self.jobs),
                "makespan_ms": self.engine.last_finish_ns / NS_PER_MS,
                **({"makespan_spread_ms": makespan_spread_ms(records)} if are_closed(self.setup) else {}),
                "migrations": self.negotiations.migrations,
                "remote_executions": self.negotiations.remote_executions,
                "refused_offers": self.negotiations.refused_offers,
                **self.failures.metrics(),
                "cpu_utilisation": float(cpu_ns.sum() / capacity_ns),
                "disk_utilisation": float(disk_ns.sum() / capacity_ns),
                "disk_requests": int(nodes["requests"].sum()),
                "page_faults": int(nodes["faults"].sum()),
                "page_faults_per_cpu_s": float(nodes["faults"].sum() / max(1e-9, cpu_ns.sum() / 1e9)),
                **({} if self.staging is None else self.staging.metrics()),
                "breakdown_ms": breakdown_ms(of_finished),
            },
            **({"programs": by_program(of_finished, self.jobs, programs)} if programs else {}),
        }

    def jobs_frame(self) -> pd.DataFrame:
        """One row a task that has ended (results.frames.jobs_frame)."""
        return jobs_frame(self.engine.sorted_records(), self.jobs, program_names(self.setup))

    def nodes_frame(self) -> pd.DataFrame:
        """One row a node and measurement: load indices, busy times so far (measurements.Measurements)."""
        return self._measurements.frame()

    def decisions_frame(self) -> pd.DataFrame:
        """One row a decision (decisions.DecisionRecord)."""
        return self.negotiations.frame()
