"""`--animate`: an HTML file or a film of the run, or of the first two policies, which changes nothing else."""

import errno
import json
import re
import subprocess
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
import pytest
from PIL import Image

from cluster_abm.results.films import film_files

SMALL = ("quickstart", "--policy", "iolb", "--set", "workload.duration_s=20", "--set", "cluster.nodes=6", "--json")
# Twelve pictures a second: one each second of the run.
SHORT = ("--speed", "12", "--from", "5", "--to", "10")


@pytest.fixture
def no_browser(monkeypatch):
    monkeypatch.setattr("cluster_abm.recording.films.animation.browser", lambda: None)


@pytest.mark.slow
def test_an_html_file_of_the_same_run(cli, tmp_path):
    _, without, _ = cli("run", *SMALL)
    code, out, err = cli("run", *SMALL, "--animate", "run.html", "--record", "run.rec", "--speed", "3")
    assert code == 0
    assert json.loads(out) == json.loads(without)
    assert "HTML file of iolb in run.html: it plays in a browser, offline" in err
    text = (tmp_path / "run.html").read_text()
    assert text.count('class="recording"') == 1
    assert 'data-address="#speed=3"' in text
    cli("run", *SMALL, "--record", "alone.rec")
    assert (tmp_path / "run.rec").read_bytes() == (tmp_path / "alone.rec").read_bytes()


@pytest.mark.slow
def test_a_part_of_the_run_is_all_that_the_html_file_keeps(cli, tmp_path):
    cli("run", *SMALL, "--animate", "whole.html")
    code, _, err = cli("run", *SMALL, "--animate", "part.html", "--from", "5", "--to", "6.5")
    assert code == 0
    assert "part.html: it plays in a browser, offline; kept: what lives from 5 s to 6.5 s" in err
    assert (tmp_path / "part.html").stat().st_size < (tmp_path / "whole.html").stat().st_size


@pytest.mark.slow
def test_two_policies_in_one_html_file(cli, tmp_path):
    words = ("--policies", "none,wal-pm,jsq", "--seeds", "2", "--executor", "inline", "--out", "out")
    small = ("--set", "workload.duration_s=20", "--set", "cluster.nodes=6")
    code, _, err = cli("compare", "quickstart", *words, *small, "--animate", "two.html", "--record", "two.rec")
    assert code == 0
    assert "HTML file of none and wal-pm in two.html" in err
    assert "recording of none and wal-pm in two.rec" in err
    assert (tmp_path / "two.html").read_text().count('class="recording"') == 2
    assert (tmp_path / "out" / "compare.png").exists()


@pytest.mark.slow
def test_a_film_of_the_nodes_where_there_is_no_browser(cli, tmp_path, no_browser):
    code, _, err = cli("run", *SMALL, *SHORT, "--animate", tmp_path / "run.gif")
    assert code == 0
    assert "6 pictures of the nodes; of the player: pip install 'cluster_abm[browser]', and chromium" in err
    with Image.open(tmp_path / "run.gif") as film:
        assert film.n_frames == 6
        first = film.convert("RGB").tobytes()
        film.seek(5)
        assert film.convert("RGB").tobytes() != first


@pytest.mark.slow
def test_into_the_folder_of_the_results(cli, tmp_path):
    code, _, _ = cli("run", *SMALL, "--out", "deep/out", "--animate", "deep/a.html", "--record", "deep/out/a.rec")
    assert code == 0
    assert (tmp_path / "deep" / "a.html").exists()
    assert {"a.rec", "summary.json"} <= {one.name for one in (tmp_path / "deep" / "out").iterdir()}


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--animate", "run.avi"), "allowed are files that end in .html, .gif, .mp4 or .webm"),
        (("--animate", "no/run.gif"), "there is no folder"),
        (("--animate", "run.html", "--size", "640x360"), "is an HTML file, which is as large as its window"),
        (("--animate", "run.html", "--speed", "1001"), "--speed 1001: an HTML file plays at 0.01 to 1000"),
        (("--animate", "run.gif", "--from", "9", "--to", "9"), "--to 9: a time after --from 9 is needed"),
        (("--animate", "run.gif", "--size", "640"), "two even numbers of 320 to 3840 pixels are needed, as 1280x720"),
        (("--animate", "run.gif", "--size", "641x360"), "two even numbers of 320 to 3840"),
        (("--animate", "run.gif", "--speed", "0"), "0.0 must be from 1e-06 to"),
        (("--animate", "run.gif", "--from", "-1"), "-1.0 must be from 0 to 4000000000.0"),
        (("--animate", "run.gif", "--to", "inf"), "inf must be from 0 to 4000000000.0"),
        (("--animate", "run.gif", "--from", "nan"), "--from nan: a number is needed"),
        (("--animate", "run.html", "--speed", "nan"), "--speed nan: a number is needed"),
        (("--speed", "2"), "--speed needs --animate FILE"),
        (("--to", "2"), "--to needs --animate FILE"),
        (("--animate", "a.html", "--record", "./a.html"), "--animate writes this file, too"),
        (("--animate", "a.gif", "--detail", "5:6"), "--detail '5:6': it is kept in a recording"),
    ],
)
def test_what_cannot_be_written_is_said_before_the_run(cli, tmp_path, options, why):
    code, out, err = cli("run", *SMALL, *options)
    assert (code, out) == (2, "")
    assert why in err
    assert [*tmp_path.iterdir()] == []


def test_without_a_browser_a_film_has_its_own_size(cli, no_browser):
    code, _, err = cli("run", *SMALL, "--animate", "run.gif", "--size", "640x360")
    assert code == 2
    assert "--size: without a browser a film has a size of its own" in err


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
    ("options", "words"),
    [
        (("--from", "1e6"), "the film: from 1e+06 to"),
        (("--speed", "1e-6"), "pictures, allowed 1,000: a higher --speed, or --from and --to"),
    ],
)
def test_a_film_that_cannot_be_leaves_the_run(cli, tmp_path, monkeypatch, no_browser, options, words):
    monkeypatch.setattr("cluster_abm.recording.films.of_nodes.LONGEST", 1000)
    code, out, err = cli("run", *SMALL, "--animate", "run.gif", *options)
    assert code == 2
    assert json.loads(out)["scenario"] == "quickstart"
    assert words in err
    assert [*tmp_path.iterdir()] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "problem", [OSError(errno.ENOSPC, "No space left on device"), CalledProcessError(-9, "ffmpeg")]
)
def test_half_a_film_is_none(cli, tmp_path, monkeypatch, no_browser, problem):
    """What was there stays, nothing is left beside it, and it is no fault of the program."""
    (tmp_path / "run.gif").write_bytes(b"an older film")
    written = []

    def stop(self, path, **_):
        # Half of it is there.
        Path(path).write_bytes(b"GIF89a")
        written.extend(path.name for path in tmp_path.iterdir())
        raise problem

    monkeypatch.setattr("PIL.Image.Image.save", stop)
    code, out, err = cli("run", *SMALL, *SHORT, "--animate", "run.gif")
    assert code == 2
    assert json.loads(out)["scenario"] == "quickstart"
    assert "run.gif: cannot be written (" in err
    assert "Traceback" not in err
    assert (tmp_path / "run.gif").read_bytes() == b"an older film"
    assert written
    assert [path.name for path in tmp_path.iterdir()] == ["run.gif"]


def test_without_ffmpeg_it_says_so(cli, monkeypatch):
    monkeypatch.setattr("cluster_abm.recording.films.animation.ffmpeg", lambda: None)
    for name in ("run.mp4", "run.webm"):
        code, _, err = cli("run", *SMALL, "--animate", name)
        assert code == 2
        assert f"{name[4:]} needs ffmpeg, which is not installed (imageio-ffmpeg brings it)" in err


@pytest.mark.skipif(film_files.ffmpeg() is None, reason="ffmpeg is not installed")
@pytest.mark.slow
def test_with_ffmpeg_it_is_a_video(cli, tmp_path, no_browser):
    """A picture comes back out of it as the GIF has it: same size, and about the same colours."""
    for name in ("run.mp4", "run.webm", "run.gif"):
        code, _, _ = cli("run", *SMALL, *SHORT, "--animate", tmp_path / name)
        assert code == 0
    assert (tmp_path / "run.mp4").read_bytes()[4:8] == b"ftyp"
    assert (tmp_path / "run.webm").read_bytes()[:4] == b"\x1a\x45\xdf\xa3"
    with Image.open(tmp_path / "run.gif") as film:
        frames = film.n_frames
        film.seek(frames // 2)
        expected = np.asarray(film.convert("RGB"), float)
    for name in ("run.mp4", "run.webm"):
        words = [film_files.ffmpeg(), "-loglevel", "error", "-i", name, f"{name}-%03d.png"]
        subprocess.run(words, cwd=tmp_path, check=True)
        pictures = sorted(one for one in tmp_path.iterdir() if re.fullmatch(rf"{name}-\d+\.png", one.name))
        assert len(pictures) == frames
        with Image.open(pictures[frames // 2]) as picture:
            found = np.asarray(picture.convert("RGB"), float)
        assert found.shape == expected.shape
        assert np.abs(found - expected).mean() < 5
