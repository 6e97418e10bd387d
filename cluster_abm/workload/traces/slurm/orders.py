"""Slurm's accounting without a header (`sacct -n`): which column is which, by known orders or by a list of fields."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from cluster_abm.errors import InputError
from cluster_abm.workload.traces.mapping.maps import shipped_maps
from cluster_abm.workload.traces.parts.stamps import Stamps
from cluster_abm.workload.traces.parts.units import clock_ms, plain
from cluster_abm.workload.traces.slurm.accounting import CLOCKS, COUNTS, STAMPS, STATES, state_in

BETWEEN = "|"
SAMPLE = 50  # lines that are looked at
MOST_FIELDS = 100
NAME = "jobname"  # the only column with bars in it
_ID = re.compile(r"\d+(?:[_+.\[][^|]*)?", re.ASCII)
_CODE = re.compile(r"\d+:\d+", re.ASCII)
_WIDTH = re.compile(r"%-?\d*$", re.ASCII)
Order = tuple[str, ...]


def known_orders() -> tuple[Order, ...]:
    """The orders that are known by their columns' values: those of the map `sacct-n`."""
    return shipped_maps()["sacct-n"].file.orders


def sample_of(head: bytes) -> list[list[str]]:
    """The cells of the first lines of a file; of its begin, whose last line may be cut off."""
    text = head.decode(errors="replace")
    lines = text.splitlines()
    whole = lines if text.endswith(("\n", "\r")) or len(lines) == 1 else lines[:-1]
    return [line.split(BETWEEN) for line in whole if line.strip()][:SAMPLE]


def order_of(sample: Sequence[Sequence[str]], orders: Sequence[Order]) -> Order | None:
    """The order that fits most of the lines, by the number of their cells and by what is in them.

    None if even the best one fits less than half of them.
    """
    best: tuple[int, Order] | None = None
    for order in orders:
        fitting = sum(misfit(cells, order) is None for cells in sample)
        if best is None or fitting > best[0]:
            best = fitting, order
    return best[1] if best is not None and best[0] * 2 > len(sample) else None


def misfit(cells: Sequence[str], order: Order) -> str | None:
    """What in a line cannot stand in these columns, in words; None if all can."""
    names = with_bar_at_the_end(cells, order)
    if len(cells) != len(names) and not (len(cells) > len(names) and names[-1].lower() == NAME):
        return f"{len(cells)} values for {len(order)} columns"
    for name, cell in zip(names, cells, strict=False):
        fits = _FITS.get(name.lower())
        if fits is not None and not fits(cell.strip()):
            return f"{name} would be {cell.strip()[:40]!r}"
    return None


def with_bar_at_the_end(cells: Sequence[str], order: Order) -> Order:
    """The order, with a column without a name for the bar with which `sacct -p` ends each line."""
    return (*order, "") if len(cells) == len(order) + 1 and not cells[-1].strip() else order


def fields_of(given: Sequence[str], where: str) -> Order:
    """The columns of a list as `sacct -o` takes it: names with commas between, widths as JobName%30, in any case.

    Raises InputError: an empty name, or too many of them.
    """
    names = [_WIDTH.sub("", name.strip()).strip() for text in given for name in text.split(",")]
    if not all(names) or not 0 < len(names) <= MOST_FIELDS:
        raise InputError(
            f"{where}: --fields {','.join(given)[:60]!r}: allowed: the list that `sacct -o` was given, as "
            f"JobID,State,Submit, up to {MOST_FIELDS} names"
        )
    # A name that comes again is a column of its own, which is not read.
    return tuple(
        name if name.lower() not in (other.lower() for other in names[:position]) else f"{name} ({position + 1})"
        for position, name in enumerate(names)
    )


def _is_stamp(cell: str) -> bool:
    return not cell or _can(Stamps().read)(cell)


def _can(read: Callable[[str], float]) -> Callable[[str], bool]:
    def fits(cell: str) -> bool:
        try:
            return not math.isinf(read(cell))
        except (ValueError, OverflowError):
            return False

    return fits


_FITS: dict[str, Callable[[str], bool]] = {
    "jobid": lambda cell: _ID.fullmatch(cell) is not None,
    "state": lambda cell: state_in(cell) in STATES,
    "exitcode": lambda cell: not cell or _CODE.fullmatch(cell) is not None,
    **dict.fromkeys((*STAMPS, "eligible"), _is_stamp),
    **dict.fromkeys(CLOCKS, _can(clock_ms)),
    **dict.fromkeys((*COUNTS, "nnodes", "gid", "uid"), _can(plain)),
}
