"""How each policy looks: a colour and a marker, the same in figures, in films, on the page and on the site.

The fifteen policies that are compared most have a look of their own. Any two of their colours are at least 0.10 apart
in OKLab (five just noticeable differences of 0.02), and 0.06 for an eye without one kind of cones; all stand out from
white paper by 3:1 (tests/results/test_looks.py). The others have the colour of their family, or a spare one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from cluster_abm.results.colours import SERIES_COLOURS, mixed
from cluster_abm.results.figures.options import current

# As Matplotlib takes it: a letter, a star (corners, 1, degrees), or corners in order.
Marker = str | tuple[int, Literal[0, 1, 2], int] | tuple[tuple[int, int], ...]
STAR: Marker = (4, 1, 0)
HOURGLASS: Marker = ((-1, 1), (1, 1), (-1, -1), (1, -1), (-1, 1))
T = TypeVar("T")

# One table for all: policy -> colour and marker.
LOOKS: dict[str, tuple[str, Marker]] = {
    "none": ("#8C8C8C", "o"),
    "random": ("#C078C0", STAR),
    "round-robin": ("#D55E00", "X"),
    "jsq": ("#00683C", "^"),
    "power-of-d": ("#840000", "v"),
    "jiq": ("#3C9C54", "d"),
    "lwl": ("#C0003C", "P"),
    "iolb": ("#0B6FBF", "s"),
    "iolb-pm": ("#5490FC", "D"),
    "wal-pm": ("#2400B4", ">"),
    "wal-re": ("#9048F0", "<"),
    "iocm-pm": ("#780C84", HOURGLASS),
    "iocm-re": ("#B430A8", "h"),
    "combined": ("#785478", "p"),
    "pooled": ("#22262B", "*"),
}
MARKERS = tuple(marker for _, marker in LOOKS.values())
# Family -> its colour, and the policies in it. A new policy needs no entry: it is one of OTHERS.
FAMILIES: dict[str, tuple[str, str]] = {
    "references": ("#966996", "none random round-robin pooled no-ls no-ls-blocking"),
    "CPU load": ("#A5874B", "clb cpu-based queue-length load-class low-load hbd"),
    "memory load": ("#F05AA5", "mlb memory-based cm-pm cm-re age pf-rate working-set combined"),
    "I/O load": ("#3C96C3", "iolb iolb-pm iolb-net wal-pm wal-re io-pm io-re iocm-pm iocm-re io-active"),
    "places of data": ("#4B5A96", "data-access data-class data-majority"),
    "dispatching": ("#D27869", "jsq jsq-memory power-of-d lwl sita-e central-queue"),
    "managers that talk": (
        "#9678E1",
        "jiq persistent-idle sparse-jsq batch-sampling hawk eagle prequal work-stealing contract-net",
    ),
    "batch systems": ("#874B3C", "batch-system easy conservative tetris"),
    "Kubernetes": ("#4B3CA5", "disk-io-score target-load load-risk"),
    "learned": ("#694B00", "learned"),
}
OTHERS = "others"
# Of policies without a family, and of curves whose own colour is taken.
SPARE_COLOURS = ("#480C54", "#FC4860", "#6000E4", "#60243C", "#E454F0", "#840CC0")
# Of curves that are no policies.
SERIES_MARKERS = ("o", "D", "^", "s", "v", "P", "X")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)))
# Of a second policy in one colour: this share of black (below 0) or white; beyond all colours, more of them.
SHADES, MIXED = (-0.35, 0.25), (0.45, -0.45, 0.7, -0.7, -0.25)
_FAMILY_OF = {name: family for family, (_, names) in FAMILIES.items() for name in names.split()}


def family_of(policy: str) -> str:
    """The family of a policy, or of its variant; OTHERS where it has none."""
    return _FAMILY_OF.get(_plain(policy), OTHERS)


def colour_of(policy: str) -> str:
    """The policy's colour: its own, its family's, or one by its name."""
    name = _plain(policy)
    if name in LOOKS:
        return LOOKS[name][0]
    family = family_of(name)
    return SPARE_COLOURS[sum(name.encode()) % len(SPARE_COLOURS)] if family == OTHERS else FAMILIES[family][0]


def marker_of(policy: str) -> Marker:
    """The policy's marker: its own, or one by its name."""
    name = _plain(policy)
    return LOOKS[name][1] if name in LOOKS else MARKERS[sum(name.encode()) % len(MARKERS)]


def colours_of(policies: Sequence[str]) -> list[str]:
    """A colour for each curve: its policy's, or another one where that is an earlier curve's."""
    of_families = [colour for colour, _ in FAMILIES.values()]
    further = [mixed(one, share) for share in MIXED for one in (*SPARE_COLOURS, *of_families, *_OWN)]
    wanted: list[tuple[str, ...]] = []
    for policy in policies:
        own = colour_of(policy)
        if policy in current().colours:
            wanted.append((current().colours[policy],))
            continue
        # Two of one family are shades of its colour; others have nothing in common.
        shades = () if own in SPARE_COLOURS else tuple(mixed(own, share) for share in SHADES)
        wanted.append((own, *shades, *SPARE_COLOURS, *of_families, *further))
    return _without_repeats(wanted)


def markers_of(policies: Sequence[str]) -> list[Marker]:
    """A marker for each curve: its policy's, or another one where that is an earlier curve's."""
    return _without_repeats([(marker_of(policy), *MARKERS) for policy in policies])


def looks_of(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour, marker and line of each policy, distinct in grey too: keywords of a line."""
    found = zip(names, colours_of(names), markers_of(names), strict=True)
    return {
        name: {"color": colour, "marker": marker, "linestyle": LINES[number % len(LINES)]}
        for number, (name, colour, marker) in enumerate(found)
    }


def series_looks(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Colour, marker and line of each curve that is no policy: keywords of a line."""
    count = len(SERIES_COLOURS)
    # Beyond the colours they begin again, darker and then lighter.
    shares = (0.0, *SHADES)
    return {
        name: {
            "color": mixed(SERIES_COLOURS[number % count], shares[number // count % len(shares)]),
            "marker": SERIES_MARKERS[number % len(SERIES_MARKERS)],
            "linestyle": LINES[number % len(LINES)],
        }
        for number, name in enumerate(names)
    }


_OWN = tuple(colour for colour, _ in LOOKS.values())


def _plain(policy: str) -> str:
    """Its name without what a variant adds: of "jsq[ties=home]" and "iolb (queue)" jsq and iolb."""
    return re.split(r"[\[(]", policy)[0].strip()


def _without_repeats(wanted: Sequence[Sequence[T]]) -> list[T]:
    """One of each list that no other one has, as long as there is one: its first, where it is no earlier list's."""
    taken = {choices[0] for choices in wanted}
    given: set[T] = set()
    chosen = []
    for choices in wanted:
        one = choices[0] if choices[0] not in given else next((x for x in choices if x not in taken), choices[0])
        chosen.append(one)
        given.add(one)
        taken.add(one)
    return chosen
