"""Questions between load managers: how long they take, and which get no answer."""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.engine.streams import message_uniform
from cluster_abm.interconnect.units import whole_ns
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.moving.routing import LiveNetwork


class Questions:
    """The messages by which a load manager asks another one whether it takes a task, and is answered.

    Args:
        tasks: how many tasks there are.
        timeout_ms: an asker gives up after so long [ms].
        loss_share: share of the messages that get lost.
        message_key: key of the stream that decides which do.
        are_instant: whether questions take no time and none gets lost: mode `papers`.

    Attributes:
        messages: how many messages were sent: a question and its answer are two, lost ones included.
    """

    def __init__(
        self,
        tasks: int,
        live: LiveNetwork,
        availability: Availability,
        timeout_ms: float,
        loss_share: float,
        message_key: int,
        are_instant: bool,
    ) -> None:
        self._live, self._availability = live, availability
        self.timeout_ns = whole_ns(timeout_ms)
        self.loss_share = 0.0 if are_instant else loss_share
        self.message_key = np.uint64(message_key)
        self._are_instant = are_instant
        self.messages = 0
        # How many questions were asked about each task so far, where they can get lost.
        self.asked = np.zeros(tasks if self.loss_share else 0, np.int64)

    def ask(self, asker: int, target: int, task: int) -> tuple[bool, int]:
        """Send a question about a task; whether it is answered, and how long the asker waits [ns]."""
        self.messages += 2
        latency_ms = float(self._live.routes.paths_from(asker).latency_ms[target])
        if not self._availability.up[target] or latency_ms == math.inf or self._is_lost(task):
            return False, self.timeout_ns
        return True, 0 if self._are_instant else 2 * whole_ns(latency_ms)

    def _is_lost(self, task: int) -> bool:
        """Whether the question about a task, or the answer to it, gets lost."""
        if self.loss_share == 0.0:
            return False
        first = 2 * self.asked[task]
        self.asked[task] += 1
        return any(message_uniform(self.message_key, task, first + message) < self.loss_share for message in range(2))
