"""Cells with units: sizes, times and shares as Nextflow and Slurm write them, and timestamps with their zones."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.workload.traces.parts.stamps import Stamps
from cluster_abm.workload.traces.parts.units import clock_ms, duration_ms, percent, plain, size_bytes


@pytest.mark.parametrize(
    ("read", "cell", "value"),
    [
        (size_bytes, "0", 0.0),
        (size_bytes, "4096", 4096.0),
        (size_bytes, "1.5 KB", 1536.0),
        (size_bytes, "1.2 GB", 1.2 * 2**30),
        (size_bytes, "105K", 105 * 1024.0),
        (size_bytes, "2.50M", 2.5 * 2**20),
        (size_bytes, "3 GiB", 3 * 2.0**30),
        (size_bytes, "-5 MB", -5 * 2.0**20),
        (size_bytes, "12 B", 12.0),
        (duration_ms, "345ms", 345.0),
        (duration_ms, "345", 345.0),
        (duration_ms, "1.2s", 1200.0),
        (duration_ms, "3h 2m 1s", 10_921_000.0),
        (duration_ms, "1d 2h", 93_600_000.0),
        (duration_ms, "2m 5.5s", 125_500.0),
        (duration_ms, "-3s", -3000.0),
        (clock_ms, "00:00:00", 0.0),
        (clock_ms, "02:03.045", 123_045.0),
        (clock_ms, "1-02:03:04", 93_784_000.0),
        (clock_ms, "100:00:00", 360_000_000.0),
        (clock_ms, "2-03", 183_600_000.0),
        (clock_ms, "2-03:30", 185_400_000.0),
        (percent, "75.2%", 75.2),
        (percent, "791.9", 791.9),
        (plain, "8", 8.0),
    ],
)
def test_a_cell_in_its_unit(read, cell: str, value: float) -> None:
    assert read(f" {cell} ") == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("read", [size_bytes, duration_ms, clock_ms, percent, plain, Stamps().read])
@pytest.mark.parametrize("cell", ["", "-", " ", "Unknown", "None", "N/A", "nan"])
def test_what_is_not_known(read, cell: str) -> None:
    assert math.isnan(read(cell))


@pytest.mark.parametrize(
    ("read", "cell"),
    [
        (size_bytes, "1.2 XB"), (size_bytes, "1,2 GB"), (size_bytes, "1_000"), (size_bytes, "٣ KB"), (size_bytes, "GB"),
        (duration_ms, "3 weeks"), (duration_ms, "1h-2m"), (duration_ms, "01:02"), (duration_ms, "inf"),
        (clock_ms, "1:2:3:4"), (clock_ms, "12"), (clock_ms, "1h"), (percent, "%"), (plain, "8 cores"), (plain, "0x10"),
        (Stamps().read, "yesterday"), (Stamps().read, "2023-13-01T00:00:00"), (Stamps().read, "01/02/2023 10:00:00"),
        (Stamps().read, "2023-05-01"), (Stamps().read, "2023-05-01T25:00:00"),
        (Stamps().read, "2023-05-01T10:00:00+99:00"),
    ],
)  # fmt: skip
def test_what_cannot_be_read(read, cell: str) -> None:
    with pytest.raises(ValueError, match=r"not read|allowed|a date and time"):
        read(cell)


WHOLE = st.integers(0, 10**6)


@given(WHOLE, st.sampled_from(["", "K", "M", "G", "T"]), st.sampled_from(["", " "]), st.sampled_from(["", "B", "iB"]))
def test_sizes_written_in_any_way_read_back(number: int, unit: str, space: str, byte: str) -> None:
    power = " KMGT".index(unit or " ")
    assert size_bytes(f"{number}{space}{unit}{byte}") == number * 1024.0**power


@given(st.integers(0, 400), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_times_written_by_both_programs_agree(days: int, hours: int, minutes: int, seconds: int, ms: int) -> None:
    exact = (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000 + ms
    assert clock_ms(f"{days}-{hours:02}:{minutes:02}:{seconds:02}.{ms:03}") == exact
    assert duration_ms(f"{days}d {hours}h {minutes}m {seconds}s {ms}ms") == exact
    assert duration_ms(str(exact)) == exact


@pytest.mark.slow
@given(st.text(max_size=12))
def test_no_cell_does_more_than_be_refused(cell: str) -> None:
    for read in (size_bytes, duration_ms, clock_ms, percent, plain, Stamps().read):
        try:
            value = read(cell)
        except (ValueError, OverflowError):
            continue
        assert isinstance(value, float)


def test_stamps_with_zones_are_instants() -> None:
    stamps = Stamps()
    noon = 1_682_942_400_000.0  # 2023-05-01 12:00 UTC
    for cell in ("2023-05-01T12:00:00Z", "2023-05-01 14:00:00+0200", "2023-05-01T07:00:00.000-05:00", "1682942400"):
        assert stamps.read(cell) == noon
    assert stamps.read("1682942400250") == noon + 250
    assert stamps.zones == {0.0, 120.0, -300.0}
    with pytest.raises(ValueError, match="no time zone where '2023-05-01T12:00:00Z' has one"):
        stamps.read("2023-05-01T12:00:00")


def test_stamps_without_zones_stand_as_they_are() -> None:
    stamps = Stamps()
    assert stamps.read("2023-05-01 12:00:00.5") - stamps.read("2023-05-01T12:00") == 500.0
    assert math.isnan(stamps.read("1970-01-01T00:00:00"))  # "never"
    with pytest.raises(ValueError, match=r"a time zone where '2023-05-01 12:00:00\.5' has none"):
        stamps.read("2023-05-01T12:00:00+02:00")
