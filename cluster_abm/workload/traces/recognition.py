"""Which format a trace has, by what it begins with."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.found_modules import TRACE_FORMATS, TRACE_MAPS
from cluster_abm.scenario.columns import shipped_maps
from cluster_abm.workload.text.lines import BYTE_ORDER_MARK
from cluster_abm.workload.traces.format import LONGEST_HEAD, Head, formats
from cluster_abm.workload.traces.unknown import unknown_file


def is_batch(kind: str) -> bool:
    """Whether a format or a map reads logs of batch systems; a map of the user's does not say it."""
    if kind in TRACE_FORMATS:
        return formats()[kind].is_batch
    return kind in TRACE_MAPS and shipped_maps()[kind].about.batch


def beginning(blocks: Iterator[bytes]) -> tuple[Head, Iterator[bytes]]:
    """What a file begins with, and all its blocks again."""
    seen, size = [], 0
    for block in blocks:
        seen.append(block)
        size += len(block)
        if size >= LONGEST_HEAD:
            break
    return Head(b"".join(seen).removeprefix(BYTE_ORDER_MARK).lstrip()), chain(seen, blocks)


def format_of(head: Head, where: str) -> str:
    """The format of a file that begins like that; by its name (.swf) if the beginning tells nothing.

    Raises InputError: neither tells it; says what it looks like.
    """
    for name, one in formats().items():
        if one.looks_like(head):
            return name
    ending = Path(where.lower().removesuffix(".gz").removesuffix(".xz")).suffix
    for name, one in formats().items():
        if ending in one.endings:
            return name
    if not head.data:
        raise InputError(f"{shown(where)}: empty")
    raise unknown_file(head, where)
