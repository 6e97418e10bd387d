"""Which formats there are, and which of them a trace has, by what it begins with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.found_modules import TRACE_FORMATS
from cluster_abm.workload.text.lines import BYTE_ORDER_MARK
from cluster_abm.workload.traces.format import LONGEST_HEAD, Head, TraceFormat

SHOWN_LINE = 50


@cache
def formats() -> Mapping[str, TraceFormat]:
    """The formats, in the order in which they are tried, by name."""
    found = {name: import_module(f"{__package__}.formats.{name}").FORMAT for name in TRACE_FORMATS}
    return dict(sorted(found.items(), key=lambda one: one[1].rank))


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
    """The format of a file that begins like that; by its name (.swf, .csv) if the beginning tells nothing.

    Raises InputError: neither tells it; says what was looked for.
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
    looked_for = "; ".join(f"{name}: {one.begins}" for name, one in sorted(formats().items()))
    raise InputError(
        f"{shown(where)}: format not recognised: it begins with {_shown(head.line)}: allowed is what "
        f"begins as one of these does, or a format given (--format, workload.trace.format): {looked_for}"
    )


def _shown(line: str) -> str:
    """The begin of a line for messages: escapes of what is not printed are long."""
    return repr(line[:SHOWN_LINE])[: 2 * SHOWN_LINE]
