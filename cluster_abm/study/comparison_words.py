"""What a comparison says in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Protocol, get_args

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.study.design.settings_in_words import drawn_log
from cluster_abm.study.reference import Referred, reference_words
from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.needed import MOST_SEEDS, POWER, seeds_needed
from cluster_abm.study.statistics.paired import PairedDifference, Verdict
from cluster_abm.workload.from_trace import chosen_part, trace_of
from cluster_abm.workload.resampling.choosing import can_draw_weeks
from cluster_abm.workload.traces.logged import members_of
from cluster_abm.workload.traces.table import USER
from cluster_abm.workload.users import are_closed

# How significance is judged.
TEST_WORDS = "(t tests of ratios, Holm, 5 %)"
# Of `PairedDifference.means_differ`.
MEANS_WORDS = {True: "yes", False: "not shown", None: ""}
# What intervals are about, by workload.trace.resample.
ABOUT = {"none": "this log", "users": "logs like it", "shake": "this log, shaken"}
# In the order in which they are said.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


class SeededComparison(Referred, Protocol):
    """What is read of a comparison (study.comparison.Comparison)."""

    @property
    def scenario(self) -> Scenario:
        """What was run."""

    @property
    def is_one_sample(self) -> bool:
        """Whether no seed changes anything."""


def conclusion_of(
    baseline: str, measure: str, against: Mapping[str, PairedDifference], more_is_better: bool, single: str
) -> str:
    """How policies stand against the baseline, in one sentence.

    Args:
        baseline: its name.
        measure: by which they are compared, in words.
        against: each other policy against the baseline, in the order asked for.
        more_is_better: of the measure.
        single: "one seed" or "one sample", of which nothing is tested; "": there are several.
    """
    begin = f"{measure}, against {baseline}: "
    if single == "one seed":
        return f"{begin}one seed does not show whether a difference is more than noise"
    if single:
        return f"{begin}{single}: no difference is tested"
    by_verdict: dict[str, list[str]] = {}
    for name, pair in against.items():
        by_verdict.setdefault(pair.verdict(more_is_better), []).append(name)
    said = [f"{', '.join(by_verdict[verdict])} {verdict}" for verdict in VERDICTS if verdict in by_verdict]
    return f"{begin}{'; '.join(said)} {TEST_WORDS}"


def seeds_in_words(found: SeededComparison) -> str:
    """How many seeds a comparison has, and what the intervals over them are about."""
    seeds, scenario = len(found.seeds), found.scenario
    drawn = drawn_log(scenario)
    hint = resample_hint(scenario) if scenario.workload.kind == "trace" and not drawn else ""
    if found.is_one_sample:
        return one_sample_words(seeds, scenario.workload.kind == "trace") + hint
    if seeds == 1:
        words = "1 seed, the same jobs for every policy: no intervals, and no difference is told from noise"
        return f"{words}; its jobs: {drawn}" if drawn else words + hint
    words = f"{seeds} seeds, the same jobs for every policy; intervals at 95 % over seeds"
    if drawn:
        return (
            f"{seeds} seeds, the same jobs for every policy; each draws {drawn}; intervals "
            f"at 95 % are about {about(scenario)}: by the spread of the draws, which more seeds do not narrow"
        )
    if scenario.workload.kind == "trace":
        words += ", which draw what the log does not say: they are not about another day's jobs"
    if found.one_run:
        alike = ", ".join(name for name in found.policies if name in found.one_run)
        words += f"; {alike}: one sample, the same run from every seed: no interval"
    return words + reference_words(found) + hint


def resample_hint(scenario: Scenario) -> str:
    """Name the key that draws logs like the scenario's, where it can be set; to be put after other words."""
    try:
        trace = trace_of(scenario)
    except InputError:
        # Stored runs may be of a log that is no longer there.
        return ""
    if trace is None or trace.parents is not None:
        return ""
    choice = scenario.workload.trace
    kept = chosen_part(choice, scenario.run.seed, trace)
    arrival_ms = trace.numbers["arrival_ms"][kept] - choice.start_s * 1000.0
    can_be_set = len(arrival_ms) > 0 and can_draw_weeks(arrival_ms, members_of(trace.table, USER, kept), choice)
    return '; workload.trace.resample = "users" draws other logs like it' if can_be_set else ""


def about(scenario: Scenario) -> str | None:
    """What intervals over seeds are about, where the jobs come from a log (`intervals_about` of the document)."""
    work = scenario.workload
    return ABOUT[work.trace.resample] if work.kind == "trace" else None


def notes_of(scenario: Scenario) -> list[str]:
    """What has to be known to read a comparison, a line each (`notes` of the document): why jobs are submitted at other
    times under other policies, where they are."""
    work = scenario.workload
    differ = "submission times differ between policies"
    if work.kind == "sessions" and work.users == "react" and work.sessions.can_wait:
        return [f'workload.users = "react": users submit after the ends in the run: {differ}']
    if are_closed(scenario):
        return [f'workload.arrivals.kind = "closed": users submit after the ends in the run: {differ}']
    try:
        trace = trace_of(scenario)
    except InputError:
        # As in `resample_hint`.
        return []
    if trace is None or trace.parents is None:
        return []
    return [f"jobs of the trace are submitted after others have ended in the run: {differ}"]


def one_sample_words(seeds: int, is_log: bool) -> str:
    """Say that all seeds give the same runs, and that intervals and tests are left out."""
    of = "this log" if is_log else "these jobs"
    return f"one sample: {of}; all {seeds} seeds give the same runs: no intervals, and no tests"


def ratio_text(pair: PairedDifference | None) -> str:
    """A ratio and its interval, with a remark where no more is said than that; "" where there is none."""
    if pair is None or math.isnan(pair.ratio):
        return ""
    ends = "" if pair.ratio_ci95 is None else f" [{pair.ratio_ci95[0]:.3g}, {pair.ratio_ci95[1]:.3g}]"
    return f"{pair.ratio:.3g}{ends}{' (n.s.)' if pair.tested and pair.significant is False else ''}"


def seeds_needed_words(pairs: Mapping[tuple[str, str], PairedDifference]) -> str:
    """How many seeds would show the ratios that are not significant, if they are as found; "" where none could.

    Args:
        pairs: all that are tested together, by both names.
    """
    said = []
    for (a, b), pair in pairs.items():
        # Of draws of one log no number of seeds shows more.
        if pair.tested is not None and pair.significant is False and not pair.tested.are_replicates:
            seeds = seeds_needed(pair.tested, len(pairs))
            said.append(f"{a}/{b} {f'more than {MOST_SEEDS:,}' if seeds is None else f'{seeds:,}'}")
    if not said:
        return ""
    return f"seeds that show such a ratio with a chance of {100 * POWER:g} %: {', '.join(said)}"


def text_of(found: Estimate) -> str:
    """A mean and its interval, if it has one."""
    if math.isnan(found.mean):
        return "no job finished"
    if found.ci95 is None:
        return f"{found.mean:.4g}"
    return f"{found.mean:.4g} [{found.ci95[0]:.4g}, {found.ci95[1]:.4g}]"
