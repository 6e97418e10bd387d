"""Memory-centric load sharing that moves the job most active in CPU, memory and I/O together."""

from __future__ import annotations

from typing import Literal

from cluster_abm.formulas import activity_weight
from cluster_abm.policies.memory_centric import MemoryCentric
from cluster_abm.policy.view import Loads, Table, View


class Combined(MemoryCentric):
    """`combined`: the CPU-memory-I/O-based index, Weight(d).

    The loop of every machine is the one above. The job d that is identified, and migrates, has the highest weight,
    MCLS (5): the mean of four activities, each over its maximum on the machine,

        Weight(d) = (Age(d)/max Age + R_p(d)/max R_p + WS(d)/max WS + N_io(d)/max N_io) / 4

    with the age [ms of CPU], the page fault rate, the working set [MB] and the accesses so far.
    """

    class Parameters(MemoryCentric.Parameters):
        """Besides the loop's."""

        which: Literal["highest", "lowest"] = "highest"
        """whether the job of highest or of lowest weight is identified"""

    parameters: Parameters
    name = "combined"
    source = "MCLS (5), sections 4.2 (4) and 6.1"
    summary = "a machine that pages migrates the job most active in CPU, memory and I/O"

    def identified(self, tasks: Table, fault_rates: Loads, view: View) -> int | None:
        """The job with the highest (lowest) Weight."""
        values = (tasks["age_ms"], fault_rates, tasks["memory_mb"], tasks["accesses"].astype(float))
        age, faults, memory, accesses = (float(column.max()) for column in values)
        weights = activity_weight(*values, (age, faults, memory, accesses))
        return int(weights.argmax() if self.parameters.which == "highest" else weights.argmin())
