"""`run`: one run of one scenario."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster_abm.cli.options import (
    json_option,
    out_option,
    overrides_of,
    set_option,
    trace_file_option,
    trace_run_option,
)

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel


@click.command("run")
@click.argument("scenario")
@click.option("--policy", help="Load-balancing policy (default: the scenario's).")
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run (default: the scenario's).")
@set_option
@trace_file_option
@trace_run_option
@out_option(None)
@json_option
def run_command(
    scenario: str,
    policy: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    trace: Path | None,
    trace_run: int | None,
    out: Path | None,
    as_json: bool,
) -> int:
    """Run SCENARIO (a TOML file or a shipped name) once.

    Example: cluster-abm run quickstart --policy iolb --set cluster.nodes=64 --out out/mine
    """
    from cluster_abm.results.files import prepare_out, to_json
    from cluster_abm.scenario import load_scenario

    checked = load_scenario(scenario, overrides_of(settings, trace, trace_run, policy, seed))
    folder = None if out is None else prepare_out(out)
    from cluster_abm.model import ClusterModel

    begun = time.perf_counter()
    model = ClusterModel(checked)
    finished = _run_with_progress(model)
    wall_s = time.perf_counter() - begun
    summary = model.summary()
    if as_json:
        click.echo(to_json(summary), nl=False)
    else:
        _print_summary(summary)
    if folder is not None:
        _save(folder, model, summary, wall_s)
        click.echo(f"results in {folder}", err=True)
    click.echo(f"{wall_s:.1f} s", err=True)
    if not finished:
        click.echo(
            f"interrupted at {model.now_ms / 1000:g} s of simulated time: kept what was finished until then",
            err=True,
        )
        return 130
    return 0


def _run_with_progress(model: ClusterModel) -> bool:
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

            model.run(progress=show)
    except KeyboardInterrupt:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def _print_summary(summary: dict[str, Any]) -> None:
    jobs, metrics = summary["jobs"], summary["metrics"]
    click.echo(f"{summary['scenario']}, policy {summary['policy']}, seed {summary['seed']}")
    click.echo(f"  simulated        {summary['simulated_ms'] / 1000:,.1f} s in {summary['slices']:,} slices")
    others = ", ".join(f"{count:,} {state}" for state, count in jobs.items() if state != "submitted" and count)
    click.echo(f"  jobs             {jobs['submitted']:,} submitted: {others or 'none'}")
    for name, value in metrics.items():
        if name == "breakdown_ms":
            parts = ", ".join(f"{part.replace('_', ' ')} {ms:,.1f}" for part, ms in value.items() if ms)
            click.echo(f"  {'a task, in ms':<22} {parts or 'none finished'}")
        elif value is None:
            click.echo(f"  {name:<22} no job finished")
        else:
            click.echo(f"  {name:<22} {value:,}" if isinstance(value, int) else f"  {name:<22} {value:,.4g}")


def _save(folder: Path, model: ClusterModel, summary: dict[str, Any], wall_s: float) -> None:
    from cluster_abm.results.files import write_run
    from cluster_abm.results.pictures import draw_run

    jobs, nodes = model.jobs_frame(), model.nodes_frame()
    frames = {"jobs": jobs, "nodes": nodes, "decisions": model.decisions_frame()}
    write_run(folder, model.setup, summary, frames, wall_s)
    if len(nodes):
        title = f"{summary['scenario']}: policy {summary['policy']}, seed {summary['seed']}"
        draw_run(folder / "run.png", title, nodes, jobs["slowdown"])
