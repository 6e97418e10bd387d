"""A trace's jobs as our CSV or as Parquet, written in one move."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.whole_files import in_one_move
from cluster_abm.workload.traces.table import COLUMNS, WORD_COLUMNS, Trace

NO_CPU = "says no CPU times, and our columns need CPU times"
# Format -> where its CPU times come from; those of other traces the run draws.
CPU_FROM = {"swim": "make them of its bytes by --cpu-ms-per-mb of `trace convert`"}
RUN_IT = "run it as it is, with workload.cpu_ms, by which they are drawn"
ROWS = 50_000  # written at once
CSV_ENDINGS = (".csv", ".csv.gz", ".csv.xz")


def write_trace(trace: Trace, path: Path) -> list[Path]:
    """Write the jobs as Parquet if the name ends in .parquet, else as CSV; return what was written.

    What the trace's programs do, if it says that, goes into a second file beside it, NAME.profiles.csv, which
    `workload.programs.file` reads.

    Raises InputError: as write_csv does; or the trace says no CPU times.
    """
    path = Path(path)
    if "cpu_ms" not in trace.table:
        raise InputError(f"{trace.file}: {NO_CPU}: {CPU_FROM.get(trace.format, RUN_IT)}")
    if path.name.lower().endswith(".parquet"):
        write_parquet(trace, path)
    else:
        write_csv(trace, path)
    if trace.profiles is None:
        return [path]
    name = path.name
    for ending in (".parquet", *reversed(CSV_ENDINGS)):
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
            break
    beside = path.with_name(f"{name}.profiles.csv")
    with in_one_move(beside) as partial:
        # csv.QUOTE_NONNUMERIC: outside of quotes # begins a remark.
        quoting: Literal[0, 2] = 2 if trace.profiles["program"].str.contains("#").any() else 0
        trace.profiles.to_csv(partial, index=False, lineterminator="\n", quoting=quoting)
    return [path, beside]


def write_parquet(trace: Trace, path: Path) -> None:
    """Write the jobs as Parquet with a checksum a page; reading it gives them back to the bit.

    Raises InputError: the file cannot be written, or the trace holds several runs and none is chosen.
    """
    import pyarrow as pa
    from pyarrow import parquet

    jobs = trace.jobs
    # Without what pandas says of itself: equal jobs give equal bytes, whatever wrote them.
    table = pa.Table.from_pandas(jobs, preserve_index=False).replace_schema_metadata(None)
    with in_one_move(path) as partial:
        parquet.write_table(table, partial, write_page_checksum=True)


def write_csv(trace: Trace, path: Path) -> None:
    """Write the jobs as our CSV, compressed if the name ends in .gz or .xz; reading it gives them back to the digit.

    What is there already stays as it is until all is written.

    Raises InputError: the file cannot be written, or the trace holds several runs and none is chosen.
    """
    if not str(path).lower().endswith(CSV_ENDINGS):
        raise InputError(
            f"{path}: what is written is CSV or Parquet: the name must end in .csv, .csv.gz, .csv.xz or .parquet"
        )
    jobs = trace.jobs
    with in_one_move(Path(path)) as partial, ExitStack() as stack:
        plain = stack.enter_context(partial.open("wb"))
        file: io.BufferedIOBase = plain
        suffix = Path(path).suffix.lower()
        if suffix == ".gz":
            # No name and no time inside: equal jobs give equal bytes.
            file = stack.enter_context(gzip.GzipFile("", "wb", 9, plain, mtime=0))
        elif suffix == ".xz":
            file = stack.enter_context(lzma.LZMAFile(plain, "wb"))
        file.write((",".join(jobs.columns) + "\n").encode())
        for block in _blocks(jobs):
            file.write(block)


def _blocks(jobs: pd.DataFrame) -> Iterator[bytes]:
    for begin in range(0, len(jobs), ROWS):
        part = jobs.iloc[begin : begin + ROWS]
        columns = []
        for name in part.columns:
            if name in WORD_COLUMNS:
                columns.append([_quoted(word) for word in part[name].tolist()])
            else:
                columns.append([_spelled(value, COLUMNS[name].whole) for value in part[name].tolist()])
        yield ("\n".join(map(",".join, zip(*columns, strict=True))) + "\n").encode()


def _spelled(value: float, whole: bool) -> str:
    """Shortest text that reads back as the same number; blank for NaN."""
    if np.isnan(value):
        return ""
    return str(int(value)) if whole else repr(value)


def _quoted(word: str) -> str:
    """Return the word as a cell. Python's own writer leaves a single carriage return bare, and cannot read it back."""
    if "\0" in word:
        raise InputError(f"{word[:40]!r}: a NUL in a word: no text file may hold it; Parquet may")
    if any(mark in word for mark in ',"\r\n'):
        return '"' + word.replace('"', '""') + '"'
    return word
