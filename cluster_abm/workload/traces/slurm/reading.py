"""Slurm's accounting, whatever form it has: with a header, without one, or as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cluster_abm.errors import InputError
from cluster_abm.workload.traces.format import Head, OpenTrace
from cluster_abm.workload.traces.slurm.accounting import COMMAND, looks_like_sacct, sacct_trace
from cluster_abm.workload.traces.slurm.documents import document_trace, looks_like_document
from cluster_abm.workload.traces.slurm.orders import (
    BETWEEN,
    NAME,
    Order,
    fields_of,
    known_orders,
    misfit,
    order_of,
    sample_of,
    with_bar_at_the_end,
)
from cluster_abm.workload.traces.slurm.unlike import unlike
from cluster_abm.workload.traces.table import Trace


def is_slurms(head: Head) -> bool:
    """Whether a file begins as one of the forms of Slurm's accounting, read or not."""
    return (
        unlike(head.line) is not None
        or looks_like_document(head.data)
        or looks_like_sacct(head.line.split(BETWEEN))
        or (BETWEEN in head.line and order_of(sample_of(head.data), known_orders()) is not None)
    )


def slurm_trace(file: OpenTrace, fields: Sequence[str] = (), orders: Sequence[Order] | None = None) -> Trace:
    """The trace that Slurm's accounting holds.

    Raises InputError: what cannot be read, columns that are missing, an order of columns that is not known or does not
    fit, no usable job.

    Args:
        fields: the columns of a file without a header, as `sacct -o` takes them: one list, or several joined.
        orders: the known orders of which a file without a header has one; None: those of the map `sacct-n`.
    """
    if looks_like_document(file.head.data):
        _refuse_fields(fields, file.where, "it is JSON")
        return document_trace(file.data, file.where, file.reading, file.needs_ids)
    if file.head.data.startswith(b"{"):
        raise InputError(
            f"{file.where}: JSON, but not of `sacct --json`: allowed is a list `jobs` with job_id, time, ..."
        )
    other_form = unlike(file.head.line)
    if other_form is not None:
        raise InputError(f"{file.where}: {other_form}")
    if looks_like_sacct(file.head.line.split(BETWEEN)):
        _refuse_fields(fields, file.where, "its first line names the columns")
        return sacct_trace(file.cells(between=BETWEEN, quoted=False), file.reading, file.needs_ids)
    return sacct_without_header(file, known_orders() if orders is None else orders, fields)


def sacct_without_header(file: OpenTrace, orders: Sequence[Order], fields: Sequence[str] = ()) -> Trace:
    """The trace of lines without a header.

    Raises InputError: as `slurm_trace`.
    """
    sample = sample_of(file.head.data)
    first = sample[0] if sample else []
    if fields:
        order = fields_of(fields, file.where)
        if order_of(sample, [order]) is None:
            problem = next(words for cells in sample if (words := misfit(cells, order)))
            raise InputError(f"{file.where}: --fields {','.join(order)[:200]!r}: not the order of this file: {problem}")
    else:
        found = order_of(sample, orders)
        if found is None:
            raise InputError(
                f"{file.where}: {len(first)} columns without a header, in no order that is known: say it with --fields "
                f"(the list that `sacct -o` was given), or export with a header: `{COMMAND}`"
            )
        order = found
    names = with_bar_at_the_end(first, order)
    cells = file.cells(between=BETWEEN, quoted=False, names=names, cut=names[-1].lower() == NAME)
    trace = sacct_trace(cells, file.reading, file.needs_ids)
    return replace(trace, filled=trace.filled | {"columns": f"no header: read as {', '.join(order)}"})


def _refuse_fields(fields: Sequence[str], where: str, why: str) -> None:
    if fields:
        raise InputError(f"{where}: --fields {','.join(fields)[:60]!r}: {why}; leave it out")
