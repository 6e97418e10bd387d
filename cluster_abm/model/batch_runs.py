"""What Mesa's `batch_run` reads of a run: a row for each step that it asks for, and the last one as the run ended.

Mesa 3.3 takes the n-th collected row for the n-th step, 3.4 the row before the last one; a run is measured more seldom
than once a slice.
"""

from __future__ import annotations

import sys
import time
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import mesa

from cluster_abm.clock import NS_PER_MS

CALLER = "mesa.batchrunner"
# How long a run may go on for its end to be known [s of wall time].
MOST_S = 5.0


class BatchRows:
    """The rows of a DataCollector by Mesa's steps, which count from 0: with the names by which Mesa asks for them.

    Args:
        collector: a mesa.DataCollector.
        steps: after how many steps each of its rows was collected.

    Attributes:
        model_vars: rows of each model reporter.
        agent_reporters, agenttype_reporters: as the DataCollector has them.
    """

    def __init__(self, collector: Any, steps: Sequence[int]) -> None:
        # After its first step a model's `steps` are 1; Mesa calls that step 0.
        self._collection_steps = [step - 1 for step in steps]
        self.model_vars = {name: self._rows(rows) for name, rows in collector.model_vars.items()}
        self.agent_reporters = collector.agent_reporters
        self.agenttype_reporters = collector.agenttype_reporters
        self._agent_records = {step - 1: records for step, records in collector._agent_records.items()}
        self._agenttype_records = {step - 1: records for step, records in collector._agenttype_records.items()}

    def _rows(self, rows: Sequence[Any]) -> Sequence[Any]:
        # A model of one's own may have collected at times of its own before: of the last rows the steps are known.
        steps = self._collection_steps[-len(rows) :] if rows else []
        kept = rows[len(rows) - len(steps) :]
        # Since 3.4.1 Mesa looks for the row itself.
        return kept if hasattr(mesa.DataCollector(), "_collection_steps") else ByStep(kept, steps)


class ByStep(Sequence[Any]):
    """Rows by the step in which they were collected: of a step without a row the newest one before it."""

    def __init__(self, rows: Sequence[Any], steps: Sequence[int]) -> None:
        self._rows, self._steps = rows, steps

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, step: Any) -> Any:
        return self._rows[max(0, bisect_right(self._steps, step) - 1)]


def asked_by_mesa() -> bool:
    """Whether what called the caller is Mesa's `batch_run`, which has no other sign of itself."""
    return sys._getframe(2).f_globals.get("__name__") == CALLER


def warn_of_cut(model: Any, now_ns: int, may_go_on: bool) -> None:
    """Say that Mesa's `max_steps` has ended a run before its end, and what to give instead.

    Args:
        model: the run, a ClusterModel; where only going on says when it ends, it goes on.
        now_ns: when it was ended [ns].
        may_go_on: whether that takes little time, and nothing of a user's happens in it.
    """
    end_ns = model.end_ns
    if end_ns is None and may_go_on:
        limit_s = time.monotonic() + MOST_S
        # A fault beyond that point is reported when it is reached.
        with suppress(Exception):
            while model.running and time.monotonic() < limit_s:
                model.run(until_ms=2 * model.now_ns / NS_PER_MS + 1000.0)
        if not model.running:
            end_ns = model.now_ns
    if end_ns is not None:
        words = f"of {_seconds(end_ns)}; give max_steps={-(-end_ns // model.slice_ns)}"
    else:
        words = (
            f"and it takes more than {_seconds(model.now_ns)}; give max_steps={2 * model.now_ns // model.slice_ns} "
            "or more"
        )
    warnings.warn(f"batch_run: max_steps ended a run at {_seconds(now_ns)} {words}", UserWarning, stacklevel=3)


def _seconds(time_ns: int) -> str:
    return f"{time_ns / NS_PER_MS / 1000:,.2f} s"
