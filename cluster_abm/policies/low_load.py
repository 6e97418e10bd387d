"""Low-load location: one of the lightly loaded nodes, drawn at random, in place of the least loaded one."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View
from cluster_abm.scenario.distributions import Positive


class LowLoad(Policy):
    """From a home at or above a threshold an arriving task goes to a node below it: drawn at random, or the first one.

    LMIP describes it after Shirazi, Hurson and Kavi as the alternative to "minimum load": "Select the first node whose
    load is below some threshold value". Several heavily loaded nodes may then send their tasks to the same node: "A
    simple solution is to randomly select one of the lightly loaded nodes". The same threshold serves as transfer
    policy, as the text says. No cost is asked.
    """

    class Parameters(Policy.Parameters):
        """What is compared, with what, and which of the light nodes is taken. LMIP names no index and no value."""

        load_index: Literal["tasks", "cpu_queue", "queue", "queue_paging", "effective_tasks", "io_load"] = Field(
            "tasks", description="load index that is compared with the threshold"
        )
        threshold: Positive = Field(2.0, description="load below which a node is lightly loaded [of the index]")
        choice: Literal["random", "first"] = Field(
            "random",
            description="which of the lightly loaded nodes: one at random, or the first after home, cyclically",
        )

    name = "low-load"
    source = "LMIP, Related work (Shirazi, low load)"
    summary = "from a home at or above a threshold to a node below it, drawn at random"
    rules = (("low load", "home is not below the threshold and the target is"),)

    parameters: Parameters

    @property
    def counts_effective_tasks(self) -> bool:
        """Where it compares them."""
        return super().counts_effective_tasks or self.parameters.load_index == "effective_tasks"

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """To a node below the threshold, if home is not below it."""
        index, threshold = self.parameters.load_index, self.parameters.threshold
        column = view.column(index)
        here = float(column[view.me])
        if here < threshold:
            return Decision(view.me, "low load", index, load_here=here, reason="home is lightly loaded")
        light = np.flatnonzero((column < threshold) & view.is_open)
        if not len(light):
            return Decision(view.me, "low load", index, load_here=here, reason="no other node is lightly loaded")
        if self.parameters.choice == "random":
            # A number for each time that the task is placed: nodes may refuse.
            target = int(light[int(view.uniform(task.task, len(view.refused)) * len(light))])
        else:
            after_home = light[light > view.me]
            target = int(after_home[0]) if len(after_home) else int(light[0])
        return Decision(target, "low load", index, load_here=here, load_there=float(column[target]))

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Refuses if it is not lightly loaded any more."""
        here = view.load(self.parameters.load_index, view.me)
        return "" if here < self.parameters.threshold else "not lightly loaded any more"
