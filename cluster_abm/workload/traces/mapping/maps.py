"""Which shipped map a file is known by, and maps in files of the user."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from cluster_abm.arguments import shortened
from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import ColumnMap, shipped_maps
from cluster_abm.scenario.filling.toml_file import read_toml
from cluster_abm.scenario.load import nearest_key
from cluster_abm.workload.text.separators import most_often
from cluster_abm.workload.traces.format import Head

COLUMNS = "workload.trace.columns"  # where a map stands in a scenario
SECTIONS = ("about", "file", "machine")
JSON_NAME = re.compile(rb'"([^"\\]{1,80})"\s*:')


def map_in(path: Path) -> ColumnMap:
    """The map in a TOML file. Raises InputError: no such file, no TOML, or what is wrong in it, all at once."""
    try:
        found = ColumnMap.model_validate(read_toml(path))
        found.check_complete()
    except ValidationError as problem:
        raise InputError([f"{shown(path)}: {words}" for words in problems_of(problem)]) from None
    except ValueError as problem:
        raise InputError(f"{shown(path)}: {problem}") from None
    return found


def problems_of(problem: ValidationError) -> list[str]:
    """What is wrong with a map, a line each, with the key that it is about."""
    found = []
    for error in problem.errors(include_url=False):
        key = ".".join(str(part) for part in error["loc"] if part not in ("constrained-str", "constrained-int"))
        said = error["msg"].removeprefix("Value error, ")
        if error["type"] == "extra_forbidden":
            hint = nearest_key(f"{COLUMNS}.{key}", f"{COLUMNS}.{key}".split("."))
            found.append(f"unknown key {shortened(key)}; {hint.replace(f'{COLUMNS}.', '')}")
            continue
        given = "" if isinstance(error["input"], Mapping) else f" = {str(error['input'])[:60]!r}"
        found.append(f"{key}{given}: {said}" if key else said)
    return list(dict.fromkeys(found))


def with_fields(base: ColumnMap, changed: ColumnMap | None) -> ColumnMap:
    """A map of which some fields differ; of the sections in SECTIONS some keys."""
    if changed is None:
        return base
    before, other = _given(base), _given(changed)
    other |= {name: before[name] | other[name] for name in SECTIONS if name in before and name in other}
    return ColumnMap.model_validate(before | other)


def _given(found: ColumnMap) -> dict[str, Any]:
    return found.model_dump(exclude_unset=True)


def map_known_by(head: Head) -> str | None:
    """The shipped map for a file that begins like that; None if none knows it."""
    for name, found in shipped_maps().items():
        about = found.about
        if about.begins and re.match(about.begins, head.line):
            return name
        if about.known_by and _has_all(about.known_by, names_of(head, found.file.separator)):
            return name
    return None


def map_with_names(names: Iterable[str]) -> str | None:
    """The shipped map for a table with these columns; None if none knows it."""
    there = {name.lower() for name in names}
    for name, found in shipped_maps().items():
        if found.about.known_by and _has_all(found.about.known_by, there):
            return name
    return None


def names_of(head: Head, separator: str | None = None) -> set[str]:
    """The names that the beginning of a file has, in lower case: of a header, or of JSON's keys."""
    if head.data[:1] in (b"{", b"["):
        return {name.decode(errors="replace").lower() for name in JSON_NAME.findall(head.data)}
    line = head.line
    between = separator or most_often(line)[0]
    return {name.strip().strip('"').lower() for name in line.split(between)}


def _has_all(needed: Iterable[str], there: set[str]) -> bool:
    return {name.lower() for name in needed} <= there
