"""Stores in a bad state: records that no run writes, files that come and go, claims that nobody holds."""

from __future__ import annotations

import json
import os

import pytest

from cluster_abm.errors import InputError
from cluster_abm.study.store import leases as leases_module
from cluster_abm.study.store.durable import Damaged, read_bytes, seal, unseal, write_durably
from cluster_abm.study.store.leases import Leases, processes_at_work, this_host, token_of
from cluster_abm.study.store.setting_aside import set_aside
from cluster_abm.study.store.store import Record, Store

KEY = "cd" * 12
OTHER_HOST = "another"


@pytest.fixture
def store(tmp_path):
    made = Store(tmp_path / "store")
    made.prepare()
    return made


def put(store, metrics, seed=1, **more):
    """A record as it might have been written by hand."""
    path = store.path_of((KEY, seed))
    path.write_bytes(seal(json.dumps({"key": KEY, "seed": seed, "metrics": metrics} | more)))
    return path


@pytest.mark.parametrize("value", [
    "1.5", "", "nan", {}, [1.0, "x"], [["x"]], -(2**63) - 1, 2**63, [0, 2**63], [None, "x"],
])  # fmt: skip
def test_a_metric_that_is_no_number_is_damage(store, value):
    path = put(store, {"good": 1.0, "odd": value})
    contents = store.contents()
    assert list(contents.damaged) == [path]
    assert contents.damaged[path].startswith("it is no record of a run: metric 'odd' is ")
    assert contents.finished == set()
    assert store.look_up((KEY, 1)) is None


@pytest.mark.parametrize("value", [None, 0, -1.5, 1e308, -(2**63), 2**63 - 1, [], [1, 2.5], [None, 1.0]])
def test_a_metric_that_a_table_holds_is_none(store, value):
    put(store, {"fine": value})
    contents = store.contents()
    assert contents.damaged == {}
    assert contents.finished == {(KEY, 1)}
    assert contents.tables[0]["metrics.fine"].to_pylist() == [value]


@pytest.mark.parametrize(("metrics", "more", "said"), [
    ({"a\nb": 1.0}, {}, "metric 'a"), ([1.0], {}, "metrics is [1.0]"), ("x", {}, "metrics is 'x'"),
    (None, {}, "metrics is None"), ({"a": 1.0}, {"unknown": 1}, "unexpected keyword argument 'unknown'"),
    ({"a": 1.0}, {"key": "00"}, "another run than its name says"), ({"a": 1.0}, {"load": [1]}, "load is [1]"),
    ({"a": 1.0}, {"error": 3}, "error is 3"), ({}, {"error": "x", "traceback": None}, "traceback is None"),
    # Of a file's name a text is the same as a number.
    ({"a": 1.0}, {"seed": "1"}, "seed is '1'"),
])  # fmt: skip
def test_what_is_no_record_is_damage(store, metrics, more, said):
    path = put(store, metrics, **more)
    assert said in store.contents().damaged[path]


@pytest.mark.parametrize(("seed", "is_fine"), [(0, True), (2**63 - 1, True), (2**63, False)])
def test_seeds_that_a_table_holds(store, seed, is_fine):
    path = put(store, {"a": 1.0}, seed=seed)
    contents = store.contents()
    assert contents.finished == ({(KEY, seed)} if is_fine else set())
    assert [*contents.damaged] == ([] if is_fine else [path])


def test_damaged_and_failed_runs_are_in_no_part(store):
    put(store, {"odd": "x"}, seed=1)
    store.add(Record(KEY, 2, error="RuntimeError: on fire"))
    store.add(Record(KEY, 3, {"good": 1.0}))
    # Two of them are wanted, and there is one.
    assert store.compact(2) == 0
    assert store.compact(1) == 1
    assert sorted(path.name for path in store.runs.iterdir()) == [f"{KEY}-1.run", f"{KEY}-2.run"]
    assert store.contents().finished == {(KEY, 3)}
    assert store.look_up((KEY, 2)).failed
    assert store.look_up((KEY, 3)).metrics == {"good": 1.0}
    assert store.look_up((KEY, 4)) is None
    assert store.compact(0) == 0


def test_what_is_set_aside_keeps_what_was_there(store):
    for text in ("one", "two", "three"):
        path = put(store, {"odd": text})
        assert store.set_aside(path)
        assert not path.exists()
        assert not store.set_aside(path)
    held = {path.name: unseal(path.read_bytes()) for path in (store.folder / "damaged").iterdir()}
    assert {name: json.loads(text)["metrics"]["odd"] for name, text in held.items()} == {
        f"{KEY}-1.run": "one", f"{KEY}-1.run.1": "two", f"{KEY}-1.run.2": "three",
    }  # fmt: skip
    whole = put(store, {"good": 1.0})
    assert not store.set_aside(whole)
    assert whole.exists()


def test_what_another_process_is_about_is_left_to_it(store, capfd):
    path = put(store, {"odd": "x"})
    damaged = store.contents().damaged
    with Leases(store.folder) as mine, Leases(store.folder) as other:
        assert other.claim(path.stem)
        assert set_aside(store, mine, damaged, quiet=True) == []
        assert path.exists()
        other.release(path.stem)
        (line,) = set_aside(store, mine, damaged, quiet=True)
        assert line.startswith(f"{path}: damaged (it is no record of a run: metric 'odd'")
        assert line.endswith("what it held is run again")
        assert mine.claim(path.stem)
        # Mended in between: nothing is moved, and nothing said.
        put(store, {"good": 1.0}, seed=2)
        assert set_aside(store, mine, {store.path_of((KEY, 2)): "it was"}, quiet=False) == []
    assert capfd.readouterr().err == ""


def test_a_folder_that_cannot_be_made_and_partial_files(tmp_path):
    (tmp_path / "file").write_text("here already")
    with pytest.raises(InputError, match=r"--out .*file.*: cannot be written to"):
        Store(tmp_path / "file").prepare()
    store = Store(tmp_path / "store")
    store.prepare()
    for name in ("mine.1", "mine.22", "mine2.1", "other.1"):
        (store.folder / "tmp" / name).write_text("half")
    store.forget_partial("mine")
    assert sorted(path.name for path in (store.folder / "tmp").iterdir()) == ["mine2.1", "other.1"]
    with pytest.raises(RuntimeError), store.written_by("other"):
        raise RuntimeError
    assert [path.name for path in (store.folder / "tmp").iterdir()] == ["mine2.1"]
    assert store.written_ns((KEY, 1)) is None
    store.add(Record(KEY, 1))
    assert store.written_ns((KEY, 1)) == store.path_of((KEY, 1)).stat().st_mtime_ns
    assert [path.name for path in (store.folder / "tmp").iterdir()] == ["mine2.1"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_pipe_is_not_waited_for(store):
    os.mkfifo(store.runs / "pipe.run")
    assert store.contents().damaged == {store.runs / "pipe.run": "it is no regular file"}
    with pytest.raises(Damaged, match="no regular file"):
        read_bytes(store.runs / "pipe.run")


def test_a_file_that_is_not_there_is_no_damage(store):
    with pytest.raises(FileNotFoundError):
        read_bytes(store.runs / "none.run")
    write_durably(store.runs / "x.run", b"whole", store.folder / "tmp" / "x")
    assert read_bytes(store.runs / "x.run") == b"whole"
    assert not (store.folder / "tmp" / "x").exists()


# ---- claims ----


@pytest.mark.parametrize(("age_s", "is_at_work"), [(-5.0, True), (89.0, True), (91.0, False)])
def test_a_session_that_is_not_renewed_is_over(tmp_path, age_s, is_at_work):
    """Of another host, of which only its heart is heard: 90 s."""
    (tmp_path / "sessions").mkdir()
    session = tmp_path / "sessions" / token_of(OTHER_HOST, 1)
    session.touch()
    now = session.stat().st_mtime
    os.utime(session, (now - age_s, now - age_s))
    assert processes_at_work(tmp_path) == is_at_work
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "run.1").write_text(session.name)
    with Leases(tmp_path) as leases:
        assert leases.claim("run") != is_at_work
        assert list(leases.dead()) == ([] if is_at_work else [session.name])
        assert session.exists() == is_at_work
        # Its own session is none of the dead.
        assert list(leases.dead()) == []


@pytest.mark.parametrize(("age_s", "is_free"), [(5.0, False), (89.0, False), (91.0, True)])
def test_a_claim_without_a_name_is_its_makers_for_a_while(tmp_path, age_s, is_free):
    (tmp_path / "claims").mkdir()
    claim = tmp_path / "claims" / "run.4"
    claim.touch()
    now = claim.stat().st_mtime
    os.utime(claim, (now - age_s, now - age_s))
    with Leases(tmp_path) as leases:
        assert leases.claim("run") == is_free
        names = sorted(path.name for path in (tmp_path / "claims").iterdir())
        assert names == (["run.4", "run.5"] if is_free else ["run.4"])


@pytest.mark.parametrize("content", [b"\xff\xfe", None])
def test_a_claim_that_no_process_writes_is_void(tmp_path, content):
    claim = tmp_path / "claims" / "run.1"
    claim.parent.mkdir()
    if content is None:
        claim.mkdir()
    else:
        claim.write_bytes(content)
    with Leases(tmp_path) as leases:
        assert leases.claim("run")
        if content is None:
            claim.rmdir()
    assert not claim.exists()


def test_the_claim_of_a_session_that_is_gone_is_void(tmp_path):
    (tmp_path / "claims").mkdir()
    (tmp_path / "claims" / "run.1").write_text(token_of(this_host(), os.getpid()))
    with Leases(tmp_path) as leases:
        assert leases.claim("run")


@pytest.mark.parametrize(("raised", "lives"), [(ProcessLookupError, False), (PermissionError, True), (None, True)])
def test_a_process_of_another_user_lives(tmp_path, monkeypatch, raised, lives):
    def kill(pid, number):
        assert (pid, number) == (7, 0)
        if raised is not None:
            raise raised

    monkeypatch.setattr(leases_module.os, "kill", kill)
    (tmp_path / "sessions").mkdir()
    (tmp_path / "sessions" / token_of(this_host(), 7)).touch()
    assert processes_at_work(tmp_path) == lives
    # A number is none of this host's processes on another one.
    (tmp_path / "sessions" / token_of(OTHER_HOST, 8)).touch()
    assert processes_at_work(tmp_path) == lives + 1
