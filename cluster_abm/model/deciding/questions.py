"""Questions between load managers: how long they take, and which get no answer."""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.clock import whole_ns
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.message_losses import MessageLosses
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.part import part


@part
class Questions:
    """The messages by which a load manager asks another one whether it takes a task, and is answered.

    Attributes:
        tasks: how many tasks there are.
        timeout_ms: how long an asker waits for an answer before it gives up [ms].
        losses: which of the messages get lost.
        are_instant: whether questions take no time and none gets lost: mode `papers`, or a central policy.
        loss_share: share of the messages that get lost.
        messages: how many messages were sent: a question and its answer are two, lost ones included.
        asked: how many questions were asked about each task so far; empty if none can get lost.
    """

    tasks: int
    live: LiveNetwork
    availability: Availability
    timeout_ms: float
    losses: MessageLosses
    are_instant: bool

    def __post_init__(self) -> None:
        self.timeout_ns = whole_ns(self.timeout_ms)
        self.messages = 0
        self.loss_share = 0.0 if self.are_instant else self.losses.share
        self.asked = np.zeros(self.tasks if self.loss_share else 0, np.int64)

    def ask(self, asker: int, target: int, task: int) -> tuple[bool, int]:
        """Send a question about a task; whether it is answered, and how long the asker waits [ns]."""
        self.messages += 2
        latency_ms = float(self.live.routes.paths_from(asker).latency_ms[target])
        if not self.availability.up[target] or latency_ms == math.inf or self._is_lost(task):
            return False, self.timeout_ns
        return True, 0 if self.are_instant else 2 * whole_ns(latency_ms)

    def _is_lost(self, task: int) -> bool:
        """Whether the question about a task, or the answer to it, gets lost."""
        if self.loss_share == 0.0:
            return False
        self.asked[task] += 1
        return self.losses.of_question(task, self.asked[task] - 1)
