"""Files, copies and needs: laws, by the description of the scenario's keys.

The seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others. Statistical assertions raise a false alarm with a
chance of 1e-6 each.
"""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cluster_abm.engine.tables import JOB
from cluster_abm.errors import InputError
from cluster_abm.scenario.data import Data
from cluster_abm.workload import data as drawing
from cluster_abm.workload.data import draw_catalogue, interests

SEED = int(os.environ.get("CLUSTER_ABM_TEST_SEED", "20261121"))
RARE = 1e-6


def submitted(homes, arrivals_s=0.0):
    """A job table in which nothing but home and arrival is said."""
    jobs = np.zeros(len(homes), JOB)
    jobs["home"] = homes
    jobs["arrival_ns"] = np.asarray(arrivals_s) * 1e9
    return jobs


def catalogue(jobs, cluster_of=(0, 0, 1, 1, 2, 2), seed=SEED, **keys):
    """The files of these jobs."""
    return draw_catalogue(Data(**keys), seed, jobs, np.array(cluster_of))


@pytest.mark.slow
@given(
    files=st.integers(1, 12), copies=st.integers(1, 6), sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    seed=st.integers(0, 2**40), order=st.randoms(use_true_random=False),
)  # fmt: skip
def test_copies_are_on_different_nodes_and_in_as_many_clusters_as_can_be(files, copies, sizes, seed, order):
    cluster_of = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
    order.shuffle(cluster_of)
    copies = min(copies, len(cluster_of))
    found = catalogue(
        submitted([]), cluster_of, seed, files=files, copies=copies, files_per_job={"minimum": 0, "maximum": 1}
    )
    assert found.holders.shape == (files, copies)
    for holders in found.holders.tolist():
        assert len(set(holders)) == copies
        counts = np.bincount([cluster_of[holder] for holder in holders], minlength=len(sizes))
        # A cluster gets its next copy only when every other one has as many, or no node left.
        for cluster, size in enumerate(sizes):
            assert counts[cluster] <= size
            for other in range(len(sizes)):
                assert counts[cluster] <= counts[other] + 1 or counts[other] == sizes[other]


@pytest.mark.slow
def test_the_first_copy_lies_anywhere_alike():
    found = catalogue(submitted([]), files=30_000, copies=2)
    assert stats.chisquare(np.bincount(found.holders[:, 0], minlength=6)).pvalue > RARE


@given(
    minimum=st.integers(0, 6), more=st.integers(0, 6), spare=st.integers(0, 5), skew=st.sampled_from([0.0, 1.0, 4.0]),
    affinity=st.sampled_from([0.0, 0.4, 1.0]), seed=st.integers(0, 2**40),
)  # fmt: skip
def test_each_job_needs_so_many_different_files(minimum, more, spare, skew, affinity, seed):
    files = max(1, minimum + more + spare)
    found = catalogue(
        submitted(np.arange(40) % 6), seed=seed, files=files, popularity_skew=skew, affinity=affinity,
        files_per_job={"minimum": minimum, "maximum": minimum + more},
    )  # fmt: skip
    for job in range(40):
        needs = found.files_of(job)
        assert minimum <= len(needs) <= minimum + more
        assert all(0 <= first < second for first, second in pairwise(needs))
        assert all(file < files for file in needs)
    assert sum(len(found.files_of(job)) for job in range(40)) == len(found.needed_files)


def test_popularity_is_zipfs():
    # One file of three with weights 1, 1/2, 1/3: 6/11, 3/11, 2/11.
    found = catalogue(
        submitted(np.zeros(30_000)), files=3, popularity_skew=1.0, files_per_job={"minimum": 1, "maximum": 1}
    )
    counts = np.sort(np.bincount(found.needed_files, minlength=3))[::-1]
    assert stats.chisquare(counts, 30_000 * np.array([6, 3, 2]) / 11).pvalue > RARE


def test_the_second_file_is_drawn_from_the_others_by_popularity():
    # Which of three is left out: both others in either order, e.g. the least popular: 6/11 3/5 + 3/11 6/8 = 0.5318.
    found = catalogue(
        submitted(np.zeros(30_000)), files=3, popularity_skew=1.0, files_per_job={"minimum": 2, "maximum": 2}
    )
    left_out = np.sort(30_000 - np.bincount(found.needed_files, minlength=3))
    shares = [3 / 11 * 2 / 8 + 2 / 11 * 3 / 9, 6 / 11 * 2 / 5 + 2 / 11 * 6 / 9, 6 / 11 * 3 / 5 + 3 / 11 * 6 / 8]
    assert sum(shares) == pytest.approx(1.0)
    assert stats.chisquare(left_out, 30_000 * np.array(shares)).pvalue > RARE


def shares_of_interest(affinity, cluster_of=(0, 0, 1, 1)):
    """How many of the needs, one a job, are files of the home cluster, and the share of such files among all."""
    cluster_of = np.array(cluster_of)
    jobs = submitted(np.zeros(20_000, int))
    found = catalogue(jobs, cluster_of, files=50, affinity=affinity, files_per_job={"minimum": 1, "maximum": 1})
    near = cluster_of[found.holders[:, 0]] == 0
    return near[found.needed_files].sum(), near.mean()


@pytest.mark.parametrize("affinity", [0.0, 0.3, 1.0])
def test_a_share_of_the_files_is_of_the_homes_interest_and_the_rest_of_all(affinity):
    near, share = shares_of_interest(affinity)
    # Drawn from all, a file is of the interest by chance too.
    assert stats.binomtest(int(near), 20_000, affinity + (1 - affinity) * share).pvalue > RARE


def test_the_interest_moves_on_cluster_by_cluster():
    jobs = submitted([0, 2, 5, 0, 2, 5, 0, 3, 4], [0, 0, 0, 99.9, 100.0, 199.9, 200.0, 250.0, 300.0])
    cluster_of = np.array([0, 0, 1, 1, 2, 2])
    at_first = interests(Data(files=9, drift_period_s=None), jobs, cluster_of)
    assert at_first.tolist() == [0, 1, 2, 0, 1, 2, 0, 1, 2]
    moved = interests(Data(files=9, drift_period_s=100.0), jobs, cluster_of)
    # Moves so far: 0 until 100 s, 1 until 200 s, 2 until 300 s, then 3: round once.
    assert moved.tolist() == [0, 1, 2, 0, (1 + 1) % 3, (2 + 1) % 3, 2, (1 + 2) % 3, (2 + 3) % 3]


def test_drift_moves_what_jobs_ask_for():
    cluster_of = np.array([0, 0, 1, 1, 2, 2])
    jobs = submitted(np.arange(60) % 6, np.arange(60) * 10.0)
    found = catalogue(
        jobs, cluster_of, files=60, affinity=1.0, drift_period_s=100.0, files_per_job={"minimum": 2, "maximum": 3}
    )
    at_home = cluster_of[found.holders[:, 0]]
    for job in range(60):
        interest = (cluster_of[job % 6] + job // 10) % 3
        assert set(at_home[list(found.files_of(job))]) == {interest}


def test_where_the_interest_has_too_few_files_the_rest_comes_from_all():
    # All files lie on the one node of cluster 0; jobs of cluster 1 find none in theirs.
    found = catalogue(
        submitted([0, 0, 1, 1]), [0, 1], files=1, affinity=1.0, files_per_job={"minimum": 1, "maximum": 1}
    )
    assert found.needed_files.tolist() == [0, 0, 0, 0]


def test_one_key_does_not_move_the_draws_of_the_others(monkeypatch):
    jobs = submitted(np.arange(50) % 6)
    plain = {"files": 20, "copies": 2, "affinity": 0.5}
    one = catalogue(jobs, **plain)
    larger = catalogue(jobs, **plain, size_mb={"kind": "exponential", "mean": 5.0})
    assert np.array_equal(one.needed_files, larger.needed_files)
    assert np.array_equal(one.holders, larger.holders)
    more_copies = catalogue(jobs, **plain | {"copies": 3})
    assert np.array_equal(more_copies.holders[:, :2], one.holders)
    assert np.array_equal(more_copies.needed_files, one.needed_files)
    assert not np.array_equal(catalogue(jobs, seed=SEED + 1, **plain).needed_files, one.needed_files)
    # How many rows are drawn at one time makes no difference.
    monkeypatch.setattr(drawing, "RACE", 60)
    in_parts = catalogue(jobs, **plain)
    assert np.array_equal(in_parts.needed_files, one.needed_files)
    assert np.array_equal(in_parts.first_file, one.first_file)


def test_more_than_can_be_drawn_is_refused():
    jobs = submitted(np.zeros(2_000, int))
    with pytest.raises(InputError, match=r"data\.files = 1000000: 2,000 jobs; allowed are 1,000,000,000 pairs"):
        draw_catalogue(Data(files=1_000_000), 1, jobs, np.zeros(6, np.int64))
    with pytest.raises(InputError, match=r"data\.size_mb: sizes reach .* MB: allowed is 1e\+12"):
        catalogue(jobs, files=100, size_mb={"kind": "exponential", "mean": 1e12})
