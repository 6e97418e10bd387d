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


@contextmanager
def served() -> Iterator[str]:
    """The page of the quickstart under iolb, and its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "cluster_abm", "view", "quickstart", "--policy", "iolb", "--port", str(port)]
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
        page.wait_for_selector(".stage svg circle", timeout=60_000)
        steps(page, 45)
        keep(page, HERE / "the-page-one.png")
        page.locator(".panel-talk tbody tr").first.click()
        page.wait_for_timeout(500)
        page.locator(".panel-talk tbody tr").nth(1).hover()
        page.locator("#tip.shown").wait_for()
        keep(page, HERE / "the-page-negotiations.png", {"x": 500, "y": 380, "width": 780, "height": 420})
        page.mouse.move(500, 5)
        enter(page, "Nodes", "-3")
        page.wait_for_timeout(700)
        keep(page, HERE / "the-page-refused.png", {"x": 0, "y": 190, "width": 560, "height": 480})
        enter(page, "Nodes", "32")
        search(page, "steal")
        keep(page, HERE / "the-page-search.png", {"x": 0, "y": 190, "width": 640, "height": 330})
        page.keyboard.press("Escape")
        page.locator(".brand").click()
        choose(page, "Beside it, on the same jobs", "jsq")
        page.locator(".panel-map1").wait_for()
        page.wait_for_timeout(8000)
        steps(page, 54)
        keep(page, HERE / "the-page-two.png")
        page.set_viewport_size({"width": 1600, "height": 900})
        page.wait_for_timeout(800)
        keep(page, HERE.parent / "page.png")
        page.set_viewport_size({"width": 390, "height": 844})
        page.wait_for_timeout(800)
        keep(page, HERE / "the-page-phone.png")
        browser.close()


def steps(page: Page, count: int) -> None:
    """So many frames, one by one, so that the picture is of the same moment each time."""
    for _ in range(count):
        before = page.locator(".numbers").get_attribute("data-ms")
        page.get_by_role("button", name="Step", exact=True).click()
        page.wait_for_function(f"document.querySelector('.numbers').dataset.ms !== '{before}'")
    page.mouse.move(500, 5)
    page.wait_for_timeout(500)


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


def choose(page: Page, label: str, value: str) -> None:
    """A value from a list."""
    field = page.get_by_label(label)
    field.click()
    field.fill(value)
    option = page.locator(".menuable__content__active .v-list-item")
    option.filter(has=page.get_by_text(value, exact=True)).click()


def keep(page: Page, path: Path, clip: Any = None) -> None:
    """A picture of the page, or of a part of it, in 256 colours."""
    shown = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    # Of all colours that there are, not of the most frequent: lines are thin, and no step of a scale may be lost.
    small = shown.quantize(256, method=Image.Quantize.MAXCOVERAGE, kmeans=3, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    print(path.name, shown.size, f"{path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
