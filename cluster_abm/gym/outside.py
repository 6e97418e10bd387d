"""Places arriving tasks where a caller outside the model says, and tells that caller what load managers know.

It is the compiled negotiation of any policy (model.deciding.compiled.arriving) whose policy is told the node.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.compiling.texts import number_of
from cluster_abm.gym.kernels import act, observe
from cluster_abm.jit import entry, native_address
from cluster_abm.model.deciding.compiled.arriving import place_arrivals
from cluster_abm.model.deciding.compiled.negotiation import AtFault, CompiledNegotiation, sample_arguments
from cluster_abm.model.deciding.in_python import Begun
from cluster_abm.model.waiting.queues import TaskArrivals
from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.parts.features import FEATURES, Numbers
from cluster_abm.policy.view import ArrivingTask, View

TOLD = "told"


class Outside(Policy):
    """Each arriving task to the node that its load manager has been told from outside.

    It has no name by which a scenario could call it.
    """

    source = "cluster_abm.gym"
    summary = "each task to the node that is decided outside the model"

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The node told; home if that one is believed to be down, or has not answered."""
        target = view.notes.get("told", view.me)
        if target in view.refused:
            return Decision(view.me, "from outside", reason="the node is down, or has not answered")
        return Decision(target, "from outside")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept: what is decided outside holds."""
        return ""


class OutsideNegotiation(CompiledNegotiation):
    """The compiled negotiation in two parts: what is known of some arriving tasks, and to place them as told."""

    def look_at(self, arrivals: TaskArrivals, stand_in: Integers, first: int, last: int, features: Numbers) -> None:
        """Let the nodes live until the slice of the `first`-th of the arrivals begins, and fill in what is known.

        Args:
            arrivals: the tasks, in the order of arrival.
            stand_in: the node that takes the arrivals of each node.
            first, last: from the `first`-th to the one before the `last`-th.
            features: filled, shape (at least last - first, nodes, features).
        """
        self.inputs.bring_up_to_date()
        nothing = np.zeros((3, 0), np.int64)

        def look(*arguments: Any) -> int:
            return int(self._observe(*arguments, features))

        while self.some(look, arrivals, nothing, stand_in, first, last, _no_fault) < last:
            # Reports have come in between.
            pass

    def place_as_told(
        self, arrivals: TaskArrivals, placed: Integers, stand_in: Integers, first: int, last: int, targets: Integers,
        at_fault: AtFault,
    ) -> None:  # fmt: skip
        """Place them, each on its node of `targets`, shape (tasks,); else as CompiledNegotiation.place."""
        self.inputs.bring_up_to_date()

        def place(*arguments: Any) -> int:
            return int(self._act(*arguments, targets, self._place_address, self._told))

        done = first
        while done < last:
            done = self.some(place, arrivals, placed, stand_in, done, last, at_fault)

    @cached_property
    def _told(self) -> int:
        return number_of(TOLD)

    @cached_property
    def _place_address(self) -> int:
        return native_address(place_arrivals, *sample_arguments(self.engine))

    @cached_property
    def _observe(self) -> Callable[..., int]:
        return entry(observe, *sample_arguments(self.engine), np.zeros((1, 1, len(FEATURES)), np.float32))

    @cached_property
    def _act(self) -> Callable[..., int]:
        return entry(act, *sample_arguments(self.engine), np.zeros(1, np.int64), 0, 0)


def _no_fault(entry: int, has_started: bool, begun: Begun) -> None:
    raise AssertionError("to look finds no fault")
