"""What Mesa wants of a model beside its own: a clock that goes on, and agents that are there when asked for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import mesa

from cluster_abm.model.agents.job import Job
from cluster_abm.model.agents.register import JobRegister
from cluster_abm.model.batch_runs import BatchRows, asked_by_mesa, warn_of_cut
from cluster_abm.model.space import space_of


class MesaAdapter(mesa.Model):
    """The part of ClusterModel that keeps Mesa's clock and agents.

    Attributes:
        job_class: the class of jobs' agents.
        jobs_register: makes them when they are asked for.
    """

    job_class: type[Job]
    jobs_register: JobRegister
    _steps_after_end = 0
    _goes_slice_by_slice: bool
    _datacollector: Any
    _collected_at: list[int]
    _batch_rows: BatchRows | None = None

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

    @property
    def scenario(self) -> None:
        """Mesa's own scenario (3.5 and later): none. A reset of its page would give it in place of our keyword's."""
        return None

    @scenario.setter
    def scenario(self, _: Any) -> None:
        # Mesa makes one of each model.
        pass

    @property
    def datacollector(self) -> Any:
        """The DataCollector of the run; Mesa's `batch_run` sees its rows by the steps that it asks for."""
        if asked_by_mesa():
            if self._batch_rows is None:
                if not self._collected_at or self._collected_at[-1] != self.steps:
                    self._collect()
                self._batch_rows = BatchRows(self._datacollector, self._collected_at)
                run: Any = self
                if run.running:
                    warn_of_cut(run, run.now_ns, not self._goes_slice_by_slice)
            return self._batch_rows
        return self._datacollector

    @datacollector.setter
    def datacollector(self, collector: Any) -> None:
        self._datacollector, self._collected_at = collector, []

    def _collect(self) -> None:
        """Have the DataCollector take a row."""
        self._datacollector.collect(self)
        self._collected_at.append(self.steps)

    @cached_property
    def space(self) -> Any:
        """The nodes in a `mesa.discrete_space.Network` over the interconnect, for Mesa's own drawing.

        It is made when first asked for, with nothing failed. Its cells are numbered: nodes by their numbers, switches
        follow. A network of more than 124,750 links (complete: 500 nodes) is without them here.
        """
        run: Any = self
        return space_of(run.parts.live.whole, run.node_agents, self.random)

    @property
    def agents(self) -> Any:
        """All agents: nodes, load managers, and the jobs that have arrived and not ended."""
        self._keep_register()
        return super().agents

    @agents.setter
    def agents(self, agents: Any) -> None:
        mesa.Model.agents.fset(self, agents)

    @property
    def agents_by_type(self) -> Any:
        """Agents by class; `job_class` is there from the beginning, without an agent."""
        self._keep_register()
        by_type = super().agents_by_type
        if "jobs_register" in vars(self) and self.job_class not in by_type:
            by_type = {**by_type, self.job_class: mesa.agent.AgentSet([], random=self.random)}
        return by_type

    @property
    def agent_types(self) -> list[type]:
        """Classes of the agents there are."""
        self._keep_register()
        return super().agent_types

    def _keep_register(self) -> None:
        # Mesa asks for its agents before the model is complete.
        if "jobs_register" in vars(self):
            self.jobs_register.keep()
