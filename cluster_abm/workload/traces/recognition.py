"""Which format a trace has, by what it begins with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.workload.text.lines import BYTE_ORDER_MARK
from cluster_abm.workload.traces.gwa import looks_like_gwa
from cluster_abm.workload.traces.hbd import looks_like_hbd
from cluster_abm.workload.traces.nextflow import looks_like_nextflow
from cluster_abm.workload.traces.parquet_trace import MAGIC
from cluster_abm.workload.traces.sacct import looks_like_sacct
from cluster_abm.workload.traces.swf_lines import FIELDS
from cluster_abm.workload.traces.swim import looks_like_swim
from cluster_abm.workload.traces.table import COLUMNS, WORD_COLUMNS, number

# What each format begins with, in words.
BEGINNINGS = {
    "csv": "a header line of our CSV (arrival_ms,cpu_ms,...)",
    "swf": f"remarks (;) or lines of {FIELDS} numbers of an SWF log",
    "hbd": "the header run,host,submit_s,cpu_s of Harchol-Balter and Downey's runs",
    "nextflow": "a header with realtime, %cpu, rchar, ... of Nextflow's or Lotaru's table",
    "wfformat": "{ of a workflow in WfFormat (JSON)",
    "swim": "lines of job0, two times and three numbers of bytes, with tabs (SWIM)",
    "sacct": "a header with JobID, State, Submit, ... and | between them of Slurm's `sacct -P`",
    "gwa": "a header with Timestamp [ms]; CPU cores; ... of a virtual machine of GWA-T-12",
    "parquet": "the bytes PAR1 of a Parquet file (of our CSV's columns)",
}
FORMATS = tuple(BEGINNINGS)
BY_NAME = {".swf": "swf", ".csv": "csv"}
SHOWN_LINE = 50
LONGEST_HEAD = 100_000  # bytes of the first line that are looked at


def beginning(blocks: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """What a file begins with, without blank lines and a byte-order mark, and all its blocks again."""
    seen, size = [], 0
    for block in blocks:
        seen.append(block)
        size += len(block)
        if size >= LONGEST_HEAD:
            break
    return b"".join(seen).removeprefix(BYTE_ORDER_MARK).lstrip(), chain(seen, blocks)


def format_of(head: bytes, where: str) -> str:
    """The format of a file that begins with `head`; by the name (.swf, .csv) if the beginning tells nothing.

    Raises InputError: neither tells it; says what was looked for.
    """
    found = _by_content(head) or _by_name(where)
    if found is None:
        if not head:
            raise InputError(f"{shown(where)}: empty")
        looked_for = "; ".join(f"{format}: {words}" for format, words in BEGINNINGS.items())
        raise InputError(
            f"{shown(where)}: format not recognised: it begins with {_shown(first_line(head))}: allowed is what "
            f"begins as one of these does, or a format given (--format, workload.trace.format): {looked_for}"
        )
    return found


def separator_of(head: bytes) -> str:
    """What stands between the names of a header that has tabs or commas."""
    return "\t" if "\t" in first_line(head) else ","


def first_line(head: bytes) -> str:
    """The first line of a file, as far as it is of use here."""
    line = head[:LONGEST_HEAD].replace(b"\r", b"\n").partition(b"\n")[0]
    return line.decode(errors="replace").strip(" ")


def _by_content(head: bytes) -> str | None:
    if head.startswith(MAGIC):
        return "parquet"
    if head.startswith(b"{"):
        return "wfformat"
    line = first_line(head)
    if line.startswith(";") or _numbers(line.split()) >= FIELDS:
        return "swf"
    if looks_like_sacct(line.split("|")):
        return "sacct"
    if looks_like_gwa(line.split(";")):
        return "gwa"
    names = [name.strip().strip('"') for name in line.split(separator_of(head))]
    if looks_like_swim(line.split("\t")):
        return "swim"
    if looks_like_nextflow(names):
        return "nextflow"
    if looks_like_hbd(names):
        return "hbd"
    return "csv" if sum(name in (*COLUMNS, *WORD_COLUMNS) for name in names) >= 2 else None


def _numbers(words: list[str]) -> int:
    """How many words there are if all are numbers, else 0."""
    return len(words) if all(number(word) == number(word) for word in words) else 0


def _by_name(where: str) -> str | None:
    name = where.lower()
    return BY_NAME.get(Path(name.removesuffix(".gz").removesuffix(".xz")).suffix)


def _shown(line: str) -> str:
    """The begin of a line for messages: escapes of what is not printed are long."""
    return repr(line[:SHOWN_LINE])[: 2 * SHOWN_LINE]
