"""Hardware presets: what a kind of node, or of network, is in the keys of a scenario; the scenario's own keys win."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.scenario.cluster import Cluster, NodeGroup
from cluster_abm.scenario.filling.toml_file import is_there, read_toml
from cluster_abm.scenario.interconnect import Interconnect
from cluster_abm.scenario.shipped import names_in, nearest, shipped_file

# A group can differ from the other nodes in whatever makes a node's hardware.
NODE_KEYS = tuple(
    name for name in NodeGroup.model_fields if name not in ("count", "hardware", "policy", "policy_parameters")
)
NETWORK_KEYS = ("bandwidth_mbps", "latency_ms")
KEYS: Mapping[str, tuple[str, ...]] = {"cluster": NODE_KEYS, "interconnect": NETWORK_KEYS}
SECTIONS: Mapping[str, type[BaseModel]] = {"cluster": Cluster, "interconnect": Interconnect}


class Preset(NamedTuple):
    """A hardware preset."""

    name: str  # what scenarios call it: the shipped name, or the path of a file
    title: str  # what it is, in a line
    section: str  # what it describes, "cluster" (a node) or "interconnect"
    keys: Mapping[str, Any]  # values by key of that section
    path: Path  # the file, in which each number has its source


def preset_names(section: str | None = None) -> list[str]:
    """Names of the shipped presets, sorted.

    Args:
        section: only those of "cluster" (nodes) or of "interconnect"; None: all.
    """
    names = names_in("hardware", ".toml")
    return [name for name in names if section is None or section in read_toml(preset_path(name))]


def preset_path(name: str, key: str = "hardware") -> Path:
    """The file of a shipped preset by its name, or of one's own by its path.

    Raises InputError: there is none.

    Args:
        name: as a scenario has it.
        key: what names it, in messages.
    """
    shipped = shipped_file("hardware", name, ".toml")
    if shipped is not None:
        return shipped
    if is_there(Path(name)) and Path(name).suffix == ".toml":
        return Path(name)
    hint = nearest(name[:100], names_in("hardware", ".toml"))
    raise InputError(f"{key} = {shortened(name)}: no such preset, and no TOML file of that name; {hint}")


def read_preset(name: str, key: str = "hardware") -> Preset:
    """A preset by its name, checked by itself.

    Raises InputError: there is none of that name; or its file has other keys, wrong values, or values that contradict.

    Args:
        name, key: as for `preset_path`.
    """
    path = preset_path(name, key)
    tree = read_toml(path)
    title = tree.pop("title", "")
    if len(tree) != 1 or not set(tree) <= set(KEYS) or not isinstance(tree[next(iter(tree))], dict):
        raise InputError(
            f"{path}: has {', '.join(sorted(tree)) or 'no section'}: a preset is one section, [cluster] (what a node "
            "is) or [interconnect], and a title"
        )
    ((section, keys),) = tree.items()
    if not isinstance(title, str):
        raise InputError(f"{path}: title = {shortened(title)}: must be a text")
    unknown = [key for key in keys if key not in KEYS[section]]
    if unknown:
        raise InputError(
            [f"{path}: {section}.{key}: is no hardware; {nearest(key[:100], list(KEYS[section]))}" for key in unknown]
        )
    try:
        SECTIONS[section].model_validate(keys)
    except ValidationError as problem:
        raise InputError([f"{path}: {_problem(section, error)}" for error in problem.errors()]) from None
    return Preset(name, title, section, keys, path)


def _problem(section: str, error: Mapping[str, Any]) -> str:
    """What is wrong in a preset's section, with the value."""
    key = ".".join(map(str, (section, *error["loc"])))
    if error["type"] == "value_error":
        return f"{key}.{error['ctx']['error']}" if not error["loc"] else f"{key}: {error['ctx']['error']}"
    return f"{key} = {shortened(error['input'])}: {error['msg'][:1].lower()}{error['msg'][1:]}"


def lay_under(tree: dict[str, Any]) -> dict[tuple[str | int, ...], Preset]:
    """Fill a scenario's tables in place with what the presets that they name say, wherever they say nothing themselves.

    Raises InputError: as `read_preset`; or a preset of nodes named for the network, or the other way round.

    Args:
        tree: nested tables; what is no preset's name is left to the scenario's own check.

    Returns:
        the presets by the section that names them: ("cluster",), ("cluster", "group", 0) or ("interconnect",); each
        with the keys alone that were filled in.
    """
    presets = {}
    for path, section in _sections(tree):
        name = section.get("hardware")
        if not isinstance(name, str):
            continue
        key = ".".join(map(str, (*path, "hardware")))
        preset = read_preset(name, key)
        if preset.section != path[0]:
            kinds = {"cluster": "a node", "interconnect": "a network"}
            raise InputError(
                f"{key} = {shortened(name)}: describes {kinds[preset.section]}; "
                f"allowed: {', '.join(preset_names(str(path[0])))}"
            )
        filled = {key: value for key, value in preset.keys.items() if key not in section}
        section.update(filled)
        presets[path] = preset._replace(keys=filled)
    return presets


def _sections(tree: Mapping[str, Any]) -> Iterator[tuple[tuple[str | int, ...], dict[str, Any]]]:
    """The sections that may name a preset."""
    for name in KEYS:
        section = tree.get(name)
        if isinstance(section, dict):
            yield (name,), section
    cluster = tree.get("cluster")
    groups = cluster.get("group", ()) if isinstance(cluster, dict) else ()
    for index, group in enumerate(groups if isinstance(groups, list | tuple) else ()):
        if isinstance(group, dict):
            yield ("cluster", "group", index), group


def own_keys_that_win(section: BaseModel) -> dict[str, Any]:
    """Keys of a section with a preset that the scenario itself has given other values, with these."""
    name = getattr(section, "hardware", None)
    if name is None:
        return {}
    preset = read_preset(name)
    return {
        key: getattr(section, key)
        for key, value in preset.keys.items()
        if key in section.model_fields_set and getattr(section, key) != value
    }


def hardware_named(cluster: Cluster, network: Interconnect) -> str:
    """The presets that a scenario names, in words; "" if it names none."""
    groups = [f"{group.count} nodes {group.hardware}" for group in cluster.group if group.hardware is not None]
    nodes = [] if cluster.hardware is None else [f"{'other ' if groups else ''}nodes {cluster.hardware}"]
    return ", ".join([*groups, *nodes, *([] if network.hardware is None else [f"network {network.hardware}"])])
