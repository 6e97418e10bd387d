"""A policy: the four classic parts of a load manager, with defaults."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field, StrictBool, ValidationError

from cluster_abm.arrays import Flags
from cluster_abm.bounded_files import Limit
from cluster_abm.errors import InputError
from cluster_abm.formulas import narrows_the_gap
from cluster_abm.policy.decision import Decision
from cluster_abm.policy.samples import Sampling
from cluster_abm.policy.tasks import Demands
from cluster_abm.policy.view import ArrivingTask, Table, View
from cluster_abm.scenario import nearest
from cluster_abm.scenario.base import Section

# The kinds of policies (kinds.py, talking.py), by the attribute that each sets. A class that sets the attribute itself,
# as before version 0.2, becomes one of the kind.
KINDS: dict[str, type[Policy]] = {}


class _OldName:
    """`Policy.needs`, as `required_demands` was called before version 0.2."""

    def __get__(self, policy: Policy | None, of: type[Policy]) -> tuple[str, ...]:
        return of.required_demands


class Policy:
    """A load-balancing policy, found by its name. It places tasks when they arrive.

    `Migrating` policies also move running tasks, `Holding` ones let jobs wait, `Talking` ones exchange messages.

    Information policy: `uses_reports`. Transfer policy: `is_overloaded`. Location policy: `location`. Cost test:
    `response_ms` and `send_to_least`. `place` joins them; a policy from a paper with one procedure overrides `place`.

    Example:
        class Random(Policy):
            class Parameters(Policy.Parameters):
                tries: int = 1

            def place(self, task: ArrivingTask, view: View) -> Decision:
                drawn = view.draw_nodes(task, self.parameters.tries)
                return Decision(int(drawn[-1]), rule="random")

        ClusterModel("quickstart", policy=Random(tries=2))

    Class attributes:
        name: what a scenario calls it.
        source: paper and place.
        summary: one line.
        rules: the words of its rules, for the page and reports: (rule, clause, lines) of each rule that a Decision
            names; the clause says why, the lines, which may be left out, are those of a paper. `{}` in a rule stands
            for what differs, and in the clause for the same. Where the clause is empty, the decision's `reason` says it
            all. What the bases of a class say need not be said again (reasons.rules_of).
        pooled: whether it is a form of the cluster: all nodes are one station (engine.pooled.pool).
        central: whether it decides at one head node, which knows the true state and is obeyed.
        required_demands: what every job has to announce beside the usual: "requested_ms", its run time. A scenario in
            which some job does not is refused when the run is set up (model.policy_checks).
        acts_on_arrival: False means every task starts at home and no node is asked.
        uses_reports: whether load managers have to report to each other.
        migrates, holds_jobs, talks: whether it is a `Migrating`, `Holding` or `Talking` policy, which set them.
        averages: whether nodes' CPU utilisation, queue and memory utilisation are averaged over five seconds for it.
        compares_links: whether it reads the load of the nodes' links, `net_ms`.
        index: load index (a field of the load table) that the default parts compare.
        Parameters: its parameters, as a scenario's `policy.<parameter>` gives them.
        Notes: what each load manager remembers: a dictionary; of a `Talking` policy also a dataclass (policy.notes).
    """

    class Parameters(Section):
        """What every policy has."""

        heterogeneous: StrictBool = Field(
            False, description="loads of unlike nodes are compared per unit of their CPU speed, memory and disk rate"
        )
        information: Literal["fresh", "reported"] | None = Field(
            None,
            description="fresh: decides by the state of all nodes at the decision, at no cost; reported: by load "
            "reports. Not set: as negotiation.mode says",
        )

    Notes: ClassVar[Any] = dict
    name: ClassVar[str] = ""
    source: ClassVar[str] = ""
    summary: ClassVar[str] = ""
    rules: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("transfer", ""),
        ("location", "home has the largest load and the target the least"),
        ("recovery", "its node has failed and the target is the least loaded"),
        ("sent", "an agent beside the load managers has sent it"),
    )
    pooled: ClassVar[bool] = False
    central: ClassVar[bool] = False
    required_demands: ClassVar[tuple[str, ...]] = ()
    needs = _OldName()
    acts_on_arrival: ClassVar[bool] = True
    uses_reports: ClassVar[bool] = True
    migrates: ClassVar[bool] = False
    holds_jobs: ClassVar[bool] = False
    talks: ClassVar[bool] = False
    averages: ClassVar[bool] = False
    compares_links: ClassVar[bool] = False
    index: ClassVar[str] = "tasks"

    # What a class has written as before version 0.2, and how it is written now.
    written_as_before: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        written = vars(cls)
        kinds = {name: kind for name, kind in KINDS.items() if getattr(cls, name) and not issubclass(cls, kind)}
        notes = [
            f"`{name} = True` is `class {cls.__name__}({kind.__name__})` now"
            for name, kind in kinds.items()
            if written.get(name) is True
        ]
        if kinds:
            before = cls.__bases__ if Policy in cls.__bases__ else (*cls.__bases__, Policy)
            at = before.index(Policy)
            cls.__bases__ = (*before[:at], *kinds.values(), *before[at + 1 :])
        if "needs" in written:
            cls.required_demands = written["needs"]
            notes.append("`needs` is `required_demands` now")
        cls.written_as_before = (*cls.written_as_before, *notes)

    def __init__(self, **parameters: Any) -> None:
        try:
            self.parameters = self.Parameters(**parameters)
        except ValidationError as problem:
            raise InputError([self._explain(error) for error in problem.errors()]) from None

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.parameters)
        return f"{type(self).__name__}({given})"

    def prepare(self, demands: Demands, nodes: int) -> None:
        """Note what is known before the run: how the jobs' demands are distributed, as a log would tell, and how many
        nodes there are.

        Raises:
            InputError: the policy needs what the scenario does not tell.
        """

    @property
    def effective_rates(self) -> bool:
        """Whether loads count I/O as it reaches the disk: without buffer hits, with page faults."""
        return False

    @property
    def counts_effective_tasks(self) -> bool:
        """Whether views have the load index `effective_tasks`, which takes time: a user's policy may read it."""
        return not type(self).__module__.startswith("cluster_abm.policies.")

    @property
    def acts_every_ms(self) -> float | None:
        """How often `relieve` is asked, and `holds` of jobs that wait [ms]; None: never, and at each end of a task."""
        return None

    @property
    def input_files(self) -> tuple[tuple[Path, Limit], ...]:
        """Files of the user that it takes numbers from, and how much each may hold: they count in a study's results."""
        return ()

    @property
    def samples(self) -> Sampling | None:
        """Load indices of which each load manager notes what it knows periodically, for `View.mean_share`; None: no."""
        return None

    def is_overloaded(self, task: ArrivingTask, view: View) -> bool:
        """Transfer policy: whether to look for another node. By default if the own load is the largest known."""
        return view.is_largest(self.index, task)

    def location(self, task: ArrivingTask, view: View) -> int:
        """Location policy: the node to ask. By default the one of least load."""
        return view.least(self.index, task)

    def task_load(self, task: ArrivingTask, view: View, index: str, node: int) -> float:
        """What the arriving task would add to an index on a node, in the index's unit."""
        return 1.0

    def response_ms(self, task: ArrivingTask, view: View, node: int) -> float | None:
        """Expected response time on a node [ms]; NaN, or None, of a policy that does not estimate it."""
        return math.nan

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Where the arriving task starts, by what the load manager of its home node knows."""
        if not self.is_overloaded(task, view):
            return Decision(view.me, "transfer", self.index, reason="home is not overloaded")
        return Decision(self.location(task, view), "location", self.index)

    def in_trouble(self, loads: Table) -> Flags:
        """Which nodes' load managers are asked to `relieve` theirs, each by its own node's row, shape (nodes,).

        Args:
            loads: the true loads of all nodes, as `View.comparable` has them.
        """
        return np.ones(len(loads), bool)

    def relieve(self, view: View) -> Decision | None:
        """Asked every `acts_every_ms` where there is trouble: which task of the own node to send where; None: none."""
        return None

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """Return where a task goes on that has lost its node: by default on the least loaded one, by its own index.

        Args:
            task: what its job announced; it is a running one if it goes on from a checkpoint.
            view: what all nodes that are up have just answered; those in `View.down` count as having refused.
        """
        target = view.least(self.index, task)
        return Decision(target, "recovery", self.index, load_there=view.load(self.index, target, task))

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """The asked node's answer from its own true state: "" accepts, else the reason of the refusal.

        By default it holds the offer's own conditions against what is true here: the gap in load, and the gain. A
        number that the offer does not give is no condition.
        """
        if not decision.index or math.isnan(decision.load_here):
            return ""
        task_load = 0.0 if math.isnan(decision.task_load) else decision.task_load
        if not narrows_the_gap(task_load, decision.load_here, view.load(decision.index, view.me)):
            return "not the lighter node any more"
        response = self.response_ms(task, view, view.me)
        if response is None or math.isnan(response) or math.isnan(decision.response_here_ms):
            return ""
        cost_ms = 0.0 if math.isnan(decision.cost_ms) else decision.cost_ms
        return "" if decision.response_here_ms > response + cost_ms else "no gain any more"

    def restated(self, task: ArrivingTask, decision: Decision, view: View, asker: int) -> Decision:
        """Restate an offer by a load manager with another policy in terms of this one, so that `accept` can judge it.

        An offer that names no load index claims nothing, and is left as it is.

        Args:
            task: the task that is offered.
            decision: the offer.
            view: the true state of the own node and of the asker's, which the offer reports; the others as known.
            asker: the asker's node.
        """
        if not decision.index:
            return decision
        index = self.load_name(view)
        cost_ms = view.cost_ms(task, asker) if math.isnan(decision.cost_ms) else decision.cost_ms
        response_ms = self.response_ms(task, view, asker)
        return replace(
            decision,
            index=index,
            task_load=self.task_load(task, view, index, view.me),
            load_here=self.load_of(task, view, asker),
            response_here_ms=math.nan if response_ms is None else response_ms,
            cost_ms=cost_ms,
        )

    def load_name(self, view: View) -> str:
        """The load index by which this policy compares nodes now."""
        return self.index

    def load_of(self, task: ArrivingTask, view: View, node: int) -> float:
        """A node's load by that index, to compare it with others; NaN if the load table has no such index."""
        index = self.load_name(view)
        return view.load(index, node, task) if view.has_index(index) else math.nan

    def send_to_least(self, task: ArrivingTask, view: View, index: str, rule: str) -> Decision:
        """Ask the node of least load if the gap narrows and the task gains more than it costs: IOLB Fig. 1, lines
        4-8, which are lines 10-14 and 16-20 for the other indices."""
        return self.send_if_it_gains(task, view, view.least(index, task), index, rule, 0.0)

    def send_if_it_gains(
        self, task: ArrivingTask, view: View, target: int, index: str, rule: str, further_cost_ms: float
    ) -> Decision:
        """Lines 5-8 of IOLB's Fig. 1: ask a node if the gap in load narrows and the task gains more than it costs.

        Args:
            task: the arriving task.
            view: what the load manager knows.
            target: the node.
            index: the load index by which the gap is found.
            rule: the rule that the decision is to name.
            further_cost_ms: what the move costs beside `View.cost_ms` [ms].
        """
        # In the papers load_j is the same everywhere. Where it is not, the target must stay the lighter one with it.
        weighed_on = view.me if view.capacities is None else target
        task_load = view.per_unit(self.task_load(task, view, index, weighed_on), index, weighed_on)
        here, there = view.load(index, view.me), view.load(index, target)
        response_here = self.response_ms(task, view, view.me)
        response_there = self.response_ms(task, view, target)
        # A policy that calls this estimates.
        assert response_here is not None
        assert response_there is not None
        cost_ms = view.cost_ms(task, target) + further_cost_ms
        reason = ""
        if target in view.refused:
            reason = "every other node has refused"
        elif not narrows_the_gap(task_load, here, there):
            reason = "the gap in load would not narrow"
        elif not response_here > response_there + cost_ms:
            reason = "no gain in response"
        return Decision(
            target=view.me if reason else target,
            rule=rule,
            index=index,
            task_load=task_load,
            load_here=here,
            load_there=there,
            response_here_ms=response_here,
            response_there_ms=response_there,
            cost_ms=cost_ms,
            reason=reason,
        )

    def _explain(self, error: Any) -> str:
        # Of a value that may be of several kinds, what follows names the kind.
        field = str(error["loc"][0]) if error["loc"] else ""
        if error["type"] == "extra_forbidden":
            allowed = sorted(self.Parameters.model_fields)
            hint = nearest(field, allowed).replace("did you mean '", "did you mean 'policy.")
            return f"unknown key 'policy.{field}'; {hint}"
        if not field:
            # Of several parameters together: the text begins with one.
            return f"policy.{error['ctx']['error']}"
        return f"policy.{field} = {error['input']!r}: {error['msg'][0].lower()}{error['msg'][1:]}"
