"""`[workload.sessions]` of a log: the laws of its groups of sessions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.clock import HOUR_S
from cluster_abm.scenario.distributions import LARGEST
from cluster_abm.study.fitting.courses import HOURS, Course
from cluster_abm.study.fitting.joint import spearman
from cluster_abm.study.fitting.marginals import fit_quantiles, fit_widths
from cluster_abm.study.fitting.users.hours import hours_of_groups
from cluster_abm.study.fitting.users.seen import SeenSessions

# Quantiles of a law of a group, of one of all sessions; widths of a group; users of a group that it names.
POINTS_OF_GROUP, POINTS_OF_ALL, WIDTHS, NAMED_USERS = 12, 30, 12, 10
LEAST_S = 1e-6
# Relative rates that differ by no more than this are one.
EVEN = 1e-9


def section_of(
    sessions: SeenSessions, groups: Integers, memory_mb: Floats | None, course: Course, window_s: float
) -> dict[str, Any]:
    """The section, but for how users hold back.

    Args:
        sessions: of the log.
        groups: the group of each, shape (sessions,).
        memory_mb: of a task of each job of the sessions, NaN: not known, shape (jobs,); None: of no job.
        course: of the begins of all sessions.
        window_s: of the log [s].
    """
    jobs = sessions.jobs
    users = jobs.user[sessions.first]
    weights = np.bincount(users)
    # The most active user first.
    order = np.argsort(-weights, kind="stable")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    hours = ((jobs.times_s[sessions.first] / HOUR_S + course.starts_h) % HOURS).astype(np.int64)
    shares, daily = hours_of_groups(hours, groups, course, window_s)
    found: dict[str, Any] = {
        "users": [float(weight) for weight in weights[order]],
        "longest_gap_s": sessions.longest_gap_s,
    }
    for name, values in (
        ("gap_spread", _gaps_over_mean(sessions)),
        ("think_s", sessions.since_end_s[sessions.after_end]),
        ("wait_s", jobs.wait_s[~np.isnan(jobs.wait_s)]),
    ):
        if len(values):
            found[name] = law_of(values, POINTS_OF_ALL)
    found["group"] = [
        {"share": float(f"{share:.6g}"), **_group(sessions, groups == number, rank[users], memory_mb)}
        for number, share in enumerate(shares)
    ]
    for group, rates in zip(found["group"], daily, strict=True):
        if np.ptp(rates) > EVEN:
            group["daily"] = [float(f"{rate:.4g}") for rate in rates]
    return found


def _group(sessions: SeenSessions, chosen: Flags, users: Integers, memory_mb: Floats | None) -> Mapping[str, Any]:
    jobs = sessions.jobs
    own = chosen[sessions.session]
    found: dict[str, Any] = {
        "jobs": law_of(sessions.count[chosen].astype(float), POINTS_OF_GROUP),
        "work_s": law_of(sessions.work_s[chosen], POINTS_OF_GROUP),
        "work_with_tasks": _work_with_tasks(
            sessions.work_s[chosen], np.bincount(sessions.session, jobs.tasks).astype(float)[chosen]
        ),
        "longest_s": float(jobs.cpu_s[own].max()),
        "widths": fit_widths(jobs.tasks[own], WIDTHS),
    }
    several = own & (sessions.count > 1)[sessions.session]
    if several.any():
        mean_s = sessions.work_s / np.bincount(sessions.session, jobs.tasks, len(sessions))
        found["spread"] = law_of(np.maximum(jobs.cpu_s / mean_s[sessions.session], LEAST_S)[several], POINTS_OF_GROUP)
        common = jobs.tasks[sessions.first]
        differ = np.bincount(sessions.session, jobs.tasks != common[sessions.session], len(sessions))
        found["one_width"] = round(float((differ[chosen] == 0).mean()), 4)
        if found["one_width"] < 1.0:
            found["same_width"] = _same_width(sessions, chosen & (differ > 0), found["widths"])
    ratio = _requested_over_longest(sessions)[chosen]
    if not np.isnan(ratio).all():
        found["requested_over_longest"] = law_of(ratio[~np.isnan(ratio)], POINTS_OF_GROUP)
    if memory_mb is not None and not np.isnan(memory_mb).all():
        known = ~np.isnan(memory_mb)
        # A group of which nothing is known has that of all.
        chosen_mb = memory_mb[known & own] if (known & own).any() else memory_mb[known]
        found["memory_mb"] = law_of(chosen_mb, POINTS_OF_GROUP)
    gap_s = sessions.mean_gap_s[chosen]
    if not np.isnan(gap_s).all():
        found["gap_s"] = law_of(gap_s[~np.isnan(gap_s)], POINTS_OF_GROUP)
    could = own & sessions.could_wait
    if could.any():
        found["after_end"] = round(float(sessions.after_end[could].mean()), 4)
    counts = np.bincount(users[chosen])
    named = np.argsort(-counts, kind="stable")[:NAMED_USERS]
    found["users"] = {str(user): float(counts[user]) for user in sorted(named.tolist()) if counts[user]}
    others = float(counts.sum() - counts[named].sum())
    if others:
        found["users"]["other"] = others
    return found


def _same_width(sessions: SeenSessions, chosen: Flags, widths: Mapping[str, float]) -> float:
    """Which share of the jobs takes its width from the one before, if others draw theirs: by how often both are the
    same."""
    pairs = (sessions.follows & chosen[sessions.session])[1:]
    if not pairs.any():
        return 0.0
    same = float((np.diff(sessions.jobs.tasks) == 0)[pairs].mean())
    shares = np.array(list(widths.values())) / sum(widths.values())
    by_chance = float(shares @ shares)
    return 0.0 if by_chance >= 1.0 else round(max(0.0, (same - by_chance) / (1.0 - by_chance)), 4)


def _gaps_over_mean(sessions: SeenSessions) -> Floats:
    """Gaps over the mean one of their sessions, of jobs that follow and did not come after an end."""
    mean_s = sessions.mean_gap_s[sessions.session]
    chosen = sessions.follows & ~sessions.after_end & (mean_s > 0)
    return sessions.gap_s[chosen] / mean_s[chosen]


def _work_with_tasks(work_s: Floats, tasks: Floats) -> float:
    found = spearman(work_s, tasks)
    return 0.0 if np.isnan(found) else round(float(np.clip(found, -0.99, 0.99)), 3)


def _requested_over_longest(sessions: SeenSessions) -> Floats:
    """The median request of each session over what its longest job takes alone, at least 1; NaN: it requests nothing.

    Shape (sessions,).
    """
    jobs = sessions.jobs
    order = np.lexsort((jobs.requested_s, sessions.session))  # NaN last
    known = np.bincount(sessions.session, ~np.isnan(jobs.requested_s), len(sessions)).astype(np.int64)
    median = jobs.requested_s[order][sessions.first + np.maximum(known - 1, 0) // 2]
    longest = np.maximum.reduceat(jobs.alone_s, sessions.first)
    return np.where(known > 0, np.clip(median / longest, 1.0, LARGEST), np.nan)


def law_of(values: Floats, points: int) -> dict[str, Any]:
    """The law of a sample, as a scenario has it: its mean is the sample's."""
    if not np.ptp(values):
        return {"kind": "fixed", "mean": float(f"{values[0]:.9g}")}
    found = fit_quantiles(np.asarray(values, float), most=points)
    return {
        "kind": "quantiles",
        "values": [float(f"{value:.9g}") for value in found.values],
        "probabilities": [float(f"{share:.9g}") for share in found.probabilities],
    }
