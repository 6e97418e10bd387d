"""What a comparison says in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from cluster_abm.study.statistics.estimates import Estimate
from cluster_abm.study.statistics.paired import PairedDifference

# How significance is judged.
TEST_WORDS = "(t tests, Holm, 5 %)"


def conclusion_of(
    leader: str,
    others: Sequence[str],
    pairs: Mapping[tuple[str, str], PairedDifference],
    pooled: Sequence[str],
    single: str,
) -> str:
    """Which policy has the lowest mean slowdown, and whether significantly.

    Args:
        leader: that policy.
        others: those from which it does not differ significantly.
        pairs: of all policies, in either order.
        pooled: pooled references among them.
        single: "one seed" or "one sample", of which nothing is tested; "": there are several.
    """
    beside = f" ({', '.join(pooled)} is a pooled reference, no policy)" if pooled else ""
    lowest = f"{leader} has the lowest mean slowdown{beside}"
    if single == "one seed":
        return f"{lowest}; one seed does not tell whether by more than noise"
    if single:
        return f"{lowest}; {single}: no difference is tested"
    untested = [name for name in others if pairs[leader, name].significant is None]
    alike = [name for name in others if name not in untested]
    what = []
    if untested:
        what.append(f"{_differences('difference', untested)} of one sample and not tested")
    if alike:
        what.append(f"{_differences('paired difference', alike)} not significant")
    return f"{lowest}; {'; '.join(what) or 'every paired difference to it is significant'} {TEST_WORDS}"


def one_sample_words(seeds: int, is_log: bool) -> str:
    """Say that all seeds give the same runs, and that intervals and tests are left out."""
    of = "this log" if is_log else "these jobs"
    return f"one sample: {of}; all {seeds} seeds give the same runs: no intervals, and no tests"


def ratio_text(pair: PairedDifference | None) -> str:
    """A ratio of means, with a remark if the difference is not significant; "" where there is none."""
    if pair is None or math.isnan(pair.ratio):
        return ""
    return f"{pair.ratio:.2f}{' (n.s.)' if pair.significant is False else ''}"


def text_of(found: Estimate) -> str:
    """A mean and its interval, if it has one."""
    if math.isnan(found.mean):
        return "no job finished"
    if found.ci95 is None:
        return f"{found.mean:.4g}"
    return f"{found.mean:.4g} [{found.ci95[0]:.4g}, {found.ci95[1]:.4g}]"


def _differences(word: str, names: Sequence[str]) -> str:
    several = len(names) > 1
    return f"its {word}{'s' * several} to {', '.join(names)} {'are' if several else 'is'}"
