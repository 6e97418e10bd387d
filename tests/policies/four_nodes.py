"""Four nodes with tasks on them, and what a policy decides about what happens next.

A policy that has a compiled form decides in both forms, which have to agree.

`decided("jsq", there=[Job(0, 500.0), Job(1, 300.0)], comes=[Job(0, 100.0)])` puts a task on node 0 and one on node 1,
without asking the policy, and then submits a job at node 0. It comes in the first slice: load managers, who decide by
the loads at the slice's beginning, find what `there` says, to the digit.

Nodes have speed 1 and one core, a task keeps it until it blocks or ends, memory for programs is 1000 MB, and no buffer
serves accesses. A disk request of 80 KB takes 8 + 80/40 = 10 ms and costs of moving are 0, unless a test sets more.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from support import COMPILED, PLAIN, same_records, scenario

from cluster_abm import ClusterModel

NODES = 4


class Job(NamedTuple):
    """A job of a trace, each of its tasks with these demands; what is there already has `at_ms` = 0, whatever it says.

    Attributes:
        requested_ms: the run time that it requests; 0: none of the run's jobs requests any.
    """

    home: int
    cpu_ms: float = 100.0
    io_per_ms: float = 0.0
    memory_mb: float = 1.0
    at_ms: float = 1.0
    tasks: int = 1
    initial_data_mb: float = 0.0
    requested_ms: float = 0.0
    request_kb: float = 80.0


class Seen(NamedTuple):
    """What happened.

    Attributes:
        model: the run in Python.
        first: the number of the first task that came; those that were there have smaller ones.
    """

    model: ClusterModel
    first: int

    @property
    def decisions(self) -> list[Any]:
        """All decisions, as rows: source, target, rule, index, load_here, load_there, reason, accepted ..."""
        return list(self.model.decisions_frame().itertuples(index=False))

    def of(self, number: int = 0) -> Any:
        """The first decision about the `number`-th task that came."""
        return next(row for row in self.decisions if row.task == self.first + number)

    @property
    def targets(self) -> list[int]:
        """Where the tasks that came were sent, in the order of the decisions."""
        return [int(row.target) for row in self.decisions if row.task >= self.first]

    @property
    def moves(self) -> list[tuple[int, int, int]]:
        """Tasks that were there, or had come before, and were sent away: (task, from, to)."""
        starts: set[int] = set(range(self.first))
        found = []
        for row in self.decisions:
            if row.task in starts and row.accepted and row.source != row.target:
                found.append((int(row.task), int(row.source), int(row.target)))
            starts.add(row.task)
        return found


class Case(NamedTuple):
    """A situation, and what a policy has to do in it.

    Attributes:
        policy: its name.
        what: which rule it is about, in a few words.
        there, comes, until_ms, nodes, given: as of `decided`.
        targets: where the tasks that come are sent, in the order of the decisions.
        moves: (task, from, to) of the tasks that are sent away afterwards; tasks are numbered from 0, `there` first.
        rules: rules of the decisions about tasks that come; None: whatever they are called.
        order: which of the tasks that come the decisions are about, from 0 on; None: not looked at.
        is_tie: whether several nodes (or tasks) are as good as each other.
    """

    policy: str
    what: str
    there: Sequence[Job]
    comes: Sequence[Job]
    targets: Sequence[int]
    moves: Sequence[tuple[int, int, int]] = ()
    rules: Sequence[str] | None = None
    order: Sequence[int] | None = None
    is_tie: bool = False
    until_ms: float | None = None
    nodes: Sequence[dict[str, Any]] = ()
    given: dict[str, Any] | None = None

    def __str__(self) -> str:
        return f"{self.policy}, {self.what}{', tie' if self.is_tie else ''}"

    def check(self) -> Seen:
        """Run it, and assert that the policy did what it has to."""
        seen = decided(
            self.policy, self.there, self.comes, until_ms=self.until_ms, nodes=self.nodes, **(self.given or {})
        )
        came = [row for row in seen.decisions if row.task >= seen.first]
        assert seen.targets == list(self.targets), [(row.task, row.rule, row.reason) for row in came]
        assert seen.moves == list(self.moves)
        if self.rules is not None:
            assert [row.rule for row in came] == list(self.rules)
        if self.order is not None:
            assert [row.task - seen.first for row in came] == list(self.order)
        return seen


def without_a_case(policies: Collection[str], cases: Iterable[Case], no_tie: Collection[str]) -> set[str]:
    """Of these policies, those without a case of a plain decision, or of a tie where there can be one."""
    found = {(case.policy, case.is_tie) for case in cases}
    needed = {(policy, is_tie) for policy in policies for is_tie in (False, True) if not (is_tie and policy in no_tie)}
    return {policy for policy, _ in needed - found}


def settings_of(policy: str, nodes: Sequence[dict[str, Any]], given: dict[str, Any]) -> dict[str, Any]:
    """Overrides of the scenario: `nodes` has, for the first nodes, what a node has of its own."""
    own = {"cluster__group": [{"count": 1, **node} for node in nodes]} if nodes else {}
    return {
        **PLAIN, "cluster__nodes": NODES, "cluster__memory_mb": 1000.0, "cluster__buffer_mb": 0.0,
        "negotiation__mode": "papers", "negotiation__migration_ms": 0.0, "workload__write_share": 0.0,
        "workload__reaccess_rate": 0.0, "policy__name": policy, **own, **given,
    }  # fmt: skip


def decided(
    policy: str,
    there: Sequence[Job] = (),
    comes: Sequence[Job] = (),
    *,
    until_ms: float | None = None,
    nodes: Sequence[dict[str, Any]] = (),
    seed: int = 1,
    in_python: str = "",
    **given: Any,
) -> Seen:
    """Run it in both forms up to a time (by default to the end of the slice in which the last job comes).

    Args:
        there: what is on the nodes already: each job's tasks run on its `home`.
        comes: what is submitted then, in the order of `at_ms`, each above 0.
        nodes: what the first nodes have of their own, keys of a `[[cluster.group]]`.
        in_python: why this run has no compiled form, of a policy that has one.
        given: further settings, `__` for the dot.
    """
    assert all(job.at_ms > 0 for job in comes)
    end_ms = max((job.at_ms for job in comes), default=0.0) if until_ms is None else until_ms
    settings = settings_of(policy, nodes, given)
    jobs = [job._replace(at_ms=0.0) for job in there] + sorted(comes, key=lambda job: job.at_ms)
    plain = _run(settings, jobs, seed, False, end_ms)
    if policy in COMPILED:
        compiled = _run(settings, jobs, seed, True, end_ms)
        assert compiled.decides_in_python == in_python
        assert same_records(compiled, plain)
        assert compiled.decisions_frame().equals(plain.decisions_frame())
        assert compiled.nodes_frame().equals(plain.nodes_frame())
    return Seen(plain, sum(job.tasks for job in there))


def _run(settings: dict[str, Any], jobs: Sequence[Job], seed: int, compiles: bool, end_ms: float) -> ClusterModel:
    columns = [name for name in Job._fields if name != "requested_ms" or any(job.requested_ms for job in jobs)]
    lines = [",".join("arrival_ms" if name == "at_ms" else name for name in columns)]
    lines += [",".join(f"{getattr(job, name):.12g}" for name in columns) for job in jobs]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.csv"
        path.write_text("\n".join(lines) + "\n")
        trace = {"workload__kind": "trace", "workload__trace__file": str(path)}
        model = ClusterModel(scenario(**settings, **trace), seed=seed, compile_decisions=compiles)
    _put_there(model)
    model.run(until_ms=end_ms)
    return model


def _put_there(model: ClusterModel) -> None:
    """Start the jobs of time 0 on their homes."""
    jobs = model.parts.submissions.schedule.take(1)
    if not len(jobs):
        return
    widths = model.engine.widths[jobs].astype(np.int64)
    job = jobs.repeat(widths)
    rank = np.concatenate([np.arange(width) for width in widths])
    home = model.engine.jobs["home"][job].astype(np.int64)
    model.engine.admit(job, rank, 0 * job, home, 0 * job)
