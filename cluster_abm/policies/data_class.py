"""Data access designates a node, and load classes decide in its cluster: both of LMIP's algorithms together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from pydantic import StrictBool

from cluster_abm.formulas.load_class import HIGH, IDLE, LOW
from cluster_abm.policies.data_access import ALIKE, DataAccess
from cluster_abm.policies.load_class import TO_IDLE, LoadClass
from cluster_abm.policy.base import Decision
from cluster_abm.policy.view import ArrivingTask, View

Nodes = npt.NDArray[np.int64]
DATA_ACCESS = DataAccess()


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
        if view.data is None or not task.files:
            return super().place(task, view)
        local = DATA_ACCESS.place(task, view).target  # "Corresponding node is chosen"
        classes = self._classes(view.comparable())
        others = self._others_of(local, view)
        idle, low = others[classes[others] == IDLE], others[classes[others] == LOW]
        if classes[local] == IDLE:  # IF the local host is idle
            return self._goes(task, local, view, classes, "least T, idle")
        if len(idle):  # ELSE IF there is idle nodes: the one of them that is nearest to the files
            return self._goes(task, _nearest_to_files(idle, task, view), view, classes, TO_IDLE)
        if classes[local] == HIGH and len(low):  # ELSE IF local high AND low nodes
            selected = _nearest_to_memory(local, others, low, view)
            if classes[selected] != HIGH:
                return self._goes(task, selected, view, classes, "N_sel")
        return self._goes(task, local, view, classes, "least T")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """As `load-class`; but a node that was designated although it was highly loaded takes the task."""
        if decision.rule == "least T" and decision.load_there == HIGH:
            return ""
        return super().accept(task, decision, view)

    def _others_of(self, local: int, view: View) -> Nodes:
        """The other nodes among which the classes choose: the next ones after the local host, cyclically, those that
        have not refused."""
        assert view.data is not None
        order = np.roll(np.arange(view.nodes), -local)[1:]
        cluster_of = view.data.cluster_of
        near = self.parameters.across_clusters | (cluster_of[order] == cluster_of[local])
        return order[near & view.is_open[order]]


def _nearest_to_files(nodes: Nodes, task: ArrivingTask, view: View) -> int:
    """The one of least T; the first of those alike."""
    assert view.data is not None
    times_ms = view.data.access_ms(task.files)[nodes]
    return int(nodes[np.argmax(times_ms <= times_ms.min() * (1.0 + ALIKE))])


def _nearest_to_memory(local: int, others: Nodes, low: Nodes, view: View) -> int:
    """N_sel: the node that serves most of the local host's page faults, which only its own load manager knows; else the
    low node with most free memory."""
    if local == view.me and view.overflow_held_mb[others].max() > 0:
        return int(others[view.overflow_held_mb[others].argmax()])
    return int(low[view.loads["free_mb"][low].argmax()])
