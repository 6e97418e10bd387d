"""Questions between load managers: how long they take, and which get no answer."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.streams import message_uniform
from cluster_abm.interconnect.units import whole_ns
from cluster_abm.model.availability import Availability
from cluster_abm.model.routing import LiveNetwork


class Questions:
    """The messages by which a load manager asks another one whether it takes a task, and is answered.

    Args:
        timeout_ms: an asker gives up after so long [ms].
        loss_share: share of the messages that get lost.
        message_key: key of the stream that decides which do.
        are_instant: whether questions take no time and none gets lost: mode `papers`.
    """

    def __init__(
        self,
        engine: EngineState,
        live: LiveNetwork,
        availability: Availability,
        timeout_ms: float,
        loss_share: float,
        message_key: int,
        are_instant: bool,
    ) -> None:
        self._engine, self._live, self._availability = engine, live, availability
        self._timeout_ns = whole_ns(timeout_ms)
        self._loss_share = 0.0 if are_instant else loss_share
        self._message_key = np.uint64(message_key)
        self._are_instant = are_instant
        # How many questions were asked about each live task so far, where they can get lost.
        self._asked: Counter[int] = Counter()
        self._records_read = 0

    def ask(self, asker: int, target: int, task: int) -> tuple[bool, int]:
        """Send a question about a task; whether it is answered, and how long the asker waits [ns]."""
        latency_ms = float(self._live.routes.paths_from(asker).latency_ms[target])
        if not self._availability.up[target] or latency_ms == math.inf or self._is_lost(task):
            return False, self._timeout_ns
        return True, 0 if self._are_instant else 2 * whole_ns(latency_ms)

    def forget_ended_tasks(self) -> None:
        """Drop the counts of tasks that have ended: no question about them will follow."""
        if not self._asked:
            return
        engine = self._engine
        for task in engine.records["task"][self._records_read : engine.finished].tolist():
            self._asked.pop(task, None)
        self._records_read = engine.finished

    def _is_lost(self, task: int) -> bool:
        """Whether the question about a task, or the answer to it, gets lost."""
        if self._loss_share == 0.0:
            return False
        first = 2 * self._asked[task]
        self._asked[task] += 1
        return any(message_uniform(self._message_key, task, first + message) < self._loss_share for message in range(2))
