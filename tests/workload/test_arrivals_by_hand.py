"""Submission times worked out by hand: a generator that gives the numbers it is told stands for chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtri

from cluster_abm.scenario.arrivals import Arrivals
from cluster_abm.workload.drawing import arrivals, rates
from cluster_abm.workload.drawing.arrivals import submission_times_s
from cluster_abm.workload.drawing.rates import course, factors

HOUR_S = 3600.0


class Told:
    """A generator that gives numbers in their order; `shapes` are those of the gamma numbers that were asked for."""

    def __init__(self, **numbers: Iterable[float]) -> None:
        self._numbers: dict[str, Iterator[float]] = {name: iter(values) for name, values in numbers.items()}
        self.shapes: list[float] = []

    def _take(self, name: str, count: int | None) -> Any:
        if count is None:
            return next(self._numbers[name])
        found = np.array(list(islice(self._numbers[name], count)))
        assert len(found) == count, f"{name}: more numbers than expected are asked for"
        return found

    def random(self, count: int | None = None) -> Any:
        return self._take("uniform", count)

    def standard_exponential(self, count: int | None = None) -> Any:
        return self._take("exponential", count)

    def standard_gamma(self, shape: float, count: int) -> Any:
        self.shapes.append(shape)
        return self._take("gamma", count)

    def geometric(self, share: float, count: int) -> Any:
        self.shapes.append(share)
        return self._take("sizes", count).astype(int)

    def shuffle(self, values: Any) -> None:
        values[:] = values[::-1].copy()


def times_s(rng: Any, window_s: float, jobs: int | None = None, rate: float = 1.0, **law: Any) -> list[float]:
    return submission_times_s(Arrivals(**law), rng, window_s, jobs, rate).tolist()


@pytest.mark.parametrize(("law", "hours", "edges", "mass"), [
    # A day from 6 h: 6 hours at rate 1, 12 at 3, 6 at 1 are 48, of which the day has 24.
    ({"daily": [1.0, 3.0], "starts_h": 6.0}, 24, [0, 6, 18, 24], [0, 3, 21, 24]),
    # Two days from Tuesday 12 h: 12 hours at 2, 24 at 3, 12 at 4 are 144 for 48.
    ({"weekly": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "starts_h": 36.0}, 48, [0, 12, 36, 48], [0, 8, 32, 48]),
    # After Sunday comes Monday: 12 hours at 3, 12 at 1.
    ({"weekly": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0], "starts_h": 156.0}, 24, [0, 12, 24], [0, 18, 24]),
    # Monday's second half at 3, then Tuesday's first at 2 x 1.
    ({"daily": [1.0, 3.0], "weekly": [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], "starts_h": 12.0}, 24,
     [0, 12, 24], [0, 14.4, 24]),
    # Hours without any arrival: no course is followed.
    ({"daily": [1.0, 0.0], "starts_h": 12.0}, 6, [0, 6], [0, 6]),
    # The window ends inside of a piece.
    ({"daily": [1.0, 3.0]}, 16, [0, 12, 16], [0, 8, 16]),
])  # fmt: skip
def test_a_course_of_days_and_weeks(law, hours, edges, mass):
    found_edges, found_mass = course(Arrivals(**law), hours * HOUR_S)
    # A piece of no length may stand at an end.
    assert np.unique(found_edges / HOUR_S) == pytest.approx(edges)
    assert np.interp(np.array(edges) * HOUR_S, found_edges, found_mass) / HOUR_S == pytest.approx(mass)


def test_times_follow_the_course():
    """Even times 3, 12 and 21 h of a day whose first and last 6 hours have an eighth of the jobs each."""
    rng = Told(uniform=[0.125, 0.875, 0.5])
    found = times_s(rng, 24 * HOUR_S, 3, daily=[1.0, 3.0], starts_h=6.0)
    assert found == pytest.approx([6 * HOUR_S, 12 * HOUR_S, 18 * HOUR_S])


@pytest.mark.parametrize(("scales", "variations", "begins", "gammas", "shapes", "instants", "mass"), [
    # One of variation 0.5, hence shape 4: a quarter of its 4 s is over at 0. Its values are 1, 2 and 0.5.
    ([4.0], [0.5], [0.25], [4.0, 8.0, 2.0], [4.0], [0, 3, 7, 10], [0, 3, 11, 12.5]),
    # Times one of variation 1 that changes at 2.5 and 7.5 s, with 1, 2 and 3.
    ([4.0, 5.0], [0.5, 1.0], [0.25, 0.5], [4.0, 8.0, 2.0, 1.0, 2.0, 3.0], [4.0, 1.0],
     [0, 2.5, 3, 7, 7.5, 10], [0, 2.5, 3.5, 19.5, 20, 23.75]),
    # One that does not vary takes its begin from the generator, and nothing else.
    ([4.0, 5.0], [0.0, 1.0], [0.25, 0.5], [1.0, 2.0, 3.0], [1.0], [0, 2.5, 7.5, 10], [0, 2.5, 12.5, 20]),
])  # fmt: skip
def test_factors_that_hold_for_a_while(scales, variations, begins, gammas, shapes, instants, mass):
    rng: Any = Told(uniform=begins, gamma=gammas)
    law = Arrivals(kind="multiscale", scales_s=scales, variations=variations)
    found_instants, found_mass = factors(law, rng, 10.0)
    assert found_instants == pytest.approx(instants)
    assert found_mass == pytest.approx(mass)
    assert rng.shapes == shapes


def test_jobs_follow_the_factors():
    """Of 12.5 s of mass the shares 0.12, 0.56 and 0.96: 1.5 s, 3 + 4/2 s, 7 + 1/0.5 s."""
    rng = Told(uniform=[0.25, 0.96, 0.12, 0.56], gamma=[4.0, 8.0, 2.0])
    found = times_s(rng, 10.0, 3, kind="multiscale", scales_s=[4.0], variations=[0.5])
    assert found == pytest.approx([1.5, 5.0, 9.0])


BURSTS = {"kind": "bursty", "burst_s": 10.0, "quiet_s": 30.0, "burst_factor": 3.0}


@pytest.mark.parametrize(("first", "lengths", "found"), [
    # A quarter of the time is bursts. Quiet until 15 s, burst until 25 s, quiet: 15 + 30 + 15 s of mass.
    (0.26, [0.5, 1.0, 1.0], [6.0, 20.0, 34.0]),
    # Burst until 10 s, quiet: 30 + 30 s of mass.
    (0.24, [1.0, 1.5], [2.0, 10.0, 34.0]),
])  # fmt: skip
def test_bursts_of_so_many_jobs(first, lengths, found):
    rng = Told(uniform=[first, 0.5, 0.9, 0.1], exponential=lengths)
    assert times_s(rng, 40.0, 3, **BURSTS) == pytest.approx(found)


def test_bursts_at_a_rate():
    """1.5 jobs/s in the mean are 1 when it is quiet: a job after each 7 s of mass, of which there are 60."""
    rng = Told(uniform=[0.26], exponential=chain([0.5, 1.0, 1.0], repeat(7.0)))
    expected = [7.0, 14.0, 17.0, 15 + 13 / 3, 15 + 20 / 3, 24.0, 29.0, 36.0]
    assert times_s(rng, 40.0, rate=1.5, **BURSTS) == pytest.approx(expected)


def test_a_poisson_process_of_a_rate():
    """Gaps of 0.8 at rate 2 are 0.4 s; a point at the very end of the window is not in it."""
    assert times_s(Told(exponential=repeat(0.8)), 1.2, rate=2.0) == pytest.approx([0.4, 0.8])
    assert times_s(Told(exponential=repeat(5.0)), 1.2, rate=2.0) == []


def test_batches_at_a_rate():
    """0.04 jobs/s in batches of 2: begins at 25, 50 and 75 s. The third one's last two jobs, 30 and 34 s behind its
    first, lie beyond 100 s and come at 5 and 9 s."""
    rng: Any = Told(exponential=chain([0.5] * 18, [9.0, 2.0, 9.0, 9.0, 30.0, 4.0]), sizes=[2, 1, 3])
    found = times_s(rng, 100.0, rate=0.04, batch_mean=2.0, batch_gap_s=1.0)
    assert found == pytest.approx([5.0, 9.0, 25.0, 27.0, 50.0, 75.0])
    assert rng.shapes == [0.5]


def test_a_gap_is_that_of_the_scenario():
    rng = Told(exponential=chain([0.5] * 18, [9.0, 2.0, 9.0, 9.0, 3.0, 4.0]), sizes=[2, 1, 3])
    found = times_s(rng, 100.0, rate=0.04, batch_mean=2.0, batch_gap_s=0.5)
    assert found == pytest.approx([25.0, 26.0, 50.0, 75.0, 76.5, 78.5])


def test_batches_of_so_many_jobs():
    """Three batches of 2 are 6 jobs: one of the last batch goes. The sizes are mixed, here turned round: 1, 2, 2."""
    rng = Told(sizes=repeat(2), uniform=[0.5, 0.1, 0.9])
    assert times_s(rng, 100.0, 5, batch_mean=2.0) == pytest.approx([10.0, 50.0, 50.0, 90.0, 90.0])


@pytest.mark.parametrize("regular", [True, False])
def test_a_lognormal_window(regular):
    """A window as long as the median has half of the law in it: the middle of the window is the first quartile."""
    rng = Told(uniform=[0.5])
    law = {"kind": "lognormal-window", "mu": 2.0, "sigma": 3.0, "time_unit_s": 60.0, "regular": regular}
    found = times_s(rng, 60.0 * np.exp(2.0), 1, **law)
    assert found == pytest.approx([60.0 * np.exp(2.0 + 3.0 * ndtri(0.25))])


def test_regular_times_are_the_middles_of_equal_shares():
    law = {"kind": "lognormal-window", "mu": 0.0, "sigma": 1.0, "regular": True}
    found = times_s(Told(), 1e9, 4, **law)
    assert found == pytest.approx(np.exp(ndtri([0.125, 0.375, 0.625, 0.875])))


@pytest.mark.parametrize(("module", "law", "counted"), [
    # A burst and a quiet time take 40 s; a factor changes each 4 s, and twice more at the ends; a day has two pieces.
    (arrivals, BURSTS, [4320.0]), (rates, {"kind": "multiscale", "scales_s": [4.0], "variations": [1.0]}, [43_202.0]),
    (rates, {"daily": [1.0, 3.0]}, [4.0]), (rates, {"weekly": [1.0] * 7}, [2.0]),
])  # fmt: skip
def test_room_is_asked_for_as_many_pieces_as_two_days_have(monkeypatch, module, law, counted):
    found = []
    monkeypatch.setattr(module, "check_memory", lambda what, size, count, unit: found.append((size / count, count)))
    submission_times_s(Arrivals(**law), np.random.default_rng(1), 48 * HOUR_S, 3, 1.0)
    assert [count for _, count in found] == counted
    assert all(size >= 1 for size, _ in found)
