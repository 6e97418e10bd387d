"""`run_all` with a folder: results from before, damaged files, failed runs, and the keys of runs.

The model is a stand-in.
"""

from __future__ import annotations

import os

import pytest
from stand_in_runs import of, row

from cluster_abm.errors import InputError
from cluster_abm.study.runner import tasks as module
from cluster_abm.study.runner.tasks import Where, run_all
from cluster_abm.study.store.leases import Leases, token_of
from cluster_abm.study.store.store import Store


def kept(folder, tasks, **more):
    return run_all(tasks, quiet=True, where=Where("inline", folder=folder), **more)


def test_rows_come_from_files_and_from_parts(carried, tmp_path):
    first = kept(tmp_path, of(2, 1, 2))
    Store(tmp_path).compact(1)
    second = kept(tmp_path, [*of(2, 3, 2, 1), *of(3, 1)])
    assert second.rows == [row(2), row(2), row(2), row(3)]
    assert (first.made, second.made) == (2, 2)
    assert carried.seeds == [1, 2, 1, 3]
    assert [list((tmp_path / name).iterdir()) for name in ("claims", "sessions", "tmp")] == [[]] * 3


def test_runs_go_into_parts_at_the_end(carried, tmp_path, monkeypatch):
    monkeypatch.setattr(Store, "runs_a_segment", 2)
    kept(tmp_path, of(2, 1))
    kept(tmp_path, of(2, 2))
    assert [len(list((tmp_path / name).iterdir())) for name in ("runs", "parts")] == [0, 1]


def test_partial_files_of_a_dead_process_are_removed_and_damaged_runs_run_again(carried, tmp_path, capfd):
    kept(tmp_path, of(2, 1, 2))
    dead = token_of("another host", 7)
    (tmp_path / "tmp" / f"{dead}.3").write_text("half")
    with Leases(tmp_path) as alive:
        (tmp_path / "tmp" / f"{alive.token}.1").write_text("half")
        session = tmp_path / "sessions" / dead
        session.touch()
        os.utime(session, (0, 0))
        damaged = sorted((tmp_path / "runs").iterdir())[0]
        damaged.write_text("garbage")
        assert kept(tmp_path, of(2, 1, 2)).made == 1
        assert [path.name for path in (tmp_path / "tmp").iterdir()] == [f"{alive.token}.1"]
    assert [path.name for path in (tmp_path / "damaged").iterdir()] == [damaged.name]
    assert capfd.readouterr().err == ""


def test_each_call_retries_a_failed_run_once(carried, tmp_path):
    carried.fates = {1: "ValueError: a"}
    assert kept(tmp_path, of(2, 1, 2)).exit_code == 1
    assert kept(tmp_path, of(2, 1, 2)).exit_code == 1
    carried.fates = {}
    assert kept(tmp_path, of(2, 1, 2)).rows == [row(2), row(2)]
    assert carried.seeds == [1, 2, 1, 1]


@pytest.fixture
def nameless(monkeypatch):
    """Scenarios of three nodes have no key, because a file that they need cannot be read; the calls so far."""
    named = []

    def cell_key(scenario):
        named.append(scenario.cluster.nodes)
        if scenario.cluster.nodes == 3:
            raise InputError("gone.csv: cannot be read")
        return f"of-{scenario.cluster.nodes}"

    monkeypatch.setattr(module, "cell_key", cell_key)
    return named


def test_with_a_folder_a_scenario_without_a_key_is_refused(carried, nameless, tmp_path):
    with pytest.raises(InputError, match=r"gone\.csv"):
        kept(tmp_path, [*of(2, 1), *of(3, 1)])
    assert carried.seeds == []
    assert not (tmp_path / "runs").exists()


def test_without_a_folder_a_scenario_needs_no_key(carried, nameless):
    tasks = [*of(2, 1), *of(3, 1), *of(3, 2), *of(3, 1), *of(2, 1)]
    assert run_all(tasks, where=Where("inline"), quiet=True).rows == [row(2), row(3), row(3), row(3), row(2)]
    # The key of equal scenarios is computed once, although they are different objects.
    assert carried.seeds == [1, 1, 2]
    assert nameless == [2, 3]
