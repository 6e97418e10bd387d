"""What a comparison says in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import get_args

from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.needed import MOST_SEEDS, POWER, seeds_needed
from cluster_abm.study.statistics.paired import PairedDifference, Verdict

# How significance is judged.
TEST_WORDS = "(t tests of ratios, Holm, 5 %)"
# Of `PairedDifference.means_differ`.
MEANS_WORDS = {True: "yes", False: "not shown", None: ""}
# In the order in which they are said.
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


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
    """How many seeds would show the ratios that are not significant, if they are as found.

    Args:
        pairs: all that are tested together, by both names.
    """
    said = []
    for (a, b), pair in pairs.items():
        if pair.tested is not None and pair.significant is False:
            seeds = seeds_needed(pair.tested, len(pairs))
            said.append(f"{a}/{b} {f'more than {MOST_SEEDS:,}' if seeds is None else f'{seeds:,}'}")
    return f"seeds that show such a ratio with a chance of {100 * POWER:g} %: {', '.join(said)}"


def text_of(found: Estimate) -> str:
    """A mean and its interval, if it has one."""
    if math.isnan(found.mean):
        return "no job finished"
    if found.ci95 is None:
        return f"{found.mean:.4g}"
    return f"{found.mean:.4g} [{found.ci95[0]:.4g}, {found.ci95[1]:.4g}]"
