"""`tune`: parameters searched on some seeds and judged on others."""

from __future__ import annotations

import math
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.front import names
from cluster_abm.cli.options import (
    Executor,
    FilePath,
    Overrides,
    as_given,
    executor_options,
    interruptible,
    json_option,
    names_of,
    overrides_of,
    scenario_argument,
    value_of,
    work_options,
)
from cluster_abm.cli.output import echo, ending_with, tell
from cluster_abm.errors import InputError, gathered
from cluster_abm.interrupts import interrupt_held_back

if TYPE_CHECKING:
    from cluster_abm.study.cells import Ratio
    from cluster_abm.study.tuning.ranges import Over
    from cluster_abm.study.tuning.tune import Judgement, Tuned

# Candidates that are printed, of those on all seeds.
SHOWN = 5
NOT_TUNED = {
    "compare": "only `cluster-abm compare` reads it",
    "measure": "a search takes no measurements; `run` does",
}


@click.command("tune", short_help="Search for better parameters of a policy.")
@scenario_argument
@click.option("--policy", shell_complete=names.policies, help="The policy (default: the scenario's).")
@click.option(
    "--over",
    "overs",
    metavar="KEY=RANGE",
    multiple=True,
    required=True,
    shell_complete=names.ranges,
    help="A key that is searched: KEY=LOW:HIGH, KEY=LOW:HIGH:log (by orders of magnitude) or KEY=a|b|c. Several times.",
)
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    help="Runs of the search, one for each candidate and seed, the defaults' among them; those that judge come on top.",
)
@click.option(
    "--seeds",
    type=click.IntRange(min=2),
    default=8,
    show_default=True,
    help="Seeds of a candidate that is not stopped.",
)
@click.option(
    "--judge-seeds",
    type=click.IntRange(min=2),
    default=16,
    show_default=True,
    help="Further seeds, on which the best candidate is judged: two runs each.",
)
@click.option(
    "--metric",
    default="mean_slowdown",
    show_default=True,
    shell_complete=names.metrics,
    help="What is to become better.",
)
@click.option(
    "--sum-to-one", metavar="KEY,KEY,...", help="Weights that are divided by their sum: only their ratios are searched."
)
@work_options
@executor_options
@click.option("--out", required=True, type=FilePath(), help="Folder that keeps the runs and the results.")
@json_option
def tune_command(
    scenario: str,
    policy: str | None,
    overs: tuple[str, ...],
    budget: int,
    seeds: int,
    judge_seeds: int,
    metric: str,
    sum_to_one: str | None,
    settings: tuple[str, ...],
    trace: Path | None,
    trace_run: int | None,
    executor: Executor,
    out: Path,
    as_json: bool,
) -> int:
    """Search for parameters under which SCENARIO does better than as it stands; needs the extra `tune` (Optuna).

    Every candidate gets the same jobs, seed by seed; bad ones are stopped early. The best is judged against the
    scenario as it stands on seeds that the search did not see. Stop it as you like and start it again: runs that are
    in the folder are not carried out again, and the result is the same.

    Example: cluster-abm tune cpu-bound --policy wal-re --over policy.cpu_weight=0:1 --over policy.io_weight=0:1
    --budget 100 --out out/wal
    """
    from cluster_abm.results.files import out_folder
    from cluster_abm.scenario import load_scenario
    from cluster_abm.study.tuning.proposals import library
    from cluster_abm.study.tuning.question import Question
    from cluster_abm.study.tuning.tune import tune

    library()
    overrides = overrides_of(settings, trace, trace_run, policy)
    checked = load_scenario(scenario, overrides)
    with gathered() as gather:
        with gather:
            ranges = overs_of(overs)
            question = Question(checked, ranges, budget, seeds, judge_seeds, metric, tuple(names_of(sum_to_one) or ()))
            question.check()
        with gather:
            check_keys_have_effect(checked, scenario, overrides, [checked.policy.name], NOT_TUNED)
    where = executor.where(out)
    begun = time.perf_counter()
    with interruptible(f"what is finished is kept in {out}; the same command goes on"), out_folder(out) as folder:
        found = tune(question, where=where, folder=folder)
        wall_s = time.perf_counter() - begun
        with interrupt_held_back():
            _save(folder, found, overrides, wall_s)
    exit_code = 1 if found.errors else 0
    try:
        with ending_with(exit_code):
            _show(found, out, as_given(scenario, settings, trace, trace_run), as_json)
    finally:
        _tell_end(found, wall_s)
    return exit_code


def overs_of(texts: Sequence[str]) -> tuple[Over, ...]:
    """The ranges of `--over`. Raises InputError for all that cannot be read as one."""
    found, problems = [], []
    for text in texts:
        try:
            found.append(_over_of(text))
        except InputError as problem:
            problems += [f"--over {text!r:.200}: {line}" for line in problem.problems]
    if problems:
        raise InputError(problems)
    return tuple(found)


def _over_of(text: str) -> Over:
    from cluster_abm.study.tuning.ranges import Over

    key, equals, given = (part.strip() for part in text.partition("="))
    allowed = "allowed is KEY=LOW:HIGH, KEY=LOW:HIGH:log or KEY=a|b|c, e.g. policy.cpu_weight=0:1"
    if not equals or not key or not given:
        raise InputError(allowed)
    if "|" in given:
        values = [value_of(one.strip()) for one in given.split("|")]
        choices = [one for one in values if isinstance(one, bool | int | float | str) and one != ""]
        if len(choices) < len(values):
            raise InputError("each choice has to be a number, true or false, or a word")
        return Over(key, choices=tuple(choices))
    low, *rest = (part.strip() for part in given.split(":"))
    if len(rest) not in (1, 2) or rest[1:] not in ([], ["log"]):
        raise InputError(allowed)
    try:
        return Over(key, float(low), float(rest[0]), log=len(rest) == 2)
    except ValueError:
        raise InputError(allowed) from None


def _save(folder: Path, found: Tuned, overrides: Overrides, wall_s: float) -> None:
    from cluster_abm.results.files import write_json, write_table, write_text
    from cluster_abm.results.of_studies.tuning_picture import draw_search
    from cluster_abm.scenario import scenario_to_toml

    question, table = found.question, found.frame()
    write_text(folder, "scenario.toml", scenario_to_toml(question.scenario))
    write_json(folder, "tune.json", found.as_json())
    write_table(folder, "trials.parquet", table)
    write_text(folder, "best.toml", f"# {_in_a_line(found)}\n{found.toml()}")
    policy = question.scenario.policy.name
    title = f"{policy} on {question.scenario.name}: {len(table)} candidates, {found.spent} runs"
    if found.judgement is not None:
        title += f"; the best, judged on {_seeds(question.unseen_seeds)}: {_in_digits(found.judgement.ratio)}"
    label = f"{question.metric} / the defaults'"
    logs = {one.over.key: one.over.log for one in question.searched}
    draw_search(folder / "tune.png", overrides.captioned(title), label, table, logs, found.best.number)
    write_json(folder, "timing.json", {"wall_s": wall_s})


def _show(found: Tuned, out: Path, given: str, as_json: bool) -> None:
    from cluster_abm.json_text import to_json

    if as_json:
        echo(to_json(found.as_json()), nl=False)
    else:
        _print_search(found)
        echo(f"\n{_in_a_line(found)}")
        if found.found_better:
            _print_best(found, given)
    (tell if as_json else echo)(f"\npicture and tables: {out / 'tune.png'}, {out / 'trials.parquet'}")


def _print_search(found: Tuned) -> None:
    question, table = found.question, found.frame()
    words = {"finished": f"on all {question.seeds} seeds", "stopped": "stopped early", "refused": "refused"}
    counts = [f"{found.count(state)} {text}" for state, text in words.items() if found.count(state)]
    if found.count("failed"):
        counts.append(f"{found.count('failed')} failed")
    spent = f"{found.spent} of {question.budget} runs for the search"
    echo(f"{question.scenario.policy.name} on {question.scenario.name}: {spent}")
    echo(f"{len(found.candidates)} candidates: {', '.join(counts)}")
    echo(f"searched on {_seeds(question.search_seeds)}, every candidate on the same jobs")
    better = "below" if question.less_is_better else "above"
    over = f"over that of the defaults seed by seed ({better} 1 is better)"
    echo(f"{question.metric}: its mean over these seeds, and {over}\n")
    finished = table[table["state"] == "finished"].sort_values(
        ["ratio", "candidate"], ascending=[question.less_is_better, True]
    )
    shown = finished[(finished["candidate"] == 0) | (finished["candidate"].isin(finished["candidate"].head(SHOWN)))]
    rows = shown.drop(columns=["state", "reason", "seeds"]).rename(
        columns={"ratio": "over the defaults'", f"mean of {question.metric}": question.metric}
    )
    names = ["the defaults" if number == 0 else str(number) for number in rows["candidate"]]
    rows = rows.assign(candidate=names)
    for key in (str(one) for one in rows if rows[one].dtype == "boolean"):
        rows[key] = rows[key].map({True: "true", False: "false"})
    echo(rows.to_string(index=False, float_format=lambda value: f"{value:.4g}", na_rep="not set"))
    for reason, number in (
        table.loc[table["state"].isin(["refused", "failed"]), "reason"].value_counts().head(3).items()
    ):
        echo(f"{number} left out: {reason}")


def _in_a_line(found: Tuned) -> str:
    """What came of it, with the seeds on which it was judged."""
    question, judged = found.question, found.judgement
    if not found.found_better:
        return f"no candidate was better than the defaults on {_seeds(question.search_seeds)}"
    if judged is None:
        return f"candidate {found.best.number} could not be judged on {_seeds(question.unseen_seeds)}: its runs failed"
    return (
        f"candidate {found.best.number}, judged on {_seeds(question.unseen_seeds)}, which the search did not see: "
        f"{_sentence(judged, question.metric, question.less_is_better)}"
    )


def _sentence(judged: Judgement, metric: str, less_is_better: bool) -> str:
    ratio, difference = judged.ratio, judged.pair.difference
    interval = "" if difference.ci95 is None else f" [{difference.ci95[0]:.3g}, {difference.ci95[1]:.3g}]"
    word = judged.word(less_is_better)
    verdict = "not told apart from the defaults" if word == "not told apart" else f"{word} than the defaults"
    return (
        f"{metric} is {_in_digits(ratio)} times the defaults', the mean difference "
        f"{difference.mean:.3g}{interval}: {verdict}"
    )


def _in_digits(ratio: Ratio) -> str:
    return f"{ratio.mean:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


def _print_best(found: Tuned, given: str) -> None:
    from cluster_abm.policies import reference_of
    from cluster_abm.study.tuning.ranges import in_toml

    policy = shlex.quote(reference_of(found.question.scenario.policy.name))
    echo("\n" + found.toml().rstrip())
    words = [f"--set {shlex.quote(f'{key}={in_toml(value)}')}" for key, value in found.best_settings.items()]
    echo(f"\ncluster-abm run {given} --policy {policy} {' '.join(words)}")


def _seeds(seeds: range) -> str:
    return f"seeds {seeds.start} to {seeds.stop - 1}"


def _tell_end(found: Tuned, wall_s: float) -> None:
    for line, runs in found.policy_faults.items():
        tell(f"error: {line}" + (f" (ended {runs} runs)" if runs > 1 else ""))
    for error in found.errors:
        tell(f"error: {error}")
    judging = 2 * found.question.judge_seeds if found.found_better else 0
    before = found.spent + judging - found.made
    were = f", {before} of them carried out before" if before > 0 and math.isfinite(before) else ""
    tell(f"{found.spent + judging} runs in {wall_s:.1f} s{were}")
