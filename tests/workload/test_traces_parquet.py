"""Parquet of our columns: to the bit, and files that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import read_trace, write_parquet
from cluster_abm.workload.traces.formats import parquet as module


def put(folder: Path, columns: dict[str, object], name: str = "a.parquet") -> Path:
    path = folder / name
    parquet.write_table(pa.table(columns), path)
    return path


def refused(path: Path, **options: object) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_trace(path, **options)  # type: ignore[arg-type]
    assert all(str(path) in problem for problem in caught.value.problems)
    return caught.value.problems


def test_what_is_written_is_read_to_the_bit_whatever_the_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    text = tmp_path / "jobs.csv"
    lines = [f"{at!r},{cpu!r},{'' if row % 3 else 0.1},n {row % 7},j{row},{f'j{row - 1}' if row % 2 else ''}"
             for row, (at, cpu) in enumerate(zip(np.sort(random.random(500)).tolist(), random.random(500).tolist(),
                                                 strict=True))]  # fmt: skip
    text.write_text("arrival_ms,cpu_ms,disk_mb,name,job,after\n" + "\n".join(lines) + "\n")
    trace = read_trace(text)
    write_parquet(trace, tmp_path / "jobs")
    monkeypatch.setattr(module, "ROWS", 64)  # several blocks
    again = read_trace(tmp_path / "jobs")
    assert (again.format, again.rows) == ("parquet", 500)
    pd.testing.assert_frame_equal(again.jobs, trace.jobs, check_exact=True)
    assert again.parents is not None
    np.testing.assert_array_equal(again.parents.parent, np.arange(0, 500, 2))


def test_whole_numbers_nulls_and_dictionaries_of_other_writers(tmp_path: Path) -> None:
    columns = {
        "cpu_ms": pa.array([5, 6], pa.int32()),
        "arrival_ms": pa.array([0, 1], pa.uint64()),
        "memory_mb": pa.array([None, 2.5], pa.float32()),
        "name": pa.array(["a", None]).dictionary_encode(),
    }
    jobs = read_trace(put(tmp_path, columns)).jobs
    assert jobs["cpu_ms"].tolist() == [5.0, 6.0]
    assert jobs["memory_mb"].isna().tolist() == [True, False]
    assert jobs["name"].tolist() == ["a", ""]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"arrival_ms": [0.0]}, "column 'cpu_ms' is missing"),
        ({"arrival_ms": [0.0], "cpu_ms": [1.0], "cpus": [1]}, "unknown column 'cpus'"),
        ({"arrival_ms": [0.0], "cpu_ms": ["1"]}, "column 'cpu_ms' is of type string: allowed: numbers"),
        ({"arrival_ms": [0.0], "cpu_ms": [[1.0]]}, "column 'cpu_ms' is of type list"),
        ({"arrival_ms": [0.0], "cpu_ms": [1.0], "name": [1]}, "column 'name' is of type int64: allowed: text"),
        ({"arrival_ms": [0.0, 1.0], "cpu_ms": [1.0, None]}, "row 2: cpu_ms = none: allowed: a number above 0"),
        ({"arrival_ms": [0.0, 1.0], "cpu_ms": [1.0, -3.0]}, "row 2: cpu_ms = '-3.0': allowed: a number above 0"),
        ({"arrival_ms": [2.0, 1.0], "cpu_ms": [1.0, 1.0]}, "row 2: arrival_ms = 1.0 goes back (2.0 before it"),
        ({"arrival_ms": [0.0], "cpu_ms": [1.0], "job": ["a b"]}, "row 1: job = 'a b': allowed: an id without spaces"),
        ({"arrival_ms": [0.0], "cpu_ms": [1.0], "after": ["a"]}, "column 'job' is missing"),
        ({"arrival_ms": pa.array([], pa.float64()), "cpu_ms": pa.array([], pa.float64())}, "no job, only columns"),
    ],
)
def test_what_is_refused(tmp_path: Path, columns: dict[str, object], words: str) -> None:
    assert words in refused(put(tmp_path, columns))[0]


def test_damaged_files_and_few_bytes_for_many_cells(tmp_path: Path) -> None:
    path = put(tmp_path, {"arrival_ms": np.arange(1000.0), "cpu_ms": np.ones(1000)})
    data = path.read_bytes()
    for part in (data[:-1], data[: len(data) // 2], data[:4], data[:4] + data[-20:]):
        path.write_bytes(part)
        assert "Parquet file damaged or cut off" in refused(path)[0]
    many = put(tmp_path, {"arrival_ms": np.zeros(300_000), "cpu_ms": np.ones(300_000)}, "b.parquet")
    assert many.stat().st_size < 2**20
    assert "600,000 cells take more than 1 MB: allowed up to 1 MB (--max-mb" in refused(many, max_mb=1)[0]


def test_a_flipped_bit_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("arrival_ms,cpu_ms\n" + "".join(f"{row},{row * 7 + 1}\n" for row in range(2000)))
    write_parquet(read_trace(path), tmp_path / "a.parquet")
    data = bytearray((tmp_path / "a.parquet").read_bytes())
    data[2000] ^= 0x10
    (tmp_path / "a.parquet").write_bytes(data)
    assert "Parquet file damaged" in refused(tmp_path / "a.parquet")[0]


@pytest.mark.parametrize("name", ["cpu_ms", "name", "other"])
def test_a_column_twice_is_named(tmp_path: Path, name: str) -> None:
    cells = {"cpu_ms": [7.0, 8.0], "name": ["a", "b"], "other": [1, 2]}
    columns = {"arrival_ms": [0.0, 1.0], "cpu_ms": [5.0, 6.0], name: cells[name]}
    names = [*columns, name]
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table([*map(pa.array, columns.values()), pa.array(cells[name])], names=names), path)
    problems = refused(path)
    known = name != "other"
    said = f"column named more than once: '{name}'" if known else "unknown column 'other'"
    assert len(problems) == 1
    assert said in problems[0]


@pytest.mark.parametrize("raised", [KeyError("x"), OverflowError("y\nz"), TypeError(), pa.ArrowInvalid("bad")])
def test_whatever_pyarrow_raises_of_a_damaged_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, raised: Exception
) -> None:
    path = put(tmp_path, {"arrival_ms": [0.0], "cpu_ms": [5.0]})

    def fail(data: bytes) -> None:
        raise raised

    monkeypatch.setattr(module, "_opened", fail)
    assert "Parquet file damaged or cut off: " in refused(path)[0]
