"""Numbers in the texts of a scene: placeholders in braces, filled from its runs, never by evaluating anything.

A placeholder is a value, `{none.mean_slowdown}`, or a ratio of two, `{none.mean_slowdown / wal-pm.mean_slowdown}`. A
value names a run by its policy, or the move or task that the step selects, then a quantity: quantities.py lists
them. Quantities of a node have its number in brackets: `{none.tasks[16]}`.
"""

from __future__ import annotations

import math
import re
from typing import Any

from cluster_abm.results.asked import metric_of
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.shipped import nearest
from cluster_abm.scenes.moments import Moment, Value
from cluster_abm.scenes.numbers import amount
from cluster_abm.scenes.quantities import MOVE_QUANTITIES, NODE, RUN, TASK
from cluster_abm.scenes.selecting import NotThere

BRACES = re.compile(r"\{([^{}]*)\}")
KEY = re.compile(r"scenario\.([a-z0-9_.]+)")
VALUE = re.compile(r"([a-z0-9-]+)\.([a-z0-9_]+)(?:\[(\d{1,9})\])?")
# What a key's last word says of its unit, and how many of ours that is.
UNITS = {"ms": ("ms", 1.0), "s": ("ms", 1000.0), "mb": ("MB", 1.0), "kb": ("KB", 1.0), "mbps": ("Mbps", 1.0)}


def fill(text: str, at: Moment) -> str:
    """A text with its placeholders filled. Raises NotThere: one of them can be none, or a brace stands alone."""
    rest = BRACES.sub("", text)
    if "{" in rest or "}" in rest:
        raise NotThere("a brace stands alone: a placeholder is written {none.mean_slowdown}")
    return BRACES.sub(lambda found: _filled(found[1], at), text)


def _filled(words: str, at: Moment) -> str:
    parts = [part.strip() for part in words.split("/")]
    try:
        values = [_value(part, at) for part in parts]
        if not all(math.isfinite(one.number) for one in values):
            raise NotThere("there is no such number here")
    except NotThere as problem:
        raise NotThere(f"placeholder {{{words[:80]}}}: {problem}") from None
    if len(values) > 2 or (len(values) == 2 and values[1].number == 0):
        raise NotThere(f"placeholder {{{words[:80]}}}: is a ratio of two values, and the second must not be 0")
    return amount(values[0].number / values[1].number) if len(values) == 2 else values[0].words


def _value(words: str, at: Moment) -> Value:
    key = KEY.fullmatch(words)
    if key is not None:
        return _of_key(key[1], at.scenario)
    found = VALUE.fullmatch(words)
    if found is None:
        raise NotThere("is written NAME.QUANTITY, as {none.mean_slowdown} or {none.tasks[16]}")
    of, quantity, node = found[1], found[2], None if found[3] is None else int(found[3])
    if of in at.runs:
        return _of_run(of, quantity, node, at)
    if of not in ("move", "task"):
        raise NotThere(f"{of}: allowed: {', '.join([*at.runs, 'move', 'task', 'scenario'])}")
    known = MOVE_QUANTITIES if of == "move" else TASK
    if quantity not in known or node is not None:
        raise NotThere(f"{quantity}: {nearest(quantity, [*known])}")
    return known[quantity][0](at)


def _of_run(policy: str, quantity: str, node: int | None, at: Moment) -> Value:
    if node is not None:
        if quantity not in NODE:
            raise NotThere(f"{quantity}[{node}]: of a node allowed: {', '.join(NODE)}")
        if node >= at.runs[policy].nodes:
            raise NotThere(f"there is no node {node}: nodes are 0 to {at.runs[policy].nodes - 1}")
        return NODE[quantity][0](at, policy, node)
    if quantity in RUN:
        return RUN[quantity][0](at, policy)
    summary = at.runs[policy].recording.meta["summary"]
    number = summary["metrics"].get(quantity, summary["jobs"].get(quantity))
    if isinstance(number, bool) or not isinstance(number, int | float):
        known = [
            name for part in ("jobs", "metrics") for name, one in summary[part].items() if not isinstance(one, dict)
        ]
        raise NotThere(f"{quantity}: {nearest(quantity, [*RUN, *known])}")
    metric = metric_of(quantity)
    return Value(float(number), "1" if metric is None else "%" if metric.is_share else metric.unit)


def _of_key(dotted: str, scenario: Scenario) -> Value:
    found: Any = scenario
    for part in dotted.split("."):
        found = getattr(found, part, None) if part in getattr(type(found), "model_fields", {}) else None
    if isinstance(found, bool) or not isinstance(found, int | float):
        raise NotThere(f"{dotted}: is no key of the scenario that is a number")
    unit, scale = UNITS.get(dotted.rsplit("_", 1)[-1], ("1", 1.0))
    return Value(found * scale, unit)
