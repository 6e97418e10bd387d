"""What all calls in Python that carry out runs take (`workers`, `quiet`, `where`, `out`, `seeds`), checked first."""

from __future__ import annotations

from pathlib import Path

from cluster_abm.arguments import COUNT, FLAG, PATH, check_arguments, from_on, of_class, or_none, whole_number
from cluster_abm.study.runner.tasks import Where

STORE = "store"


def place_of(workers: int | None, quiet: bool, where: Where | None, out: str | Path | None) -> Where:
    """Where runs are carried out and kept, as the arguments of a call say.

    Args:
        workers: processes at most; None: as many as fit.
        quiet: no progress bar.
        where: in place of `workers` and `out`.
        out: the folder of the call's results; runs are kept in its `store`.

    Raises InputError: one of them is not of its kind.
    """
    check_arguments(
        workers=(workers, or_none(COUNT)),
        quiet=(quiet, FLAG),
        where=(where, or_none(of_class(Where))),
        out=(out, or_none(PATH)),
    )
    count = None if workers is None else whole_number(workers)
    return where or Where(workers=count, folder=None if out is None else Path(out, STORE))


def seeds_of(seeds: int | None, default: int, least: int = 1) -> int:
    """How many seeds a call is given. Raises InputError for what is no such number."""
    check_arguments(seeds=(seeds, or_none(from_on(least))))
    return default if seeds is None else int(seeds)
