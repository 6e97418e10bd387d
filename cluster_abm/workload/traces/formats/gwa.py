"""GWA-T-12: a virtual machine in a file, or a folder of them, a file each, as one trace."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from cluster_abm.bounded_files import MEGABYTE, Limit, digest, opened, shown, unpacked
from cluster_abm.errors import InputError, reason_of
from cluster_abm.workload.text.csv_cells import CsvCells
from cluster_abm.workload.text.lines import Lines
from cluster_abm.workload.traces.format import TraceFormat
from cluster_abm.workload.traces.mapping.folders import natural
from cluster_abm.workload.traces.table import Trace
from cluster_abm.workload.traces.virtual_machines import NAMES, VirtualMachine, gwa_trace, looks_like_gwa, machine

ENDINGS = re.compile(r"\.csv(\.(gz|xz))?$", re.IGNORECASE)


@dataclass(frozen=True)
class _Folder:
    """The files of a folder, known by what is in them."""

    files: tuple[Path, ...]
    others: int
    digests: tuple[str, ...] = ()
    limit: Limit = field(default=Limit(0, ""))


def read_folder(path: Path, limit: Limit) -> Trace:
    """The trace of all virtual machines in a folder: files that end in .csv, .csv.gz or .csv.xz, in natural order.

    Raises InputError: no such file in it, one that cannot be read or is no virtual machine, or too much in all.

    Args:
        limit: what the files together may hold, unpacked.
    """
    files, others = machine_files(path)
    digests = []
    for name in files:
        with opened(name) as file:
            digests.append(digest(file, name, limit))
    return _parsed(_Folder(tuple(files), others, tuple(digests), limit), shown(path))


def machine_files(path: Path) -> tuple[list[Path], int]:
    """The files of virtual machines in a folder, in natural order, and how many others there are.

    Raises InputError: the folder cannot be read, or holds none.
    """
    try:
        there = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
        files = sorted((entry for entry in there if ENDINGS.search(entry.name) and not entry.is_dir()), key=natural)
    except OSError as problem:
        raise InputError(f"{shown(path)}: cannot be read: {reason_of(problem)}") from None
    if not files:
        raise InputError(
            f"{shown(path)}: cannot be read: a folder without files of virtual machines (.csv, .csv.gz, .csv.xz); a "
            "file is needed, or a folder of GWA-T-12"
        )
    return files, len(there) - len(files)


def vm_in(lines: Lines, path: str | Path) -> VirtualMachine:
    """The virtual machine in a file, named like it."""
    return machine(CsvCells(lines, "sample", between=";", quoted=False), program_name(Path(path).name))


def program_name(file: str) -> str:
    """What the program of a virtual machine is called, by the name of its file: a text of one line that UTF-8 can
    write, without blanks around it. Anything else stands in it as Python spells it, say \\xff."""
    name = (ENDINGS.sub("", file).strip() or file.strip()).encode("utf-8", "surrogateescape")
    text = name.decode("utf-8", "backslashreplace")
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


@lru_cache(maxsize=2)  # a study reads the same folder for every seed and policy
def _parsed(folder: _Folder, where: str) -> Trace:
    trace = gwa_trace(_machines(folder, where), where)
    if not folder.others:
        return trace
    return replace(trace, noted=trace.noted | {"other files of the folder, not read": folder.others})


def _machines(folder: _Folder, where: str) -> Iterator[VirtualMachine]:
    left = folder.limit.mb * MEGABYTE
    taken: set[str] = set()

    def counted(blocks: Iterator[bytes]) -> Iterator[bytes]:
        nonlocal left
        for block in blocks:
            left -= len(block)
            if left < 0:
                raise InputError(
                    f"{shown(where)}: more than {folder.limit.mb:,} MB in all, unpacked: allowed up to "
                    f"{folder.limit.mb:,} MB ({folder.limit.raised_by})"
                )
            yield block

    for name in folder.files:
        with opened(name) as file:
            lines = Lines(counted(unpacked(file, name, folder.limit)), shown(name))
            vm = vm_in(lines, name)
        # a.csv and a.csv.xz are two machines.
        unlike = next(spelling for spelling in _spellings(vm.name, name) if spelling not in taken)
        taken.add(unlike)
        vm = replace(vm, name=unlike)
        if not lines.ended:
            vm = replace(vm, noted=vm.noted | {"last line without a line end (cut off?)": 1})
        yield vm


def _spellings(name: str, file: Path) -> Iterator[str]:
    """Names for a machine, the shortest first, never the same."""
    yield name
    ending = ENDINGS.search(file.name)
    yield name + (ending[0] if ending else "")
    yield from (f"{name} ({number})" for number in itertools.count(2))


FORMAT = TraceFormat(
    title="GWA-T-12 (Bitbrains)",
    row="a sample of a virtual machine",
    lacks="homes, accesses",
    begins="a header with Timestamp [ms]; CPU cores; ... of a virtual machine of GWA-T-12",
    rank=5,
    names=NAMES,
    looks_like=lambda head: looks_like_gwa(head.line.split(";")),
    trace=lambda file: gwa_trace([vm_in(file.lines, file.path)], file.where),
    folder=read_folder,
)
