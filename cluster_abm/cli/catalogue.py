"""`policies` and `scenarios`: what there is."""

from __future__ import annotations

import textwrap

import click

from cluster_abm.cli.options import json_option


@click.command("policies")
@json_option
def policies_command(as_json: bool) -> None:
    """List the load-balancing policies with their sources and parameters."""
    from cluster_abm.policies import describe

    found = describe()
    if as_json:
        from cluster_abm.results.files import to_json

        click.echo(to_json(found), nl=False)
        return
    for policy in found:
        click.echo(f"{policy['name']:<13} {policy['summary']}\n{'':<13} source: {policy['source']}")
        for parameter in policy["parameters"]:
            meaning = f"policy.{parameter['name']} = {parameter['default']!r}: {parameter['meaning']}"
            click.echo(textwrap.fill(meaning, 100, initial_indent=" " * 14, subsequent_indent=" " * 18))


@click.command("scenarios")
@json_option
def scenarios_command(as_json: bool) -> None:
    """List the shipped scenarios."""
    from cluster_abm.scenario import load_scenario, scenario_names

    found = [load_scenario(name) for name in scenario_names()]
    if as_json:
        from cluster_abm.results.files import to_json

        click.echo(
            to_json(
                [
                    {"name": s.name, "summary": s.summary, "nodes": s.cluster.nodes, "policy": s.policy.name}
                    for s in found
                ]
            ),
            nl=False,
        )
        return
    for scenario in found:
        click.echo(f"{scenario.name:<16} {scenario.summary}")
