"""Lower bounds that a comparison shows beside policies: no run is made under one."""

from __future__ import annotations

from cluster_abm.errors import InputError

SRPT_POOL = "srpt-pool"
# By name, a line on each.
BOUNDS = {
    SRPT_POOL: "lower bound on mean response: the shortest job first on one server as fast as all cores, or all disks"
}


def check_no_bound(name: str, where: str) -> None:
    """Raise InputError if a name that a run is to be made under is a bound's."""
    if name in BOUNDS:
        raise InputError(
            f"{where} = {name!r}: a lower bound and no policy: no run is made under it; `compare` shows it"
        )
