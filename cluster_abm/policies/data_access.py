"""LMIP's initial placement by where a job's files are, its conventional rival, and its union with load classes."""

from __future__ import annotations

import numpy as np
from pydantic import Field, StrictBool

from cluster_abm.arrays import Flags, Integers
from cluster_abm.formulas.load_class import HIGH, IDLE, LOW
from cluster_abm.policies.load_class import TO_IDLE, LoadClass
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, Loads, View
from cluster_abm.scenario.distributions import NonNegative

# Sums of the same times in another order differ in their last bits.
ALIKE = 1e-12


class DataAccess(Policy):
    """LMIP's initial placement: T = T_WC + T_BC for every cluster, the job to the node that attains the least.

    T_WC sums, over the job's files that the cluster holds, the least time to transfer the file from a holder inside of
    it; T_BC, over the files that it does not hold, the least time from a cluster that does. A transfer takes size over
    bandwidth and the latency of the path (settled).

    Every node of a cluster is looked at, since a file costs nothing where it lies. Among equals the node with fewest
    tasks, home, then the next one after it. A job that needs no files joins the shortest queue by this rule.
    """

    class Parameters(Policy.Parameters):
        """Whether load counts."""

        load_weight_ms: NonNegative = Field(
            0.0, description="what each task already on a node adds to its T [ms]; 0: the paper's, blind to load"
        )

    name = "data-access"
    source = "LMIP, Initial job placement based on data access patterns"
    summary = "each task to the node where fetching its files takes least time, T_WC + T_BC"
    rules = (("least T", "fetching its files takes least time there", "LMIP, T = T_WC + T_BC"),)

    parameters: Parameters

    def costs_ms(self, task: ArrivingTask, view: View) -> Loads:
        """T of the arriving task on each node, and what the load there adds, shape (nodes,) [ms]."""
        fetch_ms = np.zeros(view.nodes) if view.data is None else view.data.access_ms(task.files)
        return fetch_ms + self.parameters.load_weight_ms * view.column("tasks", task)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The node of least T among those that have not refused."""
        costs_ms = self.costs_ms(task, view)
        target = _cheapest(costs_ms, task, view)
        return Decision(
            target, "least T", "data_access_ms", load_here=float(costs_ms[view.me]), load_there=float(costs_ms[target])
        )

    def load_of(self, task: ArrivingTask, view: View, node: int) -> float:
        """T on a node, and what the load there adds: an entry of `costs_ms` [ms]."""
        fetch_ms = 0.0 if view.data is None else view.data.access_ms_on(task.files, node)
        return fetch_ms + self.parameters.load_weight_ms * view.load("tasks", node, task)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Refuses if, by the load that is true here, home would have been cheaper."""
        if self.load_of(task, view, view.me) > decision.load_here:
            return "dearer than home by now"
        return ""


class DataMajority(Policy):
    """The cluster that holds most of the job's data, and in it the node that holds most.

    What the rest costs is not asked. Among equals the node with fewest tasks, home, then the next one after it. A job
    that needs no files joins the shortest queue by this rule.
    """

    name = "data-majority"
    source = "LMIP, the conventional scheduling algorithm it is compared with"
    summary = "each task to the cluster that holds most of its data, and there to the node that does"
    rules = (("most data", "the target holds most of its data"),)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Most MB in the cluster, then on the node, among the nodes that have not refused."""
        on_node_mb, in_cluster_mb = np.zeros(view.nodes), np.zeros(view.nodes)
        if view.data is not None:
            on_node_mb, in_cluster_mb = view.data.held_mb(task.files)
        best = view.is_open
        for held_mb in (in_cluster_mb, on_node_mb):
            best &= held_mb == held_mb[best].max()
        target = view.least_of(np.where(best, view.column("tasks", task), np.inf))
        return Decision(target, "most data", "held_mb")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept: data does not move away."""
        return ""


class DataClass(LoadClass):
    """LMIP's conclusion: "the combination of the proposed initial job placement algorithm and the proposed load
    balancing algorithm".

    The first "designates a node for a job": the node of least T = T_WC + T_BC, as `data-access` finds it. The second
    decides whether "a newly arriving process should be run locally or on some other node": the designated node is the
    local host of its pseudo-code, and the other nodes are those of the "concerned cluster", the one of least T.
    Running processes migrate as those of `load-class` do, and so is a task placed whose job needs no files.
    """

    class Parameters(LoadClass.Parameters):
        """Those of `load-class`, and how far from its files a task may start."""

        across_clusters: StrictBool = False
        """whether nodes of other clusters than that of least T count among the other nodes, too"""

    name = "data-class"
    source = "LMIP, Conclusion: the initial job placement and the load balancing algorithm together"
    summary = "each task to the node of least T, T_WC + T_BC; unless that is idle, load classes decide in its cluster"
    rules = (
        ("least T", "fetching its files takes least time there", "LMIP, T = T_WC + T_BC"),
        ("least T, idle", "fetching its files takes least time there, and the target is idle", "LMIP, T = T_WC + T_BC"),
    )
    parameters: Parameters

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """T_Q = min(S_T), and then the pseudo-code of the load balancing algorithm."""
        if view.data is None:
            return super().place(task, view)
        if len(task.files) == 0:
            return super().place(task, view)
        access_ms = view.data.access_ms(task.files)
        local = _cheapest(access_ms, task, view)  # "Corresponding node is chosen"
        classes = self._classes(view)
        others = self._others_of(local, view)
        if classes[local] == IDLE:  # IF the local host is idle
            return self._goes(task, local, view, classes, "least T, idle")
        idle = _nearest_to_files(local, others & (classes == IDLE), access_ms, view)
        if idle >= 0:  # ELSE IF there is idle nodes: the one of them that is nearest to the files
            return self._goes(task, idle, view, classes, TO_IDLE)
        if classes[local] == HIGH:  # ELSE IF local high AND low nodes
            selected = _nearest_to_memory_of(local, others, classes, view)
            if selected >= 0 and classes[selected] != HIGH:
                return self._goes(task, selected, view, classes, "N_sel")
        return self._goes(task, local, view, classes, "least T")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """As `load-class`; but a node that was designated although it was highly loaded takes the task."""
        if decision.rule == "least T" and decision.load_there == HIGH:
            return ""
        return super().accept(task, decision, view)

    def _others_of(self, local: int, view: View) -> Flags:
        """The other nodes among which the classes choose: those that have not refused, shape (nodes,)."""
        assert view.data is not None
        others, cluster_of = view.is_open, view.data.cluster_of
        others[local] = False
        if not self.parameters.across_clusters:
            for node in range(view.nodes):
                if cluster_of[node] != cluster_of[local]:
                    others[node] = False
        return others


def _cheapest(costs_ms: Loads, task: ArrivingTask, view: View) -> int:
    """The node of least cost that has not refused; of those alike the one with fewest tasks."""
    open_ms = view.open_entries(costs_ms)
    alike = open_ms <= open_ms.min() * (1.0 + ALIKE)
    return view.least_of(np.where(alike, view.column("tasks", task), np.inf))


def _nearest_to_files(local: int, nodes: Flags, access_ms: Loads, view: View) -> int:
    """Of some nodes the one of least T; of those alike the next one after the local host, cyclically; -1: there is
    none."""
    least_ms = np.where(nodes, access_ms, np.inf).min()
    for step in range(1, view.nodes):
        node = (local + step) % view.nodes
        if nodes[node] and access_ms[node] <= least_ms * (1.0 + ALIKE):
            return node
    return -1


def _nearest_to_memory_of(local: int, others: Flags, classes: Integers, view: View) -> int:
    """N_sel of other nodes: the one that serves most of the local host's page faults, which only its own load manager
    knows; else the low node with most free memory; -1: none is low."""
    held_mb, free_mb = view.overflow_held_mb, view.loads["free_mb"]
    serving, low = -1, -1
    for step in range(1, view.nodes):
        node = (local + step) % view.nodes
        if not others[node]:
            continue
        if held_mb[node] > 0.0 and (serving < 0 or held_mb[node] > held_mb[serving]):
            serving = node
        if classes[node] == LOW and (low < 0 or free_mb[node] > free_mb[low]):
            low = node
    return serving if low >= 0 and serving >= 0 and local == view.me else low
