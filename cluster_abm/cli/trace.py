"""`trace info` and `trace convert`; `trace fit` is beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cluster_abm.bounded_files import MOST_MB, TRACE_MB
from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.options import ONLY_COMPARE, FilePath, Overrides, json_option, overrides_of, set_option
from cluster_abm.cli.output import echo, tell
from cluster_abm.cli.trace_fit import fit_command
from cluster_abm.errors import InputError

run_choice = click.option("--run", type=click.IntRange(min=0), help="Which run of a file that holds several.")
format_choice = click.option(
    "--format",
    type=click.Choice(["csv", "swf", "hbd"]),
    help="The file's format (default: by its name and header).",
)
max_mb_option = click.option(
    "--max-mb",
    type=click.IntRange(1, MOST_MB),
    default=TRACE_MB,
    show_default=True,
    help="How much the file may hold, unpacked [MB of 2^20 bytes].",
)


@click.group("trace")
def trace_group() -> None:
    """Look at a trace file, convert it, or fit a scenario to it."""


trace_group.add_command(fit_command)


@trace_group.command("info")
@click.argument("file", type=FilePath())
@run_choice
@format_choice
@max_mb_option
@click.option("--scenario", metavar="SCENARIO", help="Also the load that FILE offers to this scenario's nodes.")
@set_option
@json_option
def info_command(
    file: Path,
    run: int | None,
    format: str | None,
    max_mb: int,
    scenario: str | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """What FILE holds: jobs found, rows skipped and why, fields present, cores and memory kept busy.

    Examples:

    cluster-abm trace info HPC2N-2002-2.2-cln.swf.xz

    cluster-abm trace info jobs.csv --scenario replay --set cluster.hardware=ssd-2015
    """
    from cluster_abm.workload.traces import read_trace, trace_info

    if settings and scenario is None:
        raise InputError("--set: sets keys of a scenario; give --scenario too")
    found = trace_info(read_trace(file, run=run, format=format, max_mb=max_mb, pipes=True))
    if scenario is not None:
        overrides = overrides_of(settings, file, run)
        overrides.setdefault("workload.trace.max_mb", max_mb)
        if format is not None:
            overrides.setdefault("workload.trace.format", format)
        found |= _load_on(scenario, overrides)
    if as_json:
        from cluster_abm.results.files import to_json

        echo(to_json(found), nl=False)
        return
    for name, value in found.items():
        _print_entry(name, value)


def _load_on(scenario: str, overrides: Overrides) -> dict[str, Any]:
    """Keys scenario, hardware, offered_load: the load of a trace's jobs on a scenario's nodes, as `run` has it."""
    from cluster_abm.scenario import load_scenario
    from cluster_abm.scenario.hardware import hardware_named
    from cluster_abm.workload import job_table, offered_load
    from cluster_abm.workload.offered import warnings_of

    checked = load_scenario(scenario, overrides)
    check_keys_have_effect(checked, scenario, overrides, others=ONLY_COMPARE)
    load = offered_load(checked, job_table(checked, checked.run.seed))
    for line in warnings_of(checked, load):
        tell(line)
    return {
        "scenario": checked.name,
        "hardware": hardware_named(checked.cluster, checked.interconnect) or None,
        "offered_load": None if load is None else load.as_dict(),
    }


@trace_group.command("convert")
@click.argument("file", type=FilePath())
@click.argument("output", metavar="OUT.csv", type=FilePath())
@run_choice
@format_choice
@max_mb_option
def convert_command(file: Path, output: Path, run: int | None, format: str | None, max_mb: int) -> None:
    """Write the jobs of FILE as the CSV that --trace reads.

    Example: cluster-abm trace convert log.swf.gz jobs.csv
    """
    from cluster_abm.workload.traces import read_trace, write_csv

    found = read_trace(file, run=run, format=format, max_mb=max_mb, pipes=True)
    write_csv(found, output)
    tell(f"{len(found.table):,} jobs written to {output}")
    for reason, count in found.skipped.items():
        tell(f"skipped {count:,}: {reason}")
    for reason, count in found.noted.items():
        tell(f"noted {count:,}: {reason}")


def _print_entry(name: str, value: Any, indent: int = 0) -> None:
    space = "  " * indent
    if isinstance(value, dict):
        echo(f"{space}{name}:{'' if value else ' none'}")
        for key, inner in value.items():
            _print_entry(str(key), inner, indent + 1)
    elif isinstance(value, float):
        echo(f"{space}{name}: {value:,.4g}" if abs(value) < 1e4 else f"{space}{name}: {value:,.0f}")
    elif isinstance(value, int):
        echo(f"{space}{name}: {value:,}")
    elif value is None:
        echo(f"{space}{name}: none")
    else:
        echo(f"{space}{name}: {value}")
