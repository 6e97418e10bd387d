"""A node of the oracles in the engine's table."""

from __future__ import annotations

import math

from oracle_machine import Hardware

from cluster_abm.engine import random_numbers
from cluster_abm.engine.tables import NEVER, Table, empty_nodes

# The field of the node table that says that seeks are drawn: 1 exponential, 0 fixed.
DRAWN_SEEKS = "draws_seeks"


def engine_nodes(hardware: Hardware, drawn_seeks: bool = False) -> Table:
    """One node with all that the oracles' nodes have in common."""
    nodes = empty_nodes(1)
    for name in (
        "switch_ns",
        "user_memory_kb",
        "seek_ns",
        "ns_per_kb",
        "fault_ns",
        "fault_seek_ns",
        "cores",
        "channels",
    ):
        nodes[name] = getattr(hardware, name)
    nodes["quantum_ns"] = NEVER if hardware.quantum_ns == math.inf else hardware.quantum_ns
    if drawn_seeks:
        nodes[DRAWN_SEEKS] = 1
    return nodes


def seek_purposes() -> tuple[int, int]:
    """Purposes of the streams of seeks: of accesses, and of page faults."""
    return random_numbers.SEEK, random_numbers.FAULT_SEEK
