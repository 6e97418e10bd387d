"""`run --animate`: the film shows the run, and does not change it."""

import errno
import json
import shutil
import subprocess
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import pytest
from PIL import Image

from cluster_abm.cli.animate import MOST_PICTURES

SMALL = ("quickstart", "--policy", "iolb", "--set", "workload.duration_s=20", "--set", "cluster.nodes=6", "--json")


@pytest.mark.slow
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


def test_a_folder_is_no_film(cli, tmp_path):
    (tmp_path / "run.gif").mkdir()
    code, out, err = cli("run", *SMALL, "--animate", "run.gif")
    assert (code, out) == (2, "")
    assert "'run.gif': is a folder; the name of a file is needed" in err


def test_where_nothing_can_be_written_is_said_before_the_run(cli, monkeypatch):
    def full(**_):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    code, out, err = cli("run", *SMALL, "--animate", "run.gif")
    assert (code, out) == (2, "")
    assert "'run.gif': cannot be written (Read-only file system); a writable folder is needed" in err


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem", [OSError(errno.ENOSPC, "No space left on device"), CalledProcessError(-9, "ffmpeg")]
)
def test_half_a_film_is_none(cli, tmp_path, monkeypatch, problem):
    """What was there stays, nothing is left beside it, and it is no fault of the program."""
    (tmp_path / "run.gif").write_bytes(b"an older film")
    written = []

    def stop(self, path, **_):
        # Half of it is there.
        Path(path).write_bytes(b"GIF89a")
        written.extend(path.name for path in tmp_path.iterdir())
        raise problem

    monkeypatch.setattr("PIL.Image.Image.save", stop)
    code, out, err = cli("run", *SMALL, "--animate", "run.gif")
    assert code == 2
    assert json.loads(out)["scenario"] == "quickstart"
    assert "run.gif: cannot be written (" in err
    assert "Traceback" not in err
    assert (tmp_path / "run.gif").read_bytes() == b"an older film"
    assert written
    assert [path.name for path in tmp_path.iterdir()] == ["run.gif"]


def test_without_ffmpeg_it_says_so(cli, monkeypatch):
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    code, _, err = cli("run", *SMALL, "--animate", "run.mp4")
    assert code == 2
    assert "needs ffmpeg" in err


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="ffmpeg is not installed")
@pytest.mark.slow
def test_with_ffmpeg_it_is_an_mp4(cli, tmp_path):
    """A picture comes back out of it as the GIF has it: same size, and about the same colours."""
    for name in ("run.mp4", "run.gif"):
        code, _, _ = cli("run", *SMALL, "--animate", tmp_path / name)
        assert code == 0
    assert (tmp_path / "run.mp4").read_bytes()[4:8] == b"ftyp"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.gif", "run.mp4"]
    subprocess.run(["ffmpeg", "-loglevel", "error", "-i", "run.mp4", "%03d.png"], cwd=tmp_path, check=True)
    pictures = sorted(tmp_path.glob("*.png"))
    with Image.open(tmp_path / "run.gif") as film:
        assert len(pictures) == film.n_frames
        film.seek(film.n_frames // 2)
        expected = np.asarray(film.convert("RGB"), float)
    with Image.open(pictures[len(pictures) // 2]) as picture:
        found = np.asarray(picture.convert("RGB"), float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).mean() < 4
