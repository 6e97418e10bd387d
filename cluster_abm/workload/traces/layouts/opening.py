"""Which layout a file has, and its table."""

from __future__ import annotations

import json
import re
from importlib import import_module
from itertools import chain

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import TableLayout
from cluster_abm.workload.text.lines import BYTE_ORDER_MARK
from cluster_abm.workload.text.separators import most_often
from cluster_abm.workload.traces.layouts.blocks import Column, Source, Table

HEAD = 100_000  # bytes that are looked at
ATTRIBUTE = re.compile(r"[A-Za-z_]\w* = \S")  # of HTCondor


def opened_table(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table of a file; the first lines decide what its layout does not say.

    Raises InputError: as the layout's `read` does; or the file is empty.
    """
    seen, size = [], 0
    for block in source.blocks:
        seen.append(block)
        size += len(block)
        if size >= HEAD:
            break
    head = b"".join(seen)
    if not head.strip():
        raise InputError(f"{shown(source.where)}: empty")
    complete = completed_by(head[:HEAD], layout)
    kind = str(complete.kind).replace("-", "_")
    module = import_module(f"{__package__}.{kind}")
    found: Table = module.read(Source(chain(seen, source.blocks), source.where, source.path), complete, needed)
    return found


def completed_by(head: bytes, layout: TableLayout) -> TableLayout:
    """The layout with its kind and separator, from the first bytes where it does not say them."""
    kind, separator = layout.kind, layout.separator
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    line = text.partition(b"\n")[0].decode(errors="replace").rstrip("\r")
    if kind is None:
        if head.startswith(b"PAR1"):
            kind = "parquet"
        elif text.startswith(b"***") or ATTRIBUTE.match(line):
            kind = "attributes"
        elif text.startswith(b"["):
            kind = "json"
        elif text.startswith(b"{"):
            kind = "json-lines" if _is_object(line) else "json"
        else:
            kind = "table"
    if kind == "table" and separator is None:
        separator, count = most_often(line)
        if not count and len(line.split()) > 1:
            kind, separator = "blanks", None
    return layout.model_copy(update={"kind": kind, "separator": separator})


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
