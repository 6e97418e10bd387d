"""What a user reads off a run: its time, its jobs, its metrics and its tables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import networkx as nx
import pandas as pd

from cluster_abm.arrays import Integers
from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import RECORD, Table
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.large_tables import blocks, forget_pages
from cluster_abm.limits import BYTES_A_FRAME_ROW, check_memory
from cluster_abm.model.assembly import Parts
from cluster_abm.model.moving.copies import copies_by_node
from cluster_abm.model.observing.existing import existing
from cluster_abm.model.observing.graph import GraphOfRun
from cluster_abm.model.observing.measured_window import MeasuredWindow, counts_of, measured_window
from cluster_abm.model.observing.shares import members_of, tables_in_json, waits_beside
from cluster_abm.model.observing.summary import program_metrics
from cluster_abm.model.observing.watching import telling_index
from cluster_abm.model.part import wire
from cluster_abm.model.recorded import recording_of
from cluster_abm.model.setup import watts_of
from cluster_abm.ordered_rows import OrderedRows, Rows
from cluster_abm.recording import Recording
from cluster_abm.recording.keeping import excerpt_of
from cluster_abm.results.asked import metric_of
from cluster_abm.results.frames import MOST_CLUSTERS, jobs_frame
from cluster_abm.results.metrics import RunData, computed
from cluster_abm.results.shares.by_node_group import by_node_group
from cluster_abm.results.vertices import pieces_with_vertices, with_vertices
from cluster_abm.scenario import Scenario, scenario_to_toml
from cluster_abm.scenario.hardware import hardware_named
from cluster_abm.scenario.wording.caption import caption_of
from cluster_abm.workload import OfferedLoad, offered_load
from cluster_abm.workload.laws.estimated import Estimated, estimated_by
from cluster_abm.workload.laws.relaxation import Relaxation, relaxation_of


class RunResults:
    """The part of ClusterModel that only reads.

    Attributes:
        setup: the checked scenario.
        run_seed: the run's seed.
        parts: what the agents work with.
        engine: the tables.
        running: False once the scenario's end is reached.
    """

    setup: Scenario
    run_seed: int
    parts: Parts
    engine: EngineState
    running: bool

    @property
    def network(self) -> Network:
        """The network as it is now."""
        return self.parts.live.network

    @property
    def graph(self) -> nx.Graph:
        """The network as a networkx graph, with the names of the graph that was given, whose copy it is.

        Of a vertex that is a node `node` is its number. `up` of a vertex and of an edge is False while it is out of
        order; an edge also while one of its ends is. With files (`[data]`) `files` of a node lists the names of those
        of which it has a copy now: copies that lie there, and those that tasks on it have fetched. Under the pooled
        reference these are the files that its vertex names. The graph is one object, which shows the present state each
        time `model.graph` is read.

        With several nodes at a vertex (`interconnect.nodes_per_vertex`), the nodes are vertices beside yours:
        ("node", 0), ("node", 1) ... by number. Where no graph was given, its vertices are those of `network.graph`.
        """
        return self._graph_of_run.now

    @cached_property
    def _graph_of_run(self) -> GraphOfRun:
        parts = self.parts
        return wire(GraphOfRun, vars(parts), whole=parts.live.whole, plan=parts.failures.plan)

    @property
    def jobs(self) -> Table:
        """The jobs of the run (engine.fields.JOB_FIELDS)."""
        return self.engine.jobs

    @property
    def now_ns(self) -> int:
        """Simulated time [ns]."""
        return self.parts.clock.now_ns

    @property
    def now_ms(self) -> float:
        """Simulated time [ms]."""
        return self.parts.clock.now_ms

    @property
    def slice_ns(self) -> int:
        """Length of a slice [ns]."""
        return self.parts.clock.slice_ns

    @property
    def submitted_jobs(self) -> int:
        """Jobs that have arrived so far."""
        return self.parts.submissions.schedule.submitted

    @property
    def held_jobs(self) -> set[int]:
        """Numbers of the jobs that have been submitted and that the policy holds back."""
        return self.parts.submissions.held

    @property
    def policy_name(self) -> str:
        """The name of the policy; where groups of nodes have their own, of all of them."""
        return self.parts.policies.name

    def busy_ns(self) -> tuple[Integers, Integers]:
        """CPU and disk time given by each node until now, shape (nodes,) each [ns]."""
        return self.engine.busy_ns(self.now_ns)

    def job_counts(self, finished: int, killed: int, lost: int) -> dict[str, int]:
        """The number of jobs submitted so far, and of these the finished, killed, lost, blocked and running ones."""
        unfinished = self.submitted_jobs - finished - killed - lost
        # Where no node is up, no job runs: those that have begun wait for one.
        blocked = len(self.held_jobs) if self.parts.availability.any_up else unfinished
        ended = {"finished": finished, "killed": killed, "lost": lost}
        return {"submitted": self.submitted_jobs, **ended, "blocked": blocked, "running": unfinished - blocked}

    @cached_property
    def offered_load(self) -> OfferedLoad | None:
        """The load that the scenario offers; None where no window is known in which jobs are submitted."""
        return offered_load(self.setup, self.parts.work)

    @cached_property
    def relaxation(self) -> Relaxation | None:
        """The relaxation time of a node's busiest resource; None where no window is known, as of `offered_load`."""
        return relaxation_of(self.setup, self.parts.work, self.offered_load)

    @property
    def estimated(self) -> Estimated:
        """What the metrics of jobs estimate: the window, and how many relaxation times it lasts."""
        window = self.window
        begins_s = window.from_s, window.from_s
        return estimated_by(self.setup, [(begins_s, self.relaxation)], int(window.is_settled is False))

    @property
    def title(self) -> str:
        """What stands above pictures of the run: scenario, policy, seed, and the hardware presets that it names."""
        hardware = hardware_named(self.setup.cluster, self.setup.interconnect)
        words = f"{self.setup.name}: policy {self.policy_name}, seed {self.run_seed}"
        return f"{words}; {hardware}" if hardware else words

    @property
    def window(self) -> MeasuredWindow:
        """The jobs that the metrics of jobs are about (`measure.from_s`, `measure.warmup`)."""
        return measured_window(self.setup.measure, self.engine, self.parts.submissions.schedule)

    def run_data(self, records: Rows | None = None) -> RunData:
        """What the metrics are computed from (results.metrics).

        Args:
            records: those of the engine by (finish, task), where they are at hand.
        """
        parts, engine, now_ns = self.parts, self.engine, self.now_ns
        cpu_ns, disk_ns = engine.busy_ns(now_ns)
        outcomes, window = parts.task_records.outcomes(records), self.window
        measured = parts.task_records.of_window(window.from_ns, records) if window.is_cut else None
        return RunData(
            outcomes=outcomes,
            measured=measured,
            nodes=engine.serving_nodes,
            cores=engine.nodes["cores"],
            channels=engine.nodes["channels"],
            cpu_ns=cpu_ns,
            disk_ns=disk_ns,
            in_device_ns=engine.in_device_ns(now_ns),
            down_ns=parts.availability.down_ns(now_ns),
            watts=watts_of(self.setup.cluster),
            now_ns=now_ns,
            last_finish_ns=engine.last_finish_ns,
            counted={
                "migrations": parts.departures.migrations,
                "remote_executions": parts.departures.remote_executions,
                "refused_offers": parts.log.refused_offers,
                "messages": parts.questions.messages + parts.reports.messages + parts.mail.sent,
                "submitted": self.submitted_jobs,
                **({} if measured is None else counts_of(window, outcomes, measured)),
                **parts.failures.metrics(),
                **({} if parts.staging is None else parts.staging.metrics()),
                **(self._io_loads() if parts.work.initial else {}),
            },
            asked=tuple(metric for name in self.setup.measure.metrics if (metric := metric_of(name)) is not None),
            headline=self.setup.measure.headline,
            users=parts.work.logged.users,
            exists=existing(
                self.setup,
                parts.policies.main.pooled,
                parts.availability.can_change,
                parts.work.logged.users is not None and parts.task_records.are_kept,
            ),
        )

    def _io_loads(self) -> dict[str, float]:
        """The largest and the smallest I/O load of a node now [1/ms]."""
        loads = self.engine.empty_loads()
        self.engine.measure(self.now_ns, loads, truly=True)
        most, least = float(loads["io_load"].max()), float(loads["io_load"].min())
        return {"io_load_largest_per_ms": most, "io_load_smallest_per_ms": least}

    def summary(self) -> dict[str, Any]:
        """The run in numbers, as `cluster-abm run --json` prints them; metrics without data are None."""
        run = self.run_data()
        tables = tables_in_json({**members_of(run, self.parts.work.logged), "by_node_group": self.by_node_group()})
        return self._summary(run) | waits_beside(self.parts.work.logged, run.outcomes) | tables

    def _summary(self, run: RunData) -> dict[str, Any]:
        return {
            "scenario": self.setup.name,
            "policy": self.policy_name,
            "seed": self.run_seed,
            "slices": self.parts.clock.slices,
            "simulated_ms": self.now_ms,
            "offered_load": None if self.offered_load is None else self.offered_load.as_dict(),
            "jobs": self.job_counts(*run.outcomes.ended),
            **self.estimated.as_json(),
            "metrics": computed(run),
            **program_metrics(self.parts.work.program_names, run),
            **({"acts": self.parts.script.rows(is_over=not self.running)} if self.setup.script else {}),
        }

    def by_user(self) -> pd.DataFrame:
        """One row a user of which a task has ended, by CPU time, the most first (results.shares.by_member).

        Columns name, jobs (finished), the mean of `measure.headline`, mean_wait_ms, mean_response_ms, cpu_share. Empty
        where jobs have no users. Closed users have numbers, from 0; those of a log have its names.

        Raises InputError: the rows of tasks are not kept (`measure.records`).
        """
        return self._members("by_user")

    def by_group(self) -> pd.DataFrame:
        """As `by_user`, one row a group of users; empty where the log names none."""
        return self._members("by_group")

    def _members(self, name: str) -> pd.DataFrame:
        self.parts.task_records.check_kept(f"{name}()")
        return members_of(self.run_data(), self.parts.work.logged)[name]

    def by_node_group(self) -> pd.DataFrame:
        """One row a group of nodes: name, nodes, cpu_utilisation, disk_utilisation (results.shares.by_node_group).

        Empty without `[[cluster.group]]`, and under a policy that has all nodes be one station.
        """
        counts = [count for _, count in self.setup.cluster.kinds]
        if len(counts) == 1 or self.parts.policies.main.pooled:
            return pd.DataFrame()
        return by_node_group(self.run_data(), counts)

    def jobs_frame(self) -> pd.DataFrame:
        """One row a task that has ended (results.frames.jobs_frame).

        Here and in the other tables nodes are numbers; where a graph was handed over, the columns `..._vertex` have the
        names of their vertices.

        Raises:
            InputError: the frame does not fit into memory, or the rows are not kept (`measure.records`).
        """
        self.parts.task_records.check_kept("jobs_frame()")
        what = "jobs_frame(), instead of which `run --out` and jobs_pieces() give the same rows piece by piece"
        check_memory(what, self.engine.finished * BYTES_A_FRAME_ROW, self.engine.finished, "rows")
        return self._jobs_frame(slice(None))

    def jobs_pieces(self) -> Iterator[pd.DataFrame]:
        """`jobs_frame` in pieces of large_tables.ROWS_AT_ONCE rows; an empty one if no task has ended."""
        self.parts.task_records.check_kept("jobs_pieces()")
        for part in [*blocks(self.engine.finished)] or [slice(0, 0)]:
            yield self._jobs_frame(part)
            forget_pages(self.engine.records, self.jobs)

    def _jobs_frame(self, part: slice) -> pd.DataFrame:
        frame = jobs_frame(self.engine.ordered_records()[part], self.jobs, self.parts.work.program_names)
        return with_vertices(frame, "jobs", self.network.node_names)

    def nodes_frame(self) -> pd.DataFrame:
        """One row a node and measurement: load indices, busy times so far (measurements.Measurements)."""
        return with_vertices(self.parts.measurements.frame(), "nodes", self.network.node_names)

    def nodes_pieces(self) -> Iterator[pd.DataFrame]:
        """`nodes_frame` in pieces, as `jobs_pieces`."""
        return pieces_with_vertices(self.parts.measurements.pieces(), "nodes", self.network.node_names)

    def decisions_frame(self) -> pd.DataFrame:
        """One row a decision (decisions.DecisionRecord); with `[[data.file]]` also `cluster_t_ms` (results.columns).

        There is no `cluster_t_ms` with more than 100 clusters, and none under the pooled reference.

        Raises InputError: the rows are not kept (`measure.records`).
        """
        self.parts.task_records.check_kept("decisions_frame()")
        return with_vertices(self._with_access(self.parts.log.frame()), "decisions", self.network.node_names)

    def decisions_pieces(self) -> Iterator[pd.DataFrame]:
        """`decisions_frame` in pieces, as `jobs_pieces`."""
        self.parts.task_records.check_kept("decisions_pieces()")
        pieces = map(self._with_access, self.parts.log.pieces())
        return pieces_with_vertices(pieces, "decisions", self.network.node_names)

    def copies_by_node(self) -> tuple[tuple[str, ...], ...]:
        """Names of the files of which each node has a copy now, shape (nodes,) (moving.copies)."""
        return copies_by_node(self.parts.staging, self.engine)

    def recording(
        self, *, every: int | None = None, from_s: float | None = None, to_s: float | None = None
    ) -> Recording:
        """The run up to now as a recording (cluster_abm.recording).

        Args:
            every: keep every n-th job; None: all of them, or of more than 400,000 tasks as many jobs as fit.
            from_s, to_s: keep only what is in this window [s]: tasks that live in it, whole, and the decisions and
                loads of that time; None: from the beginning, to the end.

        Raises InputError: it is not recorded: `record=True` was not given; or there is no such part.
        """
        excerpt = excerpt_of(every, from_s, to_s)
        if not self.parts.happenings.are_kept:
            raise InputError("recording(): the run is not recorded: give ClusterModel record=True")
        access_of, staging = None, self.parts.staging
        if staging is not None and staging.clusters <= MOST_CLUSTERS and self.setup.jobs_may_name_files:
            access_of = staging.cluster_access_ms
        policy = self.parts.policies.main
        ended = self.engine.sorted_columns()
        run = self.run_data(OrderedRows(ended, RECORD, slice(0, self.engine.finished)))
        words = {
            "scenario": self.setup.name,
            "title": self.title,
            "caption": caption_of(self.setup),
            "policy": {"name": self.policy_name, "source": str(policy.source), "summary": str(policy.summary)},
            "seed": self.run_seed,
            "toml": scenario_to_toml(_with_seed(self.setup, self.run_seed)),
            "is_over": not self.running,
            "summary": self._summary(run),
            "telling_index": telling_index(self.setup),
        }
        return recording_of(self.parts, ended, words, access_of, excerpt)

    def _with_access(self, decisions: pd.DataFrame) -> pd.DataFrame:
        staging = self.parts.staging
        if staging is None or staging.clusters > MOST_CLUSTERS:
            return decisions
        if self.setup.jobs_may_name_files:
            access_ms = map(staging.cluster_access_ms, decisions["job"].tolist())
            decisions["cluster_t_ms"] = pd.Series(list(access_ms), decisions.index, dtype="object")
        return decisions


def _with_seed(setup: Scenario, seed: int) -> Scenario:
    """The scenario of a run of this seed, however the seed was given."""
    return setup.model_copy(update={"run": setup.run.model_copy(update={"seed": seed})})
