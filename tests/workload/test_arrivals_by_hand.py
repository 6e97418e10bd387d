"""Submission times by hand; random numbers come from lists."""

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


class Listed:
    """A generator that takes its numbers from lists; `shapes` records the parameters of gamma and geometric draws."""

    def __init__(self, **numbers: Iterable[float]) -> None:
        self._numbers: dict[str, Iterator[float]] = {name: iter(values) for name, values in numbers.items()}
        self.shapes: list[float] = []

    def _take(self, name: str, count: int | None) -> Any:
        if count is None:
            return next(self._numbers[name])
        found = np.array(list(islice(self._numbers[name], count)))
        assert len(found) == count, f"{name}: more numbers are drawn than expected"
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
    # A day from 6 h: 6 hours at rate 1, 12 at 3 and 6 at 1 are a mass of 48, scaled to 24 hours.
    ({"daily": [1.0, 3.0], "starts_h": 6.0}, 24, [0, 6, 18, 24], [0, 3, 21, 24]),
    # Two days from Tuesday 12 h: 12 hours at 2, 24 at 3 and 12 at 4 are 144, scaled to 48.
    ({"weekly": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], "starts_h": 36.0}, 48, [0, 12, 36, 48], [0, 8, 32, 48]),
    # Monday follows Sunday: 12 hours at 3, 12 at 1.
    ({"weekly": [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0], "starts_h": 156.0}, 24, [0, 12, 24], [0, 18, 24]),
    # The second half of Monday at 3, then the first half of Tuesday at 2 x 1.
    ({"daily": [1.0, 3.0], "weekly": [1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0], "starts_h": 12.0}, 24,
     [0, 12, 24], [0, 14.4, 24]),
    # All hours of the window have rate 0: the course is ignored.
    ({"daily": [1.0, 0.0], "starts_h": 12.0}, 6, [0, 6], [0, 6]),
    # The window ends within a piece.
    ({"daily": [1.0, 3.0]}, 16, [0, 12, 16], [0, 8, 16]),
])  # fmt: skip
def test_the_mass_of_days_and_weeks(law, hours, edges, mass):
    found_edges, found_mass = course(Arrivals(**law), hours * HOUR_S)
    # A piece at an end may have length 0.
    assert np.unique(found_edges / HOUR_S) == pytest.approx(edges)
    assert np.interp(np.array(edges) * HOUR_S, found_edges, found_mass) / HOUR_S == pytest.approx(mass)


def test_times_follow_the_course():
    """The first and last 6 hours have 1 / 8 of the jobs each: the quantiles 1 / 8, 1 / 2, 7 / 8 are at 6, 12, 18 h."""
    rng = Listed(uniform=[0.125, 0.875, 0.5])
    found = times_s(rng, 24 * HOUR_S, 3, daily=[1.0, 3.0], starts_h=6.0)
    assert found == pytest.approx([6 * HOUR_S, 12 * HOUR_S, 18 * HOUR_S])


@pytest.mark.parametrize(("scales", "variations", "begins", "gammas", "shapes", "instants", "mass"), [
    # Variation 0.5 is shape 4. A quarter of the first 4 s has passed at 0. The values are 1, 2 and 0.5.
    ([4.0], [0.5], [0.25], [4.0, 8.0, 2.0], [4.0], [0, 3, 7, 10], [0, 3, 11, 12.5]),
    # The product with a factor of variation 1 that changes at 2.5 and 7.5 s: 1, 2 and 3.
    ([4.0, 5.0], [0.5, 1.0], [0.25, 0.5], [4.0, 8.0, 2.0, 1.0, 2.0, 3.0], [4.0, 1.0],
     [0, 2.5, 3, 7, 7.5, 10], [0, 2.5, 3.5, 19.5, 20, 23.75]),
    # A factor of variation 0 draws only its begin.
    ([4.0, 5.0], [0.0, 1.0], [0.25, 0.5], [1.0, 2.0, 3.0], [1.0], [0, 2.5, 7.5, 10], [0, 2.5, 12.5, 20]),
])  # fmt: skip
def test_factors_of_several_scales(scales, variations, begins, gammas, shapes, instants, mass):
    rng: Any = Listed(uniform=begins, gamma=gammas)
    law = Arrivals(kind="multiscale", scales_s=scales, variations=variations)
    found_instants, found_mass = factors(law, rng, 10.0)
    assert found_instants == pytest.approx(instants)
    assert found_mass == pytest.approx(mass)
    assert rng.shapes == shapes


def test_jobs_follow_the_factors():
    """Shares 0.12, 0.56 and 0.96 of a mass of 12.5 are 1.5, 7 and 12: at 1.5 s, 3 + 4 / 2 s and 7 + 1 / 0.5 s."""
    rng = Listed(uniform=[0.25, 0.96, 0.12, 0.56], gamma=[4.0, 8.0, 2.0])
    found = times_s(rng, 10.0, 3, kind="multiscale", scales_s=[4.0], variations=[0.5])
    assert found == pytest.approx([1.5, 5.0, 9.0])


BURSTS = {"kind": "bursty", "burst_s": 10.0, "quiet_s": 30.0, "burst_factor": 3.0}


@pytest.mark.parametrize(("first", "lengths", "found"), [
    # Bursts are a quarter of the time; 0.26 begins quiet. Quiet to 15 s, burst to 25 s, quiet: mass 15 + 30 + 15.
    (0.26, [0.5, 1.0, 1.0], [6.0, 20.0, 34.0]),
    # 0.24 begins with a burst. Burst to 10 s, then quiet: mass 30 + 30.
    (0.24, [1.0, 1.5], [2.0, 10.0, 34.0]),
])  # fmt: skip
def test_bursts_of_a_number_of_jobs(first, lengths, found):
    rng = Listed(uniform=[first, 0.5, 0.9, 0.1], exponential=lengths)
    assert times_s(rng, 40.0, 3, **BURSTS) == pytest.approx(found)


def test_bursts_at_a_rate():
    """1.5 jobs/s on average are 1 job/s in quiet times. A job comes after each mass of 7; the window has 60."""
    rng = Listed(uniform=[0.26], exponential=chain([0.5, 1.0, 1.0], repeat(7.0)))
    expected = [7.0, 14.0, 17.0, 15 + 13 / 3, 15 + 20 / 3, 24.0, 29.0, 36.0]
    assert times_s(rng, 40.0, rate=1.5, **BURSTS) == pytest.approx(expected)


def test_a_poisson_process_of_a_rate():
    """Gaps of 0.8 at rate 2 are 0.4 s; the end of the window is excluded."""
    assert times_s(Listed(exponential=repeat(0.8)), 1.2, rate=2.0) == pytest.approx([0.4, 0.8])
    assert times_s(Listed(exponential=repeat(5.0)), 1.2, rate=2.0) == []


def test_batches_at_a_rate():
    """0.04 jobs/s in batches of 2 begin at 25, 50 and 75 s. The last two jobs of the third batch would come at 105 and
    109 s, beyond the window of 100 s; they come at 5 and 9 s."""
    rng: Any = Listed(exponential=chain([0.5] * 18, [9.0, 2.0, 9.0, 9.0, 30.0, 4.0]), sizes=[2, 1, 3])
    found = times_s(rng, 100.0, rate=0.04, batch_mean=2.0, batch_gap_s=1.0)
    assert found == pytest.approx([5.0, 9.0, 25.0, 27.0, 50.0, 75.0])
    assert rng.shapes == [0.5]


def test_gaps_in_a_batch_have_the_mean_of_the_scenario():
    rng = Listed(exponential=chain([0.5] * 18, [9.0, 2.0, 9.0, 9.0, 3.0, 4.0]), sizes=[2, 1, 3])
    found = times_s(rng, 100.0, rate=0.04, batch_mean=2.0, batch_gap_s=0.5)
    assert found == pytest.approx([25.0, 26.0, 50.0, 75.0, 76.5, 78.5])


def test_batches_of_a_number_of_jobs():
    """Three batches of 2 are 6 jobs, one too many: the last batch has 1. The shuffle reverses the sizes: 1, 2, 2."""
    rng = Listed(sizes=repeat(2), uniform=[0.5, 0.1, 0.9])
    assert times_s(rng, 100.0, 5, batch_mean=2.0) == pytest.approx([10.0, 50.0, 50.0, 90.0, 90.0])


@pytest.mark.parametrize("regular", [True, False])
def test_a_lognormal_window(regular):
    """A window as long as the median holds half of the distribution: its middle is the first quartile."""
    rng = Listed(uniform=[0.5])
    law = {"kind": "lognormal-window", "mu": 2.0, "sigma": 3.0, "time_unit_s": 60.0, "regular": regular}
    found = times_s(rng, 60.0 * np.exp(2.0), 1, **law)
    assert found == pytest.approx([60.0 * np.exp(2.0 + 3.0 * ndtri(0.25))])


def test_regular_times_are_the_medians_of_equal_shares():
    law = {"kind": "lognormal-window", "mu": 0.0, "sigma": 1.0, "regular": True}
    found = times_s(Listed(), 1e9, 4, **law)
    assert found == pytest.approx(np.exp(ndtri([0.125, 0.375, 0.625, 0.875])))


@pytest.mark.parametrize(("module", "law", "counted"), [
    # 48 h are 172,800 s. A burst and a quiet time take 40 s. A factor changes every 4 s, and at both ends. A day of
    # two rates has two pieces, and a week of seven rates has one a day.
    (arrivals, BURSTS, [4320.0]), (rates, {"kind": "multiscale", "scales_s": [4.0], "variations": [1.0]}, [43_202.0]),
    (rates, {"daily": [1.0, 3.0]}, [4.0]), (rates, {"weekly": [1.0] * 7}, [2.0]),
])  # fmt: skip
def test_memory_is_checked_for_the_pieces_of_two_days(monkeypatch, module, law, counted):
    found = []
    monkeypatch.setattr(module, "check_memory", lambda what, size, count, unit: found.append((size / count, count)))
    submission_times_s(Arrivals(**law), np.random.default_rng(1), 48 * HOUR_S, 3, 1.0)
    assert [count for _, count in found] == counted
    assert all(size >= 1 for size, _ in found)
