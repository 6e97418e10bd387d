"""The controls of the page: what each is called, what its tooltip says, and what was typed into it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import solara
from pydantic import BaseModel

from cluster_abm import Scenario
from cluster_abm.policies import available
from cluster_abm.scenario.hardware import preset_names, read_preset
from cluster_abm.scenario.keys import scenario_keys
from viz.colours import INDICES
from viz.settings import KEYS, LABELS, MOST_INTENSITY, MOST_NODES, TOO_LARGE, Settings
from viz.worker import shortened

NO_POLICY = "no policy"
AS_GIVEN = "as the scenario says"
FRAME_MS = (1.0, 1e7)
VIEW_LABELS = {"frame_ms": "Simulated time a frame", "index": "Nodes coloured by"}


class NumberField(NamedTuple):
    """A field for a number: its name in Settings, its unit, and a tip beside what the scenario's key says."""

    name: str
    unit: str
    tip: str = ""


FRAME_TIP = f"How far the run goes from one picture to the next; {FRAME_MS[0]:g} to {FRAME_MS[1]:g}."
FRAME = NumberField("frame_ms", "[ms]", FRAME_TIP)
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
FIELDS = frozenset({FRAME.name, *(one.name for one in NUMBERS)})
CHOICES = {
    "policy": "The rules by which load managers place and move tasks; type to search names and summaries.",
    "other": "A second run beside the first one, under another policy and on the same jobs. Both start from 0 s.",
    "hardware": "A preset (cluster-abm hardware) of what a node is: CPU, memory, disk. It takes the place of what the "
    "scenario says of them.",
    "index": "The load index that colours the maps and the nodes over time. The run goes on.",
}


@solara.component_vue("controls.vue")
def Controls(
    named: str,
    offered: str,
    offered_tip: str,
    offered_high: bool,
    clock: str,
    ended: bool,
    playing: bool,
    over: bool,
    groups: list[dict[str, Any]],
    notice: str,
    notice_number: int,
    event_press: Callable[[object], None],
    event_choose: Callable[[object], None],
    event_enter: Callable[[object], None],
) -> None:
    """The controls in `groups`, and the clock with its buttons; reports what was pressed, chosen and entered."""


def groups(
    settings: Settings, index: str, frame_ms: float, typed: Mapping[str, str], wrong: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The controls as the page draws them: what changes the view, and what starts the run again.

    Args:
        index: by which nodes are coloured.
        typed: what was typed last into fields of numbers, by name.
        wrong: what is wrong with it, or with what was chosen.
    """

    def number(field: NumberField, value: float) -> dict[str, str]:
        tip = " ".join(part for part in (_meaning(KEYS.get(field.name, "")), field.tip) if part)
        return {
            "name": field.name, "label": VIEW_LABELS.get(field.name) or LABELS[field.name], "unit": field.unit,
            "tip": tip, "text": typed.get(field.name, str(value)), "error": wrong.get(field.name, ""),
        }  # fmt: skip

    def choice(name: str, value: str, items: Sequence[tuple[str, str]]) -> dict[str, Any]:
        label, tip = VIEW_LABELS.get(name) or LABELS[name], CHOICES[name]
        drawn = [{"value": words, "summary": summary, "also": long_names.get(words, "")} for words, summary in items]
        return {"name": name, "label": label, "tip": tip, "value": value, "items": drawn, "error": wrong.get(name, "")}

    policies = [(name, policy.summary) for name, policy in available().items()]
    long_names = {name: _in_words(policy.__name__) for name, policy in available().items()}
    presets = [(name, read_preset(name, "hardware").title) for name in preset_names("cluster")]
    indices = [(entry.short, entry.tip) for entry in INDICES.values()]
    return [
        {
            "title": "View", "remark": "", "choices": [choice("index", INDICES[index].short, indices)],
            "numbers": [number(FRAME, frame_ms)],
        },
        {
            "title": "Run", "remark": "a change starts it again from 0 s",
            "choices": [
                choice("policy", settings.policy, policies),
                choice("other", settings.other or NO_POLICY, [(NO_POLICY, "one run alone"), *policies]),
                choice("hardware", settings.hardware or AS_GIVEN, [(AS_GIVEN, ""), *presets]),
            ],
            "numbers": [number(entry, getattr(settings, entry.name)) for entry in NUMBERS],
        },
    ]  # fmt: skip


def offered_by(drawn: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """The values of each list in `groups`, by the list's name."""
    return {
        control["name"]: [item["value"] for item in control["items"]] for group in drawn for control in group["choices"]
    }


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
