"""What a judgement by queueing comes to: what a fitted scenario may be used for, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

# A wait is near the log's if neither is larger than the other by more than this factor.
FACTOR = 1.5
# Waits below this share of the mean run time count as long as that.
SMALL = 0.01
# Measures of a run, and in words.
MEASURES = {"mean_wait_ms": "mean wait", "p95_wait_ms": "95th percentile"}
POLICY_WORDS = {"batch-system": "first come first served", "easy": "EASY"}


@dataclass(frozen=True)
class ComparedWait:
    """Waits of one kind, under one policy at one load."""

    load: float
    policy: str
    measure: str
    log: float  # of the log [ms]
    shuffled: tuple[float, ...]  # of the log with its jobs in other orders, one each [ms]
    draws: tuple[float, ...]  # of the draws, one each [ms]

    @property
    def fitted(self) -> float:
        """The median of the draws [ms]."""
        return float(np.median(self.draws))

    @property
    def quartiles(self) -> tuple[float, float]:
        """Of the draws [ms]."""
        low, high = np.quantile(self.draws, [0.25, 0.75])
        return float(low), float(high)

    def ratio(self, small_ms: float) -> float:
        """The draws' median over the log's value, either at least so long."""
        return max(self.fitted, small_ms) / max(self.log, small_ms)

    def is_near(self, small_ms: float) -> bool:
        """Whether the ratio is within FACTOR, upwards and downwards."""
        return 1.0 / FACTOR <= self.ratio(small_ms) <= FACTOR


@dataclass(frozen=True)
class QueueingJudgement:
    """Waits of a log beside those of a scenario that was fitted to it."""

    compared: tuple[ComparedWait, ...]
    mean_run_ms: float  # the mean run time of the log's jobs [ms]
    processors: Mapping[float, int]  # of the machine, by the load
    jobs: int  # of the log, that were judged by; window_s: in which they come [s]
    window_s: float
    is_part: bool  # whether these are the first part of a longer log
    is_held_back: bool = False  # whether the jobs are of weeks that the scenario was not fitted to

    @property
    def small_ms(self) -> float:
        """What shorter waits count as [ms]."""
        return SMALL * self.mean_run_ms

    @property
    def far(self) -> list[ComparedWait]:
        """What is not near the log."""
        return [one for one in self.compared if not one.is_near(self.small_ms)]

    @property
    def draws(self) -> int:
        """How many draws there are."""
        return len(self.compared[0].draws) if self.compared else 0

    @property
    def not_for(self) -> list[str]:
        """What the scenario must not be used for, with how far it is from the log; empty: it is near it throughout."""
        found: dict[tuple[str, float], list[str]] = {}
        for one in self.far:
            words = f"{MEASURES[one.measure]} {float(f'{one.ratio(self.small_ms):.2g}'):,g}"
            found.setdefault((one.policy, one.load), []).append(words)
        return [
            f"waits under {_policy(policy)} at load {load:g} ({', '.join(words)} times the log's)"
            for (policy, load), words in found.items()
        ]

    @property
    def verdict(self) -> str:
        """In a sentence or two."""
        policies = " and ".join(dict.fromkeys(_policy(one.policy) for one in self.compared))
        loads = ", ".join(f"{load:g}" for load in self.processors)
        if not self.far:
            return (
                f"Waits under {policies} at loads {loads} are within a factor {FACTOR:g} of the log's: mean and 95th "
                f"percentile, median of {self.draws} draws."
            )
        near = len(self.compared) - len(self.far)
        return (
            f"Do not use it for {'; '.join(self.not_for)}. {near} of {len(self.compared)} waits are within a factor "
            f"{FACTOR:g} of the log's."
        )

    def lines(self) -> list[str]:
        """What the head of the scenario says: the verdict, what it rests on, and the table."""
        jobs = f"{self.jobs:,} jobs" + (" that were held back" if self.is_held_back else "")
        part = f" (the first {self.window_s:,.6g} s)" if self.is_part else ""
        processors = ", ".join(f"{count:,} at {load:g}" for load, count in self.processors.items())
        return [
            f"Judged by queueing: {self.verdict}",
            f"Waits [s] of {jobs}{part}, and medians and quartiles of {self.draws} draws; the load is offered to "
            f"{processors} processors. Below {_seconds(self.small_ms)} s (1 % of the mean run time) all count alike.",
            *self.table().splitlines(),
        ]

    def rows(self) -> list[dict[str, str]]:
        """A row for each comparison, waits in seconds."""
        return [
            {
                "load": f"{one.load:g}",
                "policy": one.policy,
                "wait [s]": MEASURES[one.measure],
                "log": _seconds(one.log),
                **({"shuffled": _seconds(float(np.median(one.shuffled)))} if one.shuffled else {}),
                "fitted": _seconds(one.fitted),
                "quartiles": f"[{', '.join(map(_seconds, one.quartiles))}]",
                "ratio": f"{one.ratio(self.small_ms):.2f}" + ("" if one.is_near(self.small_ms) else " !"),
            }
            for one in self.compared
        ]

    def table(self) -> str:
        """The rows as a text."""
        import pandas as pd

        return pd.DataFrame(self.rows()).to_string(index=False)

    def as_json(self) -> dict[str, Any]:
        """The part `queueing` of `trace fit --json`."""
        return {
            "verdict": "near" if not self.far else "far",
            "words": self.verdict,
            "factor": FACTOR,
            "draws": self.draws,
            "small_wait_ms": self.small_ms,
            "jobs": self.jobs,
            "window_s": self.window_s,
            "first_part": self.is_part,
            "processors": {f"{load:g}": count for load, count in self.processors.items()},
            "not_for": self.not_for,
            "waits": [
                {
                    "load": one.load,
                    "policy": one.policy,
                    "measure": one.measure,
                    "log": one.log,
                    "shuffled": float(np.median(one.shuffled)) if one.shuffled else None,
                    "fitted": one.fitted,
                    "quartiles": list(one.quartiles),
                    "range": [min(one.draws), max(one.draws)],
                    "ratio": one.ratio(self.small_ms),
                    "near": one.is_near(self.small_ms),
                }
                for one in self.compared
            ],
        }


@dataclass(frozen=True)
class NotJudged:
    """A scenario that was not judged."""

    reason: str

    @property
    def verdict(self) -> str:
        """In a sentence."""
        return f"Not judged by queueing ({self.reason}): do not use it for waits."

    def lines(self) -> list[str]:
        """What the head of the scenario says."""
        return [self.verdict]

    def as_json(self) -> dict[str, Any]:
        """The part `queueing` of `trace fit --json`."""
        return {"verdict": None, "words": self.verdict, "reason": self.reason}


def _policy(name: str) -> str:
    return POLICY_WORDS.get(name, name)


def _seconds(wait_ms: float) -> str:
    return f"{wait_ms / 1000.0:,.4g}" if wait_ms < 1e7 else f"{wait_ms / 1000.0:,.0f}"
