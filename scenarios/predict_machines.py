"""Times on other machines, predicted from runs on one and from published scores: docs/validation/other-machines.md.

    python scenarios/predict_machines.py --data DIR [--json] [--out docs/validation]

DIR holds Lotaru's files lotaru-MACHINE-WORKFLOW.csv.xz of any workflows. What a task's run on `local` spent on cores,
stalls, the disk and waiting is simulated on a node of each machine's scores and held against the run measured there.
Nothing is fitted to the measured times.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
from machines.errors import chosen_elsewhere, error_of, median_difference, with_fitted_factors
from machines.lone_runs import times_on
from machines.parts import Division, parts_of
from machines.records import KEYS, Records, pairs_of, read_records, read_scores, same_times

from cluster_abm.bounded_files import MOST_MB, TRACE_MB
from cluster_abm.errors import InputError
from cluster_abm.results.colours import FOR, INK, LINE, LINK, MARK, REMARK
from cluster_abm.results.looks import series_looks
from cluster_abm.results.style import log_ticks, new_figure, save, tidy

SOURCE = "local"
# The machine whose clock was reduced has no score: left out, and shown apart under those of the machine it was.
REDUCED, UNREDUCED = "wallyRedCpu", "wally"
# `local` reads 8 GB in 70 s with a tenth of a core busy: the fastest that any of its runs reads (bacass, KRAKEN2).
DISK_MB_PER_S = 118.0
# What of a core's computing stalls for memory, which no core's speed shortens: an even split, as no share is known.
STALLED = 0.5
MODEL = "model"
AGAINST = "model_minus_mean_score"
DIVISIONS = {
    "cores": Division(waits=False, disk=False),
    "cores, waits": Division(disk=False),
    "cores, waits, disk": Division(),
    MODEL: Division(stalled_share=STALLED),
    "model without waits": Division(waits=False, stalled_share=STALLED),
    "model without disk": Division(disk=False, stalled_share=STALLED),
    "model, a quarter stalls": Division(stalled_share=0.25),
    "model, three quarters stall": Division(stalled_share=0.75),
}
FITTED = "one factor a machine"
HATCHES = ("", "///", "...", "")
BASELINES = ("none", "cpu_score", "mean_score")
COLOURS = {"none": LINE, "cpu_score": LINK, "mean_score": REMARK, MODEL: FOR}
ERROR = "median |predicted / measured - 1| [%]"
BY_PAIR, BY_TASK = ["workflow", "task", "machine"], ["workflow", "task"]


def predict(pairs: pd.DataFrame, scores: pd.DataFrame, divisions: Iterable[str] = DIVISIONS) -> pd.DataFrame:
    """Times [ms]: a row a pair, a column a way; `scores` has a row for each machine, and for the source."""
    slower = scores.loc[SOURCE] / scores
    ratio = slower.loc[pairs["machine"]].set_index(pairs.index)
    found = pd.DataFrame({"none": pairs["wall_ms"], "cpu_score": pairs["wall_ms"] * ratio["cpu_score"]})
    found["mean_score"] = pairs["wall_ms"] * ratio.mean(axis=1)
    runs = pairs.drop_duplicates("run").set_index("run")
    machines = pd.DataFrame({"cpu_speed": 1.0 / slower["cpu_score"], "disk_speed": 1.0 / slower["io_score"]})
    machines = machines.loc[pairs["machine"].unique()]
    for name in divisions:
        times_ms = times_on(parts_of(runs, DIVISIONS[name], DISK_MB_PER_S), machines, DISK_MB_PER_S)
        columns = times_ms.columns.get_indexer(pairs["machine"])
        found[name] = times_ms.to_numpy()[times_ms.index.get_indexer(pairs["run"]), columns]
    return found


def errors_of(predicted: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Errors of every way."""
    return predicted.apply(lambda times_ms: error_of(times_ms, pairs["measured_ms"]))


def difference(errors: pd.DataFrame, pairs: pd.DataFrame, first: str, second: str) -> dict[str, object]:
    """One way's median error less another's, with a 95 % interval by resampling whole tasks, and one by workflows.

    Pairs of one task are not independent: they share its runs on the source, and what makes it hard to predict.
    """
    found: dict[str, object] = {}
    for name, count, by in (("ci95", "tasks", BY_TASK), ("ci95_by_workflow", "workflows", ["workflow"])):
        clusters = pairs.groupby(by).ngroup()
        one = median_difference(errors[first].to_numpy(), errors[second].to_numpy(), clusters)
        interval = None if np.isnan(one.low) else [one.low, one.high]
        found |= {"median": one.value, count: int(clusters.nunique()), name: interval}
    return found


def worst(errors: pd.DataFrame, predicted: pd.DataFrame, pairs: pd.DataFrame, count: int = 12) -> pd.DataFrame:
    """The tasks and machines that the model gets most wrong: medians over input sizes."""
    table = pairs[BY_PAIR].assign(
        pairs=1, over_measured=predicted[MODEL] / pairs["measured_ms"],
        local_s=pairs["wall_ms"] / 1000.0, cpu_percent=pairs["cpu_percent"], error=errors[MODEL],
    )  # fmt: skip
    how = dict.fromkeys(("over_measured", "local_s", "cpu_percent", "error"), "median") | {"pairs": "sum"}
    return table.groupby(BY_PAIR, as_index=False).agg(how).nlargest(count, "error")


def medians(errors: pd.DataFrame) -> dict[str, float]:
    """Of the baselines and the model."""
    return {name: float(errors[name].median()) for name in (*BASELINES, MODEL)}


def reduced(records: Records, scores: pd.DataFrame) -> dict[str, object] | None:
    """Pairs and median errors with the machine of reduced clock among the others, under its scores before that."""
    if not (records.runs["machine"] == REDUCED).any():
        return None
    scores = pd.concat([scores, scores.loc[[UNREDUCED]].set_axis([REDUCED])])
    pairs = pairs_of(records, SOURCE, _targets(scores))
    fitted = error_of(with_fitted_factors(pairs, elsewhere=False), pairs["measured_ms"])
    errors = errors_of(predict(pairs, scores, [MODEL]), pairs)
    found = {"pairs": len(pairs), "median_error": medians(errors), "fitted": float(fitted.median())}
    return found | {"difference": {AGAINST: difference(errors, pairs, MODEL, "mean_score")}}


def _targets(scores: pd.DataFrame) -> list[str]:
    return [str(name) for name in scores.index if name != SOURCE]


def _median(values: pd.Series) -> float | None:
    """None where nothing could be predicted so."""
    return None if values.isna().all() else float(values.median())


def report(records: Records, scores: pd.DataFrame) -> tuple[dict[str, object], pd.DataFrame]:
    """The document that --json prints; a row a pair: measured, predicted by the model, and the errors of all ways."""
    pairs = pairs_of(records, SOURCE, _targets(scores))
    predicted = predict(pairs, scores)
    errors = errors_of(predicted, pairs)
    waiting_ms = parts_of(pairs, DIVISIONS[MODEL], DISK_MB_PER_S)["waiting_ms"]
    fits = {
        FITTED: with_fitted_factors(pairs, elsewhere=False),
        f"{FITTED}, waits fixed": with_fitted_factors(pairs, elsewhere=False, fixed_ms=waiting_ms),
        f"{FITTED}, from other workflows": with_fitted_factors(pairs, elsewhere=True),
    }
    fitted = {name: error_of(times_ms, pairs["measured_ms"]) for name, times_ms in fits.items()}
    fitted["division chosen on other workflows"] = chosen_elsewhere(errors[list(DIVISIONS)], pairs["workflow"])
    unknown = sorted(set(records.runs["machine"]) - set(scores.index))
    document: dict[str, object] = {
        "source": SOURCE,
        "pairs": len(pairs),
        "median_error": medians(errors),
        "difference": {AGAINST: difference(errors, pairs, MODEL, "mean_score")},
        "divisions": {
            name: {"median_error": float(errors[name].median()), "model_minus": difference(errors, pairs, MODEL, name)}
            for name in DIVISIONS
            if name != MODEL
        },
        "by_machine": {str(name): medians(own) for name, own in errors.groupby(pairs["machine"])},
        "by_workflow": {str(name): medians(own) for name, own in errors.groupby(pairs["workflow"])},
        "fitted_to_targets": {name: _median(own) for name, own in fitted.items()},
        "worst": worst(errors, predicted, pairs).to_dict("records"),
        "same_times": same_times(pairs).to_dict("records"),
        f"with_{REDUCED}": reduced(records, scores),
        "files": records.files,
        "rows": records.rows,
        "skipped": records.skipped,
        "machines_without_scores": unknown,
    }
    times = pairs[[*KEYS, "machine", "measured_ms"]].assign(predicted_ms=predicted[MODEL])
    return document, pd.concat([times, errors], axis=1)


def draw(errors: pd.DataFrame, document: dict[str, object], path: Path) -> None:
    """Measured against predicted; median errors by machine; and which part of the model earns them."""
    figure = new_figure(16, 5.8, f"Times on other machines from a run on {SOURCE} and published scores")
    times, machines, parts = figure.subplots(1, 3)
    ends = [errors["measured_ms"].min() / 1000.0, errors["measured_ms"].max() / 1000.0]
    times.plot(ends, ends, color=INK, linewidth=0.8)
    of_machines = series_looks(sorted(errors["machine"].unique()))
    for name, look in of_machines.items():
        own = errors[errors["machine"] == name]
        look |= {"linestyle": "none", "mew": 0, "markersize": 3, "alpha": 0.5}
        times.plot(own["measured_ms"] / 1000.0, own["predicted_ms"] / 1000.0, label=name, **look)
    log_ticks(times)
    log_ticks(times, of_y=True)
    times.legend(frameon=False, fontsize=9, markerscale=2.5)
    tidy(times, "every pair", "measured [s]", "predicted by the model [s]")
    table = errors.groupby("machine")[list(COLOURS)].median() * 100.0
    table.loc["all"] = errors[list(COLOURS)].median() * 100.0
    for place, ((name, colour), hatch) in enumerate(zip(COLOURS.items(), HATCHES, strict=True)):
        look = {"color": colour, "hatch": hatch, "edgecolor": INK, "linewidth": 0.3}
        machines.bar(np.arange(len(table)) + (place - 1.5) * 0.2, table[name], 0.19, label=name, **look)
    machines.set_xticks(range(len(table)), table.index)
    machines.legend(frameon=False, fontsize=9)
    tidy(machines, "by machine", "machine", ERROR)
    names = list(DIVISIONS)
    colours = [COLOURS[MODEL] if name == MODEL else LINE for name in names]
    parts.barh(names, errors[names].median() * 100.0, color=colours)
    parts.axvline(errors["mean_score"].median() * 100.0, color=COLOURS["mean_score"], label="mean of the scores")
    fitted = document["fitted_to_targets"]
    assert isinstance(fitted, dict)
    for name, style in ((FITTED, ":"), (f"{FITTED}, from other workflows", "--")):
        if fitted[name] is not None:
            parts.axvline(fitted[name] * 100.0, color=MARK, linestyle=style, label=f"fitted: {name}")
    parts.invert_yaxis()
    tidy(parts, "by part of the model", ERROR, "", grid="x")
    parts.legend(frameon=False, fontsize=9, loc="upper center", bbox_to_anchor=(0.3, -0.12))
    save(figure, path)


def in_words(document: dict[str, Any]) -> str:
    """The model against the plain mean of the scores, in a sentence."""
    medians_found, found = document["median_error"], document["difference"][AGAINST]
    begin = (
        f"model {medians_found[MODEL]:.1%}, mean of the scores {medians_found['mean_score']:.1%}: difference "
        f"{found['median'] * 100.0:+.1f} points"
    )
    if found["ci95"] is None:
        return f"{begin}; one task gives no interval"
    low, high = (100.0 * end for end in found["ci95"])
    is_significant = low > 0.0 or high < 0.0
    return (
        f"{begin}, 95 % interval {low:+.1f} to {high:+.1f} (resampling {found['tasks']} tasks): "
        f"{'significant' if is_significant else 'not significant'}"
    )


def tell(document: dict[str, Any], errors: pd.DataFrame) -> None:
    """Print the tables."""
    ways = [*BASELINES, *DIVISIONS]
    by_machine = errors.groupby("machine")[ways].median().T
    by_machine.insert(0, "all", errors[ways].median())
    click.echo(f"{document['pairs']} pairs; median |predicted / measured - 1| [%], by machine")
    click.echo((by_machine * 100.0).round(1).to_string())
    click.echo(f"\n{in_words(document)}")
    for key in ("fitted_to_targets", f"with_{REDUCED}", "skipped"):
        click.echo(f"\n{key}: {json.dumps(document[key])}")
    click.echo("\nmost wrong (medians over input sizes)")
    click.echo(pd.DataFrame(document["worst"]).round(2).to_string(index=False))


@click.command()
@click.option("--data", type=click.Path(path_type=Path), required=True, help="Folder with Lotaru's files.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder for other-machines.csv and .png.")
@click.option(
    "--max-mb", default=TRACE_MB, show_default=True, type=click.IntRange(1, MOST_MB), help="Most of a file, unpacked."
)
def main(data: Path, as_json: bool, out: Path | None, max_mb: int) -> None:
    """Predict, compare and print; write CSV and PNG where a folder is given."""
    try:
        records, scores = read_records(data, max_mb), read_scores()
        document, errors = report(records, scores)
    except InputError as problem:
        for line in problem.problems:
            click.echo(f"error: {line}", err=True)
        sys.exit(2)
    if unknown := document["machines_without_scores"]:
        click.echo(f"left out, no score is published: {json.dumps(unknown)}", err=True)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        table = errors.groupby(BY_PAIR)[[*BASELINES, *DIVISIONS]].median()
        table.insert(0, "pairs", errors.groupby(BY_PAIR).size())
        table.to_csv(out / "other-machines.csv", float_format="%.4g")
        draw(errors, document, out / "other-machines.png")
    if as_json:
        click.echo(json.dumps(document, indent=1))
    else:
        tell(document, errors)


if __name__ == "__main__":
    main()
