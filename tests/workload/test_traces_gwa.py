"""GWA-T-12: a virtual machine as a program, by hand; a folder of them; and machines that lie."""

from __future__ import annotations

import lzma
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.profiles import read_profiles
from cluster_abm.workload.traces import read_trace, trace_info, write_trace

DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "bitbrains"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the real machines are not here; CLUSTER_ABM_DATA says where")

HEAD = (
    "Timestamp [ms];\tCPU cores;\tCPU capacity provisioned [MHZ];\tCPU usage [MHZ];\tCPU usage [%];\tMemory capacity "
    "provisioned [KB];\tMemory usage [KB];\tDisk read throughput [KB/s];\tDisk write throughput [KB/s];\tNetwork "
    "received throughput [KB/s];\tNetwork transmitted throughput [KB/s]\n"
)


def row(at: object, cores: object, use: object, memory_kb: object, read: object, write: object) -> str:
    return f"{at};\t{cores};\t5800;\t100;\t{use};\t8388608;\t{memory_kb};\t{read};\t{write};\t0;\t0\n"


# Two cores: 10 % and 110 % of both, then nothing, off for an hour, and 50 % of one.
ROWS = (
    row(1_375_308_000, 2, 10, 2_000_000, 1.0, 0.0)
    + row(1_375_308_300, 2, 110, 1_000_000, 0.5, 2.5)
    + row(1_375_308_600, 2, 0, 1_000_000, 0, 0)
    + row(1_375_308_600, 2, 5, 1_000_000, 0, 0)
    + row(1_375_308_500, 2, 5, 1_000_000, 0, 0)
    + row(1_375_308_900, 0, 0, 0, 0, 0)
    + row(1_375_309_200, 2, -1, 5, 0, 0)
    + row(1_375_309_500, 2, "", 5, 0, 0)
    + row(1_375_309_800, 2, 5, 5, 2**63, 0)
    + row(1_375_312_200, 1, 50, 500_000, 0, 0)
)


def put(folder: Path, name: str = "vm.csv", rows: str = ROWS) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(HEAD + rows)
    return path


def test_the_profile_by_hand(tmp_path: Path) -> None:
    trace = read_trace(put(tmp_path))
    mb = 1024 / 1e6  # of their KB
    # Each of two tasks: 1 KB/s for 300 s are 300 x 1.024 / 64 / 2 = 2.4 accesses, 3 KB/s 7.2 more: 2, and 7 of 9.6.
    expected = pd.DataFrame(
        {
            "program": ["vm"] * 4,
            "cpu_ms": [30_000.0, 300_000.0, 0.001, 75_000.0],
            "memory_mb": [1_000_000 * mb, 500_000 * mb, 500_000 * mb, 250_000 * mb],
            "accesses": [2.0, 7.0, 0.0, 0.0],
            "turnover_mb_per_s": [0.0] * 4,
            # An hour behind the third sample is a pause; nothing comes behind the last one.
            "pause_ms": [270_000.0, 0.0, 3_599_999.999, 0.0],
        }
    )
    assert trace.profiles is not None
    pd.testing.assert_frame_equal(trace.profiles, expected)
    (job,) = trace.jobs.to_dict("records")
    assert job == {
        "arrival_ms": 0.0, "cpu_ms": pytest.approx(405_000.001), "memory_mb": pytest.approx(1024.0), "tasks": 2.0,
        "request_kb": 64.0, "write_share": pytest.approx(2.5 / 4), "name": "vm",
    }  # fmt: skip


def test_every_sample_is_accounted_for(tmp_path: Path) -> None:
    trace = read_trace(put(tmp_path))
    assert trace.skipped == {
        "not later than the row above": 2,
        "a field is empty": 1,
        "negative value": 1,
        "no cores (the VM was off)": 1,
        "bytes beyond 2^63": 1,
    }
    assert (trace.rows, trace.used, len(trace.jobs)) == (10, 4, 1)
    assert trace.rows == trace.used + sum(trace.skipped.values())
    assert trace.noted == {
        "no CPU use, 1 us taken": 1,
        "gap behind it, taken as a pause": 1,
        "CPU use above 100 %, cut to it": 1,
    }
    filled = trace_info(trace)["filled"]
    assert filled["request_kb"] == "64 KB assumed"
    assert "memory_mb" not in filled


def test_a_folder_is_a_trace_of_all_its_machines(tmp_path: Path) -> None:
    folder = tmp_path / "rnd"
    put(folder, "10.csv")
    (folder / "2.csv.xz").write_bytes(lzma.compress((HEAD + row(1_375_308_100, 1, 20, 4e6, 0, 0)).encode()))
    put(folder, "3.csv", row(1_375_308_100, 1, 0, 4e6, 0, 0))
    (folder / "README.md").write_text("not a machine")
    trace = read_trace(folder)
    assert trace.jobs["name"].tolist() == ["10", "2"]  # by arrival
    assert trace.jobs["arrival_ms"].tolist() == [0.0, 100_000.0]
    assert trace.jobs["cpu_ms"][1] == 60_000.0  # one sample: five minutes
    assert (trace.rows, trace.used) == (12, 5)
    assert trace.skipped["of a VM that used no CPU"] == 1
    assert trace.noted["other files of the folder, not read"] == 1
    assert trace.profiles is not None
    assert trace.profiles["program"].drop_duplicates().tolist() == ["2", "10"]  # in natural order


def test_it_converts_with_its_profiles(tmp_path: Path) -> None:
    trace = read_trace(put(tmp_path))
    for name in ("out.csv.gz", "out.parquet"):
        written = write_trace(trace, tmp_path / name)
        assert written == [tmp_path / name, tmp_path / "out.profiles.csv"]
        pd.testing.assert_frame_equal(read_trace(written[0]).jobs, trace.jobs, check_exact=True)
        pd.testing.assert_frame_equal(read_profiles(str(written[1]), 1), trace.profiles, check_exact=True)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (row(1_375_308_000, 2, "ten", 5, 0, 0), "line 2: CPU usage [%] = 'ten': allowed: a number"),
        (ROWS + "1375312500;\t1;\t5\n", "line 12: 3 values where the header names 11 columns (cut off?)"),
        (row(1_375_308_000, 2, 0, 5, 0, 0), "none of its 1 rows is a job that ran (1: of a VM that used no CPU)"),
    ],
)
def test_what_is_refused(tmp_path: Path, rows: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_trace(put(tmp_path, rows=rows))
    assert words in caught.value.problems[0]


def test_folders_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder without files of virtual machines"):
        read_trace(tmp_path)
    put(tmp_path)
    (tmp_path / "b.csv").write_text("arrival_ms,cpu_ms\n0,1\n")
    with pytest.raises(InputError, match=r"b\.csv: column 'timestamp \[ms\]' is missing"):
        read_trace(tmp_path)
    with pytest.raises(InputError, match="cannot be read: a folder"):
        read_trace(tmp_path, format="csv")
    (tmp_path / "b.csv").write_text(HEAD + row(1, 1, 1, 1, 1, 1) * 20_000)
    put(tmp_path, "c.csv", row(1, 1, 1, 1, 1, 1) * 20_000)
    with pytest.raises(InputError, match="more than 1 MB in all, unpacked"):
        read_trace(tmp_path, max_mb=1)


@needs_data
def test_the_real_machines_are_accounted_for() -> None:
    trace = read_trace(DATA)
    frames = {}
    for path in DATA.glob("*.csv.xz"):
        frame = pd.read_csv(path, sep=";", skipinitialspace=True)
        frame.columns = frame.columns.str.strip()
        frames[path.name.removesuffix(".csv.xz")] = frame
    assert trace.rows == sum(map(len, frames.values())) == trace.used + sum(trace.skipped.values())
    assert trace.profiles is not None
    assert trace.used == len(trace.profiles)
    cores = {name: frame["CPU cores"].max() for name, frame in frames.items()}
    assert dict(zip(trace.jobs["name"], trace.jobs["tasks"], strict=True)) == {
        name: cores[name] for name, frame in frames.items() if frame["CPU usage [%]"].max() > 0
    }
    for name, frame in frames.items():
        # Machines that were on all day; the others are shorter by what is skipped.
        if (frame["CPU cores"] < 1).any() or frame["CPU usage [%]"].max() == 0:
            continue
        interval_s = frame["Timestamp [ms]"].diff().shift(-1)
        interval_s = interval_s.fillna(interval_s.median())
        own = trace.profiles[trace.profiles["program"] == name]
        busy_s = (frame["CPU usage [%]"].clip(upper=100) / 100 * interval_s).sum()
        assert own["cpu_ms"].sum() / 1000 == pytest.approx(busy_s, rel=1e-6, abs=1e-3)
        moved_kb = (frame.filter(like="Disk").sum(axis=1) * interval_s).sum() * 1.024 / cores[name]
        assert own["accesses"].sum() * 64 == pytest.approx(moved_kb, abs=64)
        elapsed_s = (own["cpu_ms"] + own["pause_ms"]).sum() / 1000
        assert elapsed_s == pytest.approx(interval_s.sum(), abs=interval_s.iloc[-1] + 1)
        np.testing.assert_allclose(own["memory_mb"], frame["Memory usage [KB]"] * 1.024e-3 / cores[name])


def test_a_study_reads_a_folder_once_and_anew_when_it_changes(tmp_path: Path) -> None:
    folder = tmp_path / "rnd"
    put(folder)
    before = read_trace(folder)
    assert read_trace(folder) is before
    shutil.copy(folder / "vm.csv", folder / "vm2.csv")
    assert len(read_trace(folder).jobs) == 2


ODD_NAMES = {
    b"#1.csv": "#1", b"a#b.csv": "a#b", b" 2.csv": "2", b"2 .csv": "2.csv", b"a\nb.csv": "a\\nb",
    b"a\r\x1b.csv": "a\\r\\x1b",
    b"\xff.csv": "\\xff", b'x,"y.csv': 'x,"y', "\u2028z.csv".encode(): "z", "\u00e9.csv".encode(): "\u00e9",
    b" .csv": ".csv",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("names", [[name] for name in ODD_NAMES] + [list(ODD_NAMES)])
def test_names_of_files_are_data(tmp_path: Path, names: list[bytes]) -> None:
    """A program is called like its file, in one line of text; converted, it is the same."""
    folder = tmp_path / "rnd"
    folder.mkdir()
    for name in names:
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_text(HEAD + ROWS)
    trace = read_trace(folder)
    expected = {ODD_NAMES[name] for name in names}
    if len(names) == 1:
        expected = {name.removesuffix(".csv") or name for name in expected}  # no other has it
    assert set(trace.jobs["name"]) == expected
    for name in ("out.csv", "out.parquet"):
        written, profiles = write_trace(trace, tmp_path / name)
        pd.testing.assert_frame_equal(read_trace(written).jobs, trace.jobs, check_exact=True)
        again = read_profiles(str(profiles), 1)
        pd.testing.assert_frame_equal(again, trace.profiles, check_exact=True)


def test_one_file_packed_and_plain_are_two_machines(tmp_path: Path) -> None:
    """Two programs of one name would be one with the samples of both."""
    folder = tmp_path / "rnd"
    put(folder, "a.csv")
    (folder / "a.csv.xz").write_bytes(lzma.compress((HEAD + ROWS).encode()))
    trace = read_trace(folder)
    assert trace.jobs["name"].tolist() == ["a", "a.csv.xz"]
    assert trace.jobs["cpu_ms"].tolist() == [pytest.approx(405_000.001)] * 2


def test_a_machine_that_is_wrong_is_named_in_one_line(tmp_path: Path) -> None:
    put(tmp_path / "rnd", "a\nb.csv", row(1_375_308_000, 2, "ten", 5, 0, 0))
    with pytest.raises(InputError) as caught:
        read_trace(tmp_path / "rnd")
    assert caught.value.problems[0].splitlines() == [caught.value.problems[0]]
    assert r"a\nb.csv', line 2: CPU usage [%] = 'ten': allowed: a number" in caught.value.problems[0]
