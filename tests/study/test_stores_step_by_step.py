"""A store step by step: in which order a file is made, what a part holds, what is looked up and what is set aside."""

from __future__ import annotations

import hashlib
import json
import os
from types import SimpleNamespace

import pytest

from cluster_abm.study.store import durable, segments, setting_aside
from cluster_abm.study.store.documents import sealed_document
from cluster_abm.study.store.durable import write_durably
from cluster_abm.study.store.leases import Leases
from cluster_abm.study.store.setting_aside import set_aside
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
    """What is asked of the system, in order."""
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


def test_a_file_is_on_the_disk_before_it_has_its_name_and_the_name_after_that(tmp_path, steps):
    write_durably(tmp_path / "x", b"whole", tmp_path / "partial")
    assert steps == ["fsync", "replace", "open", "fsync", "close"]
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("x", b"whole")]


def test_all_of_it_is_handed_to_the_system_first(tmp_path, monkeypatch):
    held = []
    monkeypatch.setattr(durable.os, "fsync", lambda descriptor: held.append(os.fstat(descriptor).st_size))
    write_durably(tmp_path / "x", b"12345", tmp_path / "partial")
    assert held[0] == 5


def test_where_folders_cannot_be_opened_the_name_is_left_to_the_system(tmp_path, monkeypatch, steps):
    monkeypatch.delattr(durable.os, "O_DIRECTORY")
    write_durably(tmp_path / "x", b"whole", tmp_path / "partial")
    assert steps == ["fsync", "replace"]


def test_a_folder_that_cannot_be_synchronised_is_closed(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(durable, "os", SimpleNamespace(
        O_DIRECTORY=1, O_RDONLY=0, open=lambda *_: 7, fsync=lambda _: 1 / 0, close=closed.append,
    ))  # fmt: skip
    with pytest.raises(ZeroDivisionError):
        durable._sync_folder(tmp_path)
    assert closed == [7]


def test_each_file_is_made_under_a_name_of_its_session_s_own(store, monkeypatch):
    names = []
    monkeypatch.setattr(
        "cluster_abm.study.store.store.write_durably", lambda path, data, partial: names.append(partial)
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


def test_a_part_has_a_column_for_every_metric_that_any_run_has():
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
    # By default all but the load over time, and of those that are named the ones that it has, in its order.
    (None, ["key", "seed", "metrics.a", "metrics.b", "metrics.c"]), (["load", "key"], ["key", "load"]),
    (["metrics.a", "metrics.x"], ["metrics.a"]), ([], []),
])  # fmt: skip
def test_columns_of_a_part(part, columns, found):
    assert segments.read_segment(part, columns).column_names == found


def test_one_run_of_a_part_is_that_of_its_key_and_seed(part):
    for run, a in (((KEY, 1), [2]), ((OTHER, 1), [3]), ((KEY, 2), [None]), ((OTHER, 2), [])):
        assert segments.read_segment(part, run=run)["metrics.a"].to_pylist() == a


def test_tables_are_stacked_with_what_one_of_them_lacks_left_empty():
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


# ---- looking up ----


def test_runs_are_found_in_parts_that_other_processes_have_made_since(store):
    other = Store(store.folder, "other")
    for seed in (1, 2):
        assert store.look_up((KEY, seed)) is None
        other.add(Record(KEY, seed, {"a": seed, "b": [0.5]}, {"tasks": [1]}))
        other.compact(1)
        # Of a part all is known but the load over time.
        assert store.look_up((KEY, seed)) == Record(KEY, seed, {"a": seed, "b": [0.5]})
    assert store.look_up((KEY, 1)) == Record(KEY, 1, {"a": 1, "b": [0.5]})
    # The run's own file comes first.
    store.add(Record(KEY, 1, {"a": 9}))
    assert store.look_up((KEY, 1)).metrics == {"a": 9}


def test_a_part_is_read_once_and_a_damaged_one_is_passed_over(store, monkeypatch):
    store.add(Record(KEY, 1, {"a": 1}))
    store.compact(1)
    (path,) = store.segments.iterdir()
    whole = path.read_bytes()
    path.write_bytes(b"garbage")
    assert store.look_up((KEY, 1)) is None
    fresh = Store(store.folder)
    path.write_bytes(whole)
    assert fresh.look_up((KEY, 1)).metrics == {"a": 1}
    path.unlink()
    assert fresh.look_up((KEY, 1)) is None
    reads = []
    monkeypatch.setattr("cluster_abm.study.store.store.read_segment", lambda *given, **_: reads.append(given))
    assert store.look_up((KEY, 2)) is None
    assert reads == []


def test_loads_are_those_of_files_and_parts_that_have_one(store):
    store.add(Record(KEY, 1, {"a": 1}, {"tasks": [1]}))
    store.add(Record(KEY, 2, {"a": 1}))
    store.compact(1)
    store.add(Record(KEY, 3, {"a": 1}, {"tasks": [3]}))
    store.add(Record(KEY, 4, {"a": 1}))
    (store.segments / "damaged.parquet").write_bytes(b"garbage")
    (store.runs / "damaged.run").write_bytes(b"garbage")
    assert store.loads() == {(KEY, 1): {"tasks": [1]}, (KEY, 3): {"tasks": [3]}}


# ---- setting aside ----


def test_of_each_file_it_is_said_what_becomes_of_it(store, capfd):
    run, part, plan = store.runs / f"{KEY}-1.run", store.segments / "ab.parquet", store.folder / "plan.json"
    for path in (run, part, plan):
        path.write_bytes(b"garbage")
    (store.folder / "notes.txt").write_text("mine")
    damaged = dict.fromkeys((run, part, plan, store.folder / "notes.txt"), "cut short")
    with Leases(store.folder) as leases:
        said = set_aside(store, leases, damaged, quiet=False)
        assert list((store.folder / "claims").iterdir()) == []
    rest = ["what it held is run again", "what it held is run again", "written anew"]
    assert said == [
        f"{path}: damaged (cut short): set aside in {store.folder / 'damaged'}, {words}"
        for path, words in zip((run, part, plan), rest, strict=True)
    ]
    assert capfd.readouterr().err.splitlines() == said
    # Of no file of the store it is known what it should be.
    assert (store.folder / "notes.txt").exists()


def test_a_whole_document_is_not_set_aside(store):
    (store.folder / "plan.json").write_bytes(sealed_document("plan.json", '{"study": "x"}'))
    assert not store.set_aside(store.folder / "plan.json")
    assert json.loads((store.folder / "plan.json").read_text())["study"] == "x"


@pytest.mark.parametrize(("path", "claim"), [
    ("runs/ab-1.run", "ab-1"), ("parts/ab.parquet", "compaction"), ("plan.json", "plan.json"),
])  # fmt: skip
def test_the_claim_is_that_of_who_makes_such_a_file(store, path, claim):
    (store.folder / path).write_bytes(b"garbage")
    with Leases(store.folder) as mine, Leases(store.folder) as other:
        assert other.claim(claim)
        assert set_aside(store, mine, {store.folder / path: "cut short"}, quiet=True) == []
        other.release(claim)
        assert len(set_aside(store, mine, {store.folder / path: "cut short"}, quiet=True)) == 1


def test_a_claim_is_given_up_even_if_nothing_can_be_moved(store, monkeypatch):
    def refuses(path):
        raise OSError("read-only")

    monkeypatch.setattr(store, "set_aside", refuses)
    path = store.runs / "ab-1.run"
    with Leases(store.folder) as mine, Leases(store.folder) as other:
        with pytest.raises(OSError, match="read-only"):
            setting_aside.set_aside(store, mine, {path: "cut short"}, quiet=True)
        assert other.claim("ab-1")
