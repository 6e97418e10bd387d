"""`scenarios`: the shipped ones, what one of them says, and every key that a scenario may hold."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Mapping
from typing import Any

import click

from cluster_abm.cli.listing.lines import columns, echo_entries, echo_text
from cluster_abm.cli.options import json_option
from cluster_abm.cli.output import echo
from cluster_abm.cli.shell.names import scenarios as scenario_files
from cluster_abm.errors import InputError
from cluster_abm.json_text import json_line


@click.command("scenarios", short_help="List the shipped scenarios, show one, or list all keys.")
@click.argument("names", metavar="[SCENARIO]...", nargs=-1, shell_complete=scenario_files)
@click.option(
    "--keys",
    "wanted",
    metavar="[TEXT]",
    is_flag=False,
    flag_value="",
    help="List every key that a scenario may hold, with default and meaning; with TEXT those that have it in their "
    "name or meaning.",
)
@json_option
def scenarios_command(names: tuple[str, ...], wanted: str | None, as_json: bool) -> None:
    """List the shipped scenarios; with SCENARIO (shipped, or a TOML file) show what it says; or list all keys.

    Examples:

    cluster-abm scenarios quickstart

    cluster-abm scenarios --keys disk
    """
    if wanted is not None and names:
        raise InputError(f"scenarios: give names ({names[0]!r:.80}) or --keys, not both")
    if wanted is not None:
        from cluster_abm.cli.listing.keys import list_keys

        list_keys(wanted, as_json)
        return
    from cluster_abm.scenario import load_scenario, scenario_names
    from cluster_abm.scenario.wording.caption import caption_of

    scenarios = [(name, load_scenario(name)) for name in names or scenario_names()]
    found: list[dict[str, Any]] = [
        {"name": one.name, "summary": caption_of(one), "nodes": one.cluster.nodes, "policy": one.policy.label}
        for _, one in scenarios
    ]
    if names:
        found = [entry | _of_file(name) for entry, name in zip(found, names, strict=True)]
    if as_json:
        from cluster_abm.json_text import to_json

        echo(to_json(found), nl=False)
    elif names:
        for position, (entry, name) in enumerate(zip(found, names, strict=True)):
            if position:
                echo()
            _show(entry, name)
    else:
        echo_entries([(entry["name"], entry["summary"]) for entry in found], 0)
        echo("\ncluster-abm scenarios NAME shows what one says; --keys [TEXT] lists what a scenario can say.")


def _of_file(source: str) -> dict[str, Any]:
    """Path, remarks at its head and keys of a scenario's file."""
    from cluster_abm.scenario.filling.toml_file import read_toml
    from cluster_abm.scenario.load import scenario_path

    path = scenario_path(source)
    lines = path.read_text(encoding="utf-8").splitlines()
    head = []
    for line in lines:
        if not line.startswith("#"):
            break
        head.append(line.lstrip("# "))
    keys = {key: value for key, value in _dotted(read_toml(path)) if key not in ("name", "summary")}
    return {"path": str(path), "remarks": " ".join(head), "keys": keys}


def _dotted(tables: Mapping[str, Any], path: str = "") -> list[tuple[str, Any]]:
    found = []
    for name, value in tables.items():
        if isinstance(value, Mapping):
            found += _dotted(value, f"{path}{name}.")
        else:
            found.append((path + name, value))
    return found


def _show(entry: dict[str, Any], given: str) -> None:
    echo(entry["name"])
    echo_text(entry["summary"], 2)
    if entry["remarks"]:
        echo()
        echo_text(entry["remarks"], 2)
    echo(f"\n  {entry['path']}\n\n  what it sets (all else: cluster-abm scenarios --keys)")
    for key, value in entry["keys"].items():
        text = f"{key} = {json_line(value)}"
        echo(textwrap.fill(text, columns(), initial_indent=" " * 4, subsequent_indent=" " * 8))
    echo(f"\n  cluster-abm compare {shlex.quote(given)}")
