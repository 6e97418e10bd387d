"""`plan`: the least cluster, or the highest load, that keeps what is asked."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.front import names
from cluster_abm.cli.options import (
    Executor,
    Overrides,
    executor_options,
    interruptible,
    json_option,
    out_option,
    overrides_of,
    policies_named,
    scenario_argument,
    work_options,
)
from cluster_abm.cli.output import echo, ending_with, tell
from cluster_abm.cli.tables import table_text
from cluster_abm.errors import gathered
from cluster_abm.interrupts import interrupt_held_back

if TYPE_CHECKING:
    from cluster_abm.study.planning.bracketing import Crossing
    from cluster_abm.study.planning.needs import Need, Point
    from cluster_abm.study.planning.plan import Planned

NOT_PLANNED = {
    "compare.seeds": "only `cluster-abm compare` reads it; --seeds says how many",
    "measure": "a plan takes no measurements; `run` does",
}


@click.command("plan", short_help="The fewest nodes, or the highest load, that will do.")
@scenario_argument
@click.option(
    "--need",
    "needs",
    metavar="METRIC<=VALUE",
    multiple=True,
    required=True,
    shell_complete=names.metrics,
    help='What has to be kept in the mean over seeds: METRIC<=VALUE (or <, >=, >), several joined by "and". '
    "Several times.",
)
@click.option(
    "--over",
    "key",
    metavar="KEY",
    required=True,
    shell_complete=names.keys,
    help="What is planned, e.g. cluster.nodes.",
)
@click.option(
    "--policies",
    metavar="A,B,...",
    shell_complete=names.policy_list,
    help="Policies (default: the scenario's compare.policies).",
)
@click.option("--low", type=float, help="The least value that is tried (default: 1/32 of the scenario's).")
@click.option("--high", type=float, help="The greatest value that is tried (default: 32 times the scenario's).")
@click.option(
    "--seeds", type=click.IntRange(min=2), default=8, show_default=True, help="Runs of each value under each policy."
)
@work_options
@executor_options
@out_option(None)
@json_option
def plan_command(
    scenario: str,
    needs: tuple[str, ...],
    key: str,
    policies: str | None,
    low: float | None,
    high: float | None,
    seeds: int,
    settings: tuple[str, ...],
    trace: Path | None,
    trace_run: int | None,
    executor: Executor,
    out: Path | None,
    as_json: bool,
) -> int:
    """Find the least cluster, or the highest load, of SCENARIO that keeps what is asked, policy by policy.

    The jobs stay those of the scenario while the key changes. All values and policies get the same seeds.

    Example: cluster-abm plan quickstart --need "p95_slowdown<=3" --over cluster.nodes --policies none,jsq,iolb
    """
    from cluster_abm.policies import BOUNDS
    from cluster_abm.results.files import out_folder
    from cluster_abm.scenario import load_scenario
    from cluster_abm.study.planning.plan import Question, plan

    overrides = overrides_of(settings, trace, trace_run)
    checked = load_scenario(scenario, overrides)
    names = policies_named(policies)
    chosen = [name for name in checked.compare.policies if name not in BOUNDS] if names is None else names
    question = Question(checked, needs, key.strip(), tuple(chosen), low, high, seeds)
    unread = NOT_PLANNED | ({} if policies is None else {"compare.policies": "--policies names them"})
    with gathered() as gather:
        with gather:
            question.check()
        with gather:
            check_keys_have_effect(checked, scenario, overrides, chosen, unread)
    where = executor.where(out)
    for note in question.fixed.notes:
        tell(f"note: {note}")
    kept = "nothing is kept without --out" if out is None else f"what is finished is kept in {out}"
    begun = time.perf_counter()
    with interruptible(kept), nullcontext() if out is None else out_folder(out) as folder:
        found = plan(question, where=where, folder=folder)
        wall_s = time.perf_counter() - begun
        if folder is not None:
            with interrupt_held_back():
                _save(folder, found, overrides, wall_s)
    try:
        with ending_with(0):
            _show(found, out, as_json)
    finally:
        before = found.runs - found.made
        were = f", {before} of them carried out before" if before else ""
        tell(f"{found.runs} runs in {wall_s:.1f} s{were}")
    return 0


def _show(found: Planned, out: Path | None, as_json: bool) -> None:
    from cluster_abm.json_text import to_json

    if as_json:
        echo(to_json(found.as_json()), nl=False)
    else:
        _print_plan(found)
    if out is not None:
        (tell if as_json else echo)(f"\npicture and tables: {out / 'plan.png'}, {out / 'points.parquet'}")


def _print_plan(found: Planned) -> None:
    question = found.question
    asked = " and ".join(map(str, question.asked))
    over = (
        f"one sample: {question.seeds} seeds give the same runs"
        if found.is_one_sample
        else (f"in the mean over {question.seeds} seeds")
    )
    echo(f"{question.scenario.name}: {question.key} at which {asked}, {over}")
    intervals = "no intervals" if found.is_one_sample else "intervals at 95 %"
    echo(f"the same jobs for every value and policy; {intervals}\n")
    rows = []
    for policy, one in found.crossings.items():
        value = found.number(one.value)
        row = {
            "policy": policy,
            question.key: "none" if value is None else f"{'at least' if one.side == 'least' else 'at most'} {value:g}",
            "95 % interval": _interval(found, one),
        }
        for need in question.asked:
            there = _metric(one.at_value, need) or _at(found, one.at_end, need)
            row |= {
                f"{need.metric} there [95 %]": there,
                f"{need.metric} where it fails [95 %]": _at(found, one.beyond, need),
            }
        rows.append(row)
    echo(table_text(rows))
    for policy, one in found.crossings.items():
        if one.note:
            echo(f"\n{policy}: {one.note}")


def _interval(found: Planned, one: Crossing) -> str:
    if one.is_one_sample or (one.low is None and one.high is None):
        return ""
    ends = [found.number(end) for end in (one.low, one.high)]
    axis = found.question.axis
    low = f"below {axis.low:g}" if ends[0] is None else f"{ends[0]:g}"
    high = f"above {axis.high:g}" if ends[1] is None else f"{ends[1]:g}"
    return f"[{low}, {high}]"


def _metric(point: Point | None, need: Need) -> str:
    if point is None:
        return ""
    one = point.shown(need.metric)
    return f"{one.mean:.4g}" if one.ci95 is None else f"{one.mean:.4g} [{one.ci95[0]:.4g}, {one.ci95[1]:.4g}]"


def _at(found: Planned, point: Point | None, need: Need) -> str:
    return "" if point is None else f"{_metric(point, need)} at {found.number(point.value):g}"


def _save(folder: Path, found: Planned, overrides: Overrides, wall_s: float) -> None:
    from cluster_abm.results.files import write_json, write_table, write_text
    from cluster_abm.results.style import save
    from cluster_abm.scenario import scenario_to_toml

    question, table = found.question, found.frame()
    write_text(folder, "scenario.toml", scenario_to_toml(question.fixed.scenario))
    write_json(folder, "plan.json", found.as_json())
    write_table(folder, "points.parquet", table)
    title = f"{question.scenario.name}: {question.key} that keeps {' and '.join(map(str, question.asked))}"
    save(found.plot(overrides.captioned(title)), folder / "plan.png")
    write_json(folder, "timing.json", {"wall_s": wall_s})
