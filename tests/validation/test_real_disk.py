"""The fit of a disk, from times that were made with known numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cluster_abm.validation import disk
from cluster_abm.validation.disk import SIZES_KB, describe, fit, measure_disk, not_possible


def times(latency_ms, mb_per_s, noise=0.0, factor=1.0, reads=60):
    rng = np.random.default_rng(9)
    return {
        float(size): factor * (latency_ms + size * 1.024 / mb_per_s) * np.exp(noise * rng.standard_normal(reads))
        for size in SIZES_KB
    }


@pytest.mark.parametrize(("latency_ms", "mb_per_s"), [(0.08, 2000.0), (12.0, 150.0)])
def test_planted_numbers_come_back(latency_ms, mb_per_s):
    found = fit(times(latency_ms, mb_per_s))
    assert found == pytest.approx((latency_ms, mb_per_s), rel=1e-6)
    noisy = fit(times(latency_ms, mb_per_s, noise=0.1))
    assert noisy == pytest.approx((latency_ms, mb_per_s), rel=0.1)


def test_a_disk_whose_reads_take_equally_long_has_no_bandwidth_that_can_be_told():
    latency_ms, mb_per_s = fit({size: np.full(9, 0.5 / size**0.01) for size in (4.0, 64.0, 1024.0)})
    assert latency_ms == pytest.approx(0.48, abs=0.02)
    assert mb_per_s is None


def test_what_it_looks_like():
    flash = describe(times(0.1, 1500), times(0.1, 1500), True)
    assert flash.kind.startswith("flash")
    assert not flash.unstable
    assert flash.median_error == pytest.approx(0, abs=1e-9)
    assert flash.reads == 2 * 60 * len(SIZES_KB)
    assert describe(times(9.0, 150), times(9.0, 150), True).kind.startswith("rotating")
    assert describe(times(0.1, 1500), times(0.1, 1500, factor=0.2), True).kind.startswith("cached")
    assert describe(times(0.01, 9000), times(0.01, 9000), False).kind.startswith("cached")
    wild = describe(times(0.1, 1500, noise=1.0), times(0.1, 1500), True)
    assert wild.unstable
    assert wild.p90_error > 0.5


@pytest.mark.skipif(not hasattr(disk.os, "posix_fadvise"), reason="needs posix_fadvise")
def test_a_file_is_read_and_gone(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, "FILE_MB", 4)
    monkeypatch.setattr(disk, "LEAST_MB", 1)
    monkeypatch.setattr(disk, "READS", 12)
    if not_possible(tmp_path) is None:
        found = measure_disk(tmp_path, 1, 20.0)
        assert found is not None
        assert found.latency_ms >= 0
    assert list(tmp_path.iterdir()) == []
    assert measure_disk(tmp_path, 1, 0.0) is None


def test_memory_is_no_disk(monkeypatch):
    monkeypatch.setattr(disk, "text_of", lambda _: "tmpfs / tmpfs rw 0 0\n")
    assert "is in memory (tmpfs)" in not_possible(Path("/x"))
