"""`policies`, `scenarios` and `hardware`: what there is."""

from __future__ import annotations

import json
import textwrap
from typing import Any

import click

from cluster_abm.cli.options import json_option
from cluster_abm.cli.output import echo


@click.command("policies")
@click.argument("policy", required=False)
@json_option
def policies_command(policy: str | None, as_json: bool) -> None:
    """List the load-balancing policies with their sources and parameters; with POLICY (NAME or FILE.py:CLASS) one."""
    from cluster_abm.policies import describe, name_of

    found = describe() if policy is None else describe([name_of(policy)])
    if as_json:
        from cluster_abm.results.files import to_json

        echo(to_json(found), nl=False)
        return
    for one in found:
        echo(f"{one['name']:<13} {one['summary']}\n{'':<13} source: {one['source']}")
        for parameter in one["parameters"]:
            meaning = f"policy.{parameter['name']} = {parameter['default']!r}: {parameter['meaning']}"
            echo(textwrap.fill(meaning, 100, initial_indent=" " * 14, subsequent_indent=" " * 18))


@click.command("scenarios")
@click.option("--keys", is_flag=True, help="List every key that a scenario may hold, with default and meaning.")
@json_option
def scenarios_command(keys: bool, as_json: bool) -> None:
    """List the shipped scenarios, or (--keys) what a scenario can say."""
    from cluster_abm.scenario import load_scenario, scenario_keys, scenario_names
    from cluster_abm.scenario.caption import caption_of

    if keys:
        found = scenario_keys()
        show = _show_key
    else:
        scenarios = [load_scenario(name) for name in scenario_names()]
        found = [
            {"name": one.name, "summary": caption_of(one), "nodes": one.cluster.nodes, "policy": one.policy.name}
            for one in scenarios
        ]
        show = _show_scenario
    if as_json:
        from cluster_abm.results.files import to_json

        echo(to_json(found), nl=False)
        return
    for entry in found:
        show(entry)


def _show_scenario(entry: dict[str, Any]) -> None:
    echo(f"{entry['name']:<18} {entry['summary']}")


def _show_key(entry: dict[str, Any]) -> None:
    default = "not set" if entry["default"] is None else json.dumps(entry["default"])
    allowed = f" [{' | '.join(map(str, entry['allowed']))}]" if entry["allowed"] else ""
    echo(textwrap.fill(f"{entry['key']} = {default}", 110))
    echo(textwrap.fill(f"{entry['meaning']}{allowed}", 110, initial_indent="    ", subsequent_indent="    "))


@click.command("hardware")
@click.argument("name", required=False)
@json_option
def hardware_command(name: str | None, as_json: bool) -> None:
    """List the hardware presets; with NAME print one, each number with its source.

    Example: cluster-abm run mine.toml --set cluster.hardware=ssd-2015 --set interconnect.hardware=ethernet-10g
    """
    from cluster_abm.scenario.hardware import preset_names, read_preset

    presets = [read_preset(one, "NAME") for one in ([name] if name is not None else preset_names())]
    if as_json:
        from cluster_abm.results.files import to_json

        echo(to_json([one._asdict() | {"path": str(one.path)} for one in presets]), nl=False)
    elif name is not None:
        echo(presets[0].path.read_text(encoding="utf-8"), nl=False)
    else:
        for section, words in (("cluster", "nodes"), ("interconnect", "networks")):
            echo(f"{words} ({section}.hardware = NAME):")
            for one in presets:
                if one.section == section:
                    echo(f"  {one.name:<14} {one.title}")
        echo("cluster-abm hardware NAME prints one, each number with its source; keys that a scenario itself sets win.")
