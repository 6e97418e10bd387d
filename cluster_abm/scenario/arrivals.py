"""When jobs are submitted: data only, drawn by `workload`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, Strict, StrictBool, model_validator

from cluster_abm.scenario.base import Section
from cluster_abm.scenario.distributions import Count, Distribution, NonNegative, Period, Positive, Real

MOST_SCALES = 32
# Of a day: a rate for each minute.
MOST_HOURS = 1440
# A gamma law of a larger one is 0 nearly always.
Variation = Annotated[NonNegative, Field(le=100)]


class Arrivals(Section):
    """When jobs are submitted.

    kind:
      poisson           at the workload's rate, until the end of its window
      lognormal-window  `workload.jobs` of them, their times lognormal(`mu`, `sigma`) squeezed into the window (MCLS)
      bursty            Poisson, with a rate `burst_factor` times higher in bursts; quiet and burst periods are
                        exponential with means `quiet_s` and `burst_s`; the mean rate is the workload's. The default
                        gives, at their mean of 5.6 jobs/s, the dispersion of counts that Harchol-Balter and
                        Downey's traces have: about 4 in windows of 10 s and 18 in windows of 60 s
      closed            `users_per_node` users at each node submit `jobs_per_user` jobs each, one after another: the
                        next one `think_s` after the previous one has ended (LMIP). User k, at node k modulo nodes
                        (or as `user_nodes` say), begins at k `first_gap_s`. The workload's window, number, rate and
                        homes are not used
      multiscale        Poisson, with a rate that is the product of independent ones, each on a time scale of its own:
                        a gamma factor of mean 1 and coefficient of variation `variations`[k] holds for
                        `scales_s`[k] and then the next one; the mean rate is the workload's

    Of poisson, bursty and multiscale the rate may follow the hours of the day and the days of the week (`daily`,
    `weekly`): time then runs faster in busy hours, so the mean rate over the window stays the workload's. And jobs may
    come in batches (`batch_mean`).
    """

    kind: Literal["poisson", "lognormal-window", "bursty", "closed", "multiscale"] = "poisson"
    """evenly over the window, squeezed into it (MCLS), in bursts, by users that wait for their jobs to end (LMIP), or
    at a rate that varies on several scales of time"""
    mu: Real = 3.5
    """of lognormal-window"""
    sigma: Positive = 3.5
    """of lognormal-window"""
    burst_factor: Annotated[Positive, Field(gt=1)] = 1.7
    """rate in bursts over rate between them"""
    burst_s: Positive = 125.0
    """mean length of a burst [s]"""
    quiet_s: Positive = 500.0
    """mean time between bursts [s]"""
    time_unit_s: Positive = 1.0
    """unit of time of lognormal-window's law [s]"""
    regular: StrictBool = False
    """lognormal-window: the jobs stand at the law's quantiles, the same in every run; else drawn from it"""
    users_per_node: Annotated[Count, Field(le=1_000_000)] = 1
    """closed: users at each node"""
    jobs_per_user: Annotated[Count, Field(le=50_000_000)] = 10
    """closed: jobs that each user submits"""
    think_s: Distribution = Distribution(kind="exponential", mean=5.0)
    """closed: from the end of a job (also of one that was killed) to the same user's next submission [s]"""
    user_nodes: tuple[Annotated[int, Strict(), Field(ge=0)], ...] = ()
    """closed: the nodes that have users, user k being at the k-th of them, cyclically; empty: all nodes"""
    first_gap_s: Annotated[NonNegative, Field(le=1e6)] = 1.0
    """closed: time from the first submission of one user to that of the next [s]"""
    scales_s: Annotated[tuple[Period, ...], Field(max_length=MOST_SCALES)] = ()
    """multiscale: how long each factor of the rate holds [s]"""
    variations: Annotated[tuple[Variation, ...], Field(max_length=MOST_SCALES)] = ()
    """multiscale: coefficient of variation of each factor, as many as scales_s"""
    batch_mean: Annotated[Positive, Field(ge=1, le=1e6)] = 1.0
    """mean number of jobs in a batch, geometric; the workload's rate is that of jobs. 1: each comes by itself"""
    batch_gap_s: Annotated[NonNegative, Field(le=1e9)] = 0.0
    """mean time from one job of a batch to the next one, exponential [s]; 0: all at one instant"""
    daily: Annotated[tuple[NonNegative, ...], Field(max_length=MOST_HOURS)] = ()
    """relative rates over a day from midnight on, evenly spaced (24: one an hour), with sessions of users those of
    groups without their own; empty: none"""
    weekly: Annotated[tuple[NonNegative, ...], Field(max_length=7)] = ()
    """seven relative rates, one a day of the week; empty: none"""
    starts_h: Annotated[NonNegative, Field(lt=168)] = 0.0
    """hour of the week at which the run begins, 0: midnight before the first day of weekly [h]"""

    @model_validator(mode="after")
    def _usable(self) -> Arrivals:
        if self.kind == "multiscale" and len(self.variations) != len(self.scales_s):
            raise ValueError(
                f"variations: {len(self.variations)} of them for {len(self.scales_s)} scales_s: as many are needed"
            )
        if self.kind == "multiscale" and not self.scales_s:
            raise ValueError("scales_s: kind 'multiscale' needs one or more (or use kind = \"poisson\")")
        if self.weekly and len(self.weekly) != 7:
            raise ValueError(f"weekly: {len(self.weekly)} numbers: allowed are seven, or none")
        for name in ("daily", "weekly"):
            rates = getattr(self, name)
            if rates and not sum(rates) > 0:
                raise ValueError(f"{name} {list(rates)}: must hold at least one number above 0")
        return self

    @property
    def has_course(self) -> bool:
        """Whether the rate follows the hours of the day or the days of the week."""
        return bool(self.daily or self.weekly)
