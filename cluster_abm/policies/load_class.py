"""LMIP's load classes (idle, low, normal or high by CPU, queue and memory of the last seconds), and their rival."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, StrictBool, model_validator

from cluster_abm.arrays import Integers
from cluster_abm.formulas import ClassThresholds, class_thresholds, load_class, load_classes
from cluster_abm.formulas.load_class import HIGH, IDLE, LOW
from cluster_abm.policy.base import Decision, Flags, Policy
from cluster_abm.policy.kinds import Migrating
from cluster_abm.policy.parts.indices import CpuIndex, Greedy
from cluster_abm.policy.view import ArrivingTask, Candidate, Table, View
from cluster_abm.scenario.distributions import NonNegative, Positive

DEFAULT = ClassThresholds()
INDEX = "load class"
# The rule by which the asked node was chosen: it answers by the same.
TO_IDLE = "an idle node"


class LoadClass(Migrating):
    """An arriving task goes to an idle node, else from a highly loaded home to the node nearest to its memory; and now
    and then the process that pages most leaves a highly loaded node for the one that serves its page faults.

    A node's class goes by the means of five seconds of its CPU utilisation, CPU queue and memory utilisation, tested in
    this order (settled; the formula overlaps itself):

    * high: memory above `full_memory_percent`;
    * idle: CPU at most `idle_cpu_percent`;
    * high: CPU and memory both high, or the queue high;
    * low: CPU and memory both low, or the queue low;
    * normal: any other.

    The paper's pseudo-code, for an arriving process:

    * IF the local host is idle: run locally.
    * ELSE IF there are idle nodes: run on an idle node (here the next one after home, cyclically).
    * ELSE IF the local host is high and there are low nodes: run on N_sel, the node that serves most of its page
      faults; if N_sel is high itself, locally. Where no memory is remote (`cluster.remote_memory`), N_sel is the low
      node with most free memory (settled).
    * ELSE: run locally.

    Every `period_ms` a highly loaded node, while there are low ones, sends its process with most page faults to N_sel.
    """

    class Parameters(Policy.Parameters):
        """Thresholds of the classes, which LMIP does not give but for two, and the migration of running processes."""

        idle_cpu_percent: NonNegative = DEFAULT.idle_cpu_percent
        """CPU utilisation up to which a node is idle [%]; the paper's"""
        low_cpu_percent: NonNegative = DEFAULT.low_cpu_percent
        """CPU utilisation up to which it is low [%]"""
        high_cpu_percent: NonNegative = DEFAULT.high_cpu_percent
        """CPU utilisation above which it is high [%]"""
        low_memory_percent: NonNegative = DEFAULT.low_memory_percent
        """memory utilisation up to which it is low [%]"""
        high_memory_percent: NonNegative = DEFAULT.high_memory_percent
        """memory utilisation above which it is high [%]"""
        full_memory_percent: NonNegative = DEFAULT.full_memory_percent
        """memory utilisation above which a node is highly loaded whatever else it is [%]; the paper's"""
        low_queue: NonNegative = DEFAULT.low_queue
        """mean CPU queue up to which it is low [tasks per core]"""
        high_queue: NonNegative = DEFAULT.high_queue
        """mean CPU queue above which it is high [tasks per core]"""
        migration: StrictBool = True
        """whether running processes migrate towards the node that serves their page faults"""
        period_ms: Annotated[Positive, Field(ge=1.0, le=1e9)] = 1000.0
        """poll interval at which a highly loaded node seeks a process to migrate [ms]"""
        pause_ms: NonNegative = 60_000.0
        """a process that has migrated stays at least so long, or it would go round and round [ms]"""

        @model_validator(mode="after")
        def _ordered(self) -> LoadClass.Parameters:
            for name in ("cpu_percent", "memory_percent", "queue"):
                low, high = getattr(self, f"low_{name}"), getattr(self, f"high_{name}")
                if low > high:
                    raise ValueError(f"low_{name} {low:g}: must not be above high_{name} {high:g}")
            return self

    name = "load-class"
    source = "LMIP, Load balancing system based on proposed load metric"
    summary = "to an idle node, else from a highly loaded one to where page faults are served; pagers migrate there"
    rules: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("placement", "", "LMIP, pseudo-code"),
        ("an idle node", "home is not idle and the target is", "LMIP, pseudo-code"),
        ("N_sel", "home is highly loaded; the target is nearest to its memory", "LMIP, pseudo-code"),
        (
            "memory locality",
            "home is highly loaded; the process pages most and the target serves its faults",
            "LMIP, memory locality",
        ),
    )
    averages = True
    index = INDEX
    parameters: Parameters

    @property
    def acts_every_ms(self) -> float | None:
        """The poll interval at which a process to migrate is sought [ms]; None: none migrates."""
        return self.parameters.period_ms if self.parameters.migration else None

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The paper's pseudo-code."""
        classes = self._classes(view)
        if classes[view.me] == IDLE:  # IF the local host is idle
            return self._stays(view, classes, "home is idle")
        idle = _next_other(view, classes, IDLE)
        if idle >= 0:  # ELSE IF there is idle nodes: the next one, or all would run to the first
            return self._goes(task, idle, view, classes, TO_IDLE)
        if classes[view.me] != HIGH or _next_other(view, classes, LOW) < 0:  # ELSE IF local high AND low nodes
            return self._stays(view, classes, "neither an idle node, nor home high and another one low")
        selected = _nearest_to_memory(view, classes)
        if classes[selected] == HIGH:
            return self._stays(view, classes, "the node nearest to its memory is highly loaded")
        return self._goes(task, selected, view, classes, "N_sel")

    def in_trouble(self, loads: Table) -> Flags:
        """Highly loaded nodes."""
        of_nodes = loads["cpu_percent"], loads["mean_queue"], loads["memory_percent"]
        return np.asarray(load_classes(*of_nodes, self._thresholds) == HIGH)

    def relieve(self, view: View) -> Decision | None:
        """From a highly loaded node, while there are low ones, the process with most page faults goes to N_sel."""
        classes = self._classes(view)
        if classes[view.me] != HIGH or _next_other(view, classes, LOW) < 0:
            return None
        tasks = view.candidate_rows
        rested = (tasks["migrations"] == 0) | (tasks["here_ms"] >= self.parameters.pause_ms)
        pagers = np.flatnonzero(tasks["running"] & rested & (tasks["page_faults"] > 0))
        if not len(pagers):
            return None
        selected = _nearest_to_memory(view, classes)
        if classes[selected] == HIGH:
            return None
        task = view.candidate(int(pagers[tasks["page_faults"][pagers].argmax()]))
        return self._goes(task, selected, view, classes, "memory locality", task)

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """High priority for lightly loaded nodes, as the paper has it: the least class, in it fewest tasks."""
        classes = self._classes(view)
        candidates = [node for node in range(view.nodes) if node not in view.refused]
        tasks_on = view.column("tasks", task)
        lightest = classes == classes[candidates].min()
        target = view.least_of(np.where(lightest, tasks_on, np.inf))
        return Decision(target, "recovery", INDEX, load_there=float(classes[target]))

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """The asked node refuses what it was chosen for when it is that no more by its own averages."""
        me = view.me
        mine = load_class(
            view.load("cpu_percent", me), view.load("mean_queue", me), view.load("memory_percent", me), self._thresholds
        )
        if decision.rule == TO_IDLE:
            return "" if mine == IDLE else "not idle any more"
        return "" if mine < HIGH else "highly loaded by now"

    # ---- its parts ---------------------------------------------------------------------------------------------

    def _classes(self, view: View) -> Integers:
        """Load class of every node, shape (nodes,)."""
        return load_classes(
            view.column("cpu_percent"), view.column("mean_queue"), view.column("memory_percent"), self._thresholds
        )

    @property
    def _thresholds(self) -> ClassThresholds:
        by = self.parameters
        return class_thresholds(
            by.idle_cpu_percent, by.low_cpu_percent, by.high_cpu_percent, by.low_memory_percent,
            by.high_memory_percent, by.low_queue, by.high_queue, by.full_memory_percent,
        )  # fmt: skip

    def _stays(self, view: View, classes: Integers, reason: str) -> Decision:
        return Decision(view.me, "placement", INDEX, load_here=float(classes[view.me]), reason=reason)

    def _goes(
        self, task: ArrivingTask, target: int, view: View, classes: Integers, rule: str, leaves: Candidate | None = None
    ) -> Decision:
        return Decision(
            int(target), rule, INDEX, load_here=float(classes[view.me]), load_there=float(classes[target]),
            cost_ms=view.cost_ms(task, int(target)), task=leaves,
        )  # fmt: skip


def _next_other(view: View, classes: Integers, wanted: int) -> int:
    """The next node of a class after the own one, cyclically, that has not refused; -1: there is none."""
    for step in range(1, view.nodes):
        node = (view.me + step) % view.nodes
        if classes[node] == wanted and node not in view.refused:
            return node
    return -1


def _nearest_to_memory(view: View, classes: Integers) -> int:
    """N_sel: the node that serves most of the own node's page faults; while no node serves any, the low node with most
    free memory, one of which there has to be."""
    held_mb, free_mb = view.overflow_held_mb, view.loads["free_mb"]
    serving, low = -1, -1
    for step in range(1, view.nodes):
        node = (view.me + step) % view.nodes
        if node in view.refused:
            continue
        if held_mb[node] > 0.0 and (serving < 0 or held_mb[node] > held_mb[serving]):
            serving = node
        if classes[node] == LOW and (low < 0 or free_mb[node] > free_mb[low]):
            low = node
    return serving if serving >= 0 else low


class QueueLength(Greedy, CpuIndex):
    """The shortest CPU queue as it is, home on a tie; nothing else counts.

    The queue is the one of this moment, not an average: LMIP averages its own metric only, and has the rival see what
    is on the queue "when collecting information".
    """

    name = "queue-length"
    source = "LMIP, Results and discussion (traditional)"
    summary = "every task to the node with the shortest CPU queue, home on a tie"
