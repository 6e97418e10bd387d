"""A file of which no format is known gets one line: what it looks like, what is nearest, the page."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.workload.traces import read_trace

PODS = "a,b,creation_time,cpu_milli,gpu,user,job,other\n1,2,3,4,5,6,7,8\n"


def told(folder: Path, data: bytes | str, name: str = "log", **options: object) -> str:
    path = folder / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(InputError) as problem:
        read_trace(path, **options)  # type: ignore[arg-type]
    assert len(problem.value.problems) == 1
    return str(problem.value).removeprefix(f"{folder}/")


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        (PODS, "a table of 8 columns (a, b, creation_time, cpu_milli, gpu, user, ...), with commas between"),
        (PODS.replace(",", "\t"), "a table of 8 columns (a, b, creation_time, cpu_milli, gpu, user, ...), with tabs"),
        ('"x, y";"z"\n1;2\n', "a table of 2 columns (x, y, z), with semicolons between"),
        ("1,2,3\n4,5,6\n", "a table of 3 columns with commas, and no header: '1,2,3'"),
        ("a:b:c:d:e:f:g:h:i:j\n", "a table of 10 columns (a, b, c, d, e, f, ...), with colons between"),
        ("1 2.5  3\n", "numbers with blanks between, 3 on the first line"),
        ('{"b": 1}\n{"a": 2}\n', "JSON lines with 2 names (a, b)"),
        ('{"b": {\n"a": 2}}\n', "JSON with 2 names (a, b)"),
        ("[1, 2]\n", "JSON without names"),
    ],
)
def test_tables_are_named_with_the_way_on(tmp_path: Path, data: str, looks: str) -> None:
    line = told(tmp_path, data)
    assert line.startswith(f"log: format not recognised: {looks}")
    assert line.endswith("/log --guess` proposes a map of its columns (docs/reference/maps.md)")


@pytest.mark.parametrize(
    ("data", "looks"),
    [
        ("once upon a time\n", "it begins with 'once upon a time'"),
        ("at 10:00 it was late\n", "it begins with 'at 10:00 it was late'"),
        ("<html><body>\n", "XML or HTML: it begins with '<html><body>'"),
        (b"\x89PNG\r\n\x1a\n", "not a text file: it begins with"),
        (b"a\0b\n", "not a text file: it begins with"),
        (b"PK\x03\x04xyz", "not a text file, but a zip archive: unpack it"),
        (b"BZh91AY", "not a text file, but one packed by bzip2: unpack it"),
    ],
)
def test_what_is_no_table_is_named_with_the_page_of_formats(tmp_path: Path, data: bytes | str, looks: str) -> None:
    line = told(tmp_path, data)
    assert line.startswith(f"log: format not recognised: {looks}")
    assert line.endswith("; what is read: docs/reference/traces.md")


@pytest.mark.parametrize(
    ("header", "nearest"),
    [
        ("arrival_ms;cpu_ms;x", "csv (our CSV), with 2 of its names"),
        ("ARRIVAL_MS,CPU_MS", "csv (our CSV), with 2 of its names"),
        ("duration,cpus,rss,hash", "nextflow (Nextflow's `trace.txt`, Lotaru's table), with 4 of its names"),
        ("state|submit|start|end", "sacct (Slurm, `sacct -P` or `--json`), with 4 of its names"),
        ("submit,run,host,x,y,z,a", ""),
    ],
)
def test_the_nearest_by_names_in_common(tmp_path: Path, header: str, nearest: str) -> None:
    line = told(tmp_path, f"{header}\n", "log.csv")
    assert (f"; nearest: {nearest};" in line) if nearest else "nearest:" not in line


def test_a_foreign_table_that_is_forced_to_be_ours(tmp_path: Path) -> None:
    assert told(tmp_path, PODS, format="csv").startswith("log: a table of 8 columns (a, b, ")
    held = io.BytesIO()
    pd.DataFrame({"user": [1], "job": [2], "x": [3]}).to_parquet(held)
    assert "3 columns (user, job, x): no columns of ours; nearest: csv" in told(tmp_path, held.getvalue())


def test_ours_with_a_name_misspelt_is_told_where(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,cpu_ms,memroy_mb\n0,1,2\n")
    with pytest.raises(InputError, match=r"unknown column 'memroy_mb' \(did you mean 'memory_mb'\?\)"):
        read_trace(path)
