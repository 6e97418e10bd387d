"""What `--animate` writes of recordings: an HTML file that plays them, or a film."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from cluster_abm.errors import InputError
from cluster_abm.recording.films.of_nodes import film_of
from cluster_abm.recording.films.of_player import browser, browser_film_of
from cluster_abm.recording.html import write_html
from cluster_abm.recording.recording import Recording
from cluster_abm.results.films.film_files import FORMATS, ffmpeg
from cluster_abm.whole_files import check_can_be_written

ENDINGS = (".html", *FORMATS)
# What the player can be set to.
LEAST_SPEED, LARGEST_SPEED = 0.01, 1000.0
_FOR_ALL = "pip install 'cluster_abm[browser]', and chromium"


class Animation(NamedTuple):
    """An HTML file or a film, and what it shows.

    A film is one of the player where a browser is there (`of_player.browser`), else one of the nodes alone.
    """

    path: Path
    """Ends in one of ENDINGS."""
    speed: float | None = None
    """Simulated seconds in a second; None: of a film so that all fits, of an HTML file the player's own."""
    size: tuple[int, int] | None = None
    """Width and height [pixels]; None: the film's own."""
    from_s: float | None = None
    """The part of the run that is shown begins here [s]; None: at the beginning."""
    to_s: float | None = None
    """It ends here [s]; None: at the end."""

    @property
    def is_html(self) -> bool:
        """Whether it is an HTML file, which keeps no more of a run than it shows."""
        return self.path.suffix.lower() == ".html"

    def check(self, folder: Path | None = None) -> None:
        """Make sure, before the run, that it can be written.

        Args:
            folder: one that will be made before.

        Raises InputError: another ending, options that do not fit it, a program that is missing, or a folder that is
        not there or cannot be written to.
        """
        what, ending = f"--animate {str(self.path)!r}", self.path.suffix.lower()
        if ending not in ENDINGS:
            raise InputError(f"{what}: allowed are files that end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        if ending in (".mp4", ".webm") and ffmpeg() is None:
            raise InputError(f"{what}: {ending[1:]} needs ffmpeg, which is not installed (imageio-ffmpeg brings it)")
        if self.to_s is not None and self.to_s <= (self.from_s or 0.0):
            raise InputError(f"--to {self.to_s:g}: a time after --from {self.from_s or 0:g} is needed")
        if self.is_html and self.size is not None:
            raise InputError(f"--size: {what} is an HTML file, which is as large as its window")
        if self.is_html and self.speed is not None and not LEAST_SPEED <= self.speed <= LARGEST_SPEED:
            raise InputError(f"--speed {self.speed:g}: an HTML file plays at {LEAST_SPEED} to {LARGEST_SPEED:g}")
        if self.size is not None and browser() is None:
            raise InputError(f"--size: without a browser a film has a size of its own ({_FOR_ALL})")
        check_can_be_written(self.path, what, folder)

    def write(self, recordings: Sequence[Recording], progress: Callable[[float], object] = lambda share: None) -> str:
        """Write it, and return in words what was written.

        Args:
            recordings: one, or two that are shown side by side; of an HTML file only what it shows (`from_s`, `to_s`).
            progress: called now and then with the fraction done, 0..1.

        Raises InputError: it cannot be written, or there is nothing to show.
        """
        names = " and ".join(one.meta["policy"]["name"] for one in recordings)
        if self.is_html:
            write_html(self.path, recordings, self.speed)
            kept = "".join(f"; kept: {one.meta['kept']['why']}" for one in recordings[:1] if one.meta["kept"]["why"])
            return f"HTML file of {names} in {self.path}: it plays in a browser, offline{kept}"
        begin = self.from_s or 0.0
        if browser() is None:
            count = film_of(recordings, self.path, self.speed, begin, self.to_s, progress)
            return f"film of {names} in {self.path}: {count} pictures of the nodes; of the player: {_FOR_ALL}"
        count = browser_film_of(recordings, self.path, self.speed, self.size, begin, self.to_s, progress)
        return f"film of {names} in {self.path}: {count} pictures"
