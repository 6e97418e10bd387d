"""Memory-centric load sharing that moves the oldest job among those with an age of at least their migration cost."""

from __future__ import annotations

from typing import Literal

import numpy as np

from cluster_abm.formulas import migration_ms
from cluster_abm.policies.memory_centric import MemoryCentric
from cluster_abm.policy.view import Loads, Table, View, written_mb_of


class Age(MemoryCentric):
    """`age`: an old job is expected to live long (Harchol-Balter and Downey), so the oldest one moves.

    The loop of every machine is the one above; the age of a job is the CPU that it has received [ms].
    "With a migration cost estimation": a job is eligible once it has executed as long as its migration would take.
    """

    class Parameters(MemoryCentric.Parameters):
        """Besides the loop's."""

        which: Literal["oldest", "youngest"] = "oldest"
        """which job is identified; the youngest without a cost estimation"""

    parameters: Parameters
    name = "age"
    source = "MCLS, sections 4.2 (3) and 6.1"
    summary = "a machine that pages migrates the oldest job, once its age has reached its migration cost"

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """Return the job of highest Age among those with an age of at least their cost; or the one of lowest Age."""
        age_ms = tasks["age_ms"]
        if self.parameters.which == "youngest":
            return int(age_ms.argmin())
        # Whichever job goes, its target is the machine with most room.
        node = self._roomiest(view)
        if node is None:
            return None
        cost_ms = migration_ms(
            view.fixed_ms(node)[1], tasks["memory_mb"], tasks["initial_data_mb"] + written_mb_of(tasks),
            view.network_mb_per_s(node), view.disk_mb_per_s(view.me), view.disk_mb_per_s(node),
        )  # fmt: skip
        pays = age_ms >= cost_ms
        return int(np.where(pays, age_ms, -1.0).argmax()) if pays.any() else None
