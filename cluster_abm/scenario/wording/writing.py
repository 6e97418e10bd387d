"""A scenario as files that are read back to an equal one."""

from __future__ import annotations

from pathlib import Path

import tomli_w

from cluster_abm.arguments import PATH, check_arguments, of_class
from cluster_abm.errors import InputError, reason_of
from cluster_abm.scenario.filling.handing_over import BESIDE
from cluster_abm.scenario.filling.nodes import of_vertices
from cluster_abm.scenario.schema import Scenario
from cluster_abm.whole_files import in_one_move


def scenario_to_toml(scenario: Scenario) -> str:
    """The scenario, resolved, as TOML that `load_scenario` reads back to an equal one."""
    return tomli_w.dumps(scenario.model_dump(mode="json", exclude_none=True))


def scenario_files(scenario: Scenario, name: str = "scenario.toml") -> dict[str, str]:
    """The files of a scenario by their names: its TOML, and the graph that was handed over, if there is one.

    Args:
        name: of the TOML file.
    """
    tree = scenario.model_dump(mode="json", exclude_none=True)
    network = tree["interconnect"]
    text = network.pop("graph", None)
    if text is None:
        return {name: tomli_w.dumps(tree)}
    from cluster_abm.graphs.handed import in_lines

    file = f"{Path(name).stem}{BESIDE}"
    tree["interconnect"] = {"kind": network.pop("kind"), "file": file} | network
    found = of_vertices({"graph": text, **network})
    if found is not None and found.groups:
        # They are what the vertices say, and follow the file where it is edited.
        del tree["cluster"]["group"]
    return {name: tomli_w.dumps(tree), file: in_lines(text)}


def save_scenario(scenario: Scenario, path: str | Path) -> Path:
    """Write a scenario, resolved, as a TOML file that `load_scenario` and the commands read back to an equal one.

    A graph that was handed over is written beside it: mine.network.json beside mine.toml.

    Args:
        scenario: of `load_scenario`.
        path: of the TOML file, "mine.toml"; what is there is written over.

    Returns:
        The path.

    Raises InputError: it does not end in .toml, or cannot be written.
    """
    check_arguments(scenario=(scenario, of_class(Scenario)), path=(path, PATH))
    target = Path(path)
    if target.suffix != ".toml":
        raise InputError(f"path = {str(path)!r}: a scenario's file ends in .toml")
    try:
        for name, text in scenario_files(scenario, target.name).items():
            with in_one_move(target.parent / name) as partial:
                partial.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be written ({reason_of(problem)})") from None
    return target
