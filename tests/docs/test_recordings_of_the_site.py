"""Recordings that the site plays: those of today's engine, and small."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.recording import load_recordings

FOLDER = Path(__file__).parents[2] / "docs" / "recordings"
spec = importlib.util.spec_from_file_location("recordings_of_the_site", FOLDER / "make.py")
make = importlib.util.module_from_spec(spec)
spec.loader.exec_module(make)
NAMES = [*make.RECORDINGS, *make.SCENES]


def test_each_recording_is_made_and_has_a_picture():
    assert {path.stem for path in FOLDER.glob("*.rec")} == {*NAMES}
    assert {path.stem for path in FOLDER.glob("*.json")} == {*make.SCENES}
    for name in NAMES:
        assert (FOLDER / f"{name}.png").stat().st_size < 200_000
        assert (FOLDER / f"{name}.rec").stat().st_size < 600_000


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_committed_recording_is_that_of_the_run(name):
    now, scene = make.recorded(name)
    kept = load_recordings(FOLDER / f"{name}.rec")
    if scene is not None:
        assert json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")) == json.loads(json.dumps(scene))
    assert len(kept) == len(now)
    for one, other in zip(kept, now, strict=True):
        assert_alike(
            {**one.meta, "version": ""}, {**other.meta, "version": ""}, f"python docs/recordings/make.py {name}"
        )
        for table in other.tables:
            pd.testing.assert_frame_equal(one.tables[table].to_pandas(), other.tables[table].to_pandas(), rtol=1e-12)


def assert_alike(one, other, words):
    """Not the same bytes: libraries may compress otherwise, and the last bit of a logarithm is the processor's."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), words
        for key in one:
            assert_alike(one[key], other[key], f"{words}: {key}")
    elif isinstance(one, float):
        assert one == pytest.approx(other, rel=1e-12, nan_ok=True), words
    else:
        assert one == other, words
