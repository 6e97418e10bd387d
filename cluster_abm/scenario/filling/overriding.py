"""Keys that a caller in Python lays over a scenario: as keywords, as `overrides`, or both; one rule for all calls."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, time
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from cluster_abm.arguments import TABLE, check_arguments, shortened
from cluster_abm.errors import InputError
from cluster_abm.scenario.schema import Scenario
from cluster_abm.scenario.wording.other_names import did_you_mean, key_called, keys_ending_in

# Keys in tables of overrides are looked for so deep.
DEEPEST = 20
# What TOML holds; None is a key that is not set, and a section may be one of another scenario.
PLAIN = (bool, int, float, str, list, dict, date, time, BaseModel, type(None))


def laid_over(
    overrides: Mapping[str, object] | None, keywords: Mapping[str, object], arguments: Iterable[str] = ()
) -> dict[str, object]:
    """The keys that a call lays over a scenario, dotted.

    Raises InputError: `overrides` is no mapping of texts; a keyword that is neither an argument nor a key; a key that
    is given twice with different values. All at once. That a key exists is checked with the scenario.

    Args:
        overrides: dotted keys, {"workload.duration_s": 60}.
        keywords: the same with `__` for the dot, workload__duration_s=60.
        arguments: names of the call's own arguments, for a hint where one is misspelt.
    """
    if overrides is None:
        overrides = {}
    check_arguments(overrides=(overrides, TABLE))
    given: dict[str, object] = {}
    problems = []
    for key, value in overrides.items():
        if not isinstance(key, str):
            problems.append(f"overrides: {shortened(key)}: a key is a text, as 'cluster.nodes'")
        elif "__" in key:
            problems.append(f"overrides: {shortened(key)}: {did_you_mean([key.replace('__', '.')])}")
        else:
            given[key] = _plain(value)
            problems += _problems_of(key, given[key])
    by_keyword: dict[str, object] = {}
    for name, value in keywords.items():
        if "__" not in name and name not in Scenario.model_fields:
            problems.append(
                f"{shortened(name, '')} = {shortened(value)}: no such argument, nor a key of a scenario; "
                f"{_hint(name, arguments)}"
            )
        else:
            by_keyword[name.replace("__", ".")] = _plain(value)
            problems += _problems_of(name, by_keyword[name.replace("__", ".")])
    said = dict(_leaves(given))
    for key, value in _leaves(by_keyword):
        if key in said and not _same(said[key], value):
            problems.append(
                f"{key}: is {shortened(said[key])} in overrides and {shortened(value)} as {key.replace('.', '__')}: "
                "give one of them"
            )
    if problems:
        raise InputError(problems)
    merged = given | by_keyword
    # A table first, then the keys within it.
    return merged if not (given and by_keyword) else {key: merged[key] for key in sorted(merged, key=_depth)}


def keys_meant(word: str) -> list[str]:
    """The keys, of any section, that a word without one may mean: `utilisation` is the workload's."""
    called = key_called(word)
    return [called] if called is not None else keys_ending_in(word, all_keys(Scenario))


def _hint(name: str, arguments: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(arguments), n=1, cutoff=0.7)
    meant = [] if close else [key.replace(".", "__") for key in keys_meant(name)]
    if close or meant:
        return did_you_mean([*close, *meant])
    return "a key has `__` for the dot, as cluster__nodes=64"


def _plain(value: Any, depth: int = 0) -> Any:
    """A value without numpy, which sweeps hand in, and with texts for paths."""
    if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    if depth < DEEPEST:
        if isinstance(value, Mapping):
            return {key: _plain(entry, depth + 1) for key, entry in value.items()}
        if isinstance(value, list | tuple):
            return [_plain(entry, depth + 1) for entry in value]
    return value


def _problems_of(name: str, value: object) -> Iterator[str]:
    """What is wrong with a value that no scenario file could hold."""
    values = [value, *_inside(value)]
    wrong_ones = [part for part in values if not isinstance(part, PLAIN)]
    if wrong_ones:
        wrong = shortened(wrong_ones[0])
        yield f"{name} = {wrong}: a number, a text, true, false, or a list or table of them is needed"


def _inside(value: object, depth: int = 0) -> Iterator[object]:
    if isinstance(value, list | dict) and depth < DEEPEST:
        for entry in value.values() if isinstance(value, dict) else value:
            yield entry
            yield from _inside(entry, depth + 1)


def _leaves(tree: Mapping[str, object], path: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    for name, value in tree.items():
        if isinstance(value, Mapping) and value and depth < DEEPEST:
            yield from _leaves(value, f"{path}{name}.", depth + 1)
        else:
            yield f"{path}{name}", value


def _same(one: object, other: object) -> bool:
    try:
        return bool(one == other)
    except Exception:
        # Of objects of the caller's, which may refuse to be compared.
        return one is other


def _depth(key: str) -> int:
    return key.count(".")


def all_keys(section: type[BaseModel], path: str = "") -> Iterator[str]:
    """Every dotted key below a section, and the sections in it; but for keys within lists."""
    for name, field in section.model_fields.items():
        yield f"{path}{name}"
        if isinstance(field.default, BaseModel):
            yield from all_keys(type(field.default), f"{path}{name}.")
