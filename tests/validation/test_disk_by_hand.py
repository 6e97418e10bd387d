"""Measurements of a disk whose reads take the time that a test sets."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ideal_machine import clock_in

from cluster_abm.validation import disk as module
from cluster_abm.validation.disk import SIZES_KB, describe, file_mb, fit, measure_disk, not_possible

fcntl = pytest.importorskip("fcntl")
pytestmark = pytest.mark.skipif(not hasattr(module.os, "posix_fadvise"), reason="needs posix_fadvise")
FOLDER, MB = Path("/somewhere"), 1 << 20
# A round reads the five sizes once: five latencies and the transfer of 1364 KB.
LATENCY_MS, MB_PER_S = 0.5, 1024.0
ROUND_S = (5 * 0.5 + 1364 * 1024 / 1e6 / 1024.0 * 1000.0) / 1000.0


class Device:
    """A disk with one file, of descriptor 99.

    Attributes:
        reads: size [KB] and place [bytes] of each read.
        files: size of each file that was made [MB].
        emptied: number of times that the page cache had been emptied, at each read.
        flags: flags of the file.
        faster: a second read of a place is faster by this factor.
    """

    def __init__(self, monkeypatch, faster=1.0, is_direct=True):
        self.clock, self.flags = clock_in(monkeypatch, module), 0o100
        self.reads, self.files, self.emptied = [], [], []
        self.faster, self._is_direct, self._count = faster, is_direct, 0
        monkeypatch.setattr(module, "filled_file", self.file)
        monkeypatch.setattr(module, "file_mb", lambda _: 256)
        monkeypatch.setattr(module.os, "preadv", self.preadv)
        monkeypatch.setattr(module.os, "posix_fadvise", self.fadvise)
        monkeypatch.setattr(fcntl, "fcntl", self.fcntl)

    @contextmanager
    def file(self, folder, size_mb):
        assert folder == FOLDER
        self.files.append(size_mb)
        yield 99

    def fcntl(self, file, what, flags=None):
        assert file == 99
        if what == fcntl.F_GETFL:
            return self.flags
        if not self._is_direct:
            raise OSError(22, "Invalid argument")
        self.flags = flags

    def fadvise(self, file, *what):
        assert (file, *what) == (99, 0, 0, module.os.POSIX_FADV_DONTNEED)
        self._count += 1

    def preadv(self, file, buffers, place):
        assert file == 99
        (buffer,) = buffers
        size = len(buffer)
        is_again = (size / 1024, place) in self.reads
        self.reads.append((size / 1024, place))
        self.emptied.append(self._count)
        self.clock.now_s += (LATENCY_MS / 1000 + size / 1e6 / MB_PER_S) / (self.faster if is_again else 1.0)
        return size


def test_latency_and_bandwidth_of_an_ideal_disk(monkeypatch):
    device = Device(monkeypatch, faster=1.5)
    found = measure_disk(FOLDER, 6, seconds=1000.0)
    assert (found.latency_ms, found.mb_per_s) == pytest.approx((LATENCY_MS, MB_PER_S))
    assert (found.median_error, found.p90_error) == pytest.approx((0.0, 0.0), abs=1e-6)
    assert (found.second_pass, found.spread) == pytest.approx((1.5, 1.0))
    assert found.kind.startswith("flash")
    assert not found.unstable
    # Eighty of each size, twice.
    assert found.reads == len(device.reads) == 2 * 80 * 5
    assert device.files == [256]
    first, second = device.reads[:400], device.reads[400:]
    assert second == first
    # The sizes take turns.
    assert [size for size, _ in first] == [*SIZES_KB] * 80
    for size in SIZES_KB:
        places = np.array([place for one, place in first if one == size])
        assert (places % 4096 == 0).all()
        assert places.min() < 16 * MB
        assert places.max() > 240 * MB


@pytest.mark.parametrize("is_last", [False, True])
def test_the_first_and_the_last_place_of_a_read_are_within_the_file(monkeypatch, is_last):
    device = Device(monkeypatch)
    draws = SimpleNamespace(integers=lambda low, high: high - 1 if is_last else low)
    monkeypatch.setattr(module.np.random, "default_rng", lambda _: draws)
    measure_disk(FOLDER, 6, 1000.0)
    ends = {place + size * 1024 for size, place in device.reads}
    assert ends == ({256 * MB} if is_last else {size * 1024 for size in SIZES_KB})


def test_the_places_follow_from_the_seed(monkeypatch):
    def reads(seed):
        device = Device(monkeypatch)
        measure_disk(FOLDER, seed, 1000.0)
        return device.reads

    assert reads(6) == reads(6)
    assert reads(7) != reads(6)


@pytest.mark.parametrize("is_direct", [True, False])
def test_reads_are_direct_or_the_page_cache_is_emptied_before_each(monkeypatch, is_direct):
    device = Device(monkeypatch, is_direct=is_direct)
    found = measure_disk(FOLDER, 6, 1000.0)
    assert found.direct is is_direct
    assert device.flags == (0o100 | module.os.O_DIRECT if is_direct else 0o100)
    assert device.emptied == ([0] * 800 if is_direct else [*range(1, 801)])


@pytest.mark.parametrize(("rounds", "reads"), [
    # The first pass lasts half of the time and ends with a whole round here; the second pass repeats these rounds.
    (20.0, (10, 10)), (30.0, (15, 15)), (300.0, (80, 80)),
])  # fmt: skip
def test_half_of_the_time_is_for_the_first_pass(monkeypatch, rounds, reads):
    device = Device(monkeypatch)
    found = measure_disk(FOLDER, 6, (rounds - 0.01) * ROUND_S)
    assert found.reads == len(device.reads) == 5 * sum(reads)
    assert device.reads[5 * reads[0] :] == device.reads[: 5 * reads[1]]


def test_reads_that_were_not_repeated_are_counted_once(monkeypatch):
    """The first pass has time for 10.5 rounds, about 53 reads. The second repeats the 10 whole rounds, 50 reads."""
    device = Device(monkeypatch)
    found = measure_disk(FOLDER, 6, 21.0 * ROUND_S)
    assert found.reads == len(device.reads)
    assert 50 < len(device.reads) - 50 < 55


@pytest.mark.parametrize(("faster", "rounds", "is_enough"), [
    # The first pass needs ten reads of each size.
    (1.0, 19.9, True), (1.0, 17.9, False),
    # The second pass needs five. It is slower here: there is time for five, or for four.
    (0.5, 20.3, True), (0.4, 19.9, False),
])  # fmt: skip
def test_too_little_time(monkeypatch, faster, rounds, is_enough):
    device = Device(monkeypatch, faster=faster)
    found = measure_disk(FOLDER, 6, rounds * ROUND_S)
    assert (found is not None) == is_enough
    # No read begins after the end: the end is passed by one read of the largest size at most.
    assert device.clock.now_s - 1000.0 < rounds * ROUND_S + 0.0016 / faster


def test_the_smallest_relative_errors_are_fitted():
    """Times are 1 ms + 1 ms/MB of 1,000,000 bytes: 2.024 and 3.048 ms. The median counts, so 9.0 and 1.0 do not."""
    sizes = {1000.0: [2.024, 2.024, 9.0], 2000.0: [3.048, 1.0, 3.048]}
    assert fit({size: np.array(times) for size, times in sizes.items()}) == pytest.approx((1.0, 1000.0))


@pytest.mark.parametrize(("latency_ms", "second", "kind"), [
    # No device answers within 0.03 ms, and no flash needs 2 ms. A second pass twice as fast comes from a cache.
    (0.029, 1.0, "cached"), (0.031, 1.0, "flash"), (1.99, 1.0, "flash"), (2.01, 1.0, "rotating"),
    (1.0, 1 / 2.01, "cached"), (1.0, 1 / 1.99, "flash"), (5.0, 1 / 2.01, "cached"),
])  # fmt: skip
def test_kinds_at_their_limits(latency_ms, second, kind):
    first = {float(size): np.full(4, latency_ms + size * 0.001024) for size in SIZES_KB}
    found = describe(first, {size: times * second for size, times in first.items()}, True)
    assert found.latency_ms == pytest.approx(latency_ms)
    assert found.second_pass == pytest.approx(1 / second)
    assert found.kind.startswith(kind)


def test_errors_are_of_the_reads_that_were_not_fitted():
    """Every second read takes 1.25 times as long; at 1024 KB it takes 1.25 x 1.2 = 1.5 times as long."""
    times = {float(size): np.tile([1.0, 1.25], 10) * (1.0 + size * 0.001024) for size in SIZES_KB}
    times[1024.0][1::2] *= 1.2
    found = describe(times, times, False)
    assert (found.latency_ms, found.mb_per_s) == pytest.approx((1.0, 1000.0))
    assert (found.median_error, found.p90_error) == pytest.approx((0.25, 0.5))
    # At 1024 KB the 90th percentile is 1.5 times the 10th.
    assert found.spread == pytest.approx(1.5)
    assert not found.direct
    assert found.as_json()["spread"] == found.spread


@pytest.mark.parametrize(("slow", "unstable"), [(3.01, True), (2.99, False)])
def test_a_disk_is_unstable_if_equal_reads_differ_threefold(slow, unstable):
    times = {float(size): np.repeat([1.0, slow], 10) for size in SIZES_KB}
    assert describe(times, times, True).unstable is unstable


@pytest.mark.parametrize(("free_mb", "size_mb", "is_possible"), [
    # The file takes a tenth of the free room, at most 256 MB; it needs 32 MB.
    (100_000, 256, True), (2560, 256, True), (2559, 255, True), (320, 32, True), (319, 31, False),
])  # fmt: skip
def test_room_for_the_file(monkeypatch, free_mb, size_mb, is_possible):
    monkeypatch.setattr(module.shutil, "disk_usage", lambda _: SimpleNamespace(free=free_mb * MB))
    monkeypatch.setattr(module, "text_of", lambda _: "/dev/a / ext4 rw 0 0\n")
    assert file_mb(FOLDER) == size_mb
    why = not_possible(FOLDER)
    assert (why is None) == is_possible
    assert why is None or "too little room: a tenth of what is free has to be 32 MB" in why


@pytest.mark.parametrize("lacking", ["posix_fadvise", "preadv"])
def test_a_system_that_cannot_empty_the_page_cache(monkeypatch, lacking):
    monkeypatch.delattr(module.os, lacking)
    assert not_possible(FOLDER) == "this system has no posix_fadvise"


def test_the_file_is_full_and_has_left_the_page_cache(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(module.os, "fsync", lambda file: done.append("written"))
    monkeypatch.setattr(module.os, "posix_fadvise", lambda file, *what: done.append(what))
    with module.filled_file(tmp_path, 2) as file:
        assert done == ["written", (0, 0, module.os.POSIX_FADV_DONTNEED)]
        data = module.os.pread(file, 3 * MB, 0)
        assert len(data) == 2 * MB
        # Random bytes: a disk might compress others.
        assert len(set(data[:4096])) > 200
        assert data[:MB] != data[MB:]
        assert list(tmp_path.iterdir()) == []
