"""`trace info` and `trace convert`; `trace fit` is in `traces`."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.log_options import FilePath
from cluster_abm.cli.options import ONLY_COMPARE, Overrides, json_option, set_option
from cluster_abm.cli.output import echo, tell
from cluster_abm.cli.reading_options import HowToRead, reading_options
from cluster_abm.cli.shell.names import scenarios
from cluster_abm.cli.shell.sections import HelpfulGroup
from cluster_abm.cli.traces.fit import fit_command
from cluster_abm.cli.traces.guessing import check_guess, guess_options, guessed_trace
from cluster_abm.errors import InputError

ABOVE_0, SHARE = click.FloatRange(0.0, 1e9, min_open=True), click.FloatRange(0.0, 1.0)
# What is printed behind the name of a group of numbers.
MEANINGS = {
    "skipped": "rows left out, by reason",
    "noted": "rows kept although something had to be mended or guessed",
    "fields": "share of the jobs that have a value",
    "filled": "what the log does not say, and where it comes from",
    "cpu_s": "CPU time of a task at speed 1",
    "recorded_wait_s": "how long the jobs waited in the log",
    "resources": "counted resources: the jobs that ask for them, and how much in all",
    "arrivals_s": "on the log's own clock",
    "run_time": "how long the rows ran in the log, and how much of it was CPU time",
    "kept_busy": "in the mean from the first to the last arrival: cores of speed 1; at least so much memory",
    "offered_load": "of these nodes; 1 is all that they can do",
}


@click.group("trace", cls=HelpfulGroup, short_help="Look at a log, convert it, fit a scenario to it.")
def trace_group() -> None:
    """Look at a trace file, convert it, or fit a scenario to it."""


trace_group.add_command(fit_command)


@trace_group.command("info", short_help="Say what a log holds, and the load that it offers.")
@click.argument("file", type=FilePath())
@reading_options
@click.option(
    "--scenario",
    metavar="SCENARIO",
    shell_complete=scenarios,
    help="Also the load that FILE offers to this scenario's nodes.",
)
@guess_options
@set_option
@json_option
def info_command(
    file: Path,
    how: HowToRead,
    scenario: str | None,
    guess: bool,
    out: Path | None,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """What FILE holds: jobs found, rows skipped and why, fields present, cores and memory kept busy.

    Examples:

    cluster-abm trace info HPC2N-2002-2.2-cln.swf.xz

    cluster-abm trace info jobs.csv --scenario replay --set cluster.hardware=ssd-2015

    cluster-abm trace info table.csv --guess --out table-map.toml
    """
    from cluster_abm.workload.traces import trace_info

    if settings and scenario is None:
        raise InputError("--set: sets keys of a scenario; give --scenario too")
    check_guess(how, out, guess, scenario)
    trace, guessed = guessed_trace(file, how, out, as_json) if guess else (how.read(file), {})
    found = trace_info(trace)
    if scenario is not None:
        found |= _load_on(scenario, how.overrides(settings, file))
    if as_json:
        from cluster_abm.json_text import to_json

        echo(to_json(found | guessed), nl=False)
        return
    for name, value in _for_print(found).items():
        _print_entry(name, value)
        if name == "recorded_wait_s" and value:
            _print_waits(found[name])


def _print_waits(waits: dict[str, Any]) -> None:
    """The waits in a log by width and by hour, as tables."""
    from cluster_abm.cli.shares import waits_by_text

    for head, by in (("tasks", waits["by_width"]), ("hour of submission", waits["by_hour"])):
        if by:
            echo(textwrap.indent(waits_by_text(head, by), "  "))


def _for_print(found: dict[str, Any]) -> dict[str, Any]:
    """The document of `trace info` in the order in which it is read: rows used beside those found, and of the columns
    those that the log has, in per cent."""
    fields = found["fields"]
    present = {name: _in_per_cent(share) for name, share in fields.items() if share}
    absent = ", ".join(name for name, share in fields.items() if not share)
    changed = found | {"fields": present | ({"in no job": absent} if absent else {})}
    if found["recorded_wait_s"]:
        # Tables say the rest.
        changed["recorded_wait_s"] = {
            name: value for name, value in found["recorded_wait_s"].items() if not name.startswith("by_")
        }
    first = ("file", "format", "rows", "used", "jobs", "sample", "skipped", "noted", "fields", "filled")
    if found["sample"] is None:
        del changed["sample"]
    return {name: changed[name] for name in first if name in changed} | changed


def _in_per_cent(share: float) -> str:
    """A share above 0; all jobs but a few are not 100 %, nor are a few 0 %."""
    return "100 %" if share == 1.0 else f"{100.0 * min(max(share, 0.001), 0.999):.1f} %"


def _load_on(scenario: str, overrides: Overrides) -> dict[str, Any]:
    """Keys scenario, hardware, offered_load: the load of a trace's jobs on a scenario's nodes, as `run` has it."""
    from cluster_abm.scenario import load_scenario
    from cluster_abm.scenario.hardware import hardware_named
    from cluster_abm.workload import offered_load, work_of
    from cluster_abm.workload.offered import warnings_of

    checked = load_scenario(scenario, overrides)
    check_keys_have_effect(checked, scenario, overrides, others=ONLY_COMPARE)
    work = work_of(checked, checked.run.seed)
    load = offered_load(checked, work)
    for line in warnings_of(checked, load, work):
        tell(line)
    return {
        "scenario": checked.name,
        "hardware": hardware_named(checked.cluster, checked.interconnect) or None,
        "offered_load": None if load is None else load.as_dict(),
    }


@trace_group.command("convert", short_help="Write the jobs of a log as CSV or Parquet.")
@click.argument("file", type=FilePath())
@click.argument("output", metavar="OUT", type=FilePath())
@reading_options
@click.option("--cpu-ms-per-mb", type=ABOVE_0, help="CPU time of a SWIM job, for each MB that it reads or writes.")
@click.option("--task-mb", type=ABOVE_0, help="A SWIM job has one task for every N MB (default: one task).")
@click.option("--disk-read-share", type=SHARE, help="Share of bytes read by calls that the disk saw (default: 0.1).")
@click.option("--disk-write-share", type=SHARE, help="The same of bytes written (default: 0.37).")
@click.option("--dependences", is_flag=True, help="Keep preceding jobs and think times of an SWF log.")
@click.option("--cpu-time", type=click.Choice(("used", "run")), help="As workload.trace.cpu_time (default: used).")
def convert_command(file: Path, output: Path, how: HowToRead, **choices: float | bool | str | None) -> None:
    """Write the jobs of FILE as CSV, or as Parquet if OUT ends in .parquet: both are read by --trace.

    What the programs of a trace do (GWA-T-12) goes into NAME.profiles.csv beside OUT.

    Examples:

    cluster-abm trace convert log.swf.gz jobs.csv

    cluster-abm trace convert jobs.csv.xz jobs.parquet
    """
    from cluster_abm.workload.traces import LogReading, write_trace
    from cluster_abm.workload.traces.mapping.sampling import shrunk

    given = {key: value for key, value in choices.items() if value is not None}
    reading = LogReading(**given)  # type: ignore[arg-type]
    found = how.read(file, reading)
    written = write_trace(found, output)
    tell(f"{len(found.table):,} jobs written to {output}")
    for beside in written[1:]:
        tell(f"what their programs do written to {beside}: read by --set workload.programs.file={beside}")
    for name, words in found.filled.items():
        tell(f"filled {name}: {words}")
    if found.sample < 1:
        tell(f"sample: {shrunk(found.sample)}")
    for reason, count in found.skipped.items():
        tell(f"skipped {count:,}: {reason}")
    for reason, count in found.noted.items():
        tell(f"noted {count:,}: {reason}")


def _print_entry(name: str, value: Any, indent: int = 0) -> None:
    space = "  " * indent
    if isinstance(value, dict):
        said = f"  # {MEANINGS[name]}" if value and not indent and name in MEANINGS else ""
        echo(f"{space}{name}:{said if value else ' none'}")
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
