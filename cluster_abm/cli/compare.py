"""`compare`: policies on the same jobs."""

from __future__ import annotations

import math
import textwrap
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.front.names import policy_list
from cluster_abm.cli.options import (
    Executor,
    Overrides,
    executor_options,
    file_name,
    json_option,
    out_option,
    overrides_of,
    policies_named,
    scenario_argument,
    work_options,
)
from cluster_abm.cli.output import echo, ending_with, tell, tell_problems
from cluster_abm.cli.suggestions import Asked, not_compared, suggestions
from cluster_abm.cli.tables import table_text
from cluster_abm.interrupts import interrupt_held_back

if TYPE_CHECKING:
    from cluster_abm.study.comparison import Comparison
    from cluster_abm.study.statistics.estimates import Estimate
    from cluster_abm.workload import OfferedLoad


@click.command("compare", short_help="Compare policies on the same jobs, with intervals.")
@scenario_argument
@click.option(
    "--policies",
    shell_complete=policy_list,
    help="Policies, each NAME or FILE.py:CLASS, comma-separated (default: the scenario's compare.policies).",
)
@click.option("--seeds", type=click.IntRange(min=1), help="How many seeds (default: the scenario's compare.seeds).")
@work_options
@executor_options
@out_option("out/compare-SCENARIO")
@json_option
def compare_command(
    scenario: str,
    policies: str | None,
    seeds: int | None,
    settings: tuple[str, ...],
    trace: Path | None,
    trace_run: int | None,
    executor: Executor,
    out: Path | None,
    as_json: bool,
) -> int:
    """Compare policies on SCENARIO: same jobs for each, 95 % confidence intervals over seeds, and a picture.

    Example: cluster-abm compare quickstart --policies none,jsq,iolb --seeds 16
    """
    from cluster_abm.interconnect import Network
    from cluster_abm.results.files import out_folder
    from cluster_abm.scenario import load_scenario
    from cluster_abm.study.compare import check_policies, compare, without_bounds
    from cluster_abm.workload import offered_load, work_of
    from cluster_abm.workload.offered import warnings_of

    overrides = overrides_of(settings, trace, trace_run)
    checked = load_scenario(scenario, overrides)
    names = policies_named(policies)
    chosen = without_bounds(checked.compare.policies if names is None else names)[0]
    check_policies(chosen)
    check_keys_have_effect(checked, scenario, overrides, chosen, not_compared(names, seeds))
    if out is None and not as_json:
        out = Path("out", f"compare-{file_name(checked.name)}")
    where = executor.where(out)
    load = offered_load(checked, work_of(checked, checked.run.seed))
    begun = time.perf_counter()
    with nullcontext() if out is None else out_folder(out) as folder:
        for note in Network(checked.interconnect, checked.cluster.nodes).notes:
            tell(note)
        for line in warnings_of(checked, load):
            tell(line)
        found = compare(checked, names, seeds, where=where)
        wall_s = time.perf_counter() - begun
        # On the disk before anything is said of it, and whole before a signal takes effect: runs may have taken hours.
        if folder is not None and found.outcome.finished:
            with interrupt_held_back():
                _save(folder, found, overrides, wall_s)
    exit_code = 130 if found.outcome.interrupted else found.outcome.exit_code
    try:
        with ending_with(exit_code):
            _show(found, folder, Asked(scenario, settings, trace, trace_run, names), load, as_json)
    finally:
        tell(f"{found.outcome.finished} runs in {wall_s:.1f} s")
        _tell_end(found)
    return exit_code


def _show(found: Comparison, folder: Path | None, asked: Asked, load: OfferedLoad | None, as_json: bool) -> None:
    from cluster_abm.json_text import to_json

    if as_json:
        echo(to_json(found.as_json()), nl=False)
    elif found.seeds:
        _print_comparison(found, asked.settings, load)
    if folder is not None and found.outcome.finished:
        what = f"picture and tables: {folder / 'compare.png'}, " if found.seeds else "table: "
        (tell if as_json else echo)(f"\n{what}{folder / 'runs.parquet'}")
    if not as_json and found.seeds:
        echo("\nwhat to try next:")
        for command in suggestions(found, asked):
            echo(f"  {command}")


def _print_comparison(found: Comparison, settings: Sequence[str], load: OfferedLoad | None) -> None:
    from cluster_abm.scenario.caption import caption_of
    from cluster_abm.scenario.hardware import hardware_named
    from cluster_abm.study.comparison import BEST, BOUNDED, TEST_WORDS
    from cluster_abm.study.comparison_words import text_of
    from cluster_abm.workload.offered import in_words

    first = found.policies[0]
    pairs = found.pairs()
    ratio = f"slowdown of {first} / its own"
    interval = "" if found.is_one_sample else " [95 %]"
    rows = []
    ended = {
        name: sum(found.estimate(name, f"jobs.{state}").mean for state in ("killed", "lost")) for name in found.policies
    }
    for name in found.policies:
        pair = pairs.get((first, name))
        doubt = " (n.s.)" if pair is not None and pair.significant is False and len(found.seeds) > 1 else ""
        against = "" if pair is None or math.isnan(pair.ratio) else f"{pair.ratio:.2f}x{doubt}"
        rows.append(
            {
                "policy": name,
                f"mean slowdown{interval}": text_of(found.estimate(name, "mean_slowdown")),
                "p95 slowdown": f"{found.estimate(name, 'p95_slowdown').mean:.4g}",
                "mean response [s]": f"{found.estimate(name, 'mean_response_ms').mean / 1000:.4g}",
                "remote starts a run": f"{found.estimate(name, 'remote_executions').mean:,.0f}",
                "CPU busy": f"{found.estimate(name, 'cpu_utilisation').mean:.0%}",
                "disk busy": f"{found.estimate(name, 'disk_utilisation').mean:.0%}",
                **({"jobs killed or lost a run": f"{ended[name]:,.4g}"} if any(ended.values()) else {}),
                ratio: against,
                **({f"of the gap closed{interval}": _share(found.gap_closed(name))} if found.has_gap else {}),
            }
        )
    if found.bound is not None:
        least = found.estimate(BEST, BOUNDED).mean
        shown = "" if math.isnan(least) else f"{least / 1000:.4g}"
        rows.append(dict.fromkeys(rows[0], "") | {"policy": BEST, "mean response [s]": shown})
    caption = caption_of(found.scenario)
    echo(f"{found.scenario.name}: {caption}" if caption else found.scenario.name)
    if settings:
        echo(textwrap.fill(f"with {', '.join(settings)}", 100, subsequent_indent="     ", break_on_hyphens=False))
    hardware = hardware_named(found.scenario.cluster, found.scenario.interconnect)
    if hardware:
        echo(f"hardware: {hardware}")
    if load is not None:
        echo(f"offered load: {in_words(load.as_dict())} (of the first seed's jobs)")
    echo(textwrap.fill(found.seeds_words, 100, break_on_hyphens=False))
    echo("slowdown: wall time of a task / its isolated time, alone on its home node\n")
    echo(table_text(rows))
    if any(row[ratio].endswith("(n.s.)") for row in rows):
        echo(f"\n(n.s.): the paired difference is not significant {TEST_WORDS}")
    if found.has_gap:
        _print_gap(found)
    _print_pairs(found)


def _print_gap(found: Comparison) -> None:
    """Say what the column of the gap means."""
    from cluster_abm.study.comparison import BEST, BOUNDED, WORST

    closed = [found.gap_closed(name) for name in found.policies]
    if math.isnan(found.estimate(BEST, BOUNDED).mean):
        echo("\nno lower bound (srpt-pool), and no gap to close: jobs were killed, lost or not finished, or come only "
             "when others have ended")  # fmt: skip
        return
    echo("\nsrpt-pool: a lower bound on mean response under any policy")
    if closed[found.policies.index(WORST)] is None:
        echo("no gap to close in mean response: that of none is the lower bound, or no job finished")
        return
    gap = "of mean response: 0 % as none, 100 % as srpt-pool"
    echo(f"of the gap closed: {gap}" + ("" if found.is_one_sample else "; each interval alone at 95 % (Fieller)"))
    if found.replications > 1 and any(one is not None and one.ci95 is None for one in closed):
        echo("no interval: one sample, or the gap itself could be 0 from these seeds alone")


def _print_pairs(found: Comparison) -> None:
    """Print every pair's mean difference on the same jobs, and the policy of the lowest mean slowdown."""
    from cluster_abm.study.comparison_words import text_of

    if len(found.policies) < 2:
        return
    pairs = found.pairs()
    rows = [
        {
            "pair a - b": f"{a} - {b}",
            "slowdown of a - that of b" + ("" if found.is_one_sample else " [95 %]"): text_of(pair.difference),
            "slowdown a / b": "" if math.isnan(pair.ratio) else f"{pair.ratio:.3g}",
            "difference": found.word_of(pair),
        }
        for (a, b), pair in pairs.items()
    ]
    echo("\n" + table_text(rows))
    if len(pairs) > 1 and not found.is_one_sample:
        echo("\nslowdown of a - that of b: seed by seed; the intervals hold at 95 % over all pairs together (Holm)")
    echo(f"\n{found.conclusion}")


def _share(found: Estimate | None) -> str:
    """A share of the gap in per cent; its interval where there is one that is more than the number."""
    if found is None:
        return ""
    text = f"{found.mean:.0%}".replace("%", " %")
    if found.ci95 is None or found.ci95 == (found.mean, found.mean):
        return text
    return f"{text} [{100 * found.ci95[0]:.3g}, {100 * found.ci95[1]:.3g}]"


def _save(folder: Path, found: Comparison, overrides: Overrides, wall_s: float) -> None:
    from cluster_abm.results.files import write_json, write_table, write_text
    from cluster_abm.results.style import save
    from cluster_abm.scenario import scenario_to_toml

    write_text(folder, "scenario.toml", scenario_to_toml(found.scenario))
    write_json(folder, "summary.json", found.as_json())
    write_table(folder, "runs.parquet", found.runs)
    write_json(folder, "timing.json", {"wall_s": wall_s})
    if found.seeds:
        save(found.plot(overrides.captioned(found.title)), folder / "compare.png")


def _tell_end(found: Comparison) -> None:
    tell_problems(found.outcome)
    if found.outcome.interrupted:
        runs = len(found.outcome.rows)
        tell(
            f"interrupted: kept {found.outcome.finished} of {runs} runs; "
            f"complete for all policies: {len(found.seeds)} of {runs // len(found.policies)} seeds"
        )
