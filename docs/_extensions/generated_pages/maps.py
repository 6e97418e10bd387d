"""The shipped maps of columns, and what came of reading the files that there were to try them on."""

from __future__ import annotations

import csv
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cluster_abm.scenario.columns import ColumnMap, Events, Field, Layout, Spread
from cluster_abm.scenario.columns.map import About, Machine
from cluster_abm.workload import traces

from .keys import allowed_of, as_toml
from .markdown import code, escaped, table, target
from .scenarios import REFERENCE

MAPS = Path(traces.__file__).parent / "maps"
TRIED = REFERENCE / "maps.csv"  # by scenarios/try_maps.py
NOT_TRIED = "not tried on the file"


@lru_cache
def shipped_maps() -> dict[str, ColumnMap]:
    """The maps that ship, by name."""
    return {
        path.stem: ColumnMap.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        for path in sorted(MAPS.glob("*.toml"))
    }


PARTS_OF_A_MAP: dict[str, type[BaseModel]] = {
    "map": ColumnMap, "field": Field, "file": Layout, "events": Events, "spread": Spread, "machine": Machine,
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
        ["map", "reads", "a row is", "assumed", "schema"],
        [
            [target("map", name), escaped(one.about.title), one.about.row, escaped(one.about.note), one.about.source]
            for name, one in shipped_maps().items()
        ],
    )


def tried() -> str:
    """Each shipped map with the files that it was tried on, as Markdown."""
    with TRIED.open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    rows = []
    for name, one in shipped_maps().items():
        lines = [line for line in found if line["map"] == name]
        if not lines or not one.about.tried:
            rows.append([code(name), NOT_TRIED, *[""] * 6])
        for line in lines if one.about.tried else ():
            rows.append(
                [
                    code(name), escaped(f"{line['file']} ({one.about.tried})"), f"{int(line['rows']):,}",
                    f"{int(line['used']):,}", escaped(line["skipped"]), line["filled"], line["wall_s"],
                    line["peak_mb"],
                ]
            )  # fmt: skip
    return table(["map", "file", "rows", "used", "skipped", "filled", "time [s]", "memory [MB]"], rows)
