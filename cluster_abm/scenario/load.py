"""From a TOML file or a shipped name, and overrides, to a checked scenario; every problem named at once."""

from __future__ import annotations

import difflib
import importlib.resources
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w
from pydantic import BaseModel, ValidationError

from cluster_abm.errors import InputError
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.scenario.schema import Scenario
from cluster_abm.scenario.toml_file import is_folder, is_there, read_toml

# Of values in messages, in letters.
LONGEST_SHOWN = 120


def shipped_path(*parts: str) -> Path:
    """A file or folder below the shipped `scenarios/` (beside the package in a checkout, inside it in a wheel)."""
    package = Path(str(importlib.resources.files("cluster_abm")))
    inside = package / "shipped" / "scenarios"
    root = inside if inside.is_dir() else package.parent / "scenarios"
    return root.joinpath(*parts)


def shipped_profiles(name: str) -> Path | None:
    """The file of shipped profiles of programs by their name; None if it is not the name of any."""
    path = shipped_path("programs", f"{name}.csv")
    # The name of a shipped file has no folder and no suffix.
    return path if Path(name).stem == name and is_there(path) else None


def shipped_network(name: str) -> Path | None:
    """The file of a shipped network by its name; None if it is not the name of any."""
    path = shipped_path("networks", f"{name}.json")
    return path if Path(name).stem == name and is_there(path) else None


def network_names() -> list[str]:
    """Names of the shipped networks, sorted."""
    return sorted(path.stem for path in shipped_path("networks").glob("*.json"))


def scenario_names() -> list[str]:
    """Names of the shipped scenarios, sorted."""
    return sorted(path.stem for path in shipped_path().glob("*.toml"))


def load_scenario(source: str | Path, overrides: Mapping[str, object] | None = None) -> Scenario:
    """A checked scenario from a shipped name or a TOML file.

    Args:
        source: name of a shipped scenario, or path of a TOML file.
        overrides: dotted keys to values that replace the file's, e.g. {"cluster.nodes": 64}.

    Raises:
        InputError: no such scenario, not TOML, unknown keys, wrong types or values; all problems at once.
    """
    path = scenario_path(source)
    data = read_toml(path)
    data.setdefault("name", path.stem)
    return scenario_from(data, str(path), overrides)


def scenario_from(
    data: Mapping[str, Any], where: str = "scenario", overrides: Mapping[str, object] | None = None
) -> Scenario:
    """A checked scenario from nested tables; `where` names them in messages. Raises InputError as load_scenario."""
    try:
        tree = _copy(data)
        for key, value in (overrides or {}).items():
            _set(tree, key, value)
        _check_texts(tree, where)
        _complete_distributions(tree)
        return Scenario.model_validate(tree)
    except ValidationError as problem:
        own = _own_problems(data) if overrides else None
        raise InputError([_message(error, where, own, overrides or {}) for error in problem.errors()]) from None
    except RecursionError:
        raise InputError(f"{where}: its tables are nested too deeply") from None


def scenario_to_toml(scenario: Scenario) -> str:
    """The scenario, resolved, as TOML that `load_scenario` reads back to an equal one; but for `run.threads`, which is
    no part of what a run is."""
    return tomli_w.dumps(scenario.model_dump(mode="json", exclude_none=True, exclude={"run": {"threads"}}))


def nearest(word: str, allowed: list[str]) -> str:
    """A hint with the nearest allowed word, or with all of them."""
    close = difflib.get_close_matches(word.lower(), allowed, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"allowed: {', '.join(allowed)}"


def scenario_path(source: str | Path) -> Path:
    """The file of a shipped name, or the path that was given. Raises InputError: there is no such file."""
    path = Path(source)
    shipped = shipped_path(f"{source}.toml")
    if isinstance(source, str) and path.suffix != ".toml" and source in scenario_names():
        return shipped
    if is_there(path):
        return path
    if is_folder(path):
        raise InputError(f"scenario {str(source)!r}: is a folder; a TOML file or a shipped name is needed")
    raise InputError(
        f"scenario {shortened(str(source))}: no such file or shipped scenario; "
        f"{nearest(str(source)[:100], scenario_names())}"
    )


def _copy(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy(value) if isinstance(value, Mapping) else value for key, value in tree.items()}


def _check_texts(tree: Any, where: str, path: str = "") -> None:
    """Raise InputError for a text, or a key, that no file can hold or be called by: a zero byte, or no Unicode."""
    if isinstance(tree, Mapping):
        for key, value in tree.items():
            _check_texts(str(key), where, f"{path}{key}")
            _check_texts(value, where, f"{path}{key}.")
    elif isinstance(tree, list | tuple):
        for value in tree:
            _check_texts(value, where, path)
    elif isinstance(tree, str) and not is_text(tree):
        raise InputError(f"{where}: {shortened(path.rstrip('.'))}: {shortened(tree)} is no text in UTF-8")


def is_text(words: str) -> bool:
    """Whether a text can be written in UTF-8 and holds no zero byte."""
    return "\0" not in words and not any("\ud800" <= letter <= "\udfff" for letter in words)


def _complete_distributions(tree: dict[str, Any], section: type[BaseModel] = Scenario) -> None:
    """`workload.memory_mb.mean` alone changes the mean and leaves the default's kind, not the class's `fixed`; so it is
    in sections of sections."""
    for name, field in section.model_fields.items():
        given, default = tree.get(name), field.default
        if not isinstance(given, dict):
            continue
        if not isinstance(default, Distribution):
            if isinstance(default, BaseModel):
                _complete_distributions(given, type(default))
        elif "kind" not in given:
            tree[name] = default.model_dump(exclude_defaults=True) | {"kind": default.kind} | given


def _set(tree: dict[str, Any], dotted: str, value: object) -> None:
    *path, last = dotted.split(".")
    for part in path:
        below = tree.setdefault(part, {})
        if not isinstance(below, dict):
            raise InputError(f"override: {shortened(dotted, '')}: {shortened(part)} is a value, not a section")
        tree = below
    # A copy: later keys may reach into it, and it is the caller's.
    tree[last] = _copy(value) if isinstance(value, Mapping) else value
    if last == "kind" and isinstance(value, str) and value in Distribution.USES:
        # Another kind does not take the old one's parameters: they are dropped, so that a new kind can be set alone.
        for name in set(Distribution.model_fields) - {"kind", *Distribution.USES[str(value)]}:
            tree.pop(name, None)
    rates = ("jobs", "jobs_per_s", "utilisation")
    # One rate replaces the others, so that workload.utilisation can be set whichever rate the file has.
    if path == ["workload"] and last in rates:
        for other in rates:
            if other != last:
                tree.pop(other, None)


Problem = tuple[tuple[Any, ...], str]


def _own_problems(data: Mapping[str, Any]) -> set[Problem]:
    """What is wrong with the tables before anything is laid over them."""
    try:
        tree = _copy(data)
        _complete_distributions(tree)
        Scenario.model_validate(tree)
    except ValidationError as problem:
        return {_problem(error) for error in problem.errors()}
    except RecursionError:
        return set()
    return set()


def _problem(error: Any) -> Problem:
    return error["loc"], error["msg"]


def _message(error: Any, where: str, own: set[Problem] | None, overrides: Mapping[str, object]) -> str:
    """A line on a problem; `own` are those that the tables had before the overrides, if there are any."""
    location = [part for part in error["loc"] if not (isinstance(part, str) and "[" in part)]
    field = ".".join(str(part) for part in location)
    origin = where if own is None or _problem(error) in own else "override"
    if error["type"] == "extra_forbidden":
        # Of `clustr.nodes` the whole key, as it was given.
        given = [key for key in overrides if f"{key}.".startswith(f"{field}.")] if origin == "override" else []
        whole = given[0] if given else field
        return f"{origin}: unknown key {shortened(whole)}; {_nearest_key(whole, location)}"
    if error["type"] == "missing":
        # What pydantic calls the input here is the whole section.
        return f"{origin}: {field}: is missing"
    text = str(error["ctx"]["error"]) if error["type"] == "value_error" else error["msg"]
    if error["type"] == "value_error" and isinstance(error["input"], Mapping) and not text.startswith("must be"):
        # Of a whole section: the text begins with the key.
        return f"{origin}: {field + '.' if field else ''}{text}"
    text = text.replace("valid tuple", 'list, e.g. ["a", "b"]')
    return f"{origin}: {shortened(field, '')} = {shortened(error['input'])}: {text[0].lower()}{text[1:]}"


def _nearest_key(whole: str, location: list[Any]) -> str:
    """The nearest key of its section; where the section itself is unknown, the nearest one with the rest of the key."""
    allowed = list(_keys(location[:-1]))
    hint = nearest(str(location[-1])[:100], allowed)
    rest = whole.split(".")[len(location) :]
    close = difflib.get_close_matches(str(location[-1]).lower()[:100], allowed, n=1, cutoff=0.5)
    if not rest or not close:
        return hint
    return f"did you mean {'.'.join([*map(str, location[:-1]), close[0], *rest])!r}?"


def shortened(value: object, quote: str = "'") -> str:
    """A value of a user's as Python writes it, cut where it is longer than a message can be."""
    try:
        text = repr(value) if quote or not isinstance(value, str) else value
    except (ValueError, RecursionError):
        # Integers of more digits than Python writes, and tables within tables without end.
        return f"a {type(value).__name__} without end"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 12]} ... {text[-6:]}"


def _keys(path: list[Any]) -> Iterator[str]:
    section: type[BaseModel] = Scenario
    for part in path:
        if isinstance(part, int):
            continue
        section = _section_of(section.model_fields[str(part)].annotation) or section
    yield from section.model_fields


def _section_of(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if typing.get_origin(annotation) in (tuple, typing.Union, types.UnionType):
        for argument in typing.get_args(annotation):
            found = _section_of(argument)
            if found is not None:
                return found
    return None
