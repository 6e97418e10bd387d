"""A store: look-ups in its files and parts, and damaged files that are set aside."""

from __future__ import annotations

import json

import pytest

from cluster_abm.study.store import setting_aside
from cluster_abm.study.store.documents import sealed_document
from cluster_abm.study.store.leases import Leases
from cluster_abm.study.store.setting_aside import set_aside
from cluster_abm.study.store.store import Record, Store

KEY = "ab" * 12


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store", "mine")
    made.prepare()
    return made


def test_runs_are_found_in_parts_that_another_process_has_made_since(store):
    other = Store(store.folder, "other")
    for seed in (1, 2):
        assert store.look_up((KEY, seed)) is None
        other.add(Record(KEY, seed, {"a": seed, "b": [0.5]}, {"tasks": [1]}))
        other.compact(1)
        # A record from a part has no load over time.
        assert store.look_up((KEY, seed)) == Record(KEY, seed, {"a": seed, "b": [0.5]})
    assert store.look_up((KEY, 1)) == Record(KEY, 1, {"a": 1, "b": [0.5]})
    # A file of the run comes before its part.
    store.add(Record(KEY, 1, {"a": 9}))
    assert store.look_up((KEY, 1)).metrics == {"a": 9}


def test_a_damaged_part_is_skipped_and_each_part_is_read_once(store, monkeypatch):
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


def test_loads_come_from_files_and_parts_and_damaged_ones_are_skipped(store):
    store.add(Record(KEY, 1, {"a": 1}, {"tasks": [1]}))
    store.add(Record(KEY, 2, {"a": 1}))
    store.compact(1)
    store.add(Record(KEY, 3, {"a": 1}, {"tasks": [3]}))
    store.add(Record(KEY, 4, {"a": 1}))
    (store.segments / "damaged.parquet").write_bytes(b"garbage")
    (store.runs / "damaged.run").write_bytes(b"garbage")
    assert store.loads() == {(KEY, 1): {"tasks": [1]}, (KEY, 3): {"tasks": [3]}}


# ---- setting aside ----


def test_each_file_that_is_set_aside_is_reported(store, capfd):
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
    # A file that is not the store's stays.
    assert (store.folder / "notes.txt").exists()


def test_a_whole_document_is_not_set_aside(store):
    (store.folder / "plan.json").write_bytes(sealed_document("plan.json", '{"study": "x"}'))
    assert not store.set_aside(store.folder / "plan.json")
    assert json.loads((store.folder / "plan.json").read_text())["study"] == "x"


@pytest.mark.parametrize(("path", "claim"), [
    ("runs/ab-1.run", "ab-1"), ("parts/ab.parquet", "compaction"), ("plan.json", "plan.json"),
])  # fmt: skip
def test_a_file_is_set_aside_under_the_claim_of_the_process_that_makes_it(store, path, claim):
    (store.folder / path).write_bytes(b"garbage")
    with Leases(store.folder) as mine, Leases(store.folder) as other:
        assert other.claim(claim)
        assert set_aside(store, mine, {store.folder / path: "cut short"}, quiet=True) == []
        other.release(claim)
        assert len(set_aside(store, mine, {store.folder / path: "cut short"}, quiet=True)) == 1


def test_a_claim_is_released_although_the_file_cannot_be_moved(store, monkeypatch):
    def refuses(path):
        raise OSError("read-only")

    monkeypatch.setattr(store, "set_aside", refuses)
    path = store.runs / "ab-1.run"
    with Leases(store.folder) as mine, Leases(store.folder) as other:
        with pytest.raises(OSError, match="read-only"):
            setting_aside.set_aside(store, mine, {path: "cut short"}, quiet=True)
        assert other.claim("ab-1")
