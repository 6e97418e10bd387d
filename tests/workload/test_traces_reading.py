"""Opening trace files: formats by name and header, compression, and files that are not what they seem."""

from __future__ import annotations

import gzip
import lzma
import os
from pathlib import Path

import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import read_trace

CSV = b"arrival_ms,cpu_ms\n0,5\n1,6\n"
SWF = b"; MaxRecords: 1\n1 0 5 100 4 80 -1 4 200 -1 1 1 1 1 1 1 -1 -1\n"
HBD = b"run,host,submit_s,cpu_s\n0,0,0,5\n"


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def message(path: Path, **options: object) -> str:
    with pytest.raises(InputError) as caught:
        read_trace(path, **options)
    assert str(path) in caught.value.problems[0]
    return caught.value.problems[0]


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("a.csv", CSV, "csv"),
        ("A.CSV", CSV, "csv"),
        ("a.swf", SWF, "swf"),
        ("a.csv.gz", gzip.compress(CSV, mtime=0), "csv"),
        ("a.csv.xz", lzma.compress(CSV), "csv"),
        ("a.swf.xz", lzma.compress(SWF), "swf"),
        ("a.SWF.GZ", gzip.compress(SWF, mtime=0), "swf"),
        ("a.csv", HBD, "hbd"),
        ("a.csv.xz", lzma.compress(HBD), "hbd"),
        ("a.csv", gzip.compress(CSV, mtime=0), "csv"),  # compressed although the name does not say so
    ],
)
def test_format_and_compression_by_name_and_content(tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    trace = read_trace(put(tmp_path, name, data))
    assert trace.format == expected
    assert trace.jobs["cpu_ms"].iloc[0] == {"csv": 5.0, "swf": 80_000.0, "hbd": 5000.0}[expected]
    assert trace.file == str(tmp_path / name)


@pytest.mark.parametrize(("data", "format"), [(CSV, "csv"), (SWF, "swf"), (HBD, "hbd")])
def test_a_given_format_overrules_the_name(tmp_path: Path, data: bytes, format: str) -> None:
    assert read_trace(put(tmp_path, "log.txt", data), format=format).format == format


def test_names_and_formats_that_tell_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, "log.txt", CSV)
    assert "allowed .csv or .swf" in message(path)
    assert "format = 'json': allowed csv, swf, hbd" in message(path, format="json")


@pytest.mark.parametrize("name", ["a.csv", "a.swf"])
def test_a_run_where_there_is_only_one(tmp_path: Path, name: str) -> None:
    path = put(tmp_path, name, CSV if name == "a.csv" else SWF)
    assert "run = 0" in message(path, run=0)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_compressed_files_cut_off_or_damaged(tmp_path: Path, pack: object) -> None:
    suffix = ".gz" if pack is gzip.compress else ".xz"
    packed = pack(CSV * 50)  # type: ignore[operator]
    for cut in (len(packed) - 1, len(packed) // 2, 12):
        assert "damaged or cut off" in message(put(tmp_path, f"a.csv{suffix}", packed[:cut]))
    # The checksum lies eight bytes before the end of a gzip file; an xz file ends in a marker of its own.
    broken = bytearray(packed)
    broken[-8] ^= 0xFF
    assert "damaged or cut off" in message(put(tmp_path, f"a.csv{suffix}", bytes(broken)))


@pytest.mark.parametrize("suffix", [".gz", ".xz"])
def test_names_that_promise_compression(tmp_path: Path, suffix: str) -> None:
    assert "not compressed" in message(put(tmp_path, f"a.csv{suffix}", CSV))
    assert "empty file" in message(put(tmp_path, f"b.csv{suffix}", b""))


@pytest.mark.parametrize("name", ["a.csv", "a.swf"])
def test_files_that_are_no_text(tmp_path: Path, name: str) -> None:
    assert "not a text file" in message(put(tmp_path, name, b"PK\x03\x04\x00\x00\x08\x00rest"))
    assert "not a text file" in message(put(tmp_path, name, CSV.decode().encode("utf-16")))
    assert "empty" in message(put(tmp_path, name, b""))


def test_a_csv_must_be_utf_8(tmp_path: Path) -> None:
    data = "arrival_ms,cpu_ms,name\n0,5,é\n".encode("latin-1")
    # Byte 27: 23 of the header line with its end, then `0,5,`.
    assert "not a text file (byte 27)" in message(put(tmp_path, "a.csv", data))


def test_no_such_file_and_a_folder(tmp_path: Path) -> None:
    assert "cannot be read: No such file" in message(tmp_path / "none.csv")
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "cannot be read" in message(folder)


def test_a_file_written_anew_is_read_anew(tmp_path: Path) -> None:
    path = put(tmp_path, "a.csv", CSV)
    before = read_trace(path)
    times = path.stat().st_mtime_ns
    put(tmp_path, "a.csv", CSV.replace(b"0,5", b"0,7"))  # same size and, below, same time
    os.utime(path, ns=(times, times))
    assert read_trace(path).jobs["cpu_ms"].tolist() == [7.0, 6.0]
    assert before.jobs["cpu_ms"].tolist() == [5.0, 6.0]
