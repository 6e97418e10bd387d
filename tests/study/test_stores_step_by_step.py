"""A store step by step: what is looked up in its files and parts, and what is set aside."""

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
