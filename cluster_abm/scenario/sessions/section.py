"""Sessions of users, in groups of sessions that are alike: data only, drawn by `workload`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, Strict, field_validator, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import MOST_QUANTILES, MOST_TASKS, Distribution, NonNegative, Positive, Share

MOST_GROUPS, MOST_USERS = 1000, 100_000
# Of a day: its weights are of whole minutes each, so that those of all groups have common pieces.
MINUTES = 1440
Period = Annotated[Positive, Field(ge=1e-3, le=1e9)]
ONE = Distribution(kind="fixed", mean=1.0)
NOTHING = Distribution(kind="fixed", mean=0.0)
# Kinds of arrivals by which sessions may begin.
AT_A_RATE = ("poisson", "bursty", "multiscale")


class SessionGroup(Section):
    """Sessions that are alike.

    A session has some jobs and some CPU time, which its jobs share in the ratios of `spread`; its jobs request one run
    time.
    """

    share: Positive = 1.0
    """how many sessions are of this group over whole days, in proportion to the other groups"""
    jobs: Distribution = ONE
    """jobs of a session, at least 1; between two whole numbers it is one of both, so that the mean is the law's"""
    work_s: Distribution = Distribution(kind="exponential", mean=1.0)
    """CPU time of all tasks of all jobs of a session together, at speed 1 [s]"""
    spread: Distribution = ONE
    """CPU time of a task of a job, in proportion to those of the session's other jobs"""
    work_with_tasks: Annotated[float, Strict(), Field(ge=-0.99, le=0.99, allow_inf_nan=False)] = 0.0
    """rank correlation of a session's work and the tasks of all its jobs together (a Gaussian copula)"""
    longest_s: Positive = 1e9
    """the longest CPU time of a task; the session's shorter jobs get what is cut off, in proportion, up to it [s]"""
    widths: Annotated[dict[str, NonNegative], Field(max_length=MOST_QUANTILES)] = Field(
        default_factory=lambda: {"1": 1.0}
    )
    """weight of each number of tasks among the jobs, as { 1 = 70, 4 = 30 }"""
    one_width: Share = 1.0
    """share of the sessions all of whose jobs have one number of tasks"""
    same_width: Share = 0.0
    """in the others, share of the jobs that have as many tasks as the one before"""
    requested_over_longest: Distribution | None = None
    """a distribution of the run time that all jobs of a session request over what its longest job takes alone; draws
    below 1 count as 1. Not set: they request none"""
    memory_mb: Distribution | None = None
    """memory demand of a task [MB]; not set: drawn from workload.memory_mb"""
    gap_s: Distribution = NOTHING
    """mean time of a session from a job's submission to that of the next one, which does not wait for its end [s]"""
    after_end: Share = 0.0
    """share of the jobs that are submitted after the previous job of their session has ended, where that ends within
    workload.sessions.longest_gap_s"""
    daily: Annotated[tuple[NonNegative, ...], Field(max_length=MINUTES)] = ()
    """relative rates over a day from midnight on, evenly spaced (24: one an hour; as many as divide 1440), at which
    sessions of this group begin; they do not change its share. Empty: workload.arrivals.daily"""
    users: Annotated[dict[str, NonNegative], Field(max_length=MOST_USERS)] = Field(default_factory=dict)
    """weights of the users whose sessions these are, by their places in workload.sessions.users, 0 being the first;
    "other": of all users together, each by its weight there. Empty: of all"""

    @field_validator("widths")
    @classmethod
    def _are_widths(cls, widths: dict[str, float]) -> dict[str, float]:
        for name in widths:
            if not (name.isascii() and name.isdecimal() and name[0] != "0" and int(name[:11]) <= MOST_TASKS):
                raise ValueError(f"widths {name[:40]!r}: allowed are whole numbers of tasks from 1 to {MOST_TASKS}")
        if not sum(widths.values()) > 0:
            raise ValueError("widths: must hold at least one weight above 0")
        return widths

    @model_validator(mode="after")
    def _usable(self) -> SessionGroup:
        if self.daily and MINUTES % len(self.daily):
            raise ValueError(f"daily: {len(self.daily)} weights: allowed are as many as divide {MINUTES}, such as 24")
        if self.daily and not sum(self.daily) > 0:
            raise ValueError(f"daily {list(self.daily)}: must hold at least one number above 0")
        if self.users and not sum(self.users.values()) > 0:
            raise ValueError("users: must hold at least one weight above 0")
        for name in ("work_s", "spread"):
            law: Distribution = getattr(self, name)
            if (law.values[0] if law.kind == "quantiles" else law.kind == "lifetime" or law.mean) == 0:
                raise ValueError(f"{name} from 0 on: must be above 0")
        return self

    @property
    def has_followers(self) -> bool:
        """Whether a session may have more than one job."""
        return _largest(self.jobs) > 1.0

    @property
    def is_parallel(self) -> bool:
        """Whether a job may have several tasks."""
        return any(int(width) > 1 and weight > 0 for width, weight in self.widths.items())


def _largest(law: Distribution) -> float:
    """The largest value that a law gives, or infinity."""
    match law.kind:
        case "fixed":
            return law.mean
        case "uniform":
            return 2.0 * law.mean
        case "lifetime":
            return law.maximum
        case "quantiles":
            return law.values[-1] * law.scale
        case _:
            return math.inf if law.mean > 0 else 0.0


class UserSessions(Section):
    """Work that comes in sessions of users (`workload.kind = "sessions"`): a session is some jobs of one user, each
    submitted soon after the one before. Sessions begin as workload.arrivals says, those of a group with its own `daily`
    by that."""

    group: Annotated[tuple[SessionGroup, ...], Field(max_length=MOST_GROUPS)] = ()
    """[[workload.sessions.group]]: sessions that are alike, each with a share, jobs, work_s, widths, ..."""
    users: Annotated[tuple[NonNegative, ...], Field(max_length=MOST_USERS)] = (1.0,)
    """weight of each user among the sessions"""
    longest_gap_s: Period = 1200.0
    """a job is submitted after the previous one's end only where that comes within this time of its submission [s]"""
    gap_spread: Distribution = ONE
    """a gap between submissions in proportion to the mean one of its session"""
    think_s: Distribution = NOTHING
    """from the end of the previous job of the session to the submission of one that comes after it [s]"""
    wait_s: Distribution = NOTHING
    """how long a job is taken to wait before it starts, where the next one comes after its drawn end [s]"""
    hold_back_s: NonNegative = 0.0
    """users hold back: the backlog of a reference machine at which half of the sessions that would begin are put off by
    a day [s]; 0, or a window of no more than a day: none is"""
    reference_load: Annotated[Positive, Field(le=10)] = 0.7
    """load of the reference machine: the mean CPU time of all sessions per time, over its processors"""

    @field_validator("users")
    @classmethod
    def _has_users(cls, users: tuple[float, ...]) -> tuple[float, ...]:
        if not sum(users) > 0:
            raise ValueError("users: must hold at least one weight above 0")
        return users

    @model_validator(mode="after")
    def _users_are_there(self) -> UserSessions:
        for position, group in enumerate(self.group):
            for name in group.users:
                is_number = name.isascii() and name.isdecimal() and (name == "0" or name[0] != "0")
                if name != "other" and not (is_number and int(name[:11]) < len(self.users)):
                    raise ValueError(
                        f'group.{position}.users {name[:40]!r}: allowed are 0..{len(self.users) - 1} and "other"'
                    )
        return self

    @property
    def can_wait(self) -> bool:
        """Whether a job may come after the end of the one before."""
        return any(group.has_followers and group.after_end > 0 for group in self.group)

    @property
    def has_gaps(self) -> bool:
        """Whether a job may come some time after the submission of the one before."""
        return any(group.has_followers and _largest(group.gap_s) > 0 for group in self.group)


def check_beside(sessions: UserSessions, arrivals: str, others: Mapping[str, bool]) -> None:
    """Check what stands beside sessions in a workload of them.

    Args:
        sessions: workload.sessions.
        arrivals: workload.arrivals.kind.
        others: keys of the workload, and whether they say what is for groups of sessions to say.

    Raises ValueError: something else says what jobs there are, or how they come.
    """
    if not sessions.group:
        raise ValueError('kind "sessions": needs one or more [[workload.sessions.group]]')
    if arrivals not in AT_A_RATE:
        raise ValueError(
            f'arrivals.kind {arrivals!r}: sessions begin at a rate: allowed with kind "sessions" are '
            f"{', '.join(map(repr, AT_A_RATE))}"
        )
    for name, is_given in others.items():
        if is_given:
            raise ValueError(f'{name}: is not allowed with kind "sessions", whose groups say how jobs are alike')
