"""Jobs drawn as logs have them, for tables of our own making."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


class TimedJobs:
    """Jobs whose submissions, waits and run times are known, shape (jobs,) each [s]."""

    submit: np.ndarray
    wait: np.ndarray
    run: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """When they started [s]."""
        return self.submit + self.wait

    @property
    def end(self) -> np.ndarray:
        """When they ended [s]."""
        return self.start + self.run


@dataclass
class DrawnJobs(TimedJobs):
    """Jobs as logs have them: bursts, waits of which many are none, round requests, few users."""

    count: int
    rng: np.random.Generator
    submit: np.ndarray = field(init=False)
    wait: np.ndarray = field(init=False)
    run: np.ndarray = field(init=False)
    asked: np.ndarray = field(init=False)
    cores: np.ndarray = field(init=False)
    user: np.ndarray = field(init=False)
    state: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        rng, count = self.rng, self.count
        self.submit = np.floor(np.cumsum(rng.lognormal(3.0, 1.5, count)))
        self.wait = np.where(
            rng.random(count) < 0.45, rng.integers(0, 2, count), np.floor(rng.lognormal(5.5, 1.8, count))
        )
        self.run = np.floor(rng.lognormal(6.0, 1.9, count)) + 1
        rounds = np.array([600, 900, 1800, 3600, 7200, 14_400, 28_800, 86_400, 172_800, 604_800])
        least = np.minimum(np.searchsorted(rounds, self.run), len(rounds) - 1)
        self.asked = rounds[np.minimum(least + rng.integers(0, 3, count), len(rounds) - 1)]
        self.run = np.minimum(self.run, self.asked)
        self.cores = rng.choice(
            [1, 2, 4, 8, 16, 24, 32, 64, 128], count, p=[0.4, 0.1, 0.15, 0.1, 0.1, 0.05, 0.05, 0.03, 0.02]
        )
        self.user = np.minimum(rng.zipf(1.6, count), 60)
        self.state = rng.choice(["COMPLETED", "FAILED", "CANCELLED", "TIMEOUT"], count, p=[0.8, 0.1, 0.07, 0.03])
