"""Programs of a validation: rows and accesses by hand, and the distributions of drawn sets."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest

from cluster_abm.validation.plans import Disk, Program, ProgramRow, busy_sets, reading_sets


@pytest.mark.parametrize(("row", "for_worker"), [
    (ProgramRow(10, True), (5, 77, 5)), (ProgramRow(11, True), (5, 77, 6)), (ProgramRow(1, True), (0, 77, 1)),
    (ProgramRow(11, False), (11, 0, 0)),
])  # fmt: skip
def test_an_access_is_in_the_middle_of_its_row(row, for_worker):
    assert row.for_worker(77) == for_worker


def test_demand_of_a_row():
    assert ProgramRow(10, True).cpu_ms(250_000.0) == pytest.approx(2.5)


def test_an_access_takes_a_seek_and_its_transfer():
    """A MB is 1000 KB: 200 KB at 50 MB/s take 4 ms."""
    assert Disk(5.0, 50.0).service_ms(200.0) == pytest.approx(9.0)
    assert Disk().service_ms(0.0) == 4.0
    assert Disk().service_ms(500.0) == pytest.approx(14.0)


@functools.cache
def drawn(kind, unit_ms, least, most, seed=3, count=1500):
    return [*itertools.islice(kind(seed, unit_ms, least, most), count)]


def gaps_of(sets):
    return [np.diff([program.start_ms for program in programs]) for programs in sets]


def test_sets_that_only_compute():
    """Demands are bounded Pareto of shape 1.1 between 40 ms and 1 s."""
    sets = drawn(busy_sets, 0.2, 2, 6)
    demands = np.array([row.units * 0.2 for programs in sets for program in programs for row in program.rows])
    assert all(len(program.rows) == 1 for programs in sets for program in programs)
    assert not any(row.reads for programs in sets for program in programs for row in program.rows)
    assert demands.min() >= 39.9
    assert demands.max() <= 1000.1
    # 1 - F(x) = ((40/x)^1.1 - t) / (1 - t), where t = (40/1000)^1.1.
    cut = 0.04**1.1
    for share in (0.5, 0.1):
        expected = 40.0 * (share * (1 - cut) + cut) ** (-1 / 1.1)
        assert (demands > expected).mean() == pytest.approx(share, abs=0.02)
    # Two to six processes a set, equally likely.
    assert [sum(len(programs) == size for programs in sets) / 1500 for size in range(2, 7)] == pytest.approx(
        [0.2] * 5, abs=0.03
    )


def test_starts_of_sets_that_only_compute():
    """Gaps are exponential; their mean is 0.4 of the mean demand of the set."""
    sets = drawn(busy_sets, 0.2, 2, 6)
    means = [np.mean([program.rows[0].units * 0.2 for program in programs]) for programs in sets]
    ratios = np.concatenate([gaps / mean for gaps, mean in zip(gaps_of(sets), means, strict=True)])
    assert ratios.mean() == pytest.approx(0.4, rel=0.05)
    # An exponential number exceeds its mean with probability 1/e.
    assert (ratios > 0.4).mean() == pytest.approx(np.exp(-1.0), abs=0.02)
    assert all(programs[0].start_ms == 0.0 for programs in sets)


def test_sets_that_compute_and_read():
    """A program has 4 to 12 reads, each in the middle of 2 to 60 ms of CPU; a read has 50 to 500 KB; gaps are 48 ms."""
    sets = drawn(reading_sets, 0.2, 2, 5, count=300)
    programs = [program for one in sets for program in one]
    rows = [row for program in programs for row in program.rows]
    assert all(row.reads and row.units % 2 == 0 for row in rows)
    shares = [np.mean([len(program.rows) == reads for program in programs]) for reads in range(4, 13)]
    assert shares == pytest.approx([1 / 9] * 9, abs=0.03)
    bursts = np.array([row.units * 0.2 for row in rows])
    assert (bursts.min(), bursts.max()) == pytest.approx((2.0, 60.0))
    # Exponential of mean 12, clipped at 2 and 60: the mean is 2 + 12 (exp(-2/12) - exp(-60/12)) = 12.08.
    assert bursts.mean() == pytest.approx(12.08, rel=0.05)
    sizes = np.array([program.request_kb for program in programs])
    assert sizes.min() >= 50.0
    assert sizes.max() <= 500.0
    assert sizes.mean() == pytest.approx(275.0, rel=0.05)
    assert np.concatenate(gaps_of(sets)).mean() == pytest.approx(48.0, rel=0.08)


@pytest.mark.parametrize("kind", [busy_sets, reading_sets])
def test_a_unit_of_another_length_is_the_same_work(kind):
    """Units of 4 ms are a tenth as many as units of 0.4 ms. A row has a unit at least, and two if it reads."""
    for fine, coarse in zip(*(drawn(kind, unit_ms, 2, 4, count=20) for unit_ms in (0.4, 4.0)), strict=True):
        assert len(fine) == len(coarse)
        for one, other in zip(fine, coarse, strict=True):
            assert (one.start_ms, one.request_kb) == (other.start_ms, other.request_kb)
            for row, larger in zip(one.rows, other.rows, strict=True):
                assert larger.units * 10 == pytest.approx(row.units, abs=22)
    (programs,) = drawn(kind, 1e6, 3, 3, count=1)
    assert {row.units for program in programs for row in program.rows} == ({1} if kind is busy_sets else {2})
    assert len(programs) == 3


def test_an_access_has_100_kb_by_default():
    assert Program(0.0, ()).request_kb == 100.0
