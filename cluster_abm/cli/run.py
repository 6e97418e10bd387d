"""`run`: one run of one scenario."""

from __future__ import annotations

import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster_abm.cli.animate import Cameraman
from cluster_abm.cli.options import (
    json_option,
    kept,
    out_option,
    overrides_of,
    work_options,
)

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel

# Metrics whose key alone does not say what they are.
METRIC_WORDS = {
    "mean_slowdown": "mean slowdown (wall / dedicated time)",
    "mean_slowdown_job": "  of whole jobs, by their longest task",
    "mean_slowdown_cpu_io": "  wall / (CPU + I/O) time",
    "mean_slowdown_cpu": "  wall / CPU time",
    "p95_slowdown": "95th percentile of slowdown",
    "mean_response_ms": "mean response of a job",
    "makespan_ms": "makespan",
    "cpu_utilisation": "CPU busy",
    "disk_utilisation": "disk busy",
}


@click.command("run")
@click.argument("scenario")
@click.option("--policy", help="Load-balancing policy (default: the scenario's).")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run (default: the scenario's).")
@work_options
@out_option(None)
@click.option(
    "--animate", type=click.Path(path_type=Path), help="Write a film of the run: a .gif, or where ffmpeg is an .mp4."
)
@json_option
def run_command(
    scenario: str,
    policy: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    trace: Path | None,
    trace_run: int | None,
    out: Path | None,
    animate: Path | None,
    as_json: bool,
) -> int:
    """Run SCENARIO (a TOML file or a shipped name) once.

    Example: cluster-abm run quickstart --policy iolb --set cluster.nodes=64 --out out/mine
    """
    from cluster_abm.results.files import prepare_out, to_json
    from cluster_abm.scenario import load_scenario

    checked = load_scenario(scenario, overrides_of(settings, trace, trace_run, policy, seed))
    folder = None if out is None else prepare_out(out)
    if animate is not None:
        from cluster_abm.results.film import check_film

        check_film(animate)
    from cluster_abm.model import ClusterModel

    begun = time.perf_counter()
    model = ClusterModel(checked)
    for note in model.network.notes:
        click.echo(note, err=True)
    cameraman = None if animate is None else Cameraman(model)
    finished = _run_with_progress(model, model.run if cameraman is None else cameraman.run)
    wall_s = time.perf_counter() - begun
    summary = model.summary()
    if as_json:
        click.echo(to_json(summary), nl=False)
    else:
        _print_summary(summary)
    if folder is not None:
        with kept(f"the results in {folder} are not whole"):
            _save(folder, model, summary, wall_s)
        click.echo(f"results in {folder}", err=True)
    if animate is not None and cameraman is not None:
        with kept("no film was written" + ("" if folder is None else f"; results in {folder}")):
            cameraman.write(animate)
    click.echo(f"{wall_s:.1f} s", err=True)
    if not finished:
        click.echo(
            f"interrupted at {model.now_ms / 1000:g} s of simulated time: kept what was finished until then",
            err=True,
        )
        return 130
    return 0


def _run_with_progress(model: ClusterModel, run: Callable[[Callable[[float], None]], None]) -> bool:
    """Run to the end, or until Ctrl-C, which takes effect between two windows: the state is then whole."""
    from tqdm import tqdm

    interrupted = False

    def note(*_: Any) -> None:
        nonlocal interrupted
        interrupted = True
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note)
    try:
        with tqdm(total=100, desc=f"run {model.setup.name}", unit="%", disable=None, leave=False) as bar:

            def show(share: float) -> None:
                bar.update(int(share * 100) - bar.n)
                if interrupted:
                    raise KeyboardInterrupt

            run(show)
    except KeyboardInterrupt:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _print_summary(summary: dict[str, Any]) -> None:
    jobs, metrics = summary["jobs"], summary["metrics"]
    others = ", ".join(f"{count:,} {state}" for state, count in jobs.items() if state != "submitted" and count)
    rows = {
        "simulated": f"{summary['simulated_ms'] / 1000:,.10g} s in {summary['slices']:,} slices",
        "jobs": f"{jobs['submitted']:,} submitted: {others or 'none'}",
    }
    for name, value in metrics.items():
        if name != "breakdown_ms":
            rows[METRIC_WORDS.get(name, _words(name))] = _with_unit(name, value)
    parts = {part: ms for part, ms in metrics["breakdown_ms"].items() if ms}
    total_ms = sum(parts.values())
    click.echo(f"{summary['scenario']}, policy {summary['policy']}, seed {summary['seed']}")
    width = max(map(len, rows))
    for words, text in rows.items():
        click.echo(f"  {words:<{width}}  {text}")
    click.echo("  where a task's time went, in the mean" + ("" if parts else ": no task finished"))
    for part, ms in parts.items():
        click.echo(
            f"    {_words(part):<{width - 2}}  {_with_unit('_ms', ms)} ({_with_unit('_utilisation', ms / total_ms)})"
        )

    for program, of in summary.get("programs", {}).items():
        click.echo(
            f"  {program:<{width}}  {of['tasks']:,} finished, {_with_unit('', of['mean_slowdown_cpu'])} times their "
            f"CPU, {of['page_faults']:,.0f} page faults each, {of['paging_percent']:.3g} % of life paging"
        )


def _words(name: str) -> str:
    words = name.removesuffix("_ms").replace("_", " ")
    return re.sub(r"\b(io|cpu)\b", lambda found: {"io": "I/O", "cpu": "CPU"}[found[0]], words)


def _with_unit(name: str, value: float | None) -> str:
    from cluster_abm.results.style import plain

    if value is None:
        return "no job finished"
    if isinstance(value, int):
        return f"{value:,}"
    if name.endswith("_ms"):
        return f"{plain(value / 1000)} s"
    return f"{plain(value * 100, 3)} %" if name.endswith("_utilisation") else plain(value)


def _save(folder: Path, model: ClusterModel, summary: dict[str, Any], wall_s: float) -> None:
    from cluster_abm.results.files import write_run
    from cluster_abm.results.pictures import draw_run

    jobs, nodes = model.jobs_frame(), model.nodes_frame()
    frames = {"jobs": jobs, "nodes": nodes, "decisions": model.decisions_frame()}
    write_run(folder, model.setup, summary, frames, wall_s)
    if len(nodes):
        title = f"{summary['scenario']}: policy {summary['policy']}, seed {summary['seed']}"
        draw_run(folder / "run.png", title, nodes, jobs["slowdown"].dropna())
