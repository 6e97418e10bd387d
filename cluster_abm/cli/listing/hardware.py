"""`hardware`: the presets of nodes and networks."""

from __future__ import annotations

import click

from cluster_abm.cli.options import json_option
from cluster_abm.cli.output import echo
from cluster_abm.cli.shell.names import hardware_presets


@click.command("hardware", short_help="List hardware presets, or print one with its sources.")
@click.argument("name", required=False, shell_complete=hardware_presets)
@json_option
def hardware_command(name: str | None, as_json: bool) -> None:
    """List the hardware presets; with NAME print one, each number with its source.

    Example: cluster-abm run mine.toml --set cluster.hardware=ssd-2015 --set interconnect.hardware=ethernet-10g
    """
    from cluster_abm.scenario.hardware import preset_names, read_preset

    presets = [read_preset(one, "NAME") for one in ([name] if name is not None else preset_names())]
    if as_json:
        from cluster_abm.json_text import to_json

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
