"""Make the pictures of the page: those of the-page.md, and docs/page.png of the README.

    python docs/tutorials/page_pictures.py

It needs the extras `viz` and `browser`, and chromium (of the system, or Playwright's own).
"""

from __future__ import annotations

import io
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
SIZE = {"width": 1280, "height": 800}
# Of the page: the nodes of the right policy, and the panel beside them.
MOVE = {"x": 600, "y": 44, "width": 680, "height": 444}
BELOW_NODES = (0, 256, 359, 444)


@contextmanager
def served() -> Iterator[str]:
    """The page as it is without options, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "cluster_abm", "view", "--port", str(port)]
    server = subprocess.Popen(command, cwd=HERE.parents[1])
    try:
        for _ in range(3000):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def main() -> None:
    """All pictures, one after the other."""
    with served() as address, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport=SIZE)
        page.goto(address)
        shown(page)
        seek(page, 317_000)
        keep(page, HERE / "the-page-two.png")
        page.set_viewport_size({"width": 1600, "height": 900})
        page.wait_for_timeout(800)
        keep(page, HERE.parent / "page.png")
        page.set_viewport_size(SIZE)
        for number, kind in enumerate(("Remote starts", "Migrations", "Refused", "Did not pay"), 1):
            walk(page, kind)
            keep(page, HERE / f"the-page-walk-{number}.png", MOVE, BELOW_NODES)
        page.evaluate("desk().set({hash: '#t=317'})")
        page.locator("body").press("Escape")
        enter(page, "Nodes", "-3")
        page.wait_for_timeout(700)
        keep(page, HERE / "the-page-refused.png", {"x": 0, "y": 130, "width": 560, "height": 420})
        enter(page, "Nodes", "32")
        search(page, "steal")
        keep(page, HERE / "the-page-search.png", {"x": 0, "y": 0, "width": 640, "height": 330})
        page.keyboard.press("Escape")
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(1200)
        keep(page, HERE / "the-page-phone.png")
        # The last one: an act stays in the settings.
        page.set_viewport_size(SIZE)
        act(page)
        keep(page, HERE / "the-page-walk-5.png")
        browser.close()


def shown(page: Page) -> None:
    """Wait for the first picture."""
    page.wait_for_function("() => Boolean(globalThis.desk?.()?.view)", timeout=180_000)


def seek(page: Page, ms: float) -> None:
    """To a time, the same each time."""
    page.evaluate(f"desk().seek({ms})")
    page.mouse.move(500, 5)
    page.wait_for_timeout(1000)


def walk(page: Page, kind: str) -> None:
    """To the first move of a kind after 317 s."""
    seek(page, 317_000)
    page.locator(".events").get_by_role("button", name=kind, exact=True).click()
    page.locator("body").press("n")
    page.mouse.move(500, 5)
    page.wait_for_timeout(800)


def act(page: Page) -> None:
    """Node 16 fails at 317 s, and the same policy without that stands beside it."""
    page.locator(".events").get_by_role("button", name="All", exact=True).click()
    page.evaluate("desk().set({hash: '#t=317&sel=b:node16'})")
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Fail", exact=True).click()
    page.wait_for_function("() => (desk().view.recordings[1].header.summary.acts ?? []).length === 1")
    page.wait_for_timeout(1500)


def enter(page: Page, label: str, text: str) -> None:
    """A number into a field."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")


def search(page: Page, words: str) -> None:
    """Look for a policy."""
    field = page.get_by_label("Policy", exact=True)
    field.click()
    field.fill(words)
    page.wait_for_timeout(800)


def keep(page: Page, path: Path, clip: Any = None, blank: tuple[int, int, int, int] | None = None) -> None:
    """A picture of the page, or of a part of it without a box, in 256 colours."""
    shown = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    if blank:
        shown.paste(shown.getpixel((blank[0] + 20, blank[1] - 1)), blank)
    # Of all colours that there are, not of the most frequent: lines are thin, and no step of a scale may be lost.
    small = shown.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    print(path.name, shown.size, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
