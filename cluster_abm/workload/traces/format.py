"""What describes a format of trace files: how a file of it begins, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from cluster_abm.bounded_files import Limit, shown
from cluster_abm.found_modules import TRACE_FORMATS
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.parts.log_reading import PLAIN_READING, LogReading
from cluster_abm.workload.traces.table import Trace

LONGEST_HEAD = 100_000  # bytes of the first line that are looked at


@dataclass(frozen=True)
class Head:
    """What a file begins with."""

    data: bytes  # the bytes, without blank lines and a byte-order mark

    @cached_property
    def line(self) -> str:
        """The first line, as far as it is of use here."""
        line = self.data[:LONGEST_HEAD].replace(b"\r", b"\n").partition(b"\n")[0]
        return line.decode(errors="replace").strip(" ")

    @property
    def separator(self) -> str:
        """What stands between the names of a header that has tabs or commas."""
        return "\t" if "\t" in self.line else ","

    @property
    def names(self) -> list[str]:
        """The names in a header that has tabs or commas."""
        return [name.strip().strip('"') for name in self.line.split(self.separator)]


@dataclass
class OpenTrace:
    """A trace file that is open, unpacked."""

    head: Head  # what it begins with
    blocks: Iterator[bytes]  # all its bytes; `lines`, `cells` or `data` takes them, once
    path: str  # the file, as it was given
    limit: Limit  # how much it may hold
    run: int | None = None  # which run of several is asked for
    reading: LogReading = PLAIN_READING  # how fields are read where the format leaves a choice
    needs_ids: bool = False  # whether jobs get the column `job` in any case: a sample chooses by their ids

    @property
    def where(self) -> str:
        """The file's name for messages."""
        return shown(self.path)

    @cached_property
    def lines(self) -> Lines:
        """The lines of a file of text."""
        return Lines(self.blocks, self.where)

    @property
    def data(self) -> bytes:
        """The whole file."""
        return b"".join(self.blocks)

    @property
    def lacks_line_end(self) -> bool:
        """Whether lines were read, the last of which has no end."""
        return "lines" in vars(self) and not self.lines.ended

    def cells(self, kind: str = "job", **form: Any) -> CsvCells:
        """The cells of a file of text; arguments as of `CsvCells`."""
        return CsvCells(self.lines, kind, **form)


@dataclass(frozen=True)
class TraceFormat:
    """A format of trace files."""

    title: str  # what it is called, where one reads of it; its name is that of its module
    row: str  # what a row of a file is
    begins: str  # what a file begins with, in words
    rank: int  # formats are tried by their rank, the smallest first: a file may begin as several of them do
    looks_like: Callable[[Head], bool]  # whether a file is of this format, by what it begins with
    trace: Callable[[OpenTrace], Trace]  # reads an open file
    lacks: str = ""  # what the files do not say, in words
    # columns that its files may have, where they have a header: what tells which format a strange file is nearest to
    names: tuple[str, ...] = ()
    # file names with these are taken to be of this format if the beginning tells nothing
    endings: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()  # the fields of `LogReading` that `trace` looks at
    # whether it is a log of a batch system, whose jobs run for minutes and hours
    is_batch: bool = False
    has_runs: bool = False  # whether a file may hold several runs
    # reads a folder of files of this format; None: a trace is one file
    folder: Callable[[Path, Limit], Trace] | None = None


@cache
def formats() -> Mapping[str, TraceFormat]:
    """The formats, in the order in which they are tried, by name."""
    found = {name: import_module(f"{__package__}.formats.{name}").FORMAT for name in TRACE_FORMATS}
    return dict(sorted(found.items(), key=lambda one: one[1].rank))
