"""An arena's claims held against fresh regimes and seeds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cluster_abm.results.files import write_json, write_text
from cluster_abm.study.arena.arena import FRESH, Arena
from cluster_abm.study.arena.claims import claims_of
from cluster_abm.study.report.markdown import table_lines

DOCUMENT, REPORT = "verify.json", "verify.md"


class Verified(NamedTuple):
    """A claim, and what fresh regimes say of it."""

    kind: str
    words: str
    found: str  # its figure where it was found
    fresh: str  # that of the fresh regimes
    held: bool


def verified(arena: Arena, fresh: Arena) -> list[Verified]:
    """Hold each claim of an arena against another one, of regimes and seeds that it has not seen."""
    return [
        Verified(one.kind, one.words, one.figure(arena), one.figure(fresh), one.holds(fresh))
        for one in claims_of(arena)
    ]  # fmt: skip


def verify_document(arena: Arena, fresh: Arena) -> dict[str, Any]:
    """The claims as plain data: what `cluster-abm arena --verify --json` prints under `verify`."""
    told = verified(arena, fresh)
    return {
        "sample": FRESH.sample,
        "first_seed": FRESH.first_seed,
        "regimes": len(fresh.found),
        "held": sum(one.held for one in told),
        "claims": [one._asdict() for one in told],
    }


def write_verification(folder: Path, arena: Arena, fresh: Arena) -> None:
    """Write verify.md and verify.json."""
    write_json(folder, DOCUMENT, verify_document(arena, fresh))
    write_text(folder, REPORT, "\n".join([*verification_lines(arena, fresh), ""]))


def verification_lines(arena: Arena, fresh: Arena) -> list[str]:
    """The claims as tables in Markdown: sentences first, then ranks."""
    told = verified(arena, fresh)
    sentences = [one for one in told if one.kind != "rank"]
    return [
        "# The arena's claims on fresh regimes",
        "",
        in_words(told, fresh),
        "",
        *table_lines(["claim", "found", "fresh", "held"], [_cells(one) for one in sentences], DOCUMENT),
        "",
        "## Ranks",
        "",
        "Each rank by mean regret, with that regret.",
        "",
        *table_lines(
            ["claim", "found", "fresh", "held"], [_cells(one) for one in told if one.kind == "rank"], DOCUMENT
        ),
    ]


def in_words(told: Sequence[Verified], fresh: Arena) -> str:
    """How many claims hold, and on what."""
    counts = {
        what: f"{sum(one.held for one in own)} of {len(own)} {what}"
        for what, own in (
            ("sentences", [one for one in told if one.kind not in ("rank", "rule")]),
            ("rules", [one for one in told if one.kind == "rule"]),
            ("ranks", [one for one in told if one.kind == "rank"]),
        )
        if own
    }
    return (
        f"Held on {len(fresh.found)} fresh regimes (hypercube of seed {FRESH.sample}) and other seeds (from "
        f"{FRESH.first_seed}): {', '.join(counts.values())}."
    )


def _cells(one: Verified) -> list[str]:
    return [one.words, one.found, one.fresh, "yes" if one.held else "**no**"]
