"""Values of JSON by their paths, and as columns: a.b, a[0].b, a[-1].b, a[*].b."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from cluster_abm.errors import InputError

if TYPE_CHECKING:
    import pyarrow as pa

ALL = None  # the step to every entry of a list
Step = str | int | None
_STEP = re.compile(r"([^.\[\]]+)|\[(?:(-?\d{1,9})|\*)\]")
LARGEST = 2**63


def steps_of(path: str, where: str) -> tuple[Step, ...]:
    """The steps of a path. Raises InputError: it is none."""
    found: list[Step] = []
    at = 0
    while at < len(path):
        at += path[at] == "." and bool(found)
        match = _STEP.match(path, at)
        if match is None:
            raise InputError(
                f"{where}: column {path[:60]!r}: no path of JSON: allowed: names with . between, [0] and [-1] for an "
                "entry of a list, [*] for all of them"
            )
        name, entry = match.groups()
        found.append(name if name is not None else ALL if entry is None else int(entry))
        at = match.end()
    return tuple(found)


def value_at(value: Any, path: str, steps: Sequence[Step]) -> Any:
    """What stands at a path; None if nothing does. A key that is spelled like the whole path comes first."""
    if isinstance(value, dict) and path in value:
        return value[path]
    return follow(value, steps)


def follow(value: Any, steps: Sequence[Step]) -> Any:
    """What is reached by some steps; None if nothing is."""
    for number, step in enumerate(steps):
        if step is ALL:
            if not isinstance(value, list):
                return None
            reached = [follow(one, steps[number + 1 :]) for one in value]
            # A second [*] gives a list of lists: it is one list.
            return [one for part in reached for one in part] if _are_lists(reached, steps[number + 1 :]) else reached
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            there = isinstance(value, list) and -len(value) <= step < len(value)
            value = value[step] if there else None
        if value is None:
            return None
    return value


def _are_lists(reached: list[Any], further: Sequence[Step]) -> bool:
    return ALL in further and all(isinstance(part, list) for part in reached)


def parsed_json(text: str) -> Any:
    """The value that a text of JSON is. Raises ValueError: it is none, is nested too deeply, or has a huge number."""
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def json_column(values: Sequence[Any]) -> pa.Array:
    """Values as a column: of numbers if all are numbers, else of texts; a list is its entries with blanks between."""
    import pyarrow as pa

    kinds = {type(value) for value in values} - {type(None)}
    if kinds == {int} and all(value is None or -LARGEST <= value < LARGEST for value in values):
        return pa.array(values, pa.int64())
    if kinds and kinds <= {int, float}:
        return pa.array([None if value is None else as_float(value) for value in values], pa.float64())
    return pa.array([_cell(value) for value in values], pa.string())


def as_float(value: float) -> float:
    """A number of JSON, which may have more digits than a float has room for."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _cell(value: Any) -> str | None:
    """A value as a text."""
    if value is None:
        return None
    if isinstance(value, list):
        return " ".join("_".join((_cell(one) or "null").split()) or "_" for one in value)
    if isinstance(value, str):
        # JSON also has halves of characters, which no text may hold.
        return value.encode(errors="replace").decode()
    return json.dumps(value)
