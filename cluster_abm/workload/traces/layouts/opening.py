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
from cluster_abm.workload.traces.layouts.table import names_all

HEAD = 100_000  # bytes that are looked at
LINE = re.compile(rb"[^\r\n]+")
ATTRIBUTE = re.compile(r"[A-Za-z_]\w* = \S")  # of HTCondor


def opened_table(source: Source, layout: TableLayout, needed: tuple[Column, ...]) -> Table:
    """The table of a file; the first lines decide what its layout does not say.

    A title may stand above the names of the columns: where the first line does not have all columns that are needed,
    and the second has, the first is left out, and the table is as the second says.

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
    if layout.header and complete.kind != "parquet" and layout.kind in (None, "table", "blanks"):
        head, complete = _without_title(head, layout, complete, needed)
    kind = str(complete.kind).replace("-", "_")
    module = import_module(f"{__package__}.{kind}")
    found: Table = module.read(Source(chain([head], source.blocks), source.where, source.path), complete, needed)
    return found


def _without_title(
    head: bytes, layout: TableLayout, complete: TableLayout, needed: tuple[Column, ...]
) -> tuple[bytes, TableLayout]:
    """The first bytes from the line on that names the columns, and the layout completed by it.

    Args:
        complete: the layout as the first line completes it.
    """
    mark = layout.remark.encode()
    lines = (
        line for line in LINE.finditer(head) if line[0].strip() and not (mark and line[0].lstrip().startswith(mark))
    )
    first, second = next(lines, None), next(lines, None)
    if first is None or second is None:
        return head, complete
    title, names = (line[0].removeprefix(BYTE_ORDER_MARK).decode(errors="replace") for line in (first, second))
    if complete.kind in ("table", "blanks") and names_all(title, complete, needed):
        return head, complete
    below = completed_by(second[0][:HEAD], layout)
    if below.kind in ("table", "blanks") and names_all(names, below, needed):
        return head[second.start() :], below
    return head, complete


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
