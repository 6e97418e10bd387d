"""A trace's jobs as our CSV, written in blocks and in one move."""

from __future__ import annotations

import gzip
import io
import lzma
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.whole_files import in_one_move
from cluster_abm.workload.traces.table import COLUMNS, WORD_COLUMNS, Trace

ROWS = 50_000  # written at once


def write_csv(trace: Trace, path: Path) -> None:
    """Write the jobs as our CSV, compressed if the name ends in .gz or .xz; reading it gives them back to the digit.

    What is there already stays as it is until all is written.

    Raises:
        InputError: the file cannot be written, or the trace holds several runs and none is chosen.
    """
    if not str(path).lower().endswith((".csv", ".csv.gz", ".csv.xz")):
        raise InputError(f"{path}: what is written is CSV: the name must end in .csv, .csv.gz or .csv.xz")
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
    if any(mark in word for mark in ',"\r\n'):
        return '"' + word.replace('"', '""') + '"'
    return word
