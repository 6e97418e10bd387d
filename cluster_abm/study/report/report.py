"""A study on paper: Markdown with the findings, all tables as CSV, pictures as PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.errors import InputError
from cluster_abm.results.figures.files import shown_in_pages
from cluster_abm.results.files import write_text
from cluster_abm.results.of_studies.study_axes import key_texts, label_of, lay_out, point_text
from cluster_abm.results.style import plain
from cluster_abm.study.design.study_file import Sensitivity
from cluster_abm.study.design.unset_keys import Listed, is_resampled, with_unset_keys
from cluster_abm.study.heads import paragraphs
from cluster_abm.study.report.findings import Findings, find, slowdown_quantiles
from cluster_abm.study.report.markdown import picture_lines, table_lines
from cluster_abm.study.report.report_tables import comparison_table, difference_table, left_out_lines, percentile_table
from cluster_abm.study.report.sensitivity_report import draw_sensitivity, sensitivity_lines
from cluster_abm.study.statistics.sensitivity import Analysis, analyse
from cluster_abm.whole_files import in_one_move

# Pictures with a panel, or a file, for each point show at most this many points, evenly spread.
MOST_DISTRIBUTIONS, MOST_LOADS = 6, 3

Loads = Sequence[tuple[int, str, int, Mapping[str, Any]]]


class Reported(Listed, Protocol):
    """What a report needs to know of a study (study_file.Study has it)."""

    @property
    def name(self) -> str:
        """What results are called by."""

    @property
    def title(self) -> str:
        """One line on what it is for."""

    @property
    def policies(self) -> tuple[str, ...]:
        """The policies in the order asked for; differences are drawn against the first."""

    @property
    def measure(self) -> tuple[str, ...]:
        """Metrics reported."""

    @property
    def seeds(self) -> range:
        """Those that every point and policy is run from at least."""

    @property
    def sensitivity(self) -> Sensitivity | None:
        """How the points were drawn, if for the sake of sensitivity indices."""


def write_report(
    results: pd.DataFrame, study: Reported, loads: Loads, folder: str | Path, heads: Sequence[str] = ()
) -> list[Path]:
    """Write report.md, the pictures, and as CSV: estimates, compared, differences, ranking, percentiles, left-out,
    sensitivity.

    Args:
        results: one row a run, as load_results gives them.
        study: what was run.
        loads: (point, policy, seed, measuring.load_over_time) of some runs.
        folder: is made if it is not there.
        heads: what the metrics estimate, in lines.

    Returns:
        the paths of what was written; a table without rows is not.

    Raises InputError: a metric of `measure` that no run has, nothing has finished, or SALib is needed and not there.
    """
    metrics = tuple(dict.fromkeys(study.measure))
    if not len(results) or not (results["status"] == "finished").any():
        raise InputError(f"study {study.name!r}: no run has finished: there is nothing to report")
    numbers = [str(name) for name in results if pd.api.types.is_numeric_dtype(results[name])]
    allowed = [name for name in numbers if name not in ("point", "seed", *study.swept)]
    missing = [metric for metric in metrics if metric not in allowed]
    if missing:
        words = ", ".join(allowed)
        raise InputError([f"measure: {metric!r}: no run has this metric; allowed: {words}" for metric in missing])
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    results = with_unset_keys(results, study)
    found = find(results, study.swept, study.policies, metrics, is_resampled(study))
    matters = None
    if study.sensitivity is not None:
        matters = analyse(results, study.sensitivity, study.seeds, study.policies, metrics)
    tables = {
        "estimates": found.estimates, "compared": found.compared, "differences": found.differences,
        "ranking": found.ranking, "percentiles": found.percentiles, "left-out": found.left_out,
    }  # fmt: skip
    written = []
    for name, table in (tables | ({"sensitivity": matters.table} if matters else {})).items():
        if len(table):
            with in_one_move(path / f"{name}.csv") as partial:
                table.to_csv(partial, index=False, lineterminator="\n")
            written.append(path / f"{name}.csv")
    pictures = _draw(path, study, metrics, found, loads)
    if matters:
        pictures += draw_sensitivity(path, study.title or study.name, matters)
    shown = shown_in_pages(pictures)
    text = _markdown(study, metrics, found, matters, results, shown, heads)
    return [write_text(path, "report.md", text), *written, *pictures]


def _draw(path: Path, study: Reported, metrics: Sequence[str], found: Findings, loads: Loads) -> list[Path]:
    # Matplotlib takes half a second, which `batch status` need not wait for.
    from cluster_abm.results.of_studies import study_pictures
    from cluster_abm.results.of_studies.study_grid import Looks

    title = study.title or study.name
    looks, layout = Looks(study.policies), lay_out(found.points)
    reference = study.policies[0]
    written = []
    for metric in metrics:
        rows = found.estimates[found.estimates["metric"] == metric]
        stem = path / metric.replace(".", "-")
        written += study_pictures.draw_lines(stem, title, metric, rows, layout, looks)
        against = against_reference(found.differences, metric, reference)
        if len(against) and against["low"].notna().any():
            stem = stem.with_name(f"{stem.name}-differences")
            written += study_pictures.draw_differences(stem, title, metric, against, layout, looks, reference)
    some = _spread(list(found.points.index), MOST_DISTRIBUTIONS)
    texts = key_texts(found.points)
    words = {point: point_text(texts.loc[point]) for point in found.points.index}
    curves: list[tuple[str, dict[str, list[float]]]] = []
    bars: list[tuple[str, pd.DataFrame]] = []
    parts = [f"breakdown_ms.{part}" for part in BREAKDOWN]
    for point in some:
        runs = found.runs_with_jobs[found.runs_with_jobs["point"] == point]
        own = {name: slowdown_quantiles(runs[runs["policy"] == name]) for name in study.policies}
        means_of = {name: rows.mean(axis=0).tolist() for name, rows in own.items() if rows is not None}
        curves.append((words[point], means_of))
        if all(part in runs for part in parts):
            means = runs.groupby("policy")[parts].mean().rename(columns=lambda part: part.partition(".")[2])
            bars.append((words[point], means.reindex([name for name in study.policies if name in means.index])))
    if any(drawn for _, drawn in curves):
        written += study_pictures.draw_distributions(path / "slowdowns", f"{title}: slowdowns of jobs", curves, looks)
    if bars:
        written += study_pictures.draw_breakdowns(path / "breakdown", f"{title}: where a task's time went", bars)
    for point in _spread(sorted({point for point, *_ in loads}), MOST_LOADS):
        of_point = {
            policy: load for name in study.policies for at, policy, _, load in loads
            if at == point and policy == name and len(load["time_ms"]) > 1
        }  # fmt: skip
        if of_point:
            about = f"{title}: {words[point]}" if words.get(point) else title
            written += study_pictures.draw_loads(path / f"load-point-{point}", about, of_point)
    return written


def against_reference(differences: pd.DataFrame, metric: str, reference: str) -> pd.DataFrame:
    """Ratios to one policy, or differences (that policy subtracted) where a pair has no ratio.

    Returns:
        columns point, policy, mean, low, high, significant, is_ratio.
    """
    if not len(differences):
        return differences
    rows = differences[differences["metric"] == metric]
    turned, straight = rows[rows["a"] == reference], rows[rows["b"] == reference]
    is_ratio = bool((pd.concat([turned, straight])["ratio_low"] > 0.0).all())
    if is_ratio:
        first = turned.assign(mean=1 / turned["ratio"], low=1 / turned["ratio_high"], high=1 / turned["ratio_low"])
        second = straight.assign(mean=straight["ratio"], low=straight["ratio_low"], high=straight["ratio_high"])
    else:
        first = turned.assign(mean=-turned["difference"], low=-turned["high"], high=-turned["low"])
        second = straight.assign(mean=straight["difference"])
    both = pd.concat([first.assign(policy=turned["b"]), second.assign(policy=straight["a"])])
    return both.assign(is_ratio=is_ratio)[["point", "policy", "mean", "low", "high", "significant", "is_ratio"]]


def _spread(points: Sequence[int], most: int) -> list[int]:
    """The first, the last, and some between."""
    if len(points) <= most:
        return list(points)
    return [points[position] for position in np.linspace(0, len(points) - 1, most).round().astype(int)]


def _markdown(
    study: Reported,
    metrics: Sequence[str],
    found: Findings,
    matters: Analysis | None,
    results: pd.DataFrame,
    pictures: Sequence[Path],
    heads: Sequence[str] = (),
) -> str:
    failed = results[results["status"] != "finished"]
    lines = [f"# {study.title or study.name}", ""]
    lines += [
        f"{len(found.runs):,} runs: {len(found.points):,} points, {len(study.policies)} policies, "
        f"{found.runs['seed'].nunique():,} seeds, the same for all (common random numbers)."
        + (f" {len(failed):,} runs failed." if len(failed) else ""),
        "",
        *paragraphs(heads),
        _ONE_SAMPLE if found.is_one_sample else _INTERVALS,
        "",
        *([_DRAWS, ""] if found.resampled and not found.is_one_sample else []),
        "Policies stand beside each other over the same seeds: one on which a policy failed, or has no value, is left "
        "out for all policies of the point.",
        "",
    ]
    if "warmup_settled" in found.runs:
        unsettled = int((found.runs["warmup_settled"] == 0).sum())
        cut = plain(float(found.runs["warmup_jobs"].mean()), 3)
        lines += [f"Warm-up: MSER-5 left out the first {cut} jobs of a run in the mean."]
        if unsettled:
            lines += [
                f"**In {unsettled:,} runs it saw no steady state**: longer runs are needed, or the load is too high."
            ]
        lines += [""]
    if matters is not None:
        lines += sensitivity_lines(matters, pictures)
    for metric in metrics:
        lines += [f"## {label_of(metric)}", ""]
        lines += left_out_lines(found, metric)
        lines += comparison_table(found, metric)
        lines += difference_table(found, metric)
        lines += picture_lines(pictures, (metric.replace(".", "-"), f"{metric.replace('.', '-')}-differences"))
    if len(found.percentiles):
        lines += ["## Slowdowns of jobs", ""]
        lines += percentile_table(found)
    rest = [p for p in pictures if p.stem in ("slowdowns", "breakdown") or p.stem.startswith("load-point-")]
    lines += picture_lines(pictures, [picture.stem for picture in rest])
    if len(failed):
        lines += ["## Runs that failed", ""]
        rows = [
            [str(row["point"]), f"`{row['policy']}`", str(row["seed"]), _last_line(row.get("error"))]
            for _, row in failed.iterrows()
        ]
        lines += table_lines(["point", "policy", "seed", "error"], rows, "the store")
    return "\n".join(lines).rstrip() + "\n"


# What the intervals of a report mean, and what stands there where there are none.
_INTERVALS = (
    "Intervals are at 95 %: of means over seeds by Student's t on a scale on which nothing impossible (a slowdown "
    "below 1) lies, of medians between two of the values. A difference counts as real (yes) if the paired t test "
    "on the same seeds says so after Holm's correction over all pairs of all points of its metric: the chance that "
    "any of these is false is at most 5 %. Intervals of differences have the same correction: one holds 0 exactly "
    "if the difference does not count as real."
)
_DRAWS = (
    "Where seeds draw other logs from one log (`workload.trace.resample`), intervals and tests are by the spread of "
    "the draws: more seeds do not narrow them. Medians have none there."
)
_ONE_SAMPLE = "One sample: every seed gives the same run. There are no intervals, and no difference is tested."


def _last_line(error: object) -> str:
    return str(error).strip().splitlines()[-1] if isinstance(error, str) and error.strip() else ""
