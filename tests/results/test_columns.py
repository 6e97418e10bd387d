"""Rows as columns, against the fields of the rows."""

import numpy as np
import pytest

from cluster_abm.columns import columns_of, distinct, joined, ordered_columns, places_in, transposed

ROW = np.dtype(
    {"names": ["a", "b", "c", "d"], "formats": ["i8", "i4", "i4", "?"], "offsets": [0, 8, 12, 16], "itemsize": 24}
)


def rows(count):
    table = np.zeros(count, ROW)
    for place, name in enumerate(ROW.names):
        table[name] = (np.arange(count) * 7 + place) % 5
    return table


@pytest.mark.parametrize("sizes", [(), (0,), (3,), (600, 1, 0, 1100)])
def test_columns_are_the_fields_of_all_rows(sizes):
    pieces = [rows(size) for size in sizes]
    table = joined(pieces, ROW)
    assert len(table) == sum(sizes)
    order = np.arange(len(table))[::-2]
    for found, chosen in ((columns_of(pieces, ROW), table), (ordered_columns(table, order), table[order])):
        for name in ROW.names:
            assert found[name].dtype == ROW[name]
            assert found[name].flags.c_contiguous
            assert (found[name] == chosen[name]).all()


def test_transposed_puts_matrices_below_each_other():
    pieces = [np.arange(6.0).reshape(3, 2), np.zeros((0, 2)), np.arange(2000.0).reshape(1000, 2)]
    assert (transposed(pieces, 2, np.float64) == np.concatenate(pieces).T).all()


@pytest.mark.parametrize("ascending", [[], [5], [3, 4, 5, 6], [1, 5, 9]])
def test_places(ascending):
    values = np.arange(-2, 12)
    places, are_there = places_in(np.array(ascending, np.int64), values)
    assert are_there.tolist() == [value in ascending for value in values.tolist()]
    assert [ascending[place] for place in places[are_there]] == values[are_there].tolist()


@pytest.mark.parametrize("numbers", [[], [7], [9, 9, -2, 1 << 41, 9], [*range(90, 0, -1), 5]])
def test_distinct(numbers):
    found, places = distinct(np.array(numbers, np.int64))
    assert sorted(found.tolist()) == sorted(set(numbers))
    assert found[places].tolist() == numbers
