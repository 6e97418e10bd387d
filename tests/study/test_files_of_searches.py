"""What `calibrate` and `tune` leave in their folders, and what is asked of their pictures; nothing is drawn or run."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
from test_sentences_of_searches import FLAG, PERIOD, ROWS, SEEK, SPEED, calibrated, tuned

from cluster_abm.cli.frame import StudyCall
from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.options import Executor
from cluster_abm.cli.studies.calibrate import CalibrateFrame
from cluster_abm.cli.studies.tune import TuneFrame
from cluster_abm.study.calibration.observed import Row

OVERRIDES = SimpleNamespace(captioned=lambda title: f"{title}, as given")
CALL = StudyCall("test", (), FromLog(), Executor("inline", None, None, ()), None, False)


def write(frame, folder, found):
    """What a command writes after 2.5 s."""
    made = frame(CALL, OVERRIDES, found.question)
    made.wall_s = 2.5
    made.write(folder, found)


@pytest.fixture
def drawn(monkeypatch):
    """What the pictures were asked for: everything but the path."""
    asked = []

    of_studies = "cluster_abm.results.of_studies"
    for module, function in (("calibration_picture", "calibration_figure"), ("tuning_picture", "search_figure")):
        monkeypatch.setattr(f"{of_studies}.{module}.{function}", lambda *given: given)
    monkeypatch.setattr("cluster_abm.results.style.save", lambda given, path: asked.append((path.name, *given)))
    return asked


METRICS = (Row(2, "a", "mean_slowdown", 100.0), Row(3, "a", "page_faults", 200.0))


@pytest.mark.parametrize(("rows", "title", "unit"), [
    # The median of .1 and .1 of what was fitted; .25 of what was held out, if anything was.
    (ROWS, "test, calibrated: median error of the held-out rows 25.0%", "ms"),
    (ROWS[:2], "test, calibrated: median error of the fitted rows 10.0%", "ms"),
    # Of metrics, which have several units.
    (METRICS, "test, calibrated: median error of the fitted rows 10.0%", ""),
])  # fmt: skip
def test_files_of_a_calibration(tmp_path, drawn, rows, title, unit):
    slices = {SPEED: ([0.5, 1.5], [0.2, 0.3]), SEEK: ([2.0, 10.0], [0.4, 0.5])}
    found = replace(calibrated(rows), slices=slices)
    write(CalibrateFrame, tmp_path, found)
    assert {path.name for path in tmp_path.iterdir()} == {
        "scenario.toml", "calibration.json", "fitted.csv", "calibrated.toml", "timing.json",
    }  # fmt: skip
    assert json.loads((tmp_path / "timing.json").read_text()) == {"wall_s": 2.5}
    assert json.loads((tmp_path / "calibration.json").read_text())["runs"] == 30
    assert len(pd.read_csv(tmp_path / "fitted.csv")) == len(rows)
    assert tomllib.loads((tmp_path / "scenario.toml").read_text())["name"] == "test"
    assert tomllib.loads((tmp_path / "calibrated.toml").read_text())["cluster"]["disk_seek_rotation_ms"] == 6.0
    ((name, *asked),) = drawn
    assert (name, asked[0], len(asked[1]), asked[2]) == ("calibration.png", title, len(rows), unit)
    speed, seek = asked[3][SPEED], asked[3][SEEK]
    assert speed[:3] == ([0.5, 1.5], [0.2, 0.3], 1.0)
    assert seek[:3] == ([2.0, 10.0], [0.4, 0.5], 6.0)
    assert speed.low < 1.0 < speed.high


@pytest.mark.parametrize(("found", "title", "best"), [
    (tuned(), "wal-re on test: 5 candidates, 11 runs; the best, judged on seeds 4 to 5: 0.500 [0.500, 0.500]", 1),
    (tuned(0, None), "wal-re on test: 5 candidates, 11 runs", 0),
])  # fmt: skip
def test_files_of_a_search(tmp_path, drawn, found, title, best):
    write(TuneFrame, tmp_path, found)
    assert {path.name for path in tmp_path.iterdir()} == {
        "scenario.toml", "tune.json", "trials.parquet", "best.toml", "timing.json",
    }  # fmt: skip
    assert json.loads((tmp_path / "timing.json").read_text()) == {"wall_s": 2.5}
    assert len(pd.read_parquet(tmp_path / "trials.parquet")) == 5
    assert json.loads((tmp_path / "tune.json").read_text())["runs"] == 11
    text = (tmp_path / "best.toml").read_text()
    assert text.startswith("# candidate 1, judged" if best else "# no candidate was better")
    ((name, *asked),) = drawn
    assert (name, asked[0], asked[1]) == ("tune.png", f"{title}, as given", "mean_slowdown / the defaults'")
    assert len(asked[2]) == 5
    assert (asked[3], asked[4]) == ({PERIOD: False, FLAG: False}, best)
