"""Acts of a script as short text, for the address: `fail@54.2:n18;slow@60:n4:disk:x0.2;kill@70:j12;send@71:t99:n3`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.scenario.script import NEEDS, Act

# A page's script has at most so many acts, unless the scenario itself has more.
MOST_ACTS = 100
WITHOUT = "the same without acts"
"""Of the run beside: the same policy, and no act."""
LETTERS = {"node": "n", "job": "j", "task": "t", "factor": "x"}
NAMES = {letter: name for name, letter in LETTERS.items()}
_WANTED: Mapping[tuple[type, ...], str] = {
    (str,): "a short word is needed",
    (int, float): "a number is needed",
    (int,): "a whole number is needed",
}
_ACT = re.compile(r"([a-z]+)@([0-9.e+-]{1,30})((?::[a-z0-9.e+-]{1,30}){0,4})")


def text_of(acts: Iterable[Act]) -> str:
    """Acts as text, in their order."""
    return ";".join(map(_text, acts))


def acts_of(text: str) -> list[dict[str, Any]]:
    """The tables of a script, as a scenario file has them. Raises ValueError: the text is none of `text_of`."""
    return [_act(part) for part in text.split(";")] if text else []


def tables_of_acts(sent: object, most: int = MOST_ACTS) -> list[dict[str, Any]]:
    """What a browser sends as acts, as a script's tables. Raises InputError: it has not their types, or is too long."""
    kinds: Mapping[str, tuple[type, ...]] = {
        "act": (str,), "device": (str,), "at_s": (int, float), "factor": (int, float), "node": (int,), "job": (int,),
        "task": (int,),
    }  # fmt: skip
    if not isinstance(sent, list):
        raise InputError("script: no list of acts")
    if len(sent) > most:
        raise InputError(f"script: {len(sent)} acts; the page takes at most {most}")
    for place, act in enumerate(sent):
        if not isinstance(act, dict) or not {"at_s", "act"} <= act.keys() <= kinds.keys():
            raise InputError(f"script.{place}: no act")
        for name, value in act.items():
            if type(value) not in kinds[name] or (len(value) > 20 if isinstance(value, str) else abs(value) > 1e300):
                raise InputError(f"script.{place}.{name}: {_WANTED[kinds[name]]}")
    return sent


def _text(act: Act) -> str:
    parts = []
    for name in NEEDS[act.act]:
        value = getattr(act, name)
        parts.append(f"{LETTERS.get(name, '')}{_plain(value) if isinstance(value, float) else value}")
    return ":".join([f"{act.act}@{_plain(act.at_s)}", *parts])


def _act(text: str) -> dict[str, Any]:
    found = _ACT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text[:40]!r}: no act")
    act: dict[str, Any] = {"at_s": found[2], "act": found[1]}
    for part in found[3].split(":")[1:]:
        name = NAMES.get(part[0], "device") if part[1:2].isdecimal() else "device"
        if name in act:
            raise ValueError(f"{text[:40]!r}: no act")
        act[name] = part if name == "device" else part[1:]
    try:
        kinds = {"at_s": float, "factor": float, "node": int, "job": int, "task": int}
        return {name: kinds.get(name, str)(value) for name, value in act.items()}
    except ValueError:
        raise ValueError(f"{text[:40]!r}: no act") from None


def _plain(number: float) -> str:
    return repr(number).removesuffix(".0")
