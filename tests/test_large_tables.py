"""Tables that stand in a file hold what those in memory do; where the disk has no room for them that is said."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm import large_tables, ordered_rows
from cluster_abm.errors import InputError
from cluster_abm.large_tables import column, columns, forget_pages, mapping_of, zeros
from cluster_abm.ordered_rows import in_order, of_each

ROW = np.dtype([("number", "i8"), ("node", "i4"), ("flag", "i4"), ("size", "f8")], align=True)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 7)


def filled(numbers, in_memory):
    table = zeros(len(numbers), ROW, "rows", in_memory=in_memory)
    table["number"], table["size"] = numbers, np.array(numbers) / 3
    table["node"] = np.arange(len(numbers)) % 5
    return table


def test_above_its_size_a_table_stands_in_a_file_without_a_name(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(large_tables, "MOST_IN_MEMORY", 10 * ROW.itemsize)
    inside, outside = zeros(10, ROW, "rows"), zeros(11, ROW, "rows")
    assert mapping_of(inside) is None
    assert mapping_of(outside) is not None
    assert mapping_of(outside[3:]["size"]) is mapping_of(outside)
    assert not outside["number"].any()
    assert list(tmp_path.iterdir()) == []


def test_pages_that_are_forgotten_are_not_lost():
    rng = np.random.default_rng(1)
    table = zeros(100_000, ROW, "rows", in_memory=False)
    sizes = rng.random(len(table))
    table["size"] = sizes
    forget_pages(table)
    assert (table["size"] == sizes).all()
    table["size"][::2] = 0.0
    forget_pages(table[5:])
    assert (table["size"][1::2] == sizes[1::2]).all()
    assert not table["size"][::2].any()


numbers = st.lists(st.integers(-(2**62), 2**62), max_size=40)


@pytest.mark.slow
@given(numbers, st.booleans())
def test_columns_are_those_of_the_table(values, in_memory):
    table = filled(values, in_memory)
    number, size = columns(table, "number", "size")
    assert number.tolist() == values
    assert (size == table["size"]).all()
    assert column(table, "node").tolist() == table["node"].tolist()


@pytest.mark.slow
@given(numbers, st.booleans(), st.data())
def test_rows_in_an_order_are_those_of_a_sorted_copy(values, in_memory, data):
    table = filled(values, in_memory)
    order = np.array(data.draw(st.permutations(range(len(values)))), np.int64)
    # Some rows are left out.
    order = order[: data.draw(st.integers(0, len(order)))]
    rows, copy = in_order(table, order), np.array(table)[order]
    first, last = (data.draw(st.integers(0, len(order))) for _ in range(2))
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order))), bool)
    for some, same in (
        (rows, copy), (rows[first:last], copy[first:last]), (rows[mask], copy[mask]),
        (rows[mask][:3], copy[mask][:3]), (rows[first:][mask[first:]], copy[first:][mask[first:]]),
    ):  # fmt: skip
        assert len(some) == len(same)
        for name in ROW.names:
            assert some[name].tolist() == same[name].tolist()
            assert some[name].dtype == same[name].dtype
        assert some.table().tolist() == same.tolist()
    assert of_each(rows, lambda part: part["size"] * 2).tolist() == (copy["size"] * 2).tolist()


def test_where_the_disk_has_no_room_for_ordered_fields_the_table_is_read(monkeypatch):
    table = filled(range(30), in_memory=False)

    def full(**_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(ordered_rows.tempfile, "TemporaryFile", full)
    order = np.arange(29, -1, -1)
    assert in_order(table, order)["number"].tolist() == list(range(29, -1, -1))


def test_a_full_disk_is_named(monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(InputError, match=rf"jobs: 9 rows take .* GB in .* {tmp_path} \(No space left.*TMPDIR"):
        zeros(9, ROW, "jobs", in_memory=False)


def test_where_room_cannot_be_reserved_the_free_room_counts(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    assert filled(range(9), in_memory=False)["number"].tolist() == list(range(9))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(1000, 990, 10))
    with pytest.raises(InputError, match="1e-08 GB are free"):
        zeros(9, ROW, "jobs", in_memory=False)


def test_a_folder_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "away"))
    with pytest.raises(InputError, match=r"away \(No such file"):
        zeros(9, ROW, "jobs", in_memory=False)
