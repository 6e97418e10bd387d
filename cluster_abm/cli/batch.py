"""`batch run`, `batch status`, `batch report`: studies of many runs, into a folder that survives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.figures import figures_option
from cluster_abm.cli.frame import ended, print_json
from cluster_abm.cli.log_options import FilePath
from cluster_abm.cli.options import Executor, executor_options, exit_code_of, interruptible, json_option
from cluster_abm.cli.output import echo, tell
from cluster_abm.cli.shell.names import studies
from cluster_abm.cli.shell.sections import HelpfulGroup

if TYPE_CHECKING:
    from cluster_abm.study.status import Status

folder_argument = click.argument("folder", metavar="DIR", type=FilePath())
# How many failures are shown on a terminal; `--json` has all.
SHOWN = 5


@click.group("batch", cls=HelpfulGroup, short_help="Studies of many runs that can be stopped and go on.")
def batch_group() -> None:
    """Carry out studies of many runs: resumable, on all cores or several machines.

    Example: cluster-abm batch run quick-study --out out/quick; cluster-abm batch report out/quick
    """


@batch_group.command("run", short_help="Carry out a study; what is there is not run again.")
@click.argument("study", shell_complete=studies)
@click.option("--out", required=True, type=FilePath(), help="Folder that keeps the results.")
@executor_options
@click.option("--keep-failed", is_flag=True, help="Do not try again what failed in an earlier call.")
@click.option("--policy-files", is_flag=True, help="Import policies that the study names as FILE.py:CLASS.")
@json_option
def run_study_command(
    study: str, out: Path, executor: Executor, keep_failed: bool, policy_files: bool, as_json: bool
) -> int:
    """Carry out STUDY (a TOML file or a shipped name) into a folder; what it holds already is not run again.

    Stop it as you like and start it again: it finishes what is missing. Several may work on one folder.
    """
    from cluster_abm.policies import name_of
    from cluster_abm.results.files import out_folder
    from cluster_abm.study.batch import run_batch
    from cluster_abm.study.design.study_file import load_study
    from cluster_abm.study.status import status_of

    checked = load_study(study, name_of if policy_files else None)
    parameters = executor.parameters or None
    with interruptible(f"what is finished is kept in {out}; the same command goes on"), out_folder(out) as folder:
        outcome = run_batch(
            checked, folder, executor.kind, executor.workers, dask=executor.dask, slurm=parameters,
            keep_failed=keep_failed,
        )  # fmt: skip
        status = status_of(out)
    exit_code = 130 if outcome.interrupted else exit_code_of([record.error for record in outcome.failed])

    def show() -> None:
        if as_json:
            print_json(status.as_json() | {"made": outcome.made, "interrupted": outcome.interrupted})
        else:
            _print_status(status)
            if exit_code == 0:
                echo(f"tables and figures: cluster-abm batch report {out}")

    lines = [] if as_json else [*_lines_of_problems(status)]
    if outcome.interrupted:
        lines.append(f"interrupted: kept {status.finished} of {status.expected} runs; the same command goes on")
    return ended(exit_code, show, lines)


@batch_group.command("status", short_help="Say how far a study is, and what went wrong.")
@folder_argument
@json_option
def status_command(folder: Path, as_json: bool) -> int:
    """Say how far the study in DIR is: runs finished, failed, missing; damaged files; processes at work on it."""
    from cluster_abm.study.status import status_of

    status = status_of(folder)
    if as_json:
        print_json(status.as_json())
        return 0
    return ended(0, lambda: _print_status(status), _lines_of_problems(status))


@batch_group.command("report", short_help="Make tables and figures of what is finished.")
@folder_argument
@click.option("--out", type=FilePath(), help="Folder for tables and figures (default: DIR/report).")
@figures_option(default="png,svg")
@json_option
def report_command(folder: Path, out: Path | None, as_json: bool) -> int:
    """Make tables and figures of the results in DIR, finished or not."""
    from cluster_abm.results.files import out_folder
    from cluster_abm.study.heads import study_heads
    from cluster_abm.study.report.report import write_report
    from cluster_abm.study.report.study_loads import loads_over_time, remarks_on
    from cluster_abm.study.results_folder import load_results, read_plan
    from cluster_abm.study.status import status_of

    plan = read_plan(folder)
    status = status_of(folder)
    for problem in status.damaged:
        tell(f"damaged: {problem}")
    if status.missing or status.failed:
        tell(f"of {status.expected} runs {status.missing} are missing and {status.failed} failed: a report of the rest")
    results, loads = load_results(folder), loads_over_time(folder)
    for remark in remarks_on(loads, plan, results):
        tell(remark)
    where = folder / "report" if out is None else out
    with (
        out_folder(where) as target,
        interruptible(f"the report in {where} is not whole; the same command writes it again"),
    ):
        written = write_report(results, plan.study, loads, target, study_heads(plan, results))
    if as_json:
        print_json({"study": plan.study.name, "files": [str(path) for path in written]})
    else:
        for path in written:
            echo(path)
        tell(f"tables, figures and what they mean: {where / 'report.md'}")
    return 0


def _print_status(status: Status) -> None:
    echo(f"{status.study}: {status.finished} of {status.expected} runs finished", nl=False)
    counts = {"failed": status.failed, "missing": status.missing}
    echo("".join(f", {count} {what}" for what, count in counts.items() if count))
    if status.processes:
        echo(f"{status.processes} process{'es' if status.processes > 1 else ''} at work on it")
    if status.code_now != status.code:
        echo(f"the code has changed since ({status.code_now} now): the next `batch run` starts anew")
    if status.others:
        echo(f"{status.others} runs of other points, or of other code ({status.code} counts): kept, not counted")


def _lines_of_problems(status: Status) -> Iterator[str]:
    for problem in status.damaged:
        yield f"damaged: {problem}"
    if status.set_aside:
        files = "1 file" if status.set_aside == 1 else f"{status.set_aside} files"
        yield (f"set aside as damaged, in {status.folder}/damaged: {files}")
    for failure in status.failures[:SHOWN]:
        where = f"point {failure['point']}, policy {failure['policy']}, seed {failure['seed']}"
        yield (f"failed: {where}: {failure['error']}")
    if len(status.failures) > SHOWN:
        yield (f"failed: {len(status.failures) - SHOWN} more: --json has them all, with tracebacks")
