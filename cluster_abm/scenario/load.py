"""From a TOML file or a shipped name, and overrides, to a checked scenario; every problem named at once."""

from __future__ import annotations

import difflib
import importlib.resources
import tomllib
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


def shipped_path(*parts: str) -> Path:
    """A file or folder below the shipped `scenarios/` (beside the package in a checkout, inside it in a wheel)."""
    package = Path(str(importlib.resources.files("cluster_abm")))
    inside = package / "shipped" / "scenarios"
    root = inside if inside.is_dir() else package.parent / "scenarios"
    return root.joinpath(*parts)


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
    path = _find(source)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"{path}: cannot be read as a text file ({problem})") from None
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: not a TOML file: {problem}") from None
    data.setdefault("name", path.stem)
    return scenario_from(data, str(path), overrides)


def scenario_from(
    data: Mapping[str, Any], where: str = "scenario", overrides: Mapping[str, object] | None = None
) -> Scenario:
    """A checked scenario from nested tables; `where` names them in messages. Raises InputError as load_scenario."""
    tree = _copy(data)
    for key, value in (overrides or {}).items():
        _set(tree, key, value)
    _complete_distributions(tree)
    try:
        return Scenario.model_validate(tree)
    except ValidationError as problem:
        overridden = set(overrides or {})
        raise InputError([_message(error, where, overridden) for error in problem.errors()]) from None


def scenario_to_toml(scenario: Scenario) -> str:
    """The scenario, resolved, as TOML that `load_scenario` reads back to an equal one."""
    return tomli_w.dumps(scenario.model_dump(mode="json", exclude_none=True))


def nearest(word: str, allowed: list[str]) -> str:
    """A hint with the nearest allowed word, or with all of them."""
    close = difflib.get_close_matches(word.lower(), allowed, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"allowed: {', '.join(allowed)}"


def _find(source: str | Path) -> Path:
    path = Path(source)
    shipped = shipped_path(f"{source}.toml")
    if isinstance(source, str) and path.suffix != ".toml" and source in scenario_names():
        return shipped
    if path.is_file():
        return path
    if path.is_dir():
        raise InputError(f"scenario {str(source)!r}: is a folder; a TOML file or a shipped name is needed")
    raise InputError(
        f"scenario {str(source)!r}: no such file or shipped scenario; {nearest(str(source), scenario_names())}"
    )


def _copy(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copy(value) if isinstance(value, Mapping) else value for key, value in tree.items()}


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
            raise InputError(f"{dotted}: {part!r} is a value, not a section")
        tree = below
    # A copy: later keys may reach into it, and it is the caller's.
    tree[last] = _copy(value) if isinstance(value, Mapping) else value
    if last == "kind" and value in Distribution.USES:
        # Another kind does not take the old one's parameters: whoever sets it need not know what they were.
        for name in set(Distribution.model_fields) - {"kind", *Distribution.USES[str(value)]}:
            tree.pop(name, None)
    rates = ("jobs", "jobs_per_s", "utilisation")
    # One rate replaces the other: whoever sets workload.utilisation need not know how the file set the rate.
    if path == ["workload"] and last in rates:
        for other in rates:
            if other != last:
                tree.pop(other, None)


def _message(error: Any, where: str, overridden: set[str]) -> str:
    location = [part for part in error["loc"] if not (isinstance(part, str) and "[" in part)]
    field = ".".join(str(part) for part in location)
    origin = "override" if any(f"{field}.".startswith(f"{key}.") for key in overridden) else where
    if error["type"] == "extra_forbidden":
        return f"{origin}: unknown key {field!r}; {nearest(str(location[-1]), list(_keys(location[:-1])))}"
    text = str(error["ctx"]["error"]) if error["type"] == "value_error" else error["msg"]
    if error["type"] == "value_error" and isinstance(error["input"], Mapping) and not text.startswith("must be"):
        # Of a whole section: the text begins with the key.
        return f"{origin}: {field + '.' if field else ''}{text}"
    text = text.replace("valid tuple", 'list, e.g. ["a", "b"]')
    return f"{origin}: {field} = {error['input']!r}: {text[0].lower()}{text[1:]}"


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
