"""`trace fit`: a synthetic scenario that behaves like a log."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster_abm.cli.effects import refuse, without_effect
from cluster_abm.cli.figures import figures_option
from cluster_abm.cli.log_options import FilePath
from cluster_abm.cli.options import (
    ONLY_COMPARE,
    Interrupted,
    Overrides,
    json_option,
    policies_named,
    set_option,
    workers_option,
)
from cluster_abm.cli.output import echo, tell
from cluster_abm.cli.reading_options import HowToRead, reading_options
from cluster_abm.cli.traces.judging import INTERRUPTED, RUNNING, HowToJudge, judging_options, print_judgement
from cluster_abm.errors import InputError

if TYPE_CHECKING:
    from cluster_abm.scenario import Scenario
    from cluster_abm.study.fitting.distances import Distances, Pair
    from cluster_abm.study.fitting.fit import Fitted
    from cluster_abm.study.fitting.log import JobLog, Jobs
    from cluster_abm.study.fitting.rankings import Rankings

PLAIN = "replay"


@click.command("fit", short_help="Write a synthetic scenario that behaves like a log.")
@click.argument("file", type=FilePath())
@click.option(
    "--out", "out", required=True, type=FilePath(), help="The scenario, NAME.toml; NAME.png beside it is its picture."
)
@reading_options
@click.option(
    "--scenario",
    metavar="SCENARIO",
    help="Nodes, hardware, policy, and what the log does not say (default: the plain cluster, with as many nodes as "
    "the log has homes, or as its work keeps busy to 0.7).",
)
@set_option
@click.option(
    "--seeds", type=click.IntRange(min=2), default=8, show_default=True, help="Draws that are held against the log."
)
@judging_options
@click.option("--policies", help="Also run these on the log and on the fitted scenario: NAME or FILE.py:CLASS, commas.")
@figures_option("--figures")
@workers_option
@json_option
def fit_command(
    file: Path,
    out: Path,
    how: HowToRead,
    scenario: str | None,
    settings: tuple[str, ...],
    seeds: int,
    how_judged: HowToJudge,
    policies: str | None,
    workers: int | None,
    as_json: bool,
) -> int:
    """Write a synthetic scenario that behaves like the log FILE, to be scaled and extended.

    Fitted are arrivals (bursts, hours of the day, days of the week), what jobs demand and how it goes together, homes,
    and how alike a job is to those before it; a table says how far draws of the scenario are from the log, and another
    one whether their jobs wait as long under batch systems. Nothing is fitted to waits.

    Examples:

    cluster-abm trace fit hbd97_8traces.csv.xz --run 0 --out hbd.toml

    cluster-abm trace fit log.swf.gz --out like-it.toml --set workload.trace.duration_s=604800 --policies none,jsq
    """
    from cluster_abm.json_text import to_json
    from cluster_abm.results.files import out_folder, write_text
    from cluster_abm.study.design.policies import check_policies
    from cluster_abm.study.fitting.distances import distances
    from cluster_abm.study.fitting.fit import fit
    from cluster_abm.study.fitting.rankings import rank_on_both
    from cluster_abm.study.fitting.verdicts import NotJudged
    from cluster_abm.study.fitting.writing import document, scenario_text

    _check_name(out)
    how_judged.check(policies)
    with out_folder(out.parent):
        names = policies_named(policies)
        if names is not None:
            check_policies(names)
        base, whole = _read(file, how, scenario, settings)
        log, judge_by = how_judged.halves(whole)
        fitted = fit(base, log, out.stem)
        first = fitted.scenario.run.seed
        found, draws = distances(log, fitted, range(first, first + seeds))
        unjudged = scenario_text(fitted, log, found, NotJudged(RUNNING), how_judged.hold_back)
        write_text(out.parent, out.name, unjudged)
        picture = _draw(out.with_suffix(".png"), log, fitted, found, draws)
    for note in fitted.notes:
        tell(f"note: {note}")
    # Written before the runs, which may take long, and again with what they say.
    judged = how_judged.judgement(judge_by, fitted, draws, workers)
    text = scenario_text(fitted, log, found, judged, how_judged.hold_back)
    write_text(out.parent, out.name, text)
    is_stopped = judged == NotJudged(INTERRUPTED)
    rankings = None
    if names is not None and not is_stopped:
        rankings = rank_on_both(base, fitted.scenario, names, seeds, workers)
    if as_json:
        found_all = document(fitted, log, found, judged, text)
        echo(to_json(found_all | {"policies": None if rankings is None else rankings.as_json()}), nl=False)
    else:
        _print_distances(log, fitted, found)
        print_judgement(judged)
        if rankings is not None:
            _print_rankings(rankings)
        echo(f"scenario: {out}, picture: {picture}")
    if is_stopped:
        raise Interrupted(f"the scenario in {out} was not judged by queueing")
    if names is not None and rankings is None:
        raise Interrupted(f"policies were not compared; the scenario is in {out}")
    codes = [] if rankings is None else [one.outcome for one in (rankings.log, rankings.fitted)]
    return 130 if any(one.interrupted for one in codes) else max((one.exit_code for one in codes), default=0)


def _check_name(out: Path) -> None:
    """Raise InputError for a name that a scenario cannot be loaded by."""
    if out.suffix != ".toml":
        raise InputError(f"--out {str(out)!r}: allowed is a file that ends with .toml")


def _read(file: Path, how: HowToRead, scenario: str | None, settings: Sequence[str]) -> tuple[Scenario, JobLog]:
    """The base scenario with the log as its work, and the log. Raises InputError."""
    from cluster_abm.scenario import load_scenario
    from cluster_abm.study.fitting.fit import nodes_for
    from cluster_abm.study.fitting.log import read_log

    overrides = how.overrides(settings, file)
    sizes_given = scenario is not None or any(key.split(".")[0] == "cluster" for key in overrides)
    if not sizes_given:
        # Of several runs one must be chosen, which `jobs` says.
        jobs = how.read(file).jobs
        if "home" in jobs and jobs["home"].notna().any():
            overrides["cluster.nodes"] = _nodes_of(jobs["home"].max(), file)
    base = _base(scenario, overrides)
    log = read_log(base)
    nodes = None if sizes_given else nodes_for(log)
    if nodes is not None:
        overrides["cluster.nodes"] = nodes
        base = load_scenario(scenario or PLAIN, overrides)
        tell(f"note: cluster.nodes = {nodes}: the log's work keeps that many nodes busy to 0.7; --set cluster.nodes=N")
    return base, log


def _nodes_of(last: float, file: Path) -> int:
    """How many nodes there are, by the largest home. Raises InputError: more than a cluster may have."""
    from cluster_abm.scenario.cluster import MOST_NODES

    if last >= MOST_NODES:
        raise InputError(f"{file}: home = {last:.0f}: allowed 0..{MOST_NODES - 1} (nodes of a cluster)")
    return int(last) + 1


def _base(scenario: str | None, overrides: Overrides) -> Scenario:
    from cluster_abm.scenario import load_scenario

    base = load_scenario(scenario or PLAIN, overrides)
    refuse(without_effect(base, overrides, others=ONLY_COMPARE), overrides)
    return base


def _print_distances(log: JobLog, fitted: Fitted, found: Distances) -> None:
    import pandas as pd

    def table(rows: list[dict[str, Any]]) -> None:
        echo(pd.DataFrame(rows).to_string(index=False) + "\n")

    echo(f"{log.file}: {len(log.jobs.times_s):,} jobs in {log.jobs.window_s:,.6g} s")
    echo(f"model: {fitted.scenario.name}, {len(found.seeds)} draws; least to largest of them in brackets\n")
    table(
        [
            {
                "column": name,
                "KS, law": f"{found.law[name]:.4f}" if name in found.law else "",
                "KS, draws": f"{found.drawn[name]:.4f}",
                "mean, law over log": f"{found.means[name]:.9f}" if name in found.means else "",
            }
            for name in found.drawn
        ]
    )
    rows = [_row("jobs", found.jobs)]
    if math.isfinite(found.work.log):
        rows.append(_row("CPU time of all tasks [ms]", found.work))
    rows += [_row(f"dispersion of counts over {key:g} s", pair) for key, pair in found.dispersions.items()]
    rows += [_row(f"rank correlation of {key.replace(',', ' and ')}", pair) for key, pair in found.correlations.items()]
    rows += [_row(f"rank correlation of jobs {key} apart", pair) for key, pair in found.repeats.items()]
    rows += [_row(f"share of the jobs at node {key}", pair) for key, pair in _largest(found.homes)]
    rows += [_row(f"share of the CPU time at node {key}", pair) for key, pair in _largest(found.homes_cpu)]
    table(rows)


MOST_HOMES = 8


def _largest(homes: dict[int, Pair]) -> list[tuple[int, Pair]]:
    """Those nodes with most, in their order: of many nodes a table has room for some."""
    chosen = sorted(homes, key=lambda node: -homes[node].log)[:MOST_HOMES]
    return [(node, homes[node]) for node in sorted(chosen)]


def _row(name: str, pair: Pair) -> dict[str, str]:
    ratio = f"{pair.model / pair.log:.2f}" if pair.log else ""
    return {
        "": name,
        "log": f"{pair.log:.4g}",
        "model": f"{pair.model:.4g}",
        "of draws": f"[{pair.low:.4g}, {pair.high:.4g}]",
        "model over log": ratio,
    }


def _print_rankings(rankings: Rankings) -> None:
    import pandas as pd

    from cluster_abm.results.words import line_words
    from cluster_abm.study.statistics.ranking import ranking

    rows = []
    ranks: dict[str, dict[str, str]] = {}
    for side, one in (("log", rankings.log), ("fitted", rankings.fitted)):
        means = {name: one.estimate(name, rankings.metric).mean for name in one.policies}
        for ranked in ranking(means, one.every_pair(rankings.metric)):
            at = f"{ranked.best}" if ranked.best == ranked.worst else f"{ranked.best}-{ranked.worst}"
            ranks.setdefault(ranked.policy, {})[side] = at
    for name in rankings.log.policies:
        row = {"policy": name}
        for side, one in (("log", rankings.log), ("fitted", rankings.fitted)):
            estimate = one.estimate(name, rankings.metric)
            interval = "" if estimate.ci95 is None else f" [{estimate.ci95[0]:.4g}, {estimate.ci95[1]:.4g}]"
            row[f"{line_words(rankings.metric)}, {side}"] = f"{estimate.mean:.4g}{interval}"
            row[f"place, {side}"] = ranks[name][side]
        rows.append(row)
    echo(pd.DataFrame(rows).to_string(index=False))
    counts = rankings.counts()
    echo(
        f"\nKendall's tau of the two orders: {rankings.tau:.2f}. Of {counts['pairs']} pairs of policies "
        f"{counts['decided_on_log']} are decided on the log and {counts['decided_on_fitted']} on the fitted scenario; "
        f"{counts['alike']} alike, {counts['opposite']} the other way round (ratios, paired t tests, Holm, 5 %).\n"
        "On the log seeds differ in what it does not say; on the fitted scenario in all jobs.\n"
    )


def _draw(path: Path, log: JobLog, fitted: Fitted, found: Distances, draws: list[Jobs]) -> Path:
    import numpy as np

    from cluster_abm.results.of_studies.fitting_picture import LogAndModel, draw_fit, in_unit
    from cluster_abm.study.fitting.distances import hours_of

    def curve(x: Any, of_log: Any, of_draws: Any) -> LogAndModel:
        values = np.array(of_draws)
        return LogAndModel(np.array(x, float), np.array(of_log), values.mean(0), values.min(0), values.max(0))

    jobs = log.jobs
    columns = {}
    for name, values in jobs.columns.items():
        pooled = np.concatenate([one.columns[name] for one in draws])
        columns[name] = (values[~np.isnan(values)], pooled)
    pairs = list(found.dispersions.values())
    dispersions = LogAndModel(
        np.array(list(found.dispersions)),
        *(np.array([getattr(pair, side) for pair in pairs]) for side in ("log", "model", "low", "high")),
    )
    starts_h = fitted.course.starts_h
    if fitted.course.daily:
        course = curve(np.arange(24) + 0.5, hours_of(jobs, starts_h), [hours_of(one, starts_h) for one in draws])
        words = ("hours of the day", "hour of the day", "rate over the mean rate")
    else:
        edges = np.linspace(0.0, jobs.window_s, 61)
        per_s = [np.histogram(one.times_s, edges)[0] / np.diff(edges) for one in (jobs, *draws)]
        at, unit = in_unit((edges[1:] + edges[:-1]) / 2)
        course = curve(at, per_s[0], per_s[1:])
        words = ("arrivals over the window", f"time [{unit}]", "jobs per second")
    bars = [
        (name, pair.log, pair.model, pair.low, pair.high)
        for name, pair in (
            *((key.replace(",", ",\n"), pair) for key, pair in found.correlations.items()),
            *((f"jobs {key} apart", pair) for key, pair in found.repeats.items()),
        )
    ]
    title = f"{Path(log.file).name} and the scenario fitted to it, {len(found.seeds)} draws"
    return draw_fit(path, title, columns, dispersions, course, words, bars)
