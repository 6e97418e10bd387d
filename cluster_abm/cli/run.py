"""`run`: one run of one scenario."""

from __future__ import annotations

import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.figures import figures_option
from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.options import (
    ONLY_COMPARE,
    interruptible,
    json_option,
    out_option,
    overrides_of,
    policy_option,
    scenario_argument,
    work_options,
)
from cluster_abm.cli.output import echo, ending_with, tell
from cluster_abm.cli.recording import LookOptions, look_options
from cluster_abm.cli.stopping import StopRequest, stop_request
from cluster_abm.errors import InputError
from cluster_abm.interrupts import PolicyInterrupted

if TYPE_CHECKING:
    import pandas as pd

    from cluster_abm.model import ClusterModel


# Acts that were not done and are printed, one a line.
MOST_ACTS = 10


@click.command("run", short_help="Run a scenario once: tables and a picture.")
@scenario_argument
@policy_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run (default: the scenario's).")
@click.option("--threads", metavar="N", help="Changes nothing: one thread serves a run.")
@work_options
@out_option(None)
@figures_option()
@look_options("the run")
@json_option
def run_command(
    scenario: str,
    policy: str | None,
    seed: int | None,
    threads: str | None,
    settings: tuple[str, ...],
    trace: FromLog,
    out: Path | None,
    looks: Callable[[Path | None], LookOptions],
    as_json: bool,
) -> int:
    """Run SCENARIO (a TOML file or a shipped name) once.

    Example: cluster-abm run quickstart --policy iolb --set cluster.nodes=64 --out out/mine
    """
    begun = time.perf_counter()
    # Until the results are on the disk a signal is only noted: nothing that is finished is lost by it.
    with stop_request() as stop:
        from cluster_abm.results.files import out_folder
        from cluster_abm.scenario import load_scenario
        from cluster_abm.scenario.mixture import check_one_policy

        overrides = overrides_of(settings, trace, policy, seed, threads)
        checked = load_scenario(scenario, overrides)
        if policy is not None:
            check_one_policy(checked, f"--policy {policy!r}")
        check_keys_have_effect(checked, scenario, overrides, others=ONLY_COMPARE)
        looked = looks(out)
        with nullcontext() if out is None else out_folder(out) as folder:
            from cluster_abm.study.runner.ahead import compile_here

            compile_here(checked, quiet=False, look=stop.raise_if_requested)
            from cluster_abm.model import ClusterModel
            from cluster_abm.study.heads import head_lines
            from cluster_abm.workload.offered import warnings_of

            with redirect_stdout(sys.stderr):
                model = ClusterModel(checked, keep_decisions=out is not None, record=looked.are_wanted)
                driver = looked.driver_of(model)
            for note in (*model.network.notes, *model.parts.failures.plan.notes):
                tell(note)
            if model.parts.policies.any_acts_on_arrival and model.decides_in_python:
                tell(f"policy {model.policy_name}: decides in Python ({model.decides_in_python}); docs/speed.md")
            for line in warnings_of(checked, model.offered_load, model.parts.work):
                tell(line)
            stopped_in = _run_with_progress(model, driver.run, stop)
            wall_s = time.perf_counter() - begun
            summary = model.summary()
            title = overrides.captioned(model.title)
            save_code = 0 if folder is None else _saved(folder, model, title, summary, wall_s)
    if folder is not None and save_code == 0:
        tell(f"results in {folder}")
    left = "" if folder is None else f"; results in {folder}"
    look_code = looked.write([(model, driver)], overrides.in_words(), left)
    exit_code = 130 if stop.requested else max(save_code, look_code)
    try:
        with ending_with(exit_code):
            _show(summary, overrides.in_words(), as_json, head_lines(model.estimated, [checked], ["mean_slowdown"]))
    finally:
        tell(f"{wall_s:.1f} s")
        if stopped_in is not None:
            where = f" in {stopped_in}" if stopped_in else ""
            simulated = f"{model.now_ms / 1000:g} s of simulated time"
            tell(f"interrupted{where} at {simulated}: kept what was finished until then")
    return exit_code


def _run_with_progress(
    model: ClusterModel, run: Callable[[Callable[[float], None]], None], stop: StopRequest
) -> str | None:
    """Run to the end, or until a signal, which takes effect between two windows: the state is then whole.

    Returns:
        None at the end; else the method of a policy that had not returned, in words, or "".
    """
    from tqdm import tqdm

    from cluster_abm.cli.long_run import LongRunNote
    from cluster_abm.progress import Progress

    # Its own lock is one of several processes, and would start one more to look after it.
    tqdm.set_lock(threading.RLock())
    try:
        with Progress(100, f"run {model.setup.name}", "%") as bar:
            note = LongRunNote(model, bar.say)

            def show(share: float) -> None:
                bar.reach(int(share * 100))
                note.look(share)
                stop.raise_if_requested()

            stop.raise_if_requested()
            # Stdout is for results: what a policy prints goes to stderr.
            with redirect_stdout(sys.stderr):
                run(show)
    except PolicyInterrupted as problem:
        return str(problem)
    except KeyboardInterrupt:
        if stop.at_once:
            raise
        return ""
    return None


def _saved(folder: Path, model: ClusterModel, title: str, summary: dict[str, Any], wall_s: float) -> int:
    """Save the results; return the command's exit code. The summary is shown even where the disk does not take them."""
    try:
        with interruptible(f"the results in {folder} are not whole"):
            _save(folder, model, title, summary, wall_s)
    except InputError as problem:
        for line in problem.problems:
            tell(f"error: {line}")
        return 2
    return 0


def _show(summary: dict[str, Any], changed: str, as_json: bool, heads: Iterable[str]) -> None:
    if as_json:
        from cluster_abm.json_text import to_json

        echo(to_json(summary), nl=False)
    else:
        _print_summary(summary, changed, heads)


def _print_summary(summary: dict[str, Any], changed: str, heads: Iterable[str] = ()) -> None:
    from cluster_abm.cli.shares import print_shares, print_waits_by_width, waits_in_words
    from cluster_abm.results.style import BREAKDOWN_WORDS
    from cluster_abm.results.words import in_unit, line_words, with_unit
    from cluster_abm.workload.offered import in_words

    jobs, metrics = summary["jobs"], summary["metrics"]
    others = ", ".join(f"{count:,} {state}" for state, count in jobs.items() if state != "submitted" and count)
    rows = {
        "simulated": f"{summary['simulated_ms'] / 1000:,.10g} s in {summary['slices']:,} slices",
        "jobs": f"{jobs['submitted']:,} submitted: {others or 'none'}",
    }
    acts = summary.get("acts", [])
    if acts:
        rows["acts of the script"] = f"{sum(act['done'] for act in acts):,} of {len(acts):,} done"
    if summary["offered_load"] is not None:
        rows["offered load"] = in_words(summary["offered_load"])
    for name, value in metrics.items():
        if name != "breakdown_ms":
            named = {f"{name}.{part}": one for part, one in value.items()} if isinstance(value, dict) else {name: value}
            rows |= {line_words(part): with_unit(part, one, bool(jobs["finished"])) for part, one in named.items()}
    for words, name in (("in the log", "recorded_wait_s"), ("of the same jobs here", "simulated_wait_s")):
        if name in summary:
            rows[f"wait {words}"] = waits_in_words(summary[name])
    parts = {part: ms for part, ms in metrics["breakdown_ms"].items() if ms}
    total_ms = sum(parts.values())
    echo(f"{summary['scenario']}, policy {summary['policy']}, seed {summary['seed']}")
    if changed:
        echo(textwrap.fill(f"with {changed}", 100, subsequent_indent="     ", break_on_hyphens=False))
    for line in heads:
        echo(textwrap.fill(line, 100, break_on_hyphens=False))
    width = max(map(len, rows))
    for words, text in rows.items():
        echo(f"  {words:<{width}}  {text}")
    echo("  where a task's time went, in the mean" + ("" if parts else ": no task finished"))
    for part, ms in parts.items():
        words, share = BREAKDOWN_WORDS.get(part, part), in_unit(ms / total_ms, "%")
        echo(f"    {words:<{width - 2}}  {in_unit(ms, 'ms')} ({share})")

    for program, of in summary.get("programs", {}).items():
        slower, paging = (with_unit("", of[name], True) for name in ("mean_slowdown_cpu", "paging_percent"))
        echo(
            f"  {program:<{width}}  {of['tasks']:,} finished, {slower} times their CPU, {of['page_faults']:,.0f} page "
            f"faults each, {paging} % of life paging"
        )
    print_waits_by_width(summary)
    print_shares(summary)
    not_done = [act for act in acts if not act["done"]]
    for act in not_done[:MOST_ACTS]:
        echo(f"  script.{act['entry']} ({act['act']} at {act['at_s']:g} s) was not done: {act['why_not']}")
    if len(not_done) > MOST_ACTS:
        echo(f"  {len(not_done) - MOST_ACTS:,} more were not done (--json lists all)")


def _save(folder: Path, model: ClusterModel, title: str, summary: dict[str, Any], wall_s: float) -> None:
    from cluster_abm.results.files import write_run
    from cluster_abm.results.style import save

    measurements = model.parts.measurements
    tables: dict[str, pd.DataFrame | Iterable[pd.DataFrame]] = {"nodes": model.nodes_pieces()}
    if model.parts.task_records.are_kept:
        tables = {"jobs": model.jobs_pieces(), **tables, "decisions": model.decisions_pieces()}
        shares = {"users": model.by_user(), "groups": model.by_group()}
        tables |= {name: table for name, table in shares.items() if len(table)}
    else:
        tell('jobs.parquet and decisions.parquet are not written: measure.records = "summary" keeps no rows of them')
        for name in ("jobs", "decisions"):
            # Those of an earlier run into the same folder would be taken for this one's.
            (folder / f"{name}.parquet").unlink(missing_ok=True)
    write_run(folder, model.setup, summary, tables, wall_s)
    if measurements.rows:
        save(model.plot(title=title), folder / "run.png")
