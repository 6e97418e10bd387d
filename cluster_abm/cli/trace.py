"""`trace info` and `trace convert`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from cluster_abm.bounded_files import MOST_MB, TRACE_MB
from cluster_abm.cli.options import FilePath, json_option
from cluster_abm.cli.output import echo, tell

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
    """Look at a trace file, or convert it."""


@trace_group.command("info")
@click.argument("file", type=FilePath())
@run_choice
@format_choice
@max_mb_option
@json_option
def info_command(file: Path, run: int | None, format: str | None, max_mb: int, as_json: bool) -> None:
    """What FILE holds: jobs found, rows skipped and why, fields present.

    Example: cluster-abm trace info HPC2N-2002-2.2-cln.swf.xz
    """
    from cluster_abm.workload.traces import read_trace, trace_info

    found = trace_info(read_trace(file, run=run, format=format, max_mb=max_mb, pipes=True))
    if as_json:
        from cluster_abm.results.files import to_json

        echo(to_json(found), nl=False)
        return
    for name, value in found.items():
        _print_entry(name, value)


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
    else:
        echo(f"{space}{name}: {value}")
