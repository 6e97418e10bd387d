"""The job table: what each key of a scenario does to its columns, and what it leaves alone.

The seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others. Every statistical assertion raises a false alarm with
a chance of 1e-6: all of this module together about once in 20,000 seeds.
"""

import math
import os

import numpy as np
import pytest
from scipy import stats
from support import scenario

from cluster_abm import large_tables
from cluster_abm.errors import InputError
from cluster_abm.workload import job_table, jobs_per_second

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
RARE = 1e-6
ERRORS = 5.0
JOBS = 40_000

# Every column drawn from a law of its own, so that a column that follows another's is seen.
ALL_DRAWN = {
    "workload__cpu_ms__kind": "exponential", "workload__cpu_ms__mean": 300.0,
    "workload__memory_mb__kind": "uniform", "workload__memory_mb__mean": 6.0,
    "workload__io_per_ms__kind": "gamma", "workload__io_per_ms__mean": 0.2, "workload__io_per_ms__sd": 0.1,
    "workload__no_io_share": 0.0,
    "workload__request_kb__kind": "gamma", "workload__request_kb__mean": 90.0, "workload__request_kb__sd": 30.0,
    "workload__request_kb__per": "job",
    "workload__initial_data_mb__kind": "pareto", "workload__initial_data_mb__mean": 1.5,
    "workload__initial_data_mb__shape": 3.0,
    "workload__tasks__parallel_share": 0.3, "workload__tasks__minimum": 3, "workload__tasks__maximum": 9,
    "workload__home__kind": "uniform",
}  # fmt: skip
LAWS = {
    "cpu_ms": stats.expon(scale=300),
    "memory_mb": stats.uniform(0, 12),
    "io_per_ms": stats.gamma(4, scale=0.05),
    "request_kb": stats.gamma(9, scale=10),
    "initial_data_mb": stats.pareto(3, scale=1),
}
DRAWN = ("arrival_ns", "home", "tasks", *LAWS)


def table(seed=SEED, jobs=JOBS, **overrides):
    return job_table(scenario(**(ALL_DRAWN | {"cluster__nodes": 8, "workload__jobs": jobs} | overrides)), seed)


def probable(counts, shares):
    """Whether the counts are those of that many draws with these shares."""
    expected = np.asarray(shares, float) / np.sum(shares) * np.sum(counts)
    some = expected > 0
    assert not np.asarray(counts)[~some].any()
    return np.count_nonzero(some) == 1 or stats.chisquare(np.asarray(counts)[some], expected[some]).pvalue > RARE


def differing(first, second):
    return {name for name in first.dtype.names if not np.array_equal(first[name], second[name])}


@pytest.mark.parametrize("column", LAWS)
def test_each_column_follows_the_law_under_its_key(column):
    assert stats.kstest(table()[column], LAWS[column].cdf).pvalue > RARE


# The same numbers under the same law would be the same column.
ALL_UNIFORM = {
    f"workload__{name}": {"kind": "uniform", "mean": 1.0}
    for name in ("cpu_ms", "memory_mb", "io_per_ms", "initial_data_mb")
} | {"workload__request_kb": {"kind": "uniform", "mean": 90.0, "per": "job"}}


def uniform_table(**overrides):
    rest = {name: value for name, value in ALL_DRAWN.items() if name.rsplit("__", 1)[0] not in ALL_UNIFORM}
    return job_table(scenario(**(rest | ALL_UNIFORM | {"workload__jobs": JOBS} | overrides)), SEED)


def test_the_columns_are_independent():
    """Rank correlations of independent columns spread with 1/sqrt(jobs)."""
    jobs = uniform_table()
    ranks = np.array([stats.rankdata(jobs[name]) for name in DRAWN if name != "arrival_ns"])
    between = np.corrcoef(ranks)[np.triu_indices(len(ranks), 1)]
    assert np.abs(between).max() < ERRORS / math.sqrt(JOBS)


def test_which_jobs_make_no_access_does_not_depend_on_the_rate_they_would_have():
    rates = uniform_table(workload__no_io_share=0.5)["io_per_ms"]
    assert stats.kstest(rates[rates > 0], stats.uniform(0, 2).cdf).pvalue > RARE


def test_arrivals_are_in_order_and_tasks_are_numbered_through():
    jobs = table(workload__duration_s=20.0)
    assert (np.diff(jobs["arrival_ns"]) >= 0).all()
    assert 0 <= jobs["arrival_ns"][0] <= jobs["arrival_ns"][-1] <= 20e9
    assert jobs["arrival_ns"].mean() == pytest.approx(10e9, rel=ERRORS / math.sqrt(3 * JOBS))
    assert jobs["first_task"].tolist() == [0, *np.cumsum(jobs["tasks"])[:-1].tolist()]


# ---- how many ----------------------------------------------------------------------------------------------------


def test_utilisation_counts_the_speeds_of_all_groups_and_the_width_of_jobs():
    """Speeds 4, 0.5, 0.5 and, of the group that sets none and of the two left, 2: 4 + 1 + 2 + 4 = 11 in all. A job is 1
    task with 0.75, else 2..6, on average 4: 1.75 tasks x 0.2 s. So 0.6 x 11/0.35 = 18.857 jobs/s."""
    unlike = scenario(
        cluster__nodes=6,
        cluster__cpu_speed=2.0,
        cluster__group=[
            {"count": 1, "cpu_speed": 4.0}, {"count": 2, "cpu_speed": 0.5}, {"count": 1, "disk_mb_per_s": 10.0},
        ],
        workload__utilisation=0.6, workload__duration_s=4000.0,
        workload__cpu_ms__mean=200.0,
        workload__tasks__parallel_share=0.25, workload__tasks__minimum=2, workload__tasks__maximum=6,
    )  # fmt: skip
    assert jobs_per_second(unlike) == pytest.approx(18.857142857, rel=1e-9)
    jobs = job_table(unlike, SEED)
    demand = (jobs["cpu_ms"] * jobs["tasks"]).sum() / 1000 / 4000
    # A job's demand has E X^2 = 2 x 0.2^2 x (0.75 + 0.25 x 18) = 0.42 s^2; compound Poisson over 4000 s.
    assert abs(demand - 6.6) < ERRORS * math.sqrt(18.857 * 0.42 / 4000)


def test_utilisation_counts_the_mean_of_the_lifetime_law():
    """The 1/t law from 1 s to e^2 s has the mean 2/(1 - e^-2) s."""
    lifetimes = scenario(
        cluster__nodes=4, workload__utilisation=0.5, workload__cpu_ms__kind="lifetime", workload__cpu_ms__shape=1.0,
        workload__cpu_ms__minimum=1000.0, workload__cpu_ms__maximum=1000 * math.exp(2),
    )  # fmt: skip
    assert jobs_per_second(lifetimes) == pytest.approx(0.5 * 4 * (1 - math.exp(-2)) / 2, rel=1e-9)


def test_utilisation_counts_the_cpu_of_the_programs_that_jobs_run():
    """Of four jobs three run 38.93 s of t-sim and one 120.91 s of metis (MCLS, Table 1): 59.425 s."""
    mixed = scenario(
        cluster__nodes=4, workload__utilisation=0.5, workload__duration_s=36_000.0,
        workload__programs__mix={"t-sim": 3.0, "metis": 1.0},
    )  # fmt: skip
    assert jobs_per_second(mixed) == pytest.approx(0.5 * 4 / 59.425, rel=1e-9)
    jobs = job_table(mixed, SEED)
    # 1,212 jobs by a Poisson process; which of them run what is dealt out as exactly as whole jobs allow.
    assert abs(jobs["cpu_ms"].sum() / 1000 / 36_000 / 4 - 0.5) < 0.5 * ERRORS / math.sqrt(1_212)


def test_utilisation_counts_the_cpu_of_the_application():
    run = scenario(workload__utilisation=0.5, workload__application__name="lu")
    jobs = job_table(run, SEED)
    assert jobs_per_second(run) == pytest.approx(0.5 * 4 / (jobs["cpu_ms"][0] / 1000 * jobs["tasks"][0]), rel=1e-9)


def test_a_rate_is_the_rate_and_a_number_the_number():
    jobs = job_table(scenario(workload__jobs_per_s=30.0, workload__duration_s=1000.0), SEED)
    assert abs(len(jobs) - 30_000) < ERRORS * math.sqrt(30_000)
    assert len(job_table(scenario(workload__jobs=123), SEED)) == 123
    assert jobs_per_second(scenario(workload__jobs=123, workload__duration_s=41.0)) == 3.0


# ---- what each key does ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_memory_of_a_job_is_split_evenly_among_its_tasks():
    by_task, by_job = table(), table(workload__memory_of="job")
    assert differing(by_task, by_job) == {"memory_mb"}
    assert by_job["memory_mb"] * by_job["tasks"] == pytest.approx(by_task["memory_mb"], rel=1e-12)
    assert by_task["tasks"].max() == 9


@pytest.mark.parametrize("share", [0.3, 0.95])
def test_no_io_share_silences_that_share_of_the_jobs_and_leaves_the_others(share):
    all_of_them, some = table(), table(workload__no_io_share=share)
    silent = some["io_per_ms"] == 0
    assert abs(silent.sum() - share * JOBS) < ERRORS * math.sqrt(share * (1 - share) * JOBS)
    assert np.array_equal(some["io_per_ms"][~silent], all_of_them["io_per_ms"][~silent])
    assert (all_of_them["io_per_ms"] > 0).all()
    assert differing(all_of_them, some) == {"io_per_ms"}


def test_no_io_at_all():
    assert not table(workload__no_io_share=1.0)["io_per_ms"].any()


@pytest.mark.parametrize(("skew", "nodes"), [(1.0, 8), (2.5, 3)])
def test_skewed_homes_fall_with_the_nodes_number(skew, nodes):
    homes = table(workload__home__kind="skewed", workload__home__skew=skew, cluster__nodes=nodes)["home"]
    assert probable(np.bincount(homes, minlength=nodes), [1 / (k + 1) ** skew for k in range(nodes)])


def test_uniform_homes_are_all_nodes_alike():
    assert probable(np.bincount(table()["home"], minlength=8), np.ones(8))


def test_homes_by_weights_and_none_for_nodes_without():
    homes = table(workload__home__kind="weights", workload__home__weights=(3.0, 0.0, 1.0, 0.5))["home"]
    assert probable(np.bincount(homes, minlength=8), [3, 0, 1, 0.5, 0, 0, 0, 0])


@pytest.mark.parametrize(("share", "least", "most"), [(0.3, 3, 9), (1.0, 2, 3), (1.0, 5, 5), (0.5, 1, 4), (0.0, 2, 32)])
def test_task_counts_are_one_or_uniform_between_both_ends(share, least, most):
    tasks = table(workload__tasks__parallel_share=share, workload__tasks__minimum=least, workload__tasks__maximum=most)[
        "tasks"
    ]
    shares = np.zeros(most + 1)
    shares[1] = 1 - share
    shares[least:] += share / (most - least + 1)
    assert probable(np.bincount(tasks, minlength=most + 1), shares)


def test_request_sizes_per_request_are_left_to_the_engine_with_their_shape():
    """Gamma's shape is (mean/sd)^2; exponential is shape 1; 0 says that all are of the mean size."""
    gamma = table(workload__request_kb__per="request")
    assert set(gamma["request_kb"]) == {90.0}
    assert gamma["request_shape"] == pytest.approx(9.0)
    own = {name: value for name, value in ALL_DRAWN.items() if not name.startswith("workload__request_kb")}
    for kind, shape in (("exponential", 1.0), ("fixed", 0.0)):
        rows = job_table(scenario(**own, workload__jobs=50, workload__request_kb={"kind": kind, "mean": 64.0}), SEED)
        assert set(rows["request_kb"]) == {64.0}
        assert set(rows["request_shape"]) == {shape}
    assert set(table()["request_shape"]) == {0.0}


def test_constants_are_taken_over():
    jobs = table(workload__reaccess_rate=2.5, workload__write_share=0.35)
    assert set(jobs["reaccess_rate"]) == {2.5}
    assert set(jobs["write_share"]) == {0.35}


# ---- what each key leaves alone ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "value", "columns"),
    [
        ("workload__cpu_ms__kind", "hbd97", {"cpu_ms"}),
        ("workload__cpu_ms__mean", 20.0, {"cpu_ms"}),
        ("workload__memory_mb__kind", "pareto", {"memory_mb"}),
        ("workload__io_per_ms__mean", 0.3, {"io_per_ms"}),
        ("workload__request_kb__mean", 50.0, {"request_kb"}),
        ("workload__initial_data_mb__mean", 3.0, {"initial_data_mb"}),
        ("workload__tasks__maximum", 30, {"tasks", "first_task"}),
        ("workload__tasks__parallel_share", 0.9, {"tasks", "first_task"}),
        ("workload__home__kind", "skewed", {"home"}),
        ("workload__arrivals__kind", "bursty", {"arrival_ns"}),
        ("workload__duration_s", 50.0, {"arrival_ns"}),
        ("workload__reaccess_rate", 1.0, {"reaccess_rate"}),
        ("workload__write_share", 0.3, {"write_share"}),
        ("workload__write_only_moves", False, {"write_share"}),
    ],
)
def test_changing_one_key_leaves_the_other_columns_as_they_were(key, value, columns):
    assert differing(table(jobs=2000), table(jobs=2000, **{key: value})) == columns


def test_the_cluster_and_the_policy_have_no_say():
    plain = table(jobs=2000)
    for key, value in {
        "policy__name": "power-of-d", "negotiation__mode": "papers", "cluster__memory_mb": 200.0,
        "cluster__slice_ms": 250.0, "cluster__group": [{"count": 2, "cpu_speed": 3.0}],
    }.items():  # fmt: skip
        assert not differing(plain, table(jobs=2000, **{key: value})), key


def test_the_same_seed_gives_the_same_jobs_and_another_seed_others_in_every_column():
    first, again, other = table(7, 2000), table(7, 2000), table(8, 2000)
    assert first.tobytes() == again.tobytes()
    assert differing(first, other) == {*DRAWN, "first_task"}
    silent, others = (table(seed, 2000, workload__no_io_share=0.5)["io_per_ms"] == 0 for seed in (7, 8))
    assert not np.array_equal(silent, others)


def test_more_jobs_begin_with_the_same_ones():
    """Numbers belong to a job's place, so that a longer run has the shorter one's jobs in it."""
    few, many = table(jobs=500), table(jobs=2000)
    assert differing(few, many[:500]) <= {"arrival_ns", "tasks", "first_task"}


@pytest.mark.parametrize("overrides", [
    {},
    {"workload__cpu_ms__kind": "hbd97", "workload__memory_of": "job", "workload__home__kind": "skewed"},
    {"workload__no_io_share": 0.4, "workload__request_kb__per": "request", "workload__io_per_ms__kind": "lognormal"},
    {"workload__programs__mix": {"bit-r": 2.0, "metis": 1.0}},
    {"workload__arrivals__kind": "closed", "workload__arrivals__jobs_per_user": 20, "workload__jobs": None},
], ids=str)  # fmt: skip
def test_a_table_drawn_in_blocks_has_the_same_bytes(monkeypatch, overrides):
    whole = table(jobs=500, **overrides)
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 37)
    monkeypatch.setattr(large_tables, "MOST_IN_MEMORY", 0)
    blocks = table(jobs=500, **overrides)
    assert len(whole) >= 160
    assert differing(whole, blocks) == set()


def test_what_no_block_alone_exceeds_is_added_up(monkeypatch):
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 10)
    # 50 jobs of 1e11 ms at one node, of which 46 fit into 64 bits.
    work = {"workload__jobs": 50, "workload__cpu_ms__kind": "fixed", "workload__cpu_ms__mean": 1e11}
    with pytest.raises(InputError, match=r"all work together of the jobs reaches 5e\+12 ms"):
        job_table(scenario(cluster__nodes=1, **work), SEED)
