"""Mesa's DataCollector of a run: reporters of the model, and of nodes what the run has measured already."""

from __future__ import annotations

from typing import Any

import mesa
import numpy as np
import pandas as pd

from cluster_abm.arrays import Floats
from cluster_abm.clock import NS_PER_MS
from cluster_abm.formulas import load_imbalance_factors
from cluster_abm.model.observing.measurements import Measurements
from cluster_abm.results.metrics import total_ns

# Reporters of nodes that are read from the measurements of a run, by name: Node has properties of these names.
OF_NODES = ("tasks", "load")


class RunCollector(mesa.DataCollector):
    """The DataCollector that a run has by default; put one of your own in `model.datacollector` for more.

    `get_model_vars_dataframe()` has a row a measurement, `get_agenttype_vars_dataframe(Node)` a row a node and
    measurement. The run measures all nodes together anyway: no node is asked again.

    Args:
        nodes: the nodes' agents.
        measurements: of the run.
        slice_ns: length of a slice [ns].
    """

    def __init__(self, nodes: list[Any], measurements: Measurements, slice_ns: int) -> None:
        self._node_class = type(nodes[0])
        super().__init__(
            model_reporters={
                "now_ms": lambda model: model.now_ms,
                "live_tasks": lambda model: model.engine.live,
                "finished_tasks": lambda model: model.engine.finished,
                "cpu_utilisation": lambda model: _utilisation(model, 0),
                "disk_utilisation": lambda model: _utilisation(model, 1),
                "load_imbalance_factor_ms": load_imbalance_factor_ms,
            },
            agenttype_reporters={self._node_class: {name: name for name in OF_NODES}},
        )
        self._ids = np.array([node.unique_id for node in nodes])
        self._measurements, self._slice_ns = measurements, slice_ns
        # By step, where `collect` was called between two measurements.
        self._between: dict[int, tuple[Floats, Floats]] = {}

    def _record_agenttype(self, model: Any, agent_type: type) -> Any:
        """Mesa's records of a type of agents; of nodes none, unless they are collected between two measurements."""
        if not self._is_measured(agent_type):
            return super()._record_agenttype(model, agent_type)
        if not self._measurements.is_newest_true:
            loads = self._measurements.loads()
            self._between[model.steps] = loads["tasks"].copy(), total_load_ms(loads)
        return ()

    def get_agenttype_vars_dataframe(self, agent_type: type) -> pd.DataFrame:
        """Mesa's table of a type of agents, by Step and AgentID; for nodes `tasks` and `load` at each measurement.

        Args:
            agent_type: Node, or the model's `node_class`, which give the same; or a type with reporters of a user's.
        """
        if not self._is_measured(agent_type):
            return super().get_agenttype_vars_dataframe(agent_type)
        columns = ("time_ms", "tasks", "load_cpu_ms", "load_page_ms", "load_io_ms")
        measured = self._measurements.frame(columns)
        step = np.rint(measured["time_ms"].to_numpy() * (NS_PER_MS / self._slice_ns)).astype(np.int64)
        load = total_load_ms(measured.rename(columns=lambda name: name.removeprefix("load_")))
        pieces = [(step, measured["tasks"].to_numpy(), load.to_numpy())]
        known, nodes = set(step.tolist()), len(self._ids)
        pieces += [(np.full(nodes, at), *row) for at, row in self._between.items() if at not in known]
        step, tasks, load = (np.concatenate(columns) for columns in zip(*pieces, strict=True))
        order = np.argsort(step, kind="stable")
        index = pd.MultiIndex.from_arrays([step[order], np.tile(self._ids, len(step) // nodes)])
        return pd.DataFrame(
            {"tasks": tasks[order], "load": load[order]}, index=index.set_names(["Step", "AgentID"]), dtype=np.float64
        )

    def _is_measured(self, agent_type: type) -> bool:
        """Whether all that is to be known of a type of agents is measured anyway."""
        of_nodes = self.agenttype_reporters.get(self._node_class, ())
        if agent_type is not self._node_class:
            # A class that the model's nodes inherit from, as Node; not what other agents inherit from, too.
            is_base = issubclass(self._node_class, agent_type) and getattr(agent_type, "turn", "") == "nodes"
            if not is_base or agent_type in self.agenttype_reporters:
                return False
        return tuple(of_nodes) == OF_NODES


def load_imbalance_factor_ms(model: Any) -> float:
    """LIF of the cluster of a ClusterModel now [ms]: IOLB (10)."""
    loads = model.parts.measurements.loads()
    return float(sum(load_imbalance_factors(loads["cpu_ms"], loads["page_ms"], loads["io_ms"])))


def total_load_ms(loads: Any) -> Any:
    """Processing ahead of a node, or of each: CPU, page faults and I/O, L_CPU + L_page + L_IO of IOLB [ms]."""
    return loads["cpu_ms"] + loads["page_ms"] + loads["io_ms"]


def _utilisation(model: Any, resource: int) -> float:
    each = model.parts.measurements.cores if resource == 0 else model.setup.cluster.nodes
    capacity_ns = max(1, model.now_ns * each)
    return total_ns(model.parts.measurements.busy_ns()[resource]) / float(capacity_ns)
