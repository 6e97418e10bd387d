"""A scenario's summary with the values that it runs with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Protocol

PLACE = re.compile(r"\{([a-z_]+(?:\.[a-z_]+)+)\}")
UNITS = {"_ms": "ms", "_s": "s", "_mb": "MB", "_mbps": "Mbps"}


class Captioned(Protocol):
    """What has a summary and keys: a Scenario."""

    @property
    def summary(self) -> str:
        """One line, with `{dotted.key}` in it."""

    def model_dump(self) -> dict[str, Any]:
        """The keys, in nested tables."""


def caption_of(scenario: Captioned) -> str:
    """The summary, `{dotted.key}` in it replaced by that key's value and unit: what is run, whatever was overridden.

    What is no key stays as it is; a key that is not set gives "(not set)".

    >>> from cluster_abm.scenario import scenario_from
    >>> caption_of(scenario_from({"summary": "{cluster.nodes} nodes, reports every {cluster.exchange_period_ms}"}))
    '32 nodes, reports every 1 s'
    """
    tree = scenario.model_dump()

    def value(match: re.Match[str]) -> str:
        known: Any = tree
        for part in match[1].split("."):
            if not isinstance(known, Mapping) or part not in known:
                return match[0]
            known = known[part]
        # A table, such as a distribution, is no value.
        return match[0] if isinstance(known, Mapping) else _in_words(match[1], known)

    return PLACE.sub(value, scenario.summary)


def _in_words(key: str, value: Any) -> str:
    if value is None:
        return "(not set)"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    names = key.split(".")
    # The unit of a distribution's mean is that of the distribution.
    named = names[-2] if names[-1] in ("mean", "sd") else names[-1]
    unit = next((unit for ending, unit in UNITS.items() if named.endswith(ending)), "")
    if unit == "ms" and value >= 1000.0:
        value, unit = value / 1000.0, "s"
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return f"{text} {unit}".strip()
