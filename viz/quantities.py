"""The quantities that the page shows in numbers: what each is called, what it is, and how it is read from a frame."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from cluster_abm.model import Frame
from cluster_abm.results.metrics import BY_NAME


class Quantity(NamedTuple):
    """One row of the table of numbers."""

    words: str  # what it is called
    tip: str  # what it is, in a sentence or two
    read: Callable[[Frame], float]  # its value in a frame
    unit: str = ""  # of the value, as it is written behind it


SLOWDOWN = f"{BY_NAME['mean_slowdown'].words.capitalize()} of the jobs that have finished so far; 1 is as if alone."
BUSY = "Share of the time since the last frame in which CPUs ran tasks, and in which disks had a request in service."
IMBALANCE = (
    "The cluster's load imbalance factor (IOLB 10): of CPU, paging and I/O each its share of all load times the sum "
    "over nodes of how far each is from the mean; 0 is even."
)

QUANTITIES = (
    Quantity("mean slowdown", SLOWDOWN, lambda frame: frame.mean_slowdown),
    Quantity("CPU busy now", "Share of all cores' time since the last frame in which they ran tasks.",
             lambda frame: 100 * frame.cpu_utilisation, " %"),
    Quantity("disk busy now", "Share of all disks' time since the last frame in which a request was in service.",
             lambda frame: 100 * frame.disk_utilisation, " %"),
    Quantity("load imbalance", IMBALANCE, lambda frame: frame.lif_ms / 1000, " s"),
    Quantity("jobs submitted", "Jobs that have come so far.", lambda frame: frame.jobs["submitted"]),
    Quantity("jobs running now", "Jobs that have come and not ended, those that wait for their start included.",
             lambda frame: frame.jobs["running"] + frame.jobs["blocked"]),
    Quantity("jobs finished", "Jobs of which all tasks have ended.", lambda frame: frame.jobs["finished"]),
    Quantity("killed, lost", "Jobs killed for want of memory, and jobs lost with their node.",
             lambda frame: frame.jobs["killed"] + frame.jobs["lost"]),
    Quantity("started elsewhere", "Remote executions: tasks that began on another node than their home.",
             lambda frame: frame.totals["remote_executions"]),
    Quantity("migrations", "Running tasks that were frozen, sent to another node, and went on there.",
             lambda frame: frame.totals["migrations"]),
    Quantity("refused offers", "Offers of a task that the node that was asked has refused.",
             lambda frame: frame.totals["refused_offers"]),
    Quantity("page faults", "Requests to a disk because the memory did not hold a task's pages.",
             lambda frame: frame.totals["page_faults"]),
    Quantity("nodes out now", "Nodes that have failed and are not repaired yet.",
             lambda frame: int((~frame.up).sum())),
)  # fmt: skip
