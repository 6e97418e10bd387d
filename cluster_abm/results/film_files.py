"""A run as a film: GIF, or MP4 where ffmpeg is installed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, Any

import numpy as np

from cluster_abm.errors import InputError, reason_of
from cluster_abm.results.files import try_to_write
from cluster_abm.results.film import FilmPicture, Scale, Scene, Stage, background_of, staged
from cluster_abm.whole_files import in_one_move

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PER_SECOND = 12
FORMATS = (".gif", ".mp4")
# Colours of a GIF, and of how many of its pictures they are taken.
PALETTE, SAMPLES = 255, 8


def check_film(path: Path) -> None:
    """Make sure, before the run, that a film can be written there.

    Raises:
        InputError: neither .gif nor .mp4, no ffmpeg for the latter, no such folder, or one that cannot be written to.
    """
    from matplotlib.animation import FFMpegWriter

    if path.suffix.lower() not in FORMATS:
        raise InputError(f"--animate {str(path)!r}: allowed are files that end in {' or '.join(FORMATS)}")
    if path.suffix.lower() == ".mp4" and not FFMpegWriter.isAvailable():
        raise InputError(f"--animate {str(path)!r}: an MP4 needs ffmpeg, which is not installed; a .gif does not")
    if not path.parent.is_dir():
        raise InputError(f"--animate {str(path)!r}: there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise InputError(f"--animate {str(path)!r}: is a folder; the name of a file is needed")
    try:
        try_to_write(path.parent)
    except OSError as problem:
        raise InputError(
            f"--animate {str(path)!r}: cannot be written ({reason_of(problem)}); a writable folder is needed"
        ) from None


def write_film(
    path: Path,
    scenes: Sequence[Scene],
    pictures: Sequence[Sequence[FilmPicture]],
    scale: Scale,
    progress: Callable[[], object] = lambda: None,
) -> None:
    """Write a film, PER_SECOND pictures a second.

    Raises InputError: it cannot be written.

    Args:
        path: ends in .gif or .mp4.
        scenes: one, or several that stand side by side.
        pictures: one after another, each with one of each scene.
        scale: what the colours of the nodes mean.
        progress: called after each picture.
    """
    from matplotlib.animation import FFMpegWriter

    some_fail = any(not one.up.all() for picture in pictures for one in picture)
    figure, stages = staged(scenes, scale, some_fail)

    def show(picture: Sequence[FilmPicture]) -> None:
        for stage, one in zip(stages, picture, strict=True):
            stage.show(one)

    try:
        with in_one_move(path) as partial:
            if path.suffix.lower() == ".gif":
                _write_gif(partial, figure, stages, show, pictures, progress)
                return
            writer = FFMpegWriter(fps=PER_SECOND)
            with writer.saving(figure, str(partial), dpi=100):
                for picture in pictures:
                    show(picture)
                    writer.grab_frame()
                    progress()
    except CalledProcessError as problem:
        raise InputError(f"{path}: cannot be written (ffmpeg ended with code {problem.returncode})") from None


def _write_gif(
    path: Path,
    figure: Figure,
    stages: Sequence[Stage],
    show: Callable[[Sequence[FilmPicture]], None],
    pictures: Sequence[Sequence[FilmPicture]],
    progress: Callable[[], object],
) -> None:
    """Write a GIF: what does not change is drawn once, and all pictures have one palette, so that only what has changed
    since the picture before takes room in the file."""
    from PIL import Image

    canvas: Any = figure.canvas
    figure.set_dpi(100)
    background = background_of(stages, canvas)
    drawn = []
    for picture in pictures:
        canvas.restore_region(background)
        show(picture)
        for stage in stages:
            stage.draw_what_changes()
        drawn.append(Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB"))
        progress()
    # Colours of a few pictures from all of the film.
    samples = drawn[:: max(1, len(drawn) // SAMPLES)]
    sheet = Image.new("RGB", (samples[0].width, samples[0].height * len(samples)))
    for position, sample in enumerate(samples):
        sheet.paste(sample, (0, position * sample.height))
    palette = sheet.quantize(PALETTE)
    first, *others = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in drawn)
    first.save(path, format="GIF", save_all=True, append_images=others, duration=1000 // PER_SECOND, loop=0)
