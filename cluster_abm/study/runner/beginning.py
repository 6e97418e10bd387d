"""The first runs are carried out in this process: others are started if more is left than their start takes."""

from __future__ import annotations

import time

from cluster_abm.study.runner.groups import Pace
from cluster_abm.study.runner.one_run import HandedOver

# Work that is worth the start of other processes, which import and load compiled code for two seconds each [s].
WORTH_S = 5.0
# A run that takes longer is given up here: runs are long, and other processes carry them out [s].
PATIENCE_S = 1.0


class Beginning:
    """Decides when other processes take over. Until then none is started: nothing goes on beside the runs.

    Args:
        pace: of the runs that are over.
    """

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._begun_s = time.monotonic()
        self._are_long = False

    def is_over(self, runs: int) -> bool:
        """Whether other processes carry out what is left.

        Args:
            runs: how many are left.
        """
        self._begun_s = time.monotonic()
        work_s = self._pace.work_s(runs)
        return self._are_long or (work_s is not None and work_s > WORTH_S)

    def look(self) -> None:
        """Called while a run goes on. Raises HandedOver if it takes long."""
        if time.monotonic() - self._begun_s > PATIENCE_S:
            self._are_long = True
            raise HandedOver
