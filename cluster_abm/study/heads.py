"""The lines above a table of runs that say what its numbers estimate, and what its policies know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, load_scenario
from cluster_abm.study.comparison_words import about
from cluster_abm.study.design.settings_in_words import setting_lines
from cluster_abm.study.results_folder import StoredStudy
from cluster_abm.study.statistics.one_sample import of_one_sample
from cluster_abm.workload.laws.estimated import Estimated, estimated
from cluster_abm.workload.laws.no_mean import why_no_mean

WITHOUT_MEAN = "mean_slowdown"
# Points of a study whose work is looked at, at most.
MOST_LOOKED_AT = 50


def estimated_by_runs(scenario: Scenario, runs: pd.DataFrame) -> Estimated:
    """What runs of a scenario estimate; `runs` has a row a run, with their metrics as columns."""
    return estimated([(scenario, _rows(runs))])


def _rows(runs: pd.DataFrame) -> list[dict[str, float]]:
    columns = [name for name in ("from_s", "warmup_settled") if name in runs]
    return [dict(zip(columns, row, strict=True)) for row in runs[columns].itertuples(index=False)]


def paragraphs(lines: Iterable[str]) -> list[str]:
    """The lines of a head as paragraphs of a report, each followed by an empty line."""
    return [part for line in lines for part in (f"{line[0].upper()}{line[1:]}.", "")]


def head_lines(
    found: Estimated, scenarios: Sequence[Scenario], metrics: Iterable[str], policies: Sequence[str] | None = None
) -> list[str]:
    """What is estimated, warnings about it, whether one of the metrics has no mean, and what policies know, a line
    each.

    Args:
        found: what is estimated.
        scenarios: of the runs; at least one.
        metrics: of the table.
        policies: names of those compared; None: the first scenario's own.
    """
    no_mean = why_no_mean(scenarios[0]) if WITHOUT_MEAN in metrics else ""
    return [*found.words, *([no_mean] if no_mean else []), *setting_lines(scenarios, policies)]


def study_heads(plan: StoredStudy, results: pd.DataFrame) -> list[str]:
    """The lines above a study's report, by the first point, the last and some between.

    Without the scenario, or the log, that the study was run with there are none.

    Args:
        plan: of the folder.
        results: a row a run.
    """
    points = plan.points or [{}]
    numbers = {round(at * (len(points) - 1) / (MOST_LOOKED_AT - 1)) for at in range(MOST_LOOKED_AT)}
    try:
        scenarios = {number: load_scenario(plan.study.scenario_source, points[number]) for number in sorted(numbers)}
        found = estimated([(one, _rows(results[results["point"] == number])) for number, one in scenarios.items()])
        lines = head_lines(found, [*scenarios.values()], plan.study.measure, plan.study.policies)
        abouts = dict.fromkeys(
            words
            for number, one in scenarios.items()
            if (words := about(one)) and _has_intervals(results[results["point"] == number])
        )
        return [*lines, f"intervals over seeds are about {' or '.join(abouts)}"] if abouts else lines
    except InputError:
        return []


def _has_intervals(runs: pd.DataFrame) -> bool:
    """Whether some policy has two seeds or more at a point, and these do not all give the same run."""
    finished = runs[runs["status"] == "finished"]
    seeds = finished.groupby("policy")["seed"].nunique()
    return bool((seeds.drop(list(of_one_sample(finished, ["point"]))) > 1).any())
