"""A run as a film: GIF, or MP4 and WebM where ffmpeg is."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from subprocess import CalledProcessError
from typing import TYPE_CHECKING, Any

import numpy as np

from cluster_abm.errors import InputError
from cluster_abm.results.films.film import FilmPicture, Scale, Scene, Stage, background_of, staged
from cluster_abm.whole_files import in_one_move

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL import Image

PER_SECOND = 12
FORMATS = (".gif", ".mp4", ".webm")
# By ending, what ffmpeg is told; all play in today's browsers.
CODECS = {
    ".mp4": ["-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-movflags", "+faststart"],
    ".webm": [
        "-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-crf", "32", "-b:v", "0",
        "-pix_fmt", "yuv420p",
    ],
}  # fmt: skip
# Colours of a GIF, and of how many of its pictures they are taken.
PALETTE, SAMPLES = 255, 8


def ffmpeg() -> str | None:
    """The program that writes MP4 and WebM: of the system, or that of `imageio-ffmpeg`; None: there is none."""
    if found := shutil.which("ffmpeg"):
        return found
    if importlib.util.find_spec("imageio_ffmpeg") is None:
        return None
    import imageio_ffmpeg

    return str(imageio_ffmpeg.get_ffmpeg_exe())


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
        path: ends in one of FORMATS; all but .gif need `ffmpeg`.
        scenes: one, or several that stand side by side.
        pictures: one after another, each with one of each scene.
        scale: what the colours of the nodes mean.
        progress: called after each picture.
    """
    from matplotlib import rc_context
    from matplotlib.animation import FFMpegWriter

    some_fail = any(not one.up.all() for picture in pictures for one in picture)
    figure, stages = staged(scenes, scale, some_fail)

    def show(picture: Sequence[FilmPicture]) -> None:
        for stage, one in zip(stages, picture, strict=True):
            stage.show(one)

    try:
        with in_one_move(path) as partial:
            ending = path.suffix.lower()
            if ending == ".gif":
                _write_gif(partial, figure, stages, show, pictures, progress)
                return
            _, codec, *others = CODECS[ending]
            writer = FFMpegWriter(fps=PER_SECOND, codec=codec, extra_args=others)
            with rc_context({"animation.ffmpeg_path": ffmpeg()}), writer.saving(figure, str(partial), dpi=100):
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

    def drawn(picture: Sequence[FilmPicture]) -> Image.Image:
        canvas.restore_region(background)
        show(picture)
        for stage in stages:
            stage.draw_what_changes()
        return Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB")

    def painted(picture: Sequence[FilmPicture]) -> Image.Image:
        image = drawn(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        progress()
        return image

    palette = palette_of([drawn(picture) for picture in pictures[:: max(1, len(pictures) // SAMPLES)]])
    # One after another: of a long film not all have room in memory.
    images = map(painted, pictures)
    next(images).save(
        path, format="GIF", save_all=True, append_images=images, duration=1000 // PER_SECOND, loop=0
    )  # fmt: skip


def palette_of(samples: Sequence[Image.Image], method: Image.Quantize | None = None) -> Image.Image:
    """A palette for all pictures of a GIF, as an image of these colours.

    Args:
        samples: a few of the pictures, from all of the film.
        method: how the colours are chosen; None: as pillow does.
    """
    from PIL import Image

    sheet = Image.new("RGB", (samples[0].width, samples[0].height * len(samples)))
    for position, sample in enumerate(samples):
        sheet.paste(sample, (0, position * sample.height))
    return sheet.quantize(PALETTE, method=method)
