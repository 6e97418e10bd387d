"""What `run` says where the disk has no room: before the work for its tables, after it for its results."""

from __future__ import annotations

import errno
import json
import os

import pytest

from cluster_abm import large_tables
from cluster_abm.errors import InputError
from cluster_abm.results import files

SMALL = ["--set", "workload.duration_s=60", "--set", "cluster.nodes=2"]


def full(*_, **__):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_no_room_for_the_tables(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(large_tables, "MOST_IN_MEMORY", 0)
    monkeypatch.setattr(large_tables, "_reserve", full)
    code, out, err = cli("run", "quickstart", *SMALL, "--out", "out", "--json")
    assert (code, out) == (2, "")
    assert err.startswith("error: jobs: ")
    assert "(No space left on device); TMPDIR names another folder" in err
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_the_results(cli, tmp_path, monkeypatch):
    def no_room(folder, name, _):
        raise InputError(f"{folder / name}: cannot be written (No space left on device)")

    monkeypatch.setattr(files, "write_pieces", no_room)
    code, out, err = cli("run", "quickstart", *SMALL, "--out", "out", "--json")
    assert code == 2
    assert "error: out/jobs.parquet: cannot be written (No space left on device)" in err
    assert "results in" not in err
    # What was computed is not lost.
    assert json.loads(out)["jobs"]["submitted"] > 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == json.loads(out)


@pytest.mark.slow
def test_rows_in_files_change_no_file_but_the_time(cli, tmp_path, monkeypatch):
    assert cli("run", "quickstart", *SMALL, "--out", "one")[0] == 0
    monkeypatch.setattr(large_tables, "MOST_IN_MEMORY", 0)
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 16)
    assert cli("run", "quickstart", *SMALL, "--out", "other")[0] == 0
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert {"jobs.parquet", "nodes.parquet", "run.png", "summary.json"} <= set(names)
    for name in names:
        if name != "timing.json":
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes(), name
