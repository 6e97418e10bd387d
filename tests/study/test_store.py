"""The store: what is written is read, in files or in parts; what is damaged is found; nothing is lost or doubled."""

from __future__ import annotations

import errno
import hashlib
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cluster_abm.study.store import store as store_module
from cluster_abm.study.store.durable import Damaged, seal, unseal
from cluster_abm.study.store.segments import joined
from cluster_abm.study.store.store import Record, Store

KEY = "ab" * 12


def record(seed, key=KEY, **metrics):
    return Record(key, seed, {"mean_slowdown": seed / 3, "migrations": seed, "quantiles": [0.5, seed / 7]} | metrics)


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store")
    made.prepare()
    return made


def rows(store):
    """Every row there is, repeated ones once, sorted."""
    contents = store.contents()
    if not contents.tables:
        return []
    found = {(row["key"], row["seed"]): row for row in joined(contents.tables).to_pylist()}
    return [found[name] for name in sorted(found)]


@pytest.mark.slow
@given(st.text(), st.integers(0), st.binary(min_size=1, max_size=3))
def test_a_seal_breaks_with_any_byte(text, place, wrong):
    data = seal(text)
    assert unseal(data) == text
    place %= len(data)
    changed = data[:place] + wrong + data[place + len(wrong) :]
    if changed != data:
        with pytest.raises(Damaged):
            unseal(changed)
    with pytest.raises(Damaged):
        unseal(data[: place // 2])


def test_what_is_kept_comes_back_to_the_last_bit(store):
    kept = Record(KEY, 1, {"a": 0.1 + 0.2, "b": math.nan, "c": 2**53 - 1, "d": []}, {"time_ms": [1.0], "tasks": [[3]]})
    store.add(kept)
    (row,) = rows(store)
    assert row["metrics.a"] == 0.1 + 0.2
    assert math.isnan(row["metrics.b"])
    assert row["metrics.c"] == 2**53 - 1
    assert store.loads() == {(KEY, 1): kept.load}
    store.compact(1)
    assert store.loads() == {(KEY, 1): kept.load}


@pytest.mark.slow
@settings(max_examples=25)
@given(splits=st.lists(st.integers(1, 12), max_size=4), kinds=st.lists(st.booleans(), min_size=12, max_size=12))
def test_it_does_not_matter_when_runs_were_put_into_parts(tmp_path_factory, splits, kinds):
    """Metrics that some runs lack, or that are whole numbers in some runs only, come to the same table."""
    records = [record(seed, extra=seed if whole else seed + 0.5) for seed, whole in enumerate(kinds)]
    records[3] = record(3)
    plain = Store(tmp_path_factory.mktemp("plain"))
    parted = Store(tmp_path_factory.mktemp("parted"))
    for store in (plain, parted):
        store.prepare()
    for number, one in enumerate(records):
        plain.add(one)
        parted.add(one)
        if number in splits:
            assert parted.compact(1) > 0
    assert rows(parted) == rows(plain)
    assert parted.contents().finished == {one.name for one in records}
    for one in records:
        assert parted.look_up(one.name).metrics["mean_slowdown"] == one.metrics["mean_slowdown"]


def test_a_crash_inside_compaction_loses_and_doubles_nothing(store, monkeypatch):
    for seed in range(5):
        store.add(record(seed))
    before = rows(store)

    class Crash(BaseException):
        pass

    def crash(*_args, **_keywords):
        raise Crash

    # Before the part has its name, and after it before any run's file is removed.
    for module, name in ((store_module, "write_durably"), (store_module.Path, "unlink")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, crash)
            with pytest.raises(Crash):
                store.compact(1)
        assert rows(store) == before
        assert store.contents().finished == {(KEY, seed) for seed in range(5)}
    # A part and all the files: the next compaction ends what this one began.
    assert len(list(store.segments.iterdir())) == 1
    assert len(list(store.runs.iterdir())) == 5
    assert store.compact(1) == 5
    assert list(store.runs.iterdir()) == []
    assert rows(store) == before


def test_a_run_that_moves_into_a_part_while_somebody_reads_is_seen(store, monkeypatch):
    store.add(record(1))
    real = Store._read

    def compacted_meanwhile(self, path):
        monkeypatch.undo()
        Store(store.folder, "other").compact(1)
        return real(self, path)

    monkeypatch.setattr(Store, "_read", compacted_meanwhile)
    assert store.contents().finished == {(KEY, 1)}


DAMAGES = {
    "cut short": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "garbage": lambda data: bytes(len(data)),
    "one bit": lambda data: data[:-5] + bytes([data[-5] ^ 1]) + data[-4:],
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_found_in_files_and_parts(store, damage):
    for seed in (1, 2):
        store.add(record(seed))
    store.compact(2)
    for seed in (3, 4):
        store.add(record(seed))
    (part,) = store.segments.iterdir()
    file = store.path_of((KEY, 3))
    for path, left in ((file, {1, 2, 4}), (part, {4})):
        path.write_bytes(damage(path.read_bytes()))
        contents = store.contents()
        assert path in contents.damaged
        assert contents.finished == {(KEY, seed) for seed in left}
    assert store.look_up((KEY, 3)) is None
    assert store.look_up((KEY, 1)) is None
    assert all(store.set_aside(path) for path in contents.damaged)
    assert not any(store.set_aside(path) for path in contents.damaged)
    assert store.contents().damaged == {}
    assert {path.name for path in (store.folder / "damaged").iterdir()} == {part.name, file.name}


def test_a_file_under_another_runs_name_is_damage(store):
    store.add(record(1))
    store.path_of((KEY, 1)).rename(store.path_of((KEY, 2)))
    contents = store.contents()
    assert contents.finished == set()
    assert "another run" in contents.damaged[store.path_of((KEY, 2))]


def test_what_cannot_be_read_is_damage(store, monkeypatch):
    for seed in range(1, 6):
        store.add(record(seed))
    store.compact(2)
    for seed in range(6, 10):
        store.add(record(seed))
    (store.runs / "folder.run").mkdir()
    (store.segments / "folder.parquet").mkdir()
    later = store.path_of((KEY, 6))
    later.write_bytes(seal(f'{{"key": "{KEY}", "seed": 6, "of_later": 1}}'))
    listed = store.path_of((KEY, 7))
    listed.write_bytes(seal("[1, 2]"))
    bad_sector = store.path_of((KEY, 8))
    real = Path.read_bytes

    def failing(path):
        if path == bad_sector:
            raise OSError(errno.EIO, "Input/output error")
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", failing)
    contents = store.contents()
    assert {path.name: said for path, said in contents.damaged.items()} == {
        "folder.run": "it cannot be read: Is a directory",
        "folder.parquet": "it cannot be read: Is a directory",
        later.name: "it is no record of a run: Record.__init__() got an unexpected keyword argument 'of_later'",
        listed.name: contents.damaged[listed],
        bad_sector.name: "it cannot be read: Input/output error",
    }
    assert contents.finished == {(KEY, seed) for seed in (1, 2, 3, 4, 5, 9)}
    assert store.look_up((KEY, 8)) is None
    assert store.loads() == {}
    assert all(store.set_aside(path) for path in contents.damaged)
    assert store.contents().damaged == {}


def test_a_part_that_is_set_aside_while_somebody_reads_is_passed_over(store, monkeypatch):
    store.add(record(1))
    store.compact(1)
    store.add(record(2))
    (part,) = store.segments.iterdir()
    listed = Store._segment_files

    def taken_away(self):
        found = listed(self)
        part.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(Store, "_segment_files", taken_away)
    assert store.contents().finished == {(KEY, 2)}


def test_a_part_takes_so_many_runs(store, monkeypatch):
    monkeypatch.setattr(Store, "runs_a_segment", 3)
    for seed in range(8):
        store.add(record(seed))
    assert [store.compact(), store.compact(), store.compact(), store.compact(1)] == [3, 3, 0, 2]


def test_a_failed_run_gives_way_to_a_finished_one_and_is_never_in_a_part(store):
    store.add(Record(KEY, 1, error="RuntimeError: on fire", traceback="..."))
    store.add(Record(KEY, 2, error="RuntimeError: on fire", traceback="..."))
    assert store.compact(1) == 0
    assert set(store.contents().failed) == {(KEY, 1), (KEY, 2)}
    store.add(record(1))
    assert store.compact(1) == 1
    contents = store.contents()
    assert contents.finished == {(KEY, 1)}
    assert set(contents.failed) == {(KEY, 2)}


def test_a_part_is_named_by_its_bytes(store):
    store.add(record(1))
    store.compact(1)
    (part,) = store.segments.iterdir()
    assert part.stem == hashlib.sha256(part.read_bytes()).hexdigest()


def test_only_named_metrics_are_read(store):
    store.add(record(1))
    store.compact(1)
    store.add(record(2))
    for table in store.contents(["mean_slowdown", "unheard-of"]).tables:
        assert set(table.column_names) == {"key", "seed", "metrics.mean_slowdown"}


@pytest.mark.parametrize("value", [{}, [1.0, {}], ["x"], [[1.0]], 2**70, [2**70]])
def test_a_metric_that_no_table_holds_is_damage(store, value):
    path = store.path_of((KEY, 1))
    path.write_bytes(seal(json.dumps({"key": KEY, "seed": 1, "metrics": {"odd": value}})))
    (problem,) = store.contents().damaged.values()
    assert problem.startswith("it is no record of a run: metric 'odd' is ")
