"""`tune`: parameters searched on some seeds and judged on others."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.frame import QuestionFrame, StudyCall, study_options
from cluster_abm.cli.options import count_option, kept_out_option, names_of, over_option, scenario_argument
from cluster_abm.cli.output import echo
from cluster_abm.cli.shell import names
from cluster_abm.errors import InputError, gathered

if TYPE_CHECKING:
    from cluster_abm.study.cells import Ratio
    from cluster_abm.study.tuning.ranges import Over
    from cluster_abm.study.tuning.tune import Judgement, Tuned

# Candidates that are printed, of those on all seeds.
SHOWN = 5
NOT_TUNED = {
    "compare": "only `cluster-abm compare` reads it",
    "measure.period_ms": "a search takes no measurements; `run` does",
}


@click.command("tune", short_help="Search for better parameters of a policy.")
@scenario_argument
@click.option("--policy", shell_complete=names.policies, help="The policy (default: the scenario's).")
@over_option(
    "KEY=RANGE",
    "A key that is searched: KEY=LOW:HIGH, KEY=LOW:HIGH:log (by orders of magnitude) or KEY=a|b|c. Several times.",
)
@count_option(
    "--budget",
    200,
    "Runs of the search, one for each candidate and seed, the defaults' among them; those that judge come on top.",
)
@count_option("--seeds", 8, "Seeds of a candidate that is not stopped.", least=2)
@count_option("--judge-seeds", 16, "Further seeds, on which the best candidate is judged: two runs each.", least=2)
@click.option(
    "--metric",
    shell_complete=names.metrics,
    help="What is to become better (default: the scenario's measure.headline).",
)
@click.option(
    "--sum-to-one", metavar="KEY,KEY,...", help="Weights that are divided by their sum: only their ratios are searched."
)
@study_options(kept_out_option)
def tune_command(
    call: StudyCall,
    policy: str | None,
    overs: tuple[str, ...],
    budget: int,
    seeds: int,
    judge_seeds: int,
    metric: str | None,
    sum_to_one: str | None,
) -> int:
    """Search for parameters under which SCENARIO does better than as it stands; needs the extra `tune` (Optuna).

    Every candidate gets the same jobs, seed by seed; bad ones are stopped early. The best is judged against the
    scenario as it stands on seeds that the search did not see. Stop it as you like and start it again: runs that are
    in the folder are not carried out again, and the result is the same.

    Example: cluster-abm tune cpu-bound --policy wal-re --over policy.cpu_weight=0:1 --over policy.io_weight=0:1
    --budget 100 --out out/wal
    """
    from cluster_abm.study.tuning.proposals import library
    from cluster_abm.study.tuning.question import TuningQuestion

    library()
    checked, overrides = call.loaded(policy)
    with gathered() as gather:
        with gather:
            ranges, sum_keys = overs_of(overs), tuple(names_of(sum_to_one) or ())
            question = TuningQuestion(checked, ranges, budget, seeds, judge_seeds, metric or "", sum_keys)
            question.check()
        with gather:
            check_keys_have_effect(checked, call.scenario, overrides, [checked.policy.name], NOT_TUNED)
    return TuneFrame(call, overrides, question).carry_out()


class TuneFrame(QuestionFrame["Tuned"]):
    """The frame of `tune`."""

    document, picture, table = "tune.json", "tune.png", "trials.parquet"

    def _run(self, folder: Path | None) -> Tuned:
        from cluster_abm.study.tuning.tune import tune

        return tune(self.question, where=self.where, folder=folder)

    def _save(self, folder: Path, found: Tuned) -> None:
        from cluster_abm.results.files import write_table, write_text
        from cluster_abm.results.style import save

        write_table(folder, self.table, found.frame())
        write_text(folder, "best.toml", f"# {_in_a_line(found)}\n{found.toml()}")
        save(found.plot(title=self.overrides.captioned(found.title)), folder / self.picture)

    def _show(self, found: Tuned) -> None:
        _print_search(found)
        echo(f"\n{_in_a_line(found)}")
        if found.found_better:
            _print_best(found, self.call.as_given())


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
        from cluster_abm.scenario.filling.values import value_of

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


def _print_search(found: Tuned) -> None:
    from cluster_abm.study.heads import head_lines

    question, table = found.question, found.frame()
    words = {"finished": f"on all {question.seeds} seeds", "stopped": "stopped early", "refused": "refused"}
    counts = [f"{found.count(state)} {text}" for state, text in words.items() if found.count(state)]
    if found.count("failed"):
        counts.append(f"{found.count('failed')} failed")
    spent = f"{found.spent} of {question.budget} runs for the search"
    echo(f"{question.scenario.policy.label} on {question.scenario.name}: {spent}")
    echo(f"{len(found.candidates)} candidates: {', '.join(counts)}")
    for line in [] if found.estimated is None else head_lines(found.estimated, [question.scenario], [question.metric]):
        echo(textwrap.fill(line, 100, break_on_hyphens=False))
    echo(f"searched on {_seeds(question.seeds_used)}, every candidate on the same jobs")
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
        return f"no candidate was better than the defaults on {_seeds(question.seeds_used)}"
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

    policy = shlex.quote(reference_of(found.question.scenario.policy.label))
    echo("\n" + found.toml().rstrip())
    words = [f"--set {shlex.quote(f'{key}={in_toml(value)}')}" for key, value in found.best_settings.items()]
    echo(f"\ncluster-abm run {given} --policy {policy} {' '.join(words)}")


def _seeds(seeds: range) -> str:
    return f"seeds {seeds.start} to {seeds.stop - 1}"
