"""Films of the player: pictures of the moments that were asked for, without buttons, in each format."""

from __future__ import annotations

import subprocess
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from recorded import calm, eventful

from cluster_abm.errors import InputError
from cluster_abm.recording.films import of_player
from cluster_abm.results.films import film_files

pytestmark = pytest.mark.skipif(of_player.browser() is None, reason="there is no browser here, or no Playwright")


def pictures_of(path, frames):
    if path.suffix == ".gif":
        with Image.open(path) as film:
            assert film.n_frames == frames
            return [film.seek(place) or np.asarray(film.convert("RGB"), float) for place in range(frames)]
    words = [film_files.ffmpeg(), "-loglevel", "error", "-i", path, path.with_name("%03d.png")]
    subprocess.run(words, check=True)
    found = sorted(path.parent.glob("[0-9]*.png"))
    assert len(found) == frames
    return [np.asarray(Image.open(one).convert("RGB"), float) for one in found]


@pytest.mark.parametrize("ending", [".gif", ".mp4", ".webm"])
def test_two_runs_in_each_format(tmp_path, ending):
    if ending != ".gif" and film_files.ffmpeg() is None:
        pytest.skip("ffmpeg is not installed")
    shares, path = [], tmp_path / f"film{ending}"
    # A second of the run in a quarter of a second of the film.
    count = of_player.browser_film_of([calm(), eventful()], path, 4.0, (640, 360), 1.0, 2.0, shares.append)
    assert count == 6
    assert shares == pytest.approx([1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, 1.0])
    pictures = pictures_of(path, 6)
    assert {one.shape for one in pictures} == {(360, 640, 3)}
    # The clock and the cursor go on, and more: most of the picture stays.
    assert all(0 < np.abs(one - other).mean() < 20 for one, other in pairwise(pictures))


def test_the_same_film_twice(tmp_path):
    for name in ("one.gif", "two.gif"):
        of_player.browser_film_of([eventful()], tmp_path / name, 4.0, (640, 360), 1.0, 1.5)
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()


def test_a_browser_that_fails_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(of_player, "browser", lambda: "/bin/false")
    with pytest.raises(InputError, match="the film: the browser /bin/false fails"):
        of_player.browser_film_of([eventful()], tmp_path / "film.gif")
    assert [*tmp_path.iterdir()] == []


def test_it_has_no_buttons(files, show):
    tab = show(files / "two.html")
    tab.page.evaluate("document.getElementById('player').player.set({film: true})")
    seen = tab.page.locator("button:visible, input[type=range]:visible, .side:visible")
    assert seen.count() == 0
    tab.page.evaluate("document.getElementById('player').player.set({film: false})")
    assert seen.count() > 10
