"""Opening trace files: formats by name and header, compression, and files that are not what they seem."""

from __future__ import annotations

import gzip
import lzma
import os
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces import read_trace
from cluster_abm.workload.traces.formats.csv import csv_trace
from cluster_abm.workload.traces.swf_lines import read_log

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


@pytest.mark.parametrize(("data", "expected"), [(CSV, "csv"), (SWF, "swf"), (HBD, "hbd")])
@pytest.mark.parametrize("name", ["log.txt", "log", "log.csv", "log.swf"])
def test_content_tells_the_format_whatever_the_name(tmp_path: Path, name: str, data: bytes, expected: str) -> None:
    assert read_trace(put(tmp_path, name, data)).format == expected
    assert read_trace(put(tmp_path, name, b"\xef\xbb\xbf\n" + data)).format == expected


def test_contents_and_formats_that_tell_nothing(tmp_path: Path) -> None:
    path = put(tmp_path, "log.txt", b"once upon a time\n")
    assert "format not recognised: it begins with 'once upon a time'" in message(path)
    assert "what is read: docs/reference/traces.md" in message(path)
    assert "empty" in message(put(tmp_path, "log.txt", b""))
    assert "format = 'json': allowed csv, gwa, hbd" in message(path, format="json")


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


@pytest.mark.slow
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_a_trace_has_a_limit_that_can_be_raised(tmp_path: Path, pack: object) -> None:
    path = put(tmp_path, "a.csv", pack(CSV + b"2,6\n" * 300_000))  # type: ignore[operator]
    assert "more than 1 MB, unpacked: allowed up to 1 MB (--max-mb" in message(path, max_mb=1)
    assert read_trace(path, max_mb=2).rows == 300_002
    assert "more than 1 MB" in message(path, max_mb=1)  # known or not


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "x" * 5000, "a\0b.csv"])
def test_what_is_no_file(name: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_trace(Path(name), format="csv")


def test_a_pipe_is_refused_where_a_trace_is_read_again_and_again(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.csv")
    assert "a pipe, which can be read only once" in message(tmp_path / "a.csv")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("a.csv", b"arrival_ms,cpu_ms" + b"," * 2_000_000, "the line at byte 0 is longer than 1,000,000 bytes"),
        ("a.csv", b"arrival_ms,cpu_ms" + b"," * 500_000, "line 1: 500,002 columns: allowed up to 100"),
        ("a.csv", CSV + b"1" * 1_000_001, "the line at byte 26 is longer than 1,000,000 bytes"),
        ("a.swf", SWF + b"1 " * 1_000_000, "is longer than 1,000,000 bytes"),
        ("a.csv", b"arrival_ms,cpu_ms\n" + b'"a\n",' * 800_000, "line 2: a row of more than 1,048,576 bytes"),
        ("a.csv", b'arrival_ms,cpu_ms\n0,"' + b"1\n" * 200_000, "line 2: not CSV"),
        ("a.csv", b"run,host,submit_s,cpu_s\n" + b"".join(b"%d,0,0,1\n" % run for run in range(1001)), "1,000 runs"),
        ("a.swf", b"; a: b\n" + b"; remark\n" * 3_000_000, "its header is longer than 16,000,000 bytes"),
    ],
)
def test_lines_columns_rows_runs_and_headers_have_bounds(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    assert words in message(put(tmp_path, name, data))


@pytest.mark.slow
def test_what_is_wrong_far_behind_is_found_by_its_line(tmp_path: Path) -> None:
    """Blocks, however a row is written: quotes, remarks and blank lines are read one by one, the rest at once."""
    rows = 300_000
    for odd, more in ((b"", 0), (b'"0",5\n', 1), (b"\n0,5\n", 2)):
        data = b"arrival_ms,cpu_ms\n" + odd + b"0,5.25\n" * rows
        trace = read_trace(put(tmp_path, "a.csv", data))
        assert trace.rows == rows + bool(odd)
        assert trace.jobs["cpu_ms"].sum() == 5.25 * rows + 5 * bool(odd)
        assert f"line {rows + 2 + more}: cpu_ms = '-7'" in message(put(tmp_path, "a.csv", data + b"0,-7\n"))
        assert f"line {rows + 2 + more}: 3 values" in message(put(tmp_path, "a.csv", data + b"0,7,8\n"))
        assert f"line {rows + 2 + more}: arrival_ms = 0.0 goes back (1.0 before it, 1 such rows)" in message(
            put(tmp_path, "a.csv", (data + b"0,5\n").replace(b"0,5.25\n0,5\n", b"1,5.25\n0,5\n"))
        )
        assert f"byte {len(data) + 2:,}" in message(put(tmp_path, "a.csv", data + b"0,\xff\n"))
    line = SWF.partition(b"\n")[2]
    for odd, more in ((b"", 0), (b"; remark\n\n", 2)):
        data = SWF + odd + line * 50_000
        assert read_trace(put(tmp_path, "a.swf", data)).rows == 50_001
        assert f"line {50_003 + more}: submit time = 'x'" in message(
            put(tmp_path, "a.swf", data + line.replace(b" 0 ", b" x ", 1))
        )
        assert f"line {50_003 + more}: 3 fields" in message(put(tmp_path, "a.swf", data + b"1 2 3\n"))


@pytest.mark.slow
@pytest.mark.parametrize(("rows", "said"), [
    (50_000, "a.csv: 49,990 more problems"), (500_000, "a.csv: more than 100,000 problems: not read further"),
])  # fmt: skip
def test_very_many_problems_are_counted_and_not_kept(tmp_path: Path, rows: int, said: str) -> None:
    with pytest.raises(InputError) as caught:
        read_trace(put(tmp_path, "a.csv", b"arrival_ms,cpu_ms\n" + b"0,x\n" * rows))
    assert len(caught.value.problems) == 11
    assert "line 11: cpu_ms = 'x'" in caught.value.problems[9]
    assert caught.value.problems[10].endswith(said)


@pytest.mark.slow
@pytest.mark.parametrize("row", [b"x\n", b"-,-\n", b"1,2,3\n", b'"x",1\n'])
def test_a_file_of_wrong_rows_is_not_read_to_its_end(row: bytes) -> None:
    block = row * (2**20 // len(row))
    taken = 0

    def blocks() -> Iterator[bytes]:
        nonlocal taken
        yield b"arrival_ms,cpu_ms\n"
        for _ in range(256):
            taken += 1
            yield block

    with pytest.raises(InputError, match="more than 100,000 problems: not read further"):
        csv_trace(CsvCells(Lines(blocks(), "a.csv")))
    assert taken < 3


def test_a_file_of_wrong_lines_of_a_log_is_not_read_to_its_end() -> None:
    blocks = iter([b"1 2 3\n" * 200_000] * 256)
    with pytest.raises(InputError, match="more than 100,000 problems: not read further"):
        read_log(Lines(blocks, "a.swf"))
    assert len(list(blocks)) > 250


def test_blank_lines_are_counted_block_by_block() -> None:
    blocks = [b"\n" * 1000, b"\r\n\r\n\r\n", b"\narrival_ms,cpu_ms\n", b"\n\r\n\r", b"\n", b"\n0,x\n"]
    with pytest.raises(InputError, match=r"a.csv, line 1010: cpu_ms = 'x'"):
        csv_trace(CsvCells(Lines(blocks, "a.csv")))
    cells = CsvCells(Lines([*blocks[:-1], b"\n0,5\n"], "a.csv"))
    assert [list(one.lines) for one in cells] == [[1010]]
    assert cells.blank_lines == 1008
    with pytest.raises(InputError, match=r"a\.csv: empty"):
        CsvCells(Lines(blocks[:2], "a.csv"))
    log = read_log(Lines([b"\n\n", b"\n" + SWF.partition(b"\n")[2]], "a.swf"))
    assert len(log.columns["run time"]) == 1


@pytest.mark.parametrize("quoted", [
    '"0","5"\n', '0,"5"\n"1",6\n', '"0",5\r\n', '"0\n",5\n', '0,"5"""\n', '"0",5\n\n', '0,5,"a,b"\n',
    ' "0",5\n', '"",5\n', '0,"5', '0,5"6"\n', '"0" ,5\n', '""0"",5\n', '"0","5\n"\n', '"0""",""",5"\n', '""",","""\n',
])  # fmt: skip
@pytest.mark.parametrize("block", [7, 2**20])
def test_quotes_that_nothing_needs_are_read_as_by_the_reader_of_rows(monkeypatch, quoted: str, block: int) -> None:
    """Whether a block is read at once or row by row, cells, lines and problems are the same."""
    names = "arrival_ms,cpu_ms\n" if ",5," not in quoted else "arrival_ms,cpu_ms,name\n"
    data = (names + ("3,4,n\n" if "name" in names else "3,4\n") + quoted).encode()

    def told() -> object:
        blocks = [data[at : at + block] for at in range(0, len(data), block)]
        try:
            cells = CsvCells(Lines(blocks, "a.csv"))
            rows = [(list(map(list, one.cells.values())), list(one.lines)) for one in cells]
            merged = [list(chain.from_iterable(part[0][at] for part in rows)) for at in range(len(cells.names))]
            cells.problems.refuse()
            return merged, [line for part in rows for line in part[1]], cells.blank_lines
        except InputError as problem:
            return problem.problems

    at_once = told()
    monkeypatch.setattr(CsvCells, "_regular", lambda *_: None)
    assert told() == at_once


@pytest.mark.parametrize("end", ["\r", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_of_other_systems_and_byte_order_marks(tmp_path: Path, end: str, mark: str) -> None:
    for name, data in (("a.csv", CSV), ("a.swf", SWF + SWF.partition(b"\n")[2])):
        text = mark + data.decode().replace("\n", end)
        expected = read_trace(put(tmp_path, name, data)).table
        assert read_trace(put(tmp_path, name, text.encode())).table.equals(expected)


@pytest.mark.parametrize("spelled", ["²", "٣", "1_000", "0x10", "nan", "inf", "1e999", "9" * 5000])
def test_what_only_some_readers_take_for_a_number_is_none(tmp_path: Path, spelled: str) -> None:
    problem = message(put(tmp_path, "a.csv", CSV + f"1,{spelled}\n".encode()))
    assert f"line 4: cpu_ms = {spelled[:40]!r}" in problem
    problem = message(put(tmp_path, "a.swf", SWF.replace(b" 5 100 ", f" 5 {spelled} ".encode())))
    assert f"line 2: run time = {spelled[:40]!r}" in problem
