"""The shipped maps of columns, and what came of reading the files that there were to try them on."""

from __future__ import annotations

import csv
from typing import Any

from pydantic import BaseModel

from cluster_abm.scenario.columns import ColumnMap, Events, MapField, Spread, TableLayout
from cluster_abm.scenario.columns.map import About, Machine
from cluster_abm.workload.traces.mapping.maps import shipped_maps

from .keys import allowed_of, as_toml
from .markdown import code, escaped, table, target
from .scenarios import REFERENCE

TRIED = REFERENCE / "maps.csv"  # by scenarios/try_maps.py
NOT_TRIED = "not tried on the file"


PARTS_OF_A_MAP: dict[str, type[BaseModel]] = {
    "map": ColumnMap, "field": MapField, "file": TableLayout, "events": Events, "spread": Spread, "machine": Machine,
    "about": About,
}  # fmt: skip


def keys_of(part: str) -> str:
    """The keys of a part of a map, as Markdown."""
    rows = []
    for name, field in PARTS_OF_A_MAP[part].model_fields.items():
        default = "required" if field.is_required() else _shown(field.get_default(call_default_factory=True))
        # Of what may be a text or a number the meaning says what is allowed.
        allowed = "" if "str" in str(field.annotation) else allowed_of(field)
        rows.append([target(f"map-{part}", name), default, allowed, escaped(field.description or "")])
    return table(["key", "default", "allowed", "meaning"], rows)


def _shown(default: Any) -> str:
    """A default as TOML has it; "" if nothing is set."""
    return "" if default in (None, "", (), {}) or isinstance(default, BaseModel) else code(as_toml(default))


def of_shipped() -> str:
    """What each shipped map reads, and what is assumed, as Markdown."""
    return table(
        ["map", "reads", "a row is", "assumed", "schema", "tried on"],
        [
            [
                target("map", name), escaped(one.about.title), one.about.row, escaped(one.about.note),
                _linked(one.about.source), escaped(one.about.tried) or NOT_TRIED,
            ]
            for name, one in shipped_maps().items()
        ],
    )  # fmt: skip


def _linked(source: str) -> str:
    """A source as Markdown: an address, and perhaps words behind it."""
    address, _, words = source.partition(" ")
    return f"<{address}> {escaped(words)}".strip() if address.startswith("https://") else escaped(source)


def tried() -> str:
    """Each shipped map with the files that it was tried on, as Markdown; first what all of these files lack."""
    with TRIED.open(encoding="utf-8", newline="") as file:
        runs = list(csv.DictReader(file))
    filled = [run["filled"].split(", ") for run in runs]
    in_all = [name for name in filled[0] if all(name in names for names in filled)]
    rows = []
    for name in shipped_maps():
        found = [(run, names) for run, names in zip(runs, filled, strict=True) if run["map"] == name]
        for run, names in found:
            counts = [f"{int(run[count]):,}" for count in ("rows", "used")]
            words = [escaped(run["skipped"]), escaped(", ".join(one for one in names if one not in in_all))]
            rows.append([code(name), code(run["file"]), *counts, *words, run["wall_s"], run["peak_mb"]])
        if not found:
            rows.append([code(name), NOT_TRIED, *[""] * 6])
    lacking = f"None of these files says {', '.join(code(name) for name in in_all)}; they are filled in each.\n\n"
    return lacking + table(["map", "file", "rows", "used", "skipped", "filled", "time [s]", "memory [MB]"], rows)
