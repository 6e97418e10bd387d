"""Case number K of seed S: the same whenever, wherever and in whatever order it is made."""

from __future__ import annotations

from collections.abc import Callable

from case import Case, Random
from column_maps import map_case
from fits import fit_case
from options import listing_case, option_case
from outages import outage_case
from planned import planned_case
from scenario_files import scenario_case, setting_case
from studies import folder_case, study_case
from surroundings import surrounding_case
from traces import network_case, program_case, trace_case

# How often each kind comes up, of a hundred.
KINDS: dict[str, tuple[int, Callable[[Random], Case]]] = {
    "scenario": (20, scenario_case),
    "setting": (19, setting_case),
    "trace": (10, trace_case),
    "map": (8, map_case),
    "fit": (4, fit_case),
    "option": (10, option_case),
    "listing": (2, listing_case),
    "program": (6, program_case),
    "network": (7, network_case),
    "outages": (3, outage_case),
    "study": (5, study_case),
    "folder": (6, folder_case),
    "planned": (5, planned_case),
    "surroundings": (2, surrounding_case),
}
# Of the others: carried out by a Python of their own, so that nothing that was warm hides anything.
SHARE_OF_PROCESSES = 0.03


def make_case(seed: int, number: int, only: str | None = None) -> Case:
    """The case of this number."""
    random = Random(f"{seed} {number} {only or ''}")
    shares = {name: share for name, (share, _) in KINDS.items() if only in (None, name)}
    kind = random.choices(list(shares), list(shares.values()))[0]
    as_process = random.random() < SHARE_OF_PROCESSES
    case = KINDS[kind][1](random)
    case.kind, case.as_process = kind, case.as_process or as_process
    return case
