"""Files of films and of single pictures: progress, colours, legends, and paths that are refused."""

from __future__ import annotations

import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image
from shown import words

from cluster_abm.results.colours import DOWN
from cluster_abm.results.films import film, film_files
from cluster_abm.results.films.film import FilmPicture, Scene, scale_of
from cluster_abm.results.films.film_files import write_film

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


@pytest.mark.slow
@pytest.mark.parametrize(("pictures", "is_said"), [([IDLE, IDLE], False), ([IDLE, OUT], True), ([OUT, OUT], True)])
def test_the_legend_explains_a_cross_if_there_is_one(monkeypatch, pictures, is_said):
    found = []
    monkeypatch.setattr(Figure, "savefig", lambda self, file, **_: (found.append(self), file.write(b"picture")))
    assert film.png([(SCENE, one) for one in pictures], scale_of("cpu", 2.0)) == b"picture"
    assert ("node out" in words(found[0].legends[0])) == is_said


def test_ffmpeg_is_the_systems_or_that_of_a_package(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert film_files.ffmpeg() == "/usr/bin/ffmpeg"
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert film_files.ffmpeg() is None
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", SimpleNamespace(get_ffmpeg_exe=lambda: "/its/own"))
    assert film_files.ffmpeg() == "/its/own"
