"""The arrival clock of a run, whose speed the acts "arrivals" of a scenario's script change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cluster_abm.arrays import Integers
from cluster_abm.clock import NS_PER_MS, Clock, whole_ns
from cluster_abm.engine.tables import Table
from cluster_abm.large_tables import blocks, forget_pages
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.script import Act
from cluster_abm.workload.times import check_longest


def in_order(acts: Sequence[Act], clock: Clock) -> list[tuple[int, int]]:
    """Return when the acts of a script take place: (boundary [ns], place in the script), in their order.

    At one boundary that is the order of their times, then of the script.
    """
    times_ns = [whole_ns(act.at_s * 1000.0) for act in acts]
    places = sorted(range(len(acts)), key=lambda place: (times_ns[place], place))
    return [(clock.boundary_from(times_ns[place]), place) for place in places]


class ArrivalClock:
    """A clock that runs `factor` times as fast from the boundary of each act "arrivals" on, and 1 before the first.

    A job comes when this clock shows the time that was drawn for it, or that its trace says: under factor 2 the same
    jobs come in half the time. What comes before the first act is unchanged.
    """

    def __init__(self, scenario: Scenario) -> None:
        clock = Clock(whole_ns(scenario.cluster.slice_ms))
        acts = scenario.script
        changes = [one for one in in_order(acts, clock) if acts[one[1]].act == "arrivals"]
        self._last = changes[-1][1] if changes else 0
        # From each change on: simulated time, what the clock shows then, and its speed.
        self._at_ns, self._shown_ns, self._speed = [0], [0.0], [1.0]
        for at_ns, place in changes:
            speed = acts[place].factor
            assert speed is not None  # the scenario's check
            self._shown_ns.append(self._shown_ns[-1] + (at_ns - self._at_ns[-1]) * self._speed[-1])
            self._at_ns.append(at_ns)
            self._speed.append(speed)

    @property
    def is_even(self) -> bool:
        """Whether it always shows simulated time."""
        return len(self._at_ns) == 1

    def when_shown(self, shown_ns: Integers) -> Integers:
        """The simulated time at which it shows each of these, shape as `shown_ns` [ns]: ascending if they are.

        Raises InputError: later than 64 bits of nanoseconds hold.
        """
        at_ns, starts, speed = np.array(self._at_ns), np.array(self._shown_ns), np.array(self._speed)
        since = np.maximum(np.searchsorted(starts, shown_ns, side="right") - 1, 0)
        # Of the slowest clock what overflows is too late in any case.
        with np.errstate(over="ignore"):
            times_ns = at_ns[since] + (shown_ns - starts[since]) / speed[since]
        check_longest(times_ns / NS_PER_MS, f"script.{self._last}.factor: the submission of the last job")
        # What comes before the first act stays what it is to the last digit.
        return np.where(since == 0, shown_ns, np.floor(times_ns + 0.5).astype(np.int64))


def pace(jobs: Table, scenario: Scenario) -> None:
    """Move the submissions of jobs, ascending, to when the arrival clock shows them. Raises InputError: too late."""
    clock = ArrivalClock(scenario)
    if clock.is_even:
        return
    for rows in blocks(len(jobs)):
        jobs["arrival_ns"][rows] = clock.when_shown(jobs["arrival_ns"][rows])
        forget_pages(jobs)
