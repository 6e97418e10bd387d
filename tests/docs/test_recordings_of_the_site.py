"""Recordings that the site plays: those of today's engine, and small."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from cluster_abm.recording import load_recordings

FOLDER = Path(__file__).parents[2] / "docs" / "recordings"
spec = importlib.util.spec_from_file_location("recordings_of_the_site", FOLDER / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)


def test_each_recording_is_made_and_has_a_picture():
    assert {path.stem for path in FOLDER.glob("*.rec")} == {*make.RECORDINGS}
    for name in make.RECORDINGS:
        assert (FOLDER / f"{name}.png").stat().st_size < 200_000
        assert (FOLDER / f"{name}.rec").stat().st_size < 500_000


@pytest.mark.slow
@pytest.mark.parametrize("name", [*make.RECORDINGS])
def test_a_committed_recording_is_that_of_the_run(name):
    kept, now = load_recordings(FOLDER / f"{name}.rec"), make.RECORDINGS[name].recordings()
    assert len(kept) == len(now)
    for one, other in zip(kept, now, strict=True):
        # Not its bytes: libraries may compress otherwise.
        assert {**one.meta, "version": ""} == {**other.meta, "version": ""}, f"python docs/recordings/make.py {name}"
        assert all(one.tables[table].to_pandas().equals(other.tables[table].to_pandas()) for table in other.tables)
