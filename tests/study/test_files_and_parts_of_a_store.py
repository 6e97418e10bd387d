"""Files and parts of a store: the steps of a durable write, the columns of a part, and compaction."""

from __future__ import annotations

import hashlib
import os
from types import SimpleNamespace

import pytest

from cluster_abm.study.store import durable, segments
from cluster_abm.study.store import store as store_module
from cluster_abm.study.store.durable import write_all_whole, write_durably
from cluster_abm.study.store.store import Record, Store

KEY, OTHER = "ab" * 12, "cd" * 12


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store", "mine")
    made.prepare()
    return made


# ---- files ----


@pytest.fixture
def steps(monkeypatch):
    """The system calls so far, in order."""
    found = []
    real = {name: getattr(os, name) for name in ("fsync", "replace", "open", "close")}

    def noted(name):
        def call(*given):
            found.append(name)
            return real[name](*given)

        return call

    for name in real:
        monkeypatch.setattr(durable.os, name, noted(name))
    return found


def test_a_file_is_synchronised_then_renamed_then_its_folder_is_synchronised(tmp_path, steps):
    write_durably(tmp_path / "x", b"whole", tmp_path / "partial")
    assert steps == ["fsync", "replace", "open", "fsync", "close"]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x", b"whole")]


def test_of_several_files_each_is_synchronised_before_any_has_its_name(tmp_path, steps):
    files = [(tmp_path / name, name.encode(), tmp_path / f"partial-{name}") for name in "xyz"]
    write_all_whole(files)
    assert steps == ["fsync"] * 3 + ["replace"] * 3
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"x": b"x", "y": b"y", "z": b"z"}


def test_several_runs_are_the_same_files_as_one_after_the_other(store, tmp_path):
    records = [Record(KEY, seed, {"a": seed}, {"tasks": [seed]}) for seed in (1, 2, 3)]
    other = Store(tmp_path / "other")
    other.prepare()
    store.add_all(records)
    for record in records:
        other.add(record)
    assert [(path.name, path.read_bytes()) for path in sorted(store.runs.iterdir())] == [
        (path.name, path.read_bytes()) for path in sorted(other.runs.iterdir())
    ]
    assert list((store.folder / "tmp").iterdir()) == []


def test_a_file_is_complete_when_it_is_synchronised(tmp_path, monkeypatch):
    held = []
    monkeypatch.setattr(durable.os, "fsync", lambda descriptor: held.append(os.fstat(descriptor).st_size))
    write_durably(tmp_path / "x", b"12345", tmp_path / "partial")
    assert held[0] == 5


def test_without_o_directory_the_folder_is_not_synchronised(tmp_path, monkeypatch, steps):
    monkeypatch.delattr(durable.os, "O_DIRECTORY")
    write_durably(tmp_path / "x", b"whole", tmp_path / "partial")
    assert steps == ["fsync", "replace"]


def test_a_folder_that_cannot_be_synchronised_is_closed(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(durable, "os", SimpleNamespace(
        O_DIRECTORY=1, O_RDONLY=0, open=lambda *_: 7, fsync=lambda _: 1 / 0, close=closed.append,
    ))  # fmt: skip
    with pytest.raises(ZeroDivisionError):
        durable.sync_folder(tmp_path)
    assert closed == [7]


def test_names_of_runs_are_synchronised_once_a_second_and_at_the_end(store, monkeypatch):
    now_s, synced = [50.0], []
    monkeypatch.setattr(store_module, "time", SimpleNamespace(monotonic=lambda: now_s[0]))
    monkeypatch.setattr(store_module, "sync_folder", lambda folder: synced.append((now_s[0], folder)))
    with store.written_by("another"):
        for now_s[0] in (50.0, 50.5, 50.9, 51.1, 51.2):
            store.add(Record(KEY, int(10 * now_s[0])))
        # Each is there at once, whatever is synchronised.
        assert len(list(store.runs.iterdir())) == 5
        now_s[0] = 51.3
    assert synced == [(50.0, store.runs), (51.1, store.runs), (51.3, store.runs)]
    # There is nothing new.
    store.sync()
    assert len(synced) == 3


def test_too_few_runs_for_a_part_are_not_read(store, monkeypatch):
    for seed in (1, 2):
        store.add(Record(KEY, seed, {"a": seed}))
    monkeypatch.setattr(Store, "_read", pytest.fail)
    assert store.compact(3) == 0


def test_partial_files_are_named_by_their_session_and_a_number(store, monkeypatch):
    names = []
    for writes in ("write_durably", "write_whole"):
        monkeypatch.setattr(
            f"cluster_abm.study.store.store.{writes}", lambda path, data, partial: names.append(partial)
        )
    store.add(Record(KEY, 1))
    with store.written_by("another"):
        store.add(Record(KEY, 2))
    store.write(store.folder / "x", b"")
    assert names == [store.folder / "tmp" / name for name in ("mine.1", "another.2", "another.3")]


# ---- parts ----

RECORDS = [
    {"key": KEY, "seed": 1, "load": {"tasks": [1]}, "metrics": {"b": 1.5, "a": 2}},
    {"key": OTHER, "seed": 1, "load": None, "metrics": {"a": 3}},
    {"key": KEY, "seed": 2, "load": None, "metrics": {"c": [1.0]}},
]


@pytest.fixture
def part(tmp_path):
    data = segments.to_bytes(segments.table_of(RECORDS))
    path = tmp_path / f"{hashlib.sha256(data).hexdigest()}.parquet"
    path.write_bytes(data)
    return path


def test_a_part_has_a_column_for_each_metric_of_its_runs():
    table = segments.table_of(RECORDS)
    assert table.column_names == ["key", "seed", "load", "metrics.a", "metrics.b", "metrics.c"]
    assert table["load"].to_pylist() == ['{"tasks": [1]}', None, None]
    assert table["metrics.a"].to_pylist() == [2, 3, None]
    assert table["metrics.c"].to_pylist() == [None, None, [1.0]]
    assert [str(table.schema.field(name).type) for name in ("key", "seed", "load")] == [
        "string",
        "int64",
        "large_string",
    ]


@pytest.mark.parametrize(("columns", "found"), [
    # By default all columns but the load over time; otherwise the named columns that exist, in the order of the part.
    (None, ["key", "seed", "metrics.a", "metrics.b", "metrics.c"]), (["load", "key"], ["key", "load"]),
    (["metrics.a", "metrics.x"], ["metrics.a"]), ([], []),
])  # fmt: skip
def test_columns_of_a_part(part, columns, found):
    assert segments.read_segment(part, columns).column_names == found


def test_one_run_of_a_part_is_found_by_key_and_seed(part):
    for run, a in (((KEY, 1), [2]), ((OTHER, 1), [3]), ((KEY, 2), [None]), ((OTHER, 2), [])):
        assert segments.read_segment(part, run=run)["metrics.a"].to_pylist() == a


def test_joined_tables_are_empty_in_columns_that_one_of_them_lacks():
    one = segments.table_of(RECORDS[:1])
    other = segments.table_of([RECORDS[1] | {"metrics": {"a": 0.5}}])
    found = segments.joined([one, other])
    assert found["metrics.a"].to_pylist() == [2.0, 0.5]
    assert found["metrics.b"].to_pylist() == [1.5, None]


def test_the_first_runs_by_name_go_into_a_part(store, monkeypatch):
    monkeypatch.setattr(Store, "runs_a_segment", 2)
    for seed in (3, 1, 2):
        store.add(Record(KEY, seed, {"a": seed}))
    assert store.compact(3) == 0
    assert store.compact() == 2
    (path,) = store.segments.iterdir()
    assert segments.read_segment(path)["seed"].to_pylist() == [1, 2]
    assert [path.name for path in store.runs.iterdir()] == [f"{KEY}-3.run"]


def test_two_processes_may_put_the_same_runs_into_parts(store, monkeypatch):
    for seed in (1, 2):
        store.add(Record(KEY, seed, {"a": seed}))
    real = Store.write

    def write(self, path, data):
        # The other process makes the part first.
        monkeypatch.undo()
        assert Store(store.folder, "other").compact(1) == 2
        real(self, path, data)

    monkeypatch.setattr(Store, "write", write)
    assert store.compact(1) == 2
    assert list(store.runs.iterdir()) == []
    assert store.contents().finished == {(KEY, 1), (KEY, 2)}
