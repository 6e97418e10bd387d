"""A film of the player itself: a browser without a screen shows it picture by picture."""

from __future__ import annotations

import base64
import importlib.util
import io
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cluster_abm.errors import InputError
from cluster_abm.recording.films.of_nodes import NS_PER_S, check_length, ends_of
from cluster_abm.recording.html import html_of
from cluster_abm.recording.recording import Recording
from cluster_abm.results.films.film_files import CODECS, SAMPLES, ffmpeg, palette_of
from cluster_abm.whole_files import in_one_move

if TYPE_CHECKING:
    from PIL import Image

PER_SECOND = 20
# How long a film is where no speed is given [s].
LENGTH_S = 20.0
# A GIF has no more than that: it is many times as large as the others.
SIZES = {".gif": (960, 540), ".mp4": (1280, 720), ".webm": (1280, 720)}
# What the player is laid out for at least [CSS pixels]; smaller films show it smaller.
LEAST_WIDTH = 1280
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def browser() -> str | None:
    """The browser by which films can be made; None: there is none, or Playwright (extra `browser`) is not installed."""
    if importlib.util.find_spec("playwright") is None:
        return None
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def browser_film_of(
    recordings: Sequence[Recording],
    path: Path,
    speed: float | None = None,
    size: tuple[int, int] | None = None,
    from_s: float = 0.0,
    to_s: float | None = None,
    progress: Callable[[float], object] = lambda share: None,
) -> int:
    """Write a film of one recording, or of two on one clock, as the player shows them.

    Args:
        path: ends in .gif, .mp4 or .webm.
        speed: simulated seconds in a second of the film; None: the film lasts LENGTH_S.
        size: width and height [pixels], even numbers; None: that of SIZES.
        from_s, to_s: the part of the run that it shows [s]; None: to the end of the longest.
        progress: called after each picture with the fraction done, 0..1, in a thread of its own.

    Returns:
        how many pictures it has.

    Raises InputError: it cannot be written; the browser fails.
    """
    first_ns, last_ns = ends_of(recordings, from_s, to_s)
    length_s = (last_ns - first_ns) / NS_PER_S
    speed = length_s / LENGTH_S if speed is None else speed
    count = max(1, round(length_s / speed * PER_SECOND) + 1)
    check_length(count)
    window_ms = first_ns / 1e6, last_ns / 1e6
    times_ms = [window_ms[0] + place * speed * 1000.0 / PER_SECOND for place in range(count)]
    ending = path.suffix.lower()
    # What packing with loss leaves would be colours of a GIF.
    kind = "png" if ending == ".gif" else "jpeg"
    stop = threading.Event()

    def take() -> None:
        with in_one_move(path) as partial, _player(recordings, size or SIZES[ending], speed, window_ms, kind) as shot:
            shots = _shots(shot, times_ms, progress, stop)
            if kind == "png":
                _write_gif(partial, shot, times_ms, shots)
            else:
                _write_video(partial, ending, shots)

    # In a thread of its own: Playwright refuses one in which an event loop runs, as in a notebook.
    with ThreadPoolExecutor(1) as camera:
        taken = camera.submit(take)
        try:
            taken.result()
        except BaseException:
            stop.set()
            raise
    return count


def _shots(
    shot: Callable[[float], bytes],
    times_ms: Sequence[float],
    progress: Callable[[float], object],
    stop: threading.Event,
) -> Iterator[bytes]:
    for place, at_ms in enumerate(times_ms, 1):
        if stop.is_set():
            raise InputError("the film: interrupted")
        yield shot(at_ms)
        progress(place / len(times_ms))


@contextmanager
def _player(
    recordings: Sequence[Recording], size: tuple[int, int], speed: float, window_ms: tuple[float, float], kind: str
) -> Iterator[Callable[[float], bytes]]:
    """A function that makes the player show a moment [ms of simulated time], and returns its picture (jpeg or png)."""
    from playwright.sync_api import Error, sync_playwright

    program = browser()
    assert program is not None
    with tempfile.TemporaryDirectory(prefix="cluster-abm-") as folder:
        page_file = Path(folder) / "film.html"
        page_file.write_text(html_of(recordings), encoding="utf-8")
        try:
            with sync_playwright() as driver:
                chromium = driver.chromium.launch(executable_path=program, args=_FLAGS)
                scale = min(1.0, size[0] / LEAST_WIDTH)
                seen: Any = {"width": round(size[0] / scale), "height": round(size[1] / scale)}
                page = chromium.new_page(viewport=seen, color_scheme="light")
                page.goto(page_file.as_uri())
                page.wait_for_function("document.getElementById('player').player")
                page.evaluate(_BEGIN, [speed, *window_ms])
                session = page.context.new_cdp_session(page)
                options = {"format": kind, "optimizeForSpeed": True, "clip": {"x": 0, "y": 0, "scale": scale, **seen}}
                yield lambda at_ms: _picture(
                    page, session, at_ms, options | ({"quality": 90} if kind == "jpeg" else {})
                )
                chromium.close()
        except Error as problem:
            raise InputError(f"the film: the browser {program} fails ({str(problem).splitlines()[0]})") from None


_BEGIN = """async ([speed, from, to]) => {
  const player = document.getElementById('player').player;
  await player.ready;
  player.set({ film: true, speed });
  player.view.window(from, to);
}"""
# The screenshot itself asks for a frame, in which the player draws: waiting for one more gives the same picture later.
_SHOW = "at => document.getElementById('player').player.seek(at)"


def _picture(page: Any, session: Any, at_ms: float, options: dict[str, Any]) -> bytes:
    page.evaluate(_SHOW, at_ms)
    # Sooner than page.screenshot(), which waits for fonts and more.
    return base64.b64decode(session.send("Page.captureScreenshot", options)["data"])


def _write_video(path: Path, ending: str, shots: Iterator[bytes]) -> None:
    """Raises InputError: ffmpeg ends with an error."""
    program = ffmpeg()
    assert program is not None
    words = [program, "-y", "-loglevel", "error", "-f", "image2pipe", "-c:v", "mjpeg", "-framerate", str(PER_SECOND)]
    with tempfile.TemporaryFile() as said:
        encoder = subprocess.Popen(
            [*words, "-i", "-", *CODECS[ending], str(path)], stdin=subprocess.PIPE, stderr=said, stdout=said
        )
        assert encoder.stdin is not None
        try:
            for picture in shots:
                encoder.stdin.write(picture)
            encoder.stdin.close()
        except BrokenPipeError:
            # It has ended: its own words say why.
            pass
        except BaseException:
            encoder.kill()
            raise
        finally:
            code = encoder.wait()
        if code:
            said.seek(0)
            words_of_it = said.read().decode(errors="replace").strip().splitlines() or [f"code {code}"]
            raise InputError(f"{path.suffix[1:]}: ffmpeg cannot write it ({words_of_it[-1][:200]})")


def _write_gif(path: Path, shot: Callable[[float], bytes], times_ms: Sequence[float], shots: Iterator[bytes]) -> None:
    """One palette, of a few pictures from all of the film, so that only what changes takes room in the file."""
    from PIL import Image

    def opened(picture: bytes) -> Image.Image:
        return Image.open(io.BytesIO(picture)).convert("RGB")

    def painted(picture: bytes) -> Image.Image:
        return opened(picture).quantize(palette=palette, dither=Image.Dither.NONE)

    samples = [opened(shot(at_ms)) for at_ms in times_ms[:: max(1, len(times_ms) // SAMPLES)]]
    # Few dots have the colour of a move: by how often colours stand there it would be lost.
    palette = palette_of(samples, Image.Quantize.MAXCOVERAGE)
    # While the browser takes the next picture.
    with ThreadPoolExecutor(1) as painter:
        images = _one_behind(painter.submit(painted, picture) for picture in shots)
        next(images).save(
            path, format="GIF", save_all=True, append_images=images, duration=1000 // PER_SECOND, loop=0
        )  # fmt: skip


def _one_behind(futures: Iterator[Future[Image.Image]]) -> Iterator[Image.Image]:
    """Results in order, each while the work on the next one goes on."""
    before = next(futures)
    for future in futures:
        yield before.result()
        before = future
    yield before.result()
