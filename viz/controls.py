"""The controls of the page: what each is called, what its tooltip says, and what was typed into it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pydantic import BaseModel

from cluster_abm import Scenario
from cluster_abm.policies import available
from cluster_abm.scenario.hardware import preset_names, read_preset
from cluster_abm.scenario.wording.keys import scenario_keys
from viz.acts import WITHOUT
from viz.server.faults import shortened
from viz.settings import KEYS, LABELS, MOST_INTENSITY, MOST_NODES, TOO_LARGE, Settings

OFF = "(off)"
AS_GIVEN = "as the scenario says"


class NumberField(NamedTuple):
    """A field for a number: its name in Settings, its unit, and a tip beside what the scenario's key says."""

    name: str
    unit: str
    tip: str = ""


NUMBERS = (
    NumberField("intensity", "[times]",
           f"The work as a multiple of what the scenario says; above 0 and at most {MOST_INTENSITY:g}."),
    NumberField("io_per_ms", "[1/ms of CPU]", "Mean number of accesses of a task per ms of its CPU; 0 or more."),
    NumberField("page_fault_rate_per_ms", "[1/ms of CPU]"),
    NumberField("nodes", "", f"The page runs at most {MOST_NODES:,}, unless the scenario has more."),
    NumberField("bandwidth_mbps", "[Mbps a link]"),
    NumberField("exchange_period_ms", "[ms]"),
    NumberField("slice_ms", "[ms]"),
    NumberField("seed", "", "Less than 2^63."),
)  # fmt: skip
FIELDS = frozenset(one.name for one in NUMBERS)
CHOICES = {
    "policy": "The rules by which load managers place and move tasks. Type a name, or words of what it does.",
    "other": "A second policy beside the first one, on the same jobs and the same clock.",
    "hardware": "A preset (cluster-abm hardware) of what a node is: CPU, memory, disk. It takes the place of what the "
    "scenario says of them.",
}
# What stands for no choice in each list.
NONE = {"policy": "", "other": OFF, "hardware": AS_GIVEN}


def lists() -> dict[str, list[dict[str, str]]]:
    """What each list offers: the value, what it means, and what it is also found by."""
    policies = [
        {"value": name, "summary": policy.summary, "also": _in_words(policy.__name__)}
        for name, policy in available().items()
    ]
    presets = [
        {"value": name, "summary": read_preset(name, "hardware").title, "also": ""} for name in preset_names("cluster")
    ]
    return {
        "policy": policies,
        "other": [
            {"value": OFF, "summary": "one policy alone", "also": "no none"},
            {"value": WITHOUT, "summary": "the first policy on the same jobs, with no act", "also": "what if"},
            *policies,
        ],
        "hardware": [{"value": AS_GIVEN, "summary": "", "also": ""}, *presets],
    }


def offered_by(drawn: Mapping[str, Sequence[Mapping[str, str]]]) -> dict[str, list[str]]:
    """The values of each list."""
    return {name: [item["value"] for item in items] for name, items in drawn.items()}


def fields(settings: Settings, typed: Mapping[str, str], wrong: Mapping[str, str]) -> list[dict[str, str]]:
    """The controls as the page draws them.

    Args:
        typed: what was typed last into fields of numbers, by name.
        wrong: what is wrong with it, or with what was chosen.
    """
    choices = [
        {
            "kind": "choice", "name": name, "label": LABELS[name], "unit": "", "tip": tip,
            "text": getattr(settings, name) or NONE[name], "error": wrong.get(name, ""),
        }
        for name, tip in CHOICES.items()
    ]  # fmt: skip
    numbers = [
        {
            "kind": "number", "name": one.name, "label": LABELS[one.name], "unit": one.unit,
            "tip": " ".join(part for part in (_meaning(KEYS.get(one.name, "")), one.tip) if part),
            "text": typed.get(one.name, plain(getattr(settings, one.name))), "error": wrong.get(one.name, ""),
        }
        for one in NUMBERS
    ]  # fmt: skip
    return choices + numbers


def plain(number: float) -> str:
    """A number as a field shows it: 1000, not 1000.0; read again it is the same."""
    text = repr(number)
    return text.removesuffix(".0")


def chosen(name: str, value: str) -> str:
    """What a list's value means in the settings."""
    return "" if value == NONE[name] else value


def parsed(text: str, kind: type[int] | type[float]) -> float:
    """The number of a field. Raises ValueError, saying what was typed and what is needed."""
    try:
        return _read(text, kind)
    except ValueError as problem:
        raise ValueError(f"{shortened(text, 40)!r}: {problem}") from None


def _read(text: str, kind: type[int] | type[float]) -> float:
    # Not Solara's own InputFloat: it takes nan, and renders for ever because that does not equal itself.
    try:
        number = kind(text.replace(",", "."))
    except ValueError:
        # Also for more digits than Python reads; of a whole number they say that it is one.
        if kind is int and text.strip().lstrip("+-").isdecimal():
            raise ValueError("the number is too large; allowed is less than 2^63") from None
        raise ValueError(f"a {'whole ' if kind is int else ''}number is needed") from None
    if kind is int and abs(number) >= TOO_LARGE:
        raise ValueError("the number is too large; allowed is less than 2^63")
    if not math.isfinite(number):
        raise ValueError("a finite number is needed")
    return number


def _meaning(key: str) -> str:
    """What the schema says of a key, with the bounds of its values and the key itself."""
    if not key:
        return ""
    # Of distributions the mean's meaning is that of the key, which the control's own tip says.
    meaning = "" if key.endswith(".mean") else _MEANINGS[key]
    words = f"{meaning[:1].upper()}{meaning[1:]}{_bounds(key)}." if meaning else ""
    return f"{words} Key: {key}.".strip()


def _in_words(name: str) -> str:
    """The name of a class as words: jsq is also found by "join the shortest queue"."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


_MEANINGS = {entry["key"]: entry["meaning"] for entry in scenario_keys()}


def _bounds(key: str) -> str:
    *path, last = key.split(".")
    section: BaseModel = Scenario()
    for part in path:
        section = getattr(section, part)
    words = {"gt": "above", "ge": "at least", "lt": "below", "le": "at most"}
    bounds = [
        f"{said} {value:,g}"
        for constraint in type(section).model_fields[last].metadata
        for name, said in words.items()
        if isinstance(value := getattr(constraint, name, None), int | float) and value < 1e15
    ]
    return f"; {' and '.join(bounds)}" if bounds else ""
