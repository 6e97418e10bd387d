"""Counted resources of a job in one cell, as Slurm writes them: "gpu:2;licence:1"."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

BETWEEN = ";"
MOST = 2**31 - 1  # of one resource
LONGEST_NAME = 100
DECIMALS = 6  # of an amount
ALLOWED = (
    f"names and amounts, as gpu:2 or gpu:2{BETWEEN}licence:1: each name once, each amount above 0 and up to {MOST:,}"
)
# Slurm's types are part of the name: gpu:a100:2.
_ENTRY = re.compile(rf"([A-Za-z_][\w./:-]{{0,{LONGEST_NAME - 1}}}):(\d+(?:\.\d+)?)", re.ASCII)


def resources_in(cell: str) -> dict[str, float]:
    """How much of each resource a cell names, in its order; nothing of a blank one.

    Raises ValueError: it cannot be read, or a name stands there twice.
    """
    found: dict[str, float] = {}
    for entry in cell.split(BETWEEN) if cell.strip() else ():
        match = _ENTRY.fullmatch(entry.strip())
        amount = float(match[2]) if match else math.nan
        if match is None or match[1] in found or not 0 < round(amount, DECIMALS) <= MOST:
            raise ValueError(f"allowed: {ALLOWED}")
        found[match[1]] = amount
    return found


def resources_text(amounts: Mapping[str, float]) -> str:
    """The cell that names these; amounts of 0 are left out."""
    rounded = {name: round(amount, DECIMALS) for name, amount in amounts.items()}
    return BETWEEN.join(f"{name}:{_spelled(amount)}" for name, amount in rounded.items() if amount > 0)


def _spelled(amount: float) -> str:
    return f"{amount:.{DECIMALS}f}".rstrip("0").rstrip(".")
