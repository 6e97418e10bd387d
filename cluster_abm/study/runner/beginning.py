"""The first runs are carried out in this process: others are started if more is left than their start takes."""

from __future__ import annotations

import time
from threading import Timer

from cluster_abm.study.runner.executors import BatchExecutor
from cluster_abm.study.runner.groups import Pace
from cluster_abm.study.runner.one_run import HandedOver

# Work that is worth the start of other processes, which import and load compiled code for two seconds each [s].
WORTH_S = 5.0
# If it is not known after this time how long a run takes, runs are long [s].
PATIENCE_S = 2.0
# A run that has taken longer than this is given up here once another process can carry it out [s].
HANDED_OVER_AFTER_S = 1.0


class Beginning:
    """Decides when other processes are started, and when they take over; in a `with` block.

    Args:
        helpers: starts them.
        pace: of the runs that are over.
    """

    def __init__(self, helpers: BatchExecutor, pace: Pace) -> None:
        self._helpers, self._pace = helpers, pace
        # A thread: a run that never ends in this one does not stop others from being started.
        self._timer = Timer(PATIENCE_S, helpers.get_ready)
        self._timer.daemon = True
        self._begun_s = time.monotonic()

    def __enter__(self) -> Beginning:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def is_over(self, runs: int) -> bool:
        """Whether other processes can take over; starts them if the runs that are left are worth it.

        Args:
            runs: how many are left.
        """
        self._begun_s = time.monotonic()
        work_s = self._pace.work_s(runs)
        if work_s is not None:
            self._timer.cancel()
            if work_s > WORTH_S:
                self._helpers.get_ready()
        return self._helpers.is_ready

    def look(self) -> None:
        """Called while a run goes on. Raises HandedOver if it takes long, and another process can carry it out."""
        if self._helpers.is_ready and time.monotonic() - self._begun_s > HANDED_OVER_AFTER_S:
            raise HandedOver
