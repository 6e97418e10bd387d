"""`run --animate`: the film shows the run, and does not change it."""

import json
import shutil

import pytest
from PIL import Image

from cluster_abm.cli.animate import MOST_PICTURES

SMALL = ("quickstart", "--policy", "iolb", "--set", "workload.duration_s=20", "--set", "cluster.nodes=6", "--json")


def test_a_film_of_the_same_run(cli, tmp_path):
    _, without, _ = cli("run", *SMALL)
    code, out, err = cli("run", *SMALL, "--animate", tmp_path / "run.gif")
    assert code == 0
    assert json.loads(out) == json.loads(without)
    with Image.open(tmp_path / "run.gif") as film:
        assert MOST_PICTURES / 2 <= film.n_frames <= MOST_PICTURES
        film.seek(0)
        first = film.convert("RGB").tobytes()
        film.seek(film.n_frames // 2)
        assert film.convert("RGB").tobytes() != first
    assert "a picture every" in err


@pytest.mark.parametrize(("name", "why"), [("run.avi", "allowed are files that end in .gif or .mp4"),
                                           ("no/run.gif", "there is no folder")])  # fmt: skip
def test_what_cannot_be_written_is_said_before_the_run(cli, name, why):
    code, out, err = cli("run", *SMALL, "--animate", name)
    assert (code, out) == (2, "")
    assert why in err


def test_without_ffmpeg_it_says_so(cli, monkeypatch):
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    code, _, err = cli("run", *SMALL, "--animate", "run.mp4")
    assert code == 2
    assert "needs ffmpeg" in err


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
def test_with_ffmpeg_it_is_an_mp4(cli, tmp_path):
    code, _, _ = cli("run", *SMALL, "--animate", tmp_path / "run.mp4")
    assert code == 0
    assert (tmp_path / "run.mp4").read_bytes()[4:8] == b"ftyp"
