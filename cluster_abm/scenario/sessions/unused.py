"""Keys of sessions of users that have no effect, and keys that have none beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cluster_abm.clock import DAY_S
from cluster_abm.scenario.sessions.section import SessionGroup, UserSessions

if TYPE_CHECKING:
    from cluster_abm.scenario.schema import Workload

SECTION = "workload.sessions"
# What only sessions of more than one job use.
OF_FOLLOWERS = ("spread", "one_width", "same_width", "gap_s", "after_end")


def has_daily_groups(work: Workload) -> bool:
    """Whether sessions of a group begin at its own course over the day."""
    return work.kind == "sessions" and any(group.daily for group in work.sessions.group)


def of_sessions(work: Workload) -> Iterator[tuple[str, str]]:
    """Dotted keys, and sections, on which no job depends, each with the reason."""
    if work.kind != "sessions":
        for name in ("sessions", "users"):
            yield f"workload.{name}", f'workload.kind is "{work.kind}", not "sessions"'
        return
    yield from _beside(work)
    sessions = work.sessions
    if not sessions.can_wait:
        yield "workload.users", f"no job comes after an end: after_end is 0 in every {SECTION}.group"
        for name in ("longest_gap_s", "think_s", "wait_s"):
            yield f"{SECTION}.{name}", f"no job comes after an end: after_end is 0 in every {SECTION}.group"
    if not sessions.has_gaps:
        yield f"{SECTION}.gap_spread", f"gap_s is 0 in every {SECTION}.group"
    if work.arrivals.daily and all(group.daily for group in sessions.group):
        yield "workload.arrivals.daily", f"every {SECTION}.group has its own daily"
    if sessions.hold_back_s == 0.0:
        yield f"{SECTION}.reference_load", f"{SECTION}.hold_back_s is 0: no session is put off"
    elif work.duration_s <= DAY_S:
        for name in ("hold_back_s", "reference_load"):
            yield f"{SECTION}.{name}", "workload.duration_s is not above a day: no session is put off to a later one"
    for index, group in enumerate(sessions.group):
        for name, reason in _of_group(group, sessions):
            yield f"{SECTION}.group.{index}.{name}", reason


def _beside(work: Workload) -> Iterator[tuple[str, str]]:
    """Keys of the workload that groups say in their place; jobs of workload.initial may still be drawn by them."""
    groups, initial = work.sessions.group, work.initial
    says = f'workload.kind is "sessions", and {SECTION}.group says it'
    yield "workload.cpu_ms", says
    yield "workload.repeats", 'workload.kind is "sessions": no job repeats another'
    if all(job.requested_ms is not None for job in initial):
        yield "workload.requested_over_actual", says
    if all(job.tasks is not None for job in initial):
        for name in ("parallel_share", "minimum", "maximum", "widths"):
            yield f"workload.tasks.{name}", says
    if all(group.memory_mb is not None for group in groups) and all(job.memory_mb is not None for job in initial):
        for name in ("memory_mb", "memory_of"):
            yield f"workload.{name}", says
    if not (any(group.is_parallel for group in groups) or initial):
        for name in ("barrier_ms", "communication_ms"):
            yield f"workload.tasks.{name}", f"widths has 1 alone in every {SECTION}.group: no job is parallel"


def _of_group(group: SessionGroup, sessions: UserSessions) -> Iterator[tuple[str, str]]:
    if len(sessions.group) == 1:
        yield "share", "there is one group of sessions"
    if len(sessions.users) == 1:
        yield "users", f"{SECTION}.users has one user"
    if not group.has_followers:
        for name in OF_FOLLOWERS:
            yield name, "jobs is 1: no session of the group has a second job"
    elif group.one_width == 1.0:
        yield "same_width", "one_width is 1: all jobs of a session have one number of tasks"
