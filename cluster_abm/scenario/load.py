"""From a TOML file or a shipped name, and overrides, to a checked scenario; every problem named at once."""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from cluster_abm.arguments import CALLABLE_OR_NONE, Kind, check_arguments, is_path, shortened
from cluster_abm.errors import InputError
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.scenario.filling.handing_over import GRAPH, beside, give_way, hand_over, with_graph
from cluster_abm.scenario.filling.nodes import OfVertices, fill_nodes, of_vertices
from cluster_abm.scenario.filling.overriding import keys_meant, laid_over
from cluster_abm.scenario.filling.toml_file import is_folder, is_there, read_toml
from cluster_abm.scenario.hardware import NETWORK_KEYS, NODE_KEYS, Preset, lay_under, read_preset
from cluster_abm.scenario.policy_names import PolicyFiles, take_policy_files
from cluster_abm.scenario.schema import Scenario
from cluster_abm.scenario.shipped import names_in, nearest, shipped_file, shipped_path
from cluster_abm.scenario.wording import units
from cluster_abm.scenario.wording.other_names import did_you_mean
from cluster_abm.scenario.wording.writing import scenario_to_toml

# Also what others take from here.
__all__ = [
    "is_text", "load_scenario", "nearest", "network_names", "scenario_from", "scenario_names", "scenario_of",
    "scenario_path", "scenario_to_toml", "shipped_network", "shipped_path", "shipped_profiles",
    "shipped_trace", "shortened", "tables_of",
]  # fmt: skip


def shipped_profiles(name: str) -> Path | None:
    """The file of shipped profiles of programs by their name; None if it is not the name of any."""
    return shipped_file("programs", name, ".csv")


def shipped_network(name: str) -> Path | None:
    """The file of a shipped network by its name; None if it is not the name of any."""
    return shipped_file("networks", name, ".json")


def shipped_trace(name: str) -> Path | None:
    """The file of a shipped trace by its name; None if it is not the name of any."""
    return shipped_file("traces", name, ".csv")


def network_names() -> list[str]:
    """Names of the shipped networks, sorted."""
    return names_in("networks", ".json")


def scenario_names() -> list[str]:
    """Names of the shipped scenarios, sorted."""
    return names_in("", ".toml")


def load_scenario(
    source: str | Path,
    overrides: Mapping[str, object] | None = None,
    policy_files: PolicyFiles | None = None,
    network: Any = None,
    **keywords: object,
) -> Scenario:
    """A checked scenario from a shipped name or a TOML file.

    Example:
        >>> import cluster_abm as ca
        >>> ca.load_scenario("quickstart", {"cluster.nodes": 64, "policy.name": "jsq"})
        <Scenario 'quickstart': 64 nodes, policy jsq, seed 1>
        >>> ca.load_scenario("quickstart", cluster__nodes=64) == ca.load_scenario("quickstart", {"cluster.nodes": 64})
        True

    Args:
        source: name of a shipped scenario, or path of a TOML file.
        overrides: dotted keys to values that replace the file's, e.g. {"cluster.nodes": 64}.
        policy_files: what loads a policy that they name as FILE.py:CLASS (`policies.name_of`); None: it is refused.
        network: a networkx graph that joins the nodes, in place of the scenario's network; it is copied. Read of an
            edge are `bandwidth_mbps` and `latency_ms`, of a vertex `host`, `kind`, `cluster`, `cpu_speed`, `cores`,
            `memory_mb` and `files`. Its vertices are the nodes (docs/how-to/scenarios.md).
        keywords: the same as `overrides`, `__` for the dot: cluster__nodes=64.

    Returns:
        The scenario, whose keys are attributes: `scenario.cluster.nodes`. It cannot be changed.

    Raises:
        InputError: no such scenario, not TOML, unknown keys, wrong types or values; all problems at once.
    """
    check_arguments(policy_files=(policy_files, CALLABLE_OR_NONE))
    keys = with_graph(laid_over(overrides, keywords, ("source", "overrides", "policy_files", "network")), network)
    path = scenario_path(source)
    data = beside(path, read_toml(path))
    data.setdefault("name", path.stem)
    return scenario_from(data, str(path), keys, policy_files)


def scenario_of(source: Scenario | str | Path, overrides: Mapping[str, object] | None = None) -> Scenario:
    """What a caller means by a scenario: a checked one, or as `load_scenario`; with dotted keys laid over it.

    Raises InputError: as of `load_scenario`.
    """
    if not isinstance(source, Scenario):
        return load_scenario(source, overrides)
    return scenario_from(tables_of(source), source.name, overrides) if overrides else source


def scenario_from(
    data: Mapping[str, Any],
    where: str = "scenario",
    overrides: Mapping[str, object] | None = None,
    policy_files: PolicyFiles | None = None,
) -> Scenario:
    """A checked scenario from nested tables; `where` names them in messages. Raises InputError as load_scenario."""
    presets: dict[tuple[str | int, ...], Preset] = {}
    vertices: OfVertices | None = None
    try:
        tree = _copy(data)
        if (overrides or {}).get(GRAPH) is not None:
            hand_over(tree)
        give_way(tree, overrides or {})
        for key, value in (overrides or {}).items():
            _set(tree, key, value)
        _check_texts(tree, where)
        refused = take_policy_files(tree, policy_files)
        if refused:
            raise InputError([f"{_origin(path, where, overrides)}: {line}" for path, line in refused.items()])
        vertices = fill_nodes(tree, overrides or {})
        presets = lay_under(tree)
        _complete_distributions(tree)
        scenario = Scenario.model_validate(tree)
    except ValidationError as problem:
        own = _own_problems(data) if overrides else None
        lines = [_message(error, where, own, overrides or {}) for error in problem.errors()]
        raise InputError([line + _said_by(presets, line) + _of_graph(vertices, line) for line in lines]) from None
    except RecursionError:
        raise InputError(f"{where}: its tables are nested too deeply") from None
    for path, preset in presets.items():
        section: Any = scenario
        for part in path:
            section = section[part] if isinstance(part, int) else getattr(section, part)
        # What a preset says is not the scenario's own (`tables_of`).
        section.model_fields_set.difference_update(preset.keys)
    return scenario


def _origin(path: str, where: str, overrides: Mapping[str, object] | None) -> str:
    """What says a dotted key: an override, or the tables that `where` names."""
    return "override" if any(f"{path}.".startswith(f"{key}.") for key in overrides or ()) else where


def _said_by(presets: Mapping[tuple[str | int, ...], Preset], line: str) -> str:
    """Which keys in a message are those of presets, and which the scenario says in a preset's place."""
    said = []
    for path, preset in presets.items():
        name = f"{'.'.join(map(str, path))}.hardware = {preset.name!r}"
        for key, value in read_preset(preset.name).keys.items():
            if not re.search(rf"\b{key}\b", line):
                continue
            if key in preset.keys:
                said.append(f"{key} = {value!r} is of {name}")
            else:
                own = ".".join(map(str, (*path, key)))
                said.append(
                    f"{key} is the scenario's own and wins over that of {name}: change it, say to {own} = {value!r}"
                )
    return f" ({'; '.join(said)})" if said else ""


def _of_graph(vertices: OfVertices | None, line: str) -> str:
    """That the groups in a message are those of a graph."""
    is_said = vertices is not None and vertices.groups and "group." in line
    return f" (cluster.group is what the vertices of {vertices.where} say)" if vertices and is_said else ""


def tables_of(scenario: Scenario) -> dict[str, Any]:
    """A scenario's nested tables, for others to be laid over them (`scenario_from`); of keys that a hardware preset may
    say those alone that the scenario says itself, and no groups that a graph's vertices say."""
    tree = scenario.model_dump(exclude_none=True)
    sections: list[tuple[dict[str, Any], Any]] = [
        (tree["cluster"], scenario.cluster), (tree["interconnect"], scenario.interconnect),
        *zip(tree["cluster"]["group"], scenario.cluster.group, strict=True),
    ]  # fmt: skip
    for table, section in sections:
        for key in set(table) & {*NODE_KEYS, *NETWORK_KEYS} - section.model_fields_set:
            del table[key]
    if tree["interconnect"]["kind"] == "file" and tree["cluster"]["group"]:
        found = of_vertices(tree["interconnect"])
        if found is not None and found.groups:
            del tree["cluster"]["group"]
    return tree


def scenario_path(source: str | Path) -> Path:
    """The file of a shipped name, or the path that was given. Raises InputError: there is no such file."""
    check_arguments(scenario=(source, Kind("a Scenario, a shipped name or the path of a TOML file", is_path)))
    path = Path(source)
    shipped = shipped_path(f"{source}.toml")
    if isinstance(source, str) and path.suffix != ".toml" and source in scenario_names():
        return shipped
    if is_there(path):
        return path
    if is_folder(path):
        raise InputError(f"scenario {str(source)!r}: is a folder; a TOML file or a shipped name is needed")
    if path.suffix == ".toml" and path.stem not in scenario_names():
        raise InputError(f"scenario {shortened(str(source))}: no such file; `cluster-abm scenarios` lists shipped ones")
    raise InputError(
        f"scenario {shortened(str(source))}: no such file or shipped scenario; "
        f"{nearest(str(source)[:100], scenario_names())}"
    )


def _copy(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _copied(value) for key, value in tree.items()}


def _copied(value: object) -> object:
    """A value whose tables, and lists of tables, are the caller's no more: presets are laid under them."""
    if isinstance(value, Mapping):
        return _copy(value)
    if isinstance(value, list | tuple):
        return [_copied(entry) for entry in value]
    return value


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
    try:
        return b"\0" not in words.encode()
    except UnicodeEncodeError:
        return False


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
    tree[last] = _copied(value)
    if last == "kind" and isinstance(value, str) and value in Distribution.USES:
        # Another kind does not take the old one's parameters: they are dropped, so that a new kind can be set alone.
        for name in set(Distribution.model_fields) - {"kind", *Distribution.USES[str(value)]}:
            tree.pop(name, None)
    rates = ("jobs", "jobs_per_s", "utilisation")
    # One rate replaces the others, so that workload.utilisation can be set whichever rate the file has.
    if path == ["workload"] and last in rates and value is not None:
        for other in rates:
            if other != last:
                tree.pop(other, None)


Problem = tuple[tuple[Any, ...], str]
# pydantic's names of what is wrong with a text in a number's place.
IN_PLAIN_WORDS = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
}
WANT_A_NUMBER = {"float_type", "int_type", "float_parsing", "int_parsing", "int_from_float", "value_error"}


def _own_problems(data: Mapping[str, Any]) -> set[Problem]:
    """What is wrong with the tables before anything is laid over them."""
    try:
        tree = _copy(data)
        lay_under(tree)
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
        return f"{origin}: unknown key {shortened(whole)}; {nearest_key(whole, location)}"
    if error["type"] == "missing":
        # What pydantic calls the input here is the whole section.
        return f"{origin}: {field}: is missing"
    text = str(error["ctx"]["error"]) if error["type"] == "value_error" else error["msg"]
    if error["type"] == "value_error" and isinstance(error["input"], Mapping) and not text.startswith("must be"):
        # Of a whole section: the text begins with the key.
        return f"{origin}: {field + '.' if field else ''}{text}"
    given = error["input"]
    text = IN_PLAIN_WORDS.get(error["type"], text)
    if isinstance(given, str) and error["type"] in WANT_A_NUMBER:
        text = units.hint(field, given) or text
    if error["type"] == "model_type":
        text = f"is a section with keys of its own, as {field}.{next(iter(_keys(location)), 'kind')}"
    if text.endswith("valid tuple") and isinstance(given, Mapping):
        return f"{origin}: {shortened(field, '')}: a list of tables is written [[{shortened(field, '')}]]"
    text = text.replace("valid tuple", 'list, e.g. ["a", "b"]')
    return f"{origin}: {shortened(field, '')} = {shortened(error['input'])}: {text[0].lower()}{text[1:]}"


def nearest_key(whole: str, location: list[Any]) -> str:
    """The nearest key of a section, whole; where the section itself is unknown, with the rest of the key.

    Args:
        whole: the key as it was given, with dots.
        location: the same as a list, up to the part that is not known.
    """
    if location[:2] == ["cluster", "group"] and location[-1] == "nodes":
        return f"a group's number of nodes is {'.'.join([*map(str, location[:-1]), 'count'])!r}"
    allowed = list(_keys(location[:-1]))
    rest = whole.split(".")[len(location) :]
    if not rest and not difflib.get_close_matches(str(location[-1]).lower()[:100], allowed, n=1, cutoff=0.8):
        elsewhere = keys_meant(str(location[-1]))
        if elsewhere:
            return did_you_mean(elsewhere)
    close = difflib.get_close_matches(str(location[-1]).lower()[:100], allowed, n=1, cutoff=0.5)
    if not close:
        return nearest(str(location[-1])[:100], allowed)
    return f"did you mean {'.'.join([*map(str, location[:-1]), close[0], *rest])!r}?"


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
            section = _section_of(argument)
            if section is not None:
                return section
    return None
