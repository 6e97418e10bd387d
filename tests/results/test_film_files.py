"""Files of films and of single pictures: progress, colours, legends, and paths that are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from shown import words

from cluster_abm.errors import InputError
from cluster_abm.results import film, film_files
from cluster_abm.results.colours import DOWN
from cluster_abm.results.film import FilmPicture, Scene, scale_of
from cluster_abm.results.film_files import check_film, write_film

PLACES = [(0.0, 0.5), (1.0, 0.5)]
SCENE = Scene("a run", PLACES, [])
IDLE = FilmPicture(0.0, np.zeros(2), np.zeros(2), np.ones(2, bool), ())
OUT = replace(IDLE, up=np.array([True, False]))


def test_a_film_has_the_colours_of_later_pictures_and_reports_each_picture(tmp_path):
    told = []
    write_film(tmp_path / "a.gif", [SCENE], [[IDLE], [OUT]], scale_of("cpu", 2.0), lambda: told.append(1))
    assert len(told) == 2
    wanted = np.array([int(DOWN[at : at + 2], 16) for at in (1, 3, 5)])
    with Image.open(tmp_path / "a.gif") as gif:
        gif.seek(1)
        last = np.asarray(gif.convert("RGB"), float)
    # The cross of the failed node at the right has a few pixels of about its own colour.
    right = last[:, last.shape[1] // 2 :]
    assert (np.abs(right - wanted).max(axis=2) < 12).sum() > 20


@pytest.mark.parametrize(("pictures", "is_said"), [([IDLE, IDLE], False), ([IDLE, OUT], True), ([OUT, OUT], True)])
def test_the_legend_explains_a_cross_if_there_is_one(monkeypatch, pictures, is_said):
    found = []
    monkeypatch.setattr(Figure, "savefig", lambda self, file, **_: (found.append(self), file.write(b"picture")))
    assert film.png([(SCENE, one) for one in pictures], scale_of("cpu", 2.0)) == b"picture"
    assert ("node out" in words(found[0].legends[0])) == is_said


@pytest.mark.parametrize(("name", "words"), [
    ("a.png", "allowed are files that end in .gif or .mp4"), ("none/a.gif", "there is no folder"),
    ("folder.gif", "is a folder"), ("a.mp4", "needs ffmpeg"),
])  # fmt: skip
def test_an_impossible_film_is_refused_before_the_run(tmp_path, monkeypatch, name, words):
    (tmp_path / "folder.gif").mkdir()
    monkeypatch.setattr("matplotlib.animation.FFMpegWriter.isAvailable", lambda: False)
    with pytest.raises(InputError, match=words):
        check_film(tmp_path / name)
    # A possible film is accepted, and checking it leaves no file. Capitals are allowed.
    check_film(tmp_path / "A.GIF")
    assert [one.name for one in tmp_path.iterdir()] == ["folder.gif"]


def test_a_film_in_a_read_only_folder_is_refused(tmp_path, monkeypatch):
    def refuse(folder):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(film_files, "try_to_write", refuse)
    with pytest.raises(InputError, match=r"cannot be written \(Permission denied\)"):
        check_film(tmp_path / "a.gif")
