"""The value of an expression in each row of a block."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cluster_abm.arrays import Flags, Floats
from cluster_abm.scenario.columns import MapField
from cluster_abm.scenario.columns.expressions import Arithmetic, Constant, Logic, Membership, Name, Node, Relation
from cluster_abm.workload.traces.layouts.blocks import Column
from cluster_abm.workload.traces.mapping.cells import Numbers, as_numbers, as_texts, is_text
from cluster_abm.workload.traces.mapping.instants import Instants
from cluster_abm.workload.traces.table import number

if TYPE_CHECKING:
    import pyarrow as pa

EQUALITY = ("==", "!=")
# The functions of pyarrow that compare texts.
OF_TEXTS = {"==": "equal", "!=": "not_equal", "<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}
DATES = MapField(column=1, unit="iso")
Cells = Mapping[Column, "pa.Array"]
COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def numbers_of(node: Node, cells: Cells, rows: int) -> Numbers:
    """The numbers that an expression gives; NaN where a part of it is not known, or divided by 0.

    Args:
        node: no truth (`expressions.is_truth`).
        cells: `stripped` columns, shape (rows,) each.
    """
    if isinstance(node, Name):
        return _numbers_or_dates(cells[node.column])
    if isinstance(node, Constant):
        return Numbers(np.full(rows, float(node.value)), np.zeros(rows, bool))
    assert isinstance(node, Arithmetic)
    left, right = numbers_of(node.left, cells, rows), numbers_of(node.right, cells, rows)
    return Numbers(_arithmetic(node.sign, left.amounts, right.amounts), left.unread | right.unread)


def _numbers_or_dates(cells: pa.Array) -> Numbers:
    """A column as numbers; dates, as 2023-05-01T10:00:00, as seconds since 1970."""
    read = as_numbers(cells)
    if not read.unread.any():
        return read
    dates = Instants().read(cells, DATES)
    numbers = np.where(read.unread, dates.amounts / 1000.0, read.amounts)
    truths = _truths(cells)
    return Numbers(np.where(np.isnan(truths), numbers, truths), read.unread & dates.unread & np.isnan(truths))


def _truths(cells: pa.Array) -> Floats:
    """The texts true and false as 1 and 0, as Parquet and JSON have them."""
    from pyarrow import compute

    if not is_text(cells):
        return np.full(len(cells), np.nan)
    lower = compute.utf8_lower(cells)
    return np.where(
        np.asarray(compute.fill_null(compute.equal(lower, "true"), False)), 1.0,
        np.where(np.asarray(compute.fill_null(compute.equal(lower, "false"), False)), 0.0, np.nan),
    )  # fmt: skip


def truths_of(node: Node, cells: Cells, rows: int) -> Flags:
    """Where an expression holds. A comparison with what is not known does not hold, except !=."""
    if isinstance(node, Logic):
        parts = [truths_of(part, cells, rows) for part in node.parts]
        if node.word == "not":
            return ~parts[0]
        return np.logical_and.reduce(parts) if node.word == "and" else np.logical_or.reduce(parts)
    if isinstance(node, Membership):
        return _among(node, cells, rows)
    assert isinstance(node, Relation)
    sides = (node.left, node.right)
    text = next((str(side.value) for side in sides if isinstance(side, Constant) and _is_text(side)), None)
    if text is not None:
        return _with_text(node, text, cells, rows)
    left, right = (numbers_of(side, cells, rows).amounts for side in sides)
    found: Flags = np.asarray(COMPARE[node.sign](left, right), bool)
    if not (isinstance(node.left, Name) and isinstance(node.right, Name)):
        return found
    # Two columns: numbers where both are, row by row; else texts, which can only be equal or not.
    both = ~(np.isnan(left) | np.isnan(right))
    return np.where(both, found, _spelled(node, cells, rows)) if node.sign in EQUALITY else found & both


def _with_text(node: Relation, text: str, cells: Cells, rows: int) -> Flags:
    """Where a comparison with a text in quotes holds; 4.0 is "4", however the file spells it."""
    spelled = _spelled(node, cells, rows)
    other = node.right if _is_text(node.left) else node.left
    value = number(text)
    if node.sign not in EQUALITY or np.isnan(value) or _is_text(other):
        return spelled
    same = numbers_of(other, cells, rows).amounts == value
    return spelled | same if node.sign == "==" else spelled & ~same


def _spelled(node: Relation, cells: Cells, rows: int) -> Flags:
    """Where a comparison of texts holds."""
    from pyarrow import compute

    compare = getattr(compute, OF_TEXTS[node.sign])
    return np.asarray(compare(_texts_array(node.left, cells, rows), _texts_array(node.right, cells, rows)), bool)


def _is_text(node: Node) -> bool:
    return isinstance(node, Constant) and isinstance(node.value, str)


# What is beyond all numbers is infinite, and a row with it is left out by a reason.
@np.errstate(over="ignore", invalid="ignore")
def _arithmetic(sign: str, left: Floats, right: Floats) -> Floats:
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    if sign == "*":
        return left * right
    return np.divide(left, right, out=np.full(len(left), np.nan), where=right != 0)


def _among(node: Membership, cells: Cells, rows: int) -> Flags:
    texts = [value for value in node.among if isinstance(value, str)]
    numbers = [value for value in node.among if not isinstance(value, str)]
    found = np.zeros(rows, bool)
    if texts:
        import pyarrow as pa
        from pyarrow import compute

        spelled = _texts_array(node.value, cells, rows)
        found |= np.asarray(compute.is_in(spelled, value_set=pa.array(texts, pa.string())))
        numbers += [value for value in map(number, texts) if not np.isnan(value)]
    if numbers:
        found |= np.isin(numbers_of(node.value, cells, rows).amounts, numbers)
    return found


def _texts_array(node: Node, cells: Cells, rows: int) -> pa.Array:
    import pyarrow as pa

    if isinstance(node, Name):
        return as_texts(cells[node.column])
    if isinstance(node, Constant):
        return pa.array([str(node.value)] * rows, pa.string())
    return as_texts(pa.array(numbers_of(node, cells, rows).amounts))
