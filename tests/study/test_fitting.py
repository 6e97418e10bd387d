"""A scenario from a log: what is planted in synthetic logs comes back.

The seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others. Statistical assertions raise a false alarm with a
chance of 1e-5 at most, or say where their tolerance is from.
"""

from __future__ import annotations

import math
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_from
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.study.fitting.counts import Bursts, _dispersion, dispersion, expected, fit_bursts, grid_of, measured
from cluster_abm.study.fitting.courses import fit_course, without_course
from cluster_abm.study.fitting.distances import distances, widths_law
from cluster_abm.study.fitting.fit import fit, nodes_for
from cluster_abm.study.fitting.joint import (
    LAGS,
    autocorrelations,
    fit_dependence,
    fit_repeats,
    law_of_repeats,
    rank_correlations,
)
from cluster_abm.study.fitting.log import drawn_jobs, read_log
from cluster_abm.study.fitting.marginals import Quantiles, distance, fit_quantiles, fit_widths, sample_of
from cluster_abm.study.fitting.verdicts import NotJudged
from cluster_abm.study.fitting.writing import scenario_text
from cluster_abm.workload import job_table
from cluster_abm.workload.drawing.draws import draw, mean_of

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
RARE = 1e-5


def rng(number=0):
    return np.random.default_rng([SEED, number])


SAMPLES = {
    "lognormal": lambda: rng(1).lognormal(3, 2, 20_000),
    "Pareto": lambda: rng(2).pareto(1.2, 20_000) + 1,
    "a clock of 10 ms": lambda: np.ceil(rng(3).lognormal(1, 1.5, 20_000)) * 10,
    "atoms and a tail": lambda: np.where(rng(4).random(20_000) < 0.7, 409.6, rng(5).pareto(2, 20_000) * 100),
    "zeros": lambda: np.where(rng(6).random(5000) < 0.3, 0.0, rng(7).exponential(1e-3, 5000)),
    "two values": lambda: np.where(rng(8).random(1000) < 0.01, 7.0, 3.0),
    "few": lambda: rng(9).exponential(100, 60),
    # Values beside an atom that agree with it to six digits: rounded they would pass it.
    "about an atom": lambda: np.where(
        rng(18).random(2000) < 0.2, 60_000.0, 60_000.0 + rng(19).choice([-1e-3, 1e-3], 2000) * np.arange(2000)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLES)
def test_a_law_is_near_its_sample_and_has_its_mean(name):
    values = SAMPLES[name]()
    law, sample = fit_quantiles(values), sample_of(values)
    assert law.mean == pytest.approx(values.mean(), rel=1e-9)
    assert float(distance(law, sample).max()) < 0.02
    assert len(law.values) <= 61
    # As a scenario has it, and in draws: within the bound of Dvoretzky, Kiefer and Wolfowitz at 1e-5 of the law.
    found = Distribution(kind="quantiles", values=law.values, probabilities=law.probabilities)
    assert mean_of(found) == pytest.approx(values.mean(), rel=1e-9)
    drawn = draw(found, rng(10), 20_000)
    bound = math.sqrt(math.log(2 / RARE) / 2 / 20_000)
    assert stats.ks_2samp(drawn, values).statistic < bound + float(distance(law, sample).max())


def test_atoms_keep_their_values_and_shares():
    values = np.repeat([5.0, 20.0, 31.25], [400, 350, 250])
    law = fit_quantiles(values)
    assert set(law.values) == {5.0, 20.0, 31.25}
    assert law.below(np.array([5.0, 20.0, 31.25])).tolist() == pytest.approx([0.4, 0.75, 1.0], abs=1e-8)
    assert law.below(np.array([5.0, 20.0, 31.25]), or_equal=False).tolist() == pytest.approx([0, 0.4, 0.75], abs=1e-8)


def test_the_share_below_is_the_inverse_of_the_quantile_function():
    law = Quantiles((0.0, 0.0, 2.0, 8.0, 8.0, 100.0), (0.0, 0.2, 0.3, 0.5, 0.9, 1.0))
    # From 0 to 2 it is straight, from 2 to 8 log-linear: 4 lies half way; 8 is an atom.
    assert law.below(np.array([-1.0, 0.0, 1.0, 4.0, 8.0, 100.0, 101.0])).tolist() == pytest.approx(
        [0, 0.2, 0.25, 0.4, 0.9, 1, 1]
    )
    assert law.below(np.array([0.0, 8.0]), or_equal=False).tolist() == pytest.approx([0.0, 0.5])


def test_widths_keep_their_mean_and_common_ones_their_share():
    tasks = np.concatenate([np.repeat([1, 2, 4, 8, 16], 1000), rng().integers(17, 300, 200)]).astype(float)
    weights = fit_widths(tasks, most=20)
    assert len(weights) <= 20
    total = sum(weights.values())
    assert total == pytest.approx(len(tasks))
    assert sum(int(width) * weight for width, weight in weights.items()) / total == pytest.approx(tasks.mean())
    assert all(weights[width] == 1000.0 for width in ("1", "2", "4", "8"))
    steps = widths_law([(1, 1.0), (4, 3.0)])
    assert steps.below(np.array([1.0, 3.0, 4.0])).tolist() == [0.25, 0.25, 1.0]
    assert steps.mean == pytest.approx(3.25)


def poisson(rate, window_s, number=0):
    return np.sort(rng(number).random(rng(number + 1).poisson(rate * window_s))) * window_s


def test_a_poisson_log_has_no_bursts_and_no_course():
    with_course = 0
    for number in range(3):
        times = poisson(0.05, 10 * 86_400.0, 20 + 2 * number)
        assert fit_bursts(times, 10 * 86_400.0, 1.0) == Bursts()
        with_course += fit_course(times, 10 * 86_400.0, {}, 0.0).daily != ()
        free = 10 * 1440 - 1
        low, high = stats.chi2.interval(1 - RARE, free)
        assert low / free < dispersion(times, 10 * 86_400.0, 60.0) < high / free
    # Each at 1 %: all three with a chance of 1e-6.
    assert with_course <= 2


def test_a_dispersion_is_variance_over_mean():
    # Counts 3, 0, 1, 0 in pieces of 10 s from 0 on; BEGINS begins do not matter where jobs are in the middle of all.
    times = np.array([1.0, 2.0, 3.0, 25.0])
    counts = np.array([3, 0, 1, 0])
    assert _dispersion(times, 40.0, 10.0, 0.0) == pytest.approx(counts.var(ddof=1) / counts.mean())
    assert _dispersion(times, 40.0, 10.0, 2.5) == pytest.approx(np.array([1, 0, 1]).var(ddof=1) / (2 / 3))
    assert math.isnan(dispersion(times, 40.0, 30.0))


def test_the_dispersion_of_the_law_is_the_one_worked_by_hand():
    """Batches of mean 3 at one instant: 2 x 3 - 1 = 5. A factor of variation 0.8 over 30 s, at 5.6/s: 32.86 over 10 s
    (tests/workload/test_arrivals.py). Both: the sum less 1."""
    scales = (30.0,)
    grid = grid_of([10.0], scales)
    assert expected(Bursts(3.0, 0.0), 5.6, grid_of([10.0], ())) == pytest.approx([5.0])
    assert expected(Bursts(1.0, 0.0, scales, (0.8,)), 5.6, grid) == pytest.approx([32.86], abs=0.005)
    assert expected(Bursts(3.0, 0.0, scales, (0.8,)), 5.6, grid) == pytest.approx([36.86], abs=0.005)
    # With gaps of mean 2 s: 4 (1 - (1 - exp(-10/6))/(10/6)) further than Poisson.
    assert expected(Bursts(3.0, 2.0), 5.6, grid_of([10.0], ())) == pytest.approx(
        [1 + 4 * (1 - (1 - math.exp(-10 / 6)) / (10 / 6))]
    )
    # Four pieces of 10 s, Poisson: 1 whatever their number; of batches too.
    assert measured(Bursts(3.0, 0.0), 5.6, [10.0], 40.0) == pytest.approx([5.0])


def synthetic(**workload):
    """Jobs of a synthetic scenario whose law is planted."""
    base = {"cluster": {"nodes": 4}, "workload": {"jobs_per_s": 0.05, "duration_s": 2e6, **workload}}
    return scenario_from(base, "test")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arrivals",
    [
        {"kind": "multiscale", "scales_s": [100.0, 4000.0], "variations": [1.0, 0.7]},
        {"kind": "multiscale", "scales_s": [10_000.0], "variations": [0.5], "batch_mean": 3.0, "batch_gap_s": 5.0},
        pytest.param(
            {"kind": "bursty", "burst_factor": 6.0, "burst_s": 600.0, "quiet_s": 1800.0}, marks=pytest.mark.slow
        ),
    ],
)
def test_planted_bursts_come_back_on_every_scale(arrivals):
    """The fitted law's dispersions against the planted log's own, from ten seconds to a day: within a quarter."""
    times = job_table(synthetic(arrivals=arrivals), SEED)["arrival_ns"] / 1e9
    found = fit_bursts(times, 2e6, 1e-6)
    pieces = [10.0, 60.0, 600.0, 3600.0, 21_600.0, 86_400.0]
    rate = len(times) / 2e6
    of_law = measured(found, rate, pieces, 2e6)
    of_log = [dispersion(times, 2e6, piece) for piece in pieces]
    assert np.log(of_law / of_log) == pytest.approx(np.zeros(6), abs=math.log(1.25))


def test_a_planted_course_comes_back():
    daily = [1.0] * 8 + [4.0] * 10 + [1.0] * 6
    weekly = [1.0, 1.0, 1.0, 1.0, 1.0, 0.25, 0.25]
    scenario = synthetic(arrivals={"daily": daily, "weekly": weekly, "starts_h": 30.0}, duration_s=8 * 604_800.0)
    times = job_table(scenario, SEED)["arrival_ns"] / 1e9
    found = fit_course(times, 8 * 604_800.0, {}, 30 * 3600.0)
    assert found.starts_h == 30.0
    # Each hour holds some 10,000/24 jobs a week, eight weeks long: 5 standard errors.
    for rates, planted in ((found.daily, daily), (found.weekly, weekly)):
        errors = 5 * np.sqrt(len(planted) / len(times) / (np.array(planted) / np.mean(planted)))
        assert (np.abs(np.array(rates) / (np.array(planted) / np.mean(planted)) - 1) < errors).all()
    flat = without_course(times, 8 * 604_800.0, found)
    assert stats.kstest(flat / flat[-1], "uniform").statistic < 2.5 / math.sqrt(len(flat))


def test_a_log_whose_days_are_all_alike_has_a_course():
    """Two jobs at each midnight, one at each noon, for 20 days: between days there is no chance at all."""
    times = np.sort(np.concatenate([np.arange(20) * 86_400.0] * 2 + [np.arange(20) * 86_400.0 + 43_200.0]))
    found = fit_course(times, 20 * 86_400.0, {}, 0.0)
    assert found.daily == (16.0, *[0.0] * 11, 8.0, *[0.0] * 11)
    assert found.weekly == ()


def test_the_hour_at_which_a_log_begins_is_that_of_its_header():
    # 1027839845 is Sunday, 28 July 2002, 09:04:05 in Stockholm; a day later is Monday.
    header = {"UnixStartTime": "1027839845", "TimeZoneString": "Europe/Stockholm"}
    times = job_table(synthetic(arrivals={"daily": [1.0, 3.0]}, jobs_per_s=0.01), SEED)["arrival_ns"] / 1e9
    assert fit_course(times, 2e6, header, 86_400.0).starts_h == pytest.approx(9 + 4 / 60 + 5 / 3600, abs=1e-4)
    assert fit_course(times, 2e6, {"UnixStartTime": "x"}, 7200.0).starts_h == 2.0


def test_planted_rank_correlations_come_back_through_atoms():
    """Columns of which half the values are equal: the correlation that a scenario needs is larger than the log's."""
    normal = rng(30).multivariate_normal([0, 0, 0], [[1, 0.5, -0.4], [0.5, 1, 0], [-0.4, 0, 1]], 20_000).T
    columns = {
        "cpu_ms": np.exp(normal[0]), "memory_mb": np.maximum(1.0, np.exp(normal[1])),
        "tasks": 2.0 ** np.clip(np.floor(normal[2] * 2), 0, 5),
    }  # fmt: skip
    wanted = rank_correlations(columns)
    needed = fit_dependence(columns)
    assert abs(needed["cpu_ms,memory_mb"]) > abs(wanted["cpu_ms,memory_mb"])
    laws = {name: fit_quantiles(columns[name]) for name in ("cpu_ms", "memory_mb")}
    keys = {
        name: {"kind": "quantiles", "values": law.values, "probabilities": law.probabilities}
        for name, law in laws.items()
    }
    scenario = synthetic(**keys, tasks={"widths": fit_widths(columns["tasks"])}, dependence=needed, duration_s=4e5)
    jobs = job_table(scenario, SEED)
    found = rank_correlations({name: jobs[name].astype(float) for name in columns})
    for pair, value in wanted.items():
        assert found[pair] == pytest.approx(value, abs=5.0 * math.sqrt(2 / 20_000)), pair


@pytest.mark.parametrize(("fixed", "found"), [({"cpu_ms,memory_mb": 0.25}, 0.25), ({"cpu_ms,memory_mb": 0.0}, None)])
def test_a_correlation_that_is_known_is_kept(fixed, found):
    """The two columns rise together in the log, so that it would be near 1."""
    base = rng(32).random(200)
    needed = fit_dependence({"cpu_ms": base, "memory_mb": base + rng(33).random(200) / 10}, fixed)
    assert needed.get("cpu_ms,memory_mb") == found


def test_correlations_that_cannot_be_together_are_brought_nearer_to_nothing():
    base = rng(31).random(900)
    lacking = np.full(900, np.nan)
    # Pairs of different rows: 1 with 2 and 2 with 3 go together, 1 with 3 against each other.
    first, second, third = base.copy(), base.copy(), 1 - base
    first[600:], second[:300] = lacking[600:], base[:300]
    third[:300] = lacking[:300]
    second[300:600], third[600:] = lacking[300:600], base[600:]
    needed = fit_dependence({"cpu_ms": first, "memory_mb": second, "io_per_ms": third})
    synthetic(dependence=needed)


@pytest.mark.slow
@pytest.mark.parametrize(("share", "back"), [(0.5, 1), pytest.param(0.8, 20, marks=pytest.mark.slow)])
def test_planted_repeats_come_back(share, back):
    scenario = synthetic(repeats={"share": share, "back": back}, jobs_per_s=0.1)
    jobs = job_table(scenario, SEED)
    cpu = jobs["cpu_ms"].astype(float)
    # An autocorrelation's standard error is not more than sqrt((1 + 2 sum a^2)/n), some 0.01 here.
    assert autocorrelations([cpu]) == pytest.approx(law_of_repeats(share, back), abs=0.05)
    found = fit_repeats([cpu])
    assert law_of_repeats(found.share, found.back) == pytest.approx(law_of_repeats(share, back), abs=0.05)


def test_repeats_of_the_one_before_fall_off_geometrically():
    assert law_of_repeats(0.6, 1) == pytest.approx([0.6**lag for lag in LAGS])
    assert fit_repeats([rng(40).random(5000)]).share == 0.0


def written(tmp_path, rows, header="arrival_ms,home,cpu_ms,memory_mb,tasks"):
    path = tmp_path / "log.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return load_scenario("replay", {"workload.trace.file": str(path), "cluster.nodes": 4})


def planted(count=3000):
    times = np.cumsum(rng(50).exponential(500.0, count))
    homes = rng(51).choice(4, count, p=[0.5, 0.3, 0.2, 0.0])
    cpu = np.maximum(1, np.round(rng(52).lognormal(5, 1, count)))
    tasks = rng(53).choice([1, 2, 8], count)
    return [f"{t:.3f},{h},{c},64,{w}" for t, h, c, w in zip(times, homes, cpu, tasks, strict=True)]


def test_a_whole_log_becomes_a_scenario_of_the_same_load_that_can_be_read_back(tmp_path):
    base = written(tmp_path, planted())
    log = read_log(base)
    found = fit(base, log, "like-it")
    work = found.scenario.workload
    assert work.home.weights[3:] == ()
    assert np.array(work.home.weights) / 3000 == pytest.approx([0.5, 0.3, 0.2], abs=5 * 0.5 / math.sqrt(3000))
    assert work.memory_mb == Distribution(kind="fixed", mean=64.0)
    assert work.arrivals.kind == "poisson"
    assert work.jobs_per_s * work.duration_s == pytest.approx(3000)
    near, draws = distances(log, found, range(1, 5))
    assert all(value < 0.02 for value in near.law.values())
    assert all(value == pytest.approx(1.0, rel=1e-9) for value in near.means.values())
    # The mean work of a job is the log's, up to the sums' grid: over four draws of 3,000 jobs to 5 standard errors.
    assert near.work.model == pytest.approx(near.work.log, rel=0.01 + 5 * 2.0 / math.sqrt(4 * 3000))
    text = scenario_text(found, log, near, NotJudged("a test"))
    (tmp_path / "fitted.toml").write_text(text)
    assert load_scenario(tmp_path / "fitted.toml") == found.scenario
    assert "log.csv" in text
    # It says what differs from the defaults, no more.
    assert tomllib.loads(text)["workload"]["memory_mb"] == {"kind": "fixed", "mean": 64.0}
    again = drawn_jobs(found.scenario, 1, log.jobs)
    assert again.times_s.tobytes() == draws[0].times_s.tobytes()
    twice = load_scenario(tmp_path / "fitted.toml", {"workload.cpu_ms.scale": 2.0, "workload.jobs_per_s": 1.0})
    assert mean_of(twice.workload.cpu_ms) == pytest.approx(2 * mean_of(work.cpu_ms))


def test_sizes_of_requests_of_a_log_are_one_for_each_job(tmp_path):
    rows = [f"{500 * number},{number % 4},{100 + number},64,1,{8 + number % 2}" for number in range(60)]
    base = written(tmp_path, rows, "arrival_ms,home,cpu_ms,memory_mb,tasks,request_kb")
    found = fit(base, read_log(base), "like-it").scenario.workload.request_kb
    assert (found.per, set(found.values)) == ("job", {8.0, 9.0})


def test_the_nodes_of_a_log_without_homes_are_kept_busy_to_seven_tenths(tmp_path):
    rows = [f"{100 * number},{1000}" for number in range(100)]
    base = written(tmp_path, rows, "arrival_ms,cpu_ms")
    # A second of CPU every tenth of a second: ten nodes busy, 14.3 to 0.7.
    log = read_log(base)
    assert log.jobs.window_s == pytest.approx(10.0)
    assert nodes_for(log) == 15


@pytest.mark.parametrize(("rows", "said"), [
    ([f"{number},0,5,1,1" for number in range(20)], "20 jobs: a fit needs at least 50"),
    (["7,0,5,1,1"] * 60, "all 60 jobs come at one instant, 7 ms"),
])  # fmt: skip
def test_logs_that_cannot_be_fitted_are_bad_input(tmp_path, rows, said):
    with pytest.raises(InputError, match=said):
        read_log(written(tmp_path, rows))


@pytest.mark.slow
@pytest.mark.parametrize(("file", "keys"), [
    ("hbd97_8traces.csv.xz", {"workload.trace.run": 0}),
    ("hbd97_8traces.csv.xz", {"workload.trace.run": 7}),
    ("SDSC-SP2-1998-4.2-cln.swf.xz", {}),
    ("LANL-CM5-1994-4.1-cln.swf.xz", {}),
])  # fmt: skip
def test_real_logs(file, keys):
    """Laws within 0.02 of the log, means exact, and dispersions within a factor of 1.5 in the mean of eight draws."""
    if not (DATA / file).is_file():
        pytest.skip(f"{DATA / file} is not there")
    base = load_scenario("replay", {"workload.trace.file": str(DATA / file), **keys})
    log = read_log(base)
    # Jobs one by one: as of a log without users.
    log = replace(log, jobs=replace(log.jobs, users=None))
    found, _ = distances(log, fit(base, log), range(1, 9))
    assert all(value < 0.02 for value in found.law.values())
    assert all(value == pytest.approx(1.0, rel=1e-9) for value in found.means.values())
    for piece, pair in found.dispersions.items():
        assert 1 / 1.5 < pair.model / pair.log < 1.5, piece
