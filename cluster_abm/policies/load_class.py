"""LMIP's load classes (idle, low, normal or high by CPU, queue and memory of the last seconds), and their rival."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field, StrictBool, model_validator

from cluster_abm.formulas import ClassThresholds, load_class
from cluster_abm.formulas.load_class import HIGH, IDLE, LOW
from cluster_abm.jit import allocating_kernel
from cluster_abm.policy.base import Decision, Flags, Policy
from cluster_abm.policy.kinds import Migrating
from cluster_abm.policy.parts.indices import CpuIndex, Greedy
from cluster_abm.policy.view import ArrivingTask, Candidate, Table, View
from cluster_abm.scenario.distributions import NonNegative, Positive

Classes = npt.NDArray[np.int64]
DEFAULT = ClassThresholds()
INDEX = "load class"
# The rule by which the asked node was chosen: it answers by the same.
TO_IDLE = "an idle node"


@allocating_kernel
def classes_of(loads: Table, thresholds: ClassThresholds) -> Classes:
    """Load class of every node, shape (nodes,)."""
    found = np.empty(loads.shape[0], np.int64)
    for node in range(loads.shape[0]):
        load = loads[node]
        found[node] = load_class(load.cpu_percent, load.mean_queue, load.memory_percent, thresholds)
    return found


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
        classes = self._classes(view.comparable())
        if classes[view.me] == IDLE:  # IF the local host is idle
            return self._stays(view, classes, "home is idle")
        idle = _others(view, classes == IDLE)
        if len(idle):  # ELSE IF there is idle nodes: the next one, or all would run to the first
            return self._goes(task, idle[0], view, classes, TO_IDLE)
        if classes[view.me] != HIGH or not len(_others(view, classes == LOW)):  # ELSE IF local high AND low nodes
            return self._stays(view, classes, "neither an idle node, nor home high and another one low")
        selected = self._selected(view, classes)
        if selected is None:
            return self._stays(view, classes, "the node nearest to its memory is highly loaded")
        return self._goes(task, selected, view, classes, "N_sel")

    def in_trouble(self, loads: Table) -> Flags:
        """Highly loaded nodes."""
        return np.asarray(self._classes(loads) == HIGH)

    def relieve(self, view: View) -> Decision | None:
        """From a highly loaded node, while there are low ones, the process with most page faults goes to N_sel."""
        classes = self._classes(view.comparable())
        if classes[view.me] != HIGH or not len(_others(view, classes == LOW)):
            return None
        tasks = view.candidate_rows
        rested = (tasks["migrations"] == 0) | (tasks["here_ms"] >= self.parameters.pause_ms)
        pagers = np.flatnonzero(tasks["running"] & rested & (tasks["page_faults"] > 0))
        selected = self._selected(view, classes) if len(pagers) else None
        if selected is None:
            return None
        task = view.candidate(int(pagers[tasks["page_faults"][pagers].argmax()]))
        return self._goes(task, selected, view, classes, "memory locality", task)

    def recover(self, task: ArrivingTask, view: View) -> Decision:
        """High priority for lightly loaded nodes, as the paper has it: the least class, in it fewest tasks."""
        classes = self._classes(view.comparable(task))
        candidates = [node for node in range(view.nodes) if node not in view.refused]
        tasks_on = view.column("tasks", task)
        lightest = classes == classes[candidates].min()
        target = view.least_of(np.where(lightest, tasks_on, np.inf))
        return Decision(target, "recovery", INDEX, load_there=float(classes[target]))

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """The asked node refuses what it was chosen for when it is that no more by its own averages."""
        mine = self._classes(view.comparable()[view.me : view.me + 1])[0]
        if decision.rule == TO_IDLE:
            return "" if mine == IDLE else "not idle any more"
        return "" if mine < HIGH else "highly loaded by now"

    # ---- its parts ---------------------------------------------------------------------------------------------

    def _classes(self, loads: Table) -> Classes:
        return np.asarray(classes_of(loads, self._thresholds))

    @property
    def _thresholds(self) -> ClassThresholds:
        return ClassThresholds(*(getattr(self.parameters, name) for name in ClassThresholds._fields))

    def _selected(self, view: View, classes: Classes) -> int | None:
        """Return N_sel: the node that serves most of the own node's page faults; while no node serves any, the low node
        with most free memory. None if it is highly loaded itself."""
        held_mb = view.overflow_held_mb
        serving = _others(view, held_mb > 0)
        if len(serving):
            selected = int(serving[held_mb[serving].argmax()])
        else:
            low = _others(view, classes == LOW)
            selected = int(low[view.loads["free_mb"][low].argmax()])
        return None if classes[selected] == HIGH else selected

    def _stays(self, view: View, classes: Classes, reason: str) -> Decision:
        here = float(classes[view.me])
        return Decision(view.me, "placement", INDEX, load_here=here, reason=reason)

    def _goes(
        self, task: ArrivingTask, target: int, view: View, classes: Classes, rule: str, leaves: Candidate | None = None
    ) -> Decision:
        return Decision(
            int(target), rule, INDEX, load_here=float(classes[view.me]), load_there=float(classes[target]),
            cost_ms=view.cost_ms(task, int(target)), task=leaves,
        )  # fmt: skip


def _others(view: View, chosen: Flags) -> npt.NDArray[np.int64]:
    """The nodes that are wanted, from the next one after the own on, cyclically; not those that have refused."""
    order = np.roll(np.arange(view.nodes), -view.next_node)[:-1]
    found = order[chosen[order]]
    return found[~np.isin(found, list(view.refused))] if view.refused else found


class QueueLength(Greedy, CpuIndex):
    """The shortest CPU queue as it is, home on a tie; nothing else counts.

    The queue is the one of this moment, not an average: LMIP averages its own metric only, and has the rival see what
    is on the queue "when collecting information".
    """

    name = "queue-length"
    source = "LMIP, Results and discussion (traditional)"
    summary = "every task to the node with the shortest CPU queue, home on a tie"
