"""Figures in chromium: frames a second, memory, sizes of HTML files, films; times of `cluster-abm view` (view.py).

    python tests/benchmarks/page.py [--quick] [--minutes 10]

Frames: window of 1600 x 900, one and two device pixels, the best of five (one with --quick). Load: the average of the
last minute that the system gives. With --minutes also what the page's process holds after that time of play.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import view
from chromium import CHROMIUM, FLAGS
from playwright.sync_api import sync_playwright

import cluster_abm as ca
from cluster_abm.recording.films.of_player import browser_film_of
from cluster_abm.recording.html import html_of
from cluster_abm.results.films.film_files import FORMATS, ffmpeg

PLAYER = "document.getElementById('player').player"
# What is done in each frame, and before the first.
MOTIONS = {
    "playing": ("v.window(0, v.end); v.seek(v.end * 0.2); v.play(true);", ""),
    "playing, zoomed": (
        "v.seek(v.end * 0.2); v.window(v.time - v.end * 0.01, v.time + v.end * 0.01); v.setSpeed(v.end / 240000); "
        "v.play(true);",
        "",
    ),
    "panning": (
        "v.window(v.end * 0.2, v.end * 0.24);",
        "const by = (v.to - v.from) * 0.004; v.window(v.from + by, v.to + by);",
    ),
    "zooming": ("v.window(0, v.end); let i = 0;", "v.zoom(i++ % 120 < 60 ? 0.95 : 1 / 0.95, v.end * 0.3);"),
}  # fmt: skip
SECONDS = 2


def files(folder):
    """The HTML files that are measured, by what they hold."""
    many = {"cluster__nodes": 1024, "workload__duration_s": 56}
    runs = {
        "quickstart": [("quickstart", "wal-pm", {})],
        "quickstart, two policies": [("quickstart", "none", {}), ("quickstart", "wal-pm", {})],
        "cpu-bound under jsq": [("cpu-bound", "jsq", {})],
        "1,024 nodes, 40,000 tasks, two runs": [("cpu-bound", "jsq", many), ("cpu-bound", "random", many)],
    }
    for number, (name, which) in enumerate(runs.items()):
        path = folder / f"{number}.html"
        path.write_text(html_of([ca.record(scenario, policy, seed=1, **more) for scenario, policy, more in which]))
        yield name, path


def frames(tab, motion, repeats):
    """Frames a second, the most of some measurements."""
    before, each = MOTIONS[motion]
    script = f"""async () => {{
        const v = {PLAYER}.view; {before}
        const frame = () => new Promise(requestAnimationFrame);
        for (let first = 0; first < 15; first++) {{ {each} await frame(); }}
        let frames = 0; const begin = performance.now();
        while (performance.now() - begin < {SECONDS * 1000}) {{ {each} await frame(); frames++; }}
        const rate = 1000 * frames / (performance.now() - begin);
        v.play(false);
        return rate;
    }}"""
    return max(tab.evaluate(script) for _ in range(repeats))


def memory_mb():
    """What the largest process of the browser's that shows a page has of its own."""
    found = [0.0]
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if "--type=renderer" in (process / "cmdline").read_text():
                lines = (process / "smaps_rollup").read_text().splitlines()
                found.append(sum(float(line.split()[1]) for line in lines if line.startswith("Private_")) / 1e3)
        except OSError:
            continue
    return max(found)


def opened(driver, path, ratio):
    """A browser, and a tab of it that shows an HTML file."""
    browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
    tab = browser.new_page(viewport={"width": 1600, "height": 900}, device_scale_factor=ratio)
    tab.goto(f"file://{path}")
    while not tab.evaluate(f"Boolean({PLAYER}?.screen)"):
        tab.wait_for_timeout(20)
    return browser, tab


def play(driver, path, minutes):
    """What the page's process holds each minute while two policies play, again and again."""
    browser, tab = opened(driver, path, 1)
    # A minute for the whole run.
    tab.evaluate(f"{{ const v = {PLAYER}.view; v.setSpeed(v.end / 60000); v.play(true); }}")
    held = []
    for _ in range(minutes):
        tab.wait_for_timeout(60_000)
        held.append(memory_mb())
        tab.evaluate(f"{{ const v = {PLAYER}.view; v.seek(0); v.play(true); }}")
    print(f"memory after each minute of play, quickstart, two policies: {', '.join(f'{mb:.0f}' for mb in held)} MB")
    browser.close()


def films(folder):
    """How long films of 20 s take, two policies."""
    recordings = [ca.record("quickstart", policy, seed=1) for policy in ("none", "wal-pm")]
    for ending in FORMATS:
        if ending == ".gif" or ffmpeg() is not None:
            path, begin = folder / f"film{ending}", time.perf_counter()
            pictures = browser_film_of(recordings, path)
            took_s, mb = time.perf_counter() - begin, path.stat().st_size / 1e6
            load = os.getloadavg()[0]
            print(
                f"film of 20 s, two runs, {ending}: {pictures} pictures, {took_s:.1f} s, {mb:.1f} MB; load {load:.1f}"
            )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--minutes", type=int, default=0)
    given = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    with tempfile.TemporaryDirectory() as name_of_folder:
        folder = Path(name_of_folder)
        films(folder)
        with sync_playwright() as driver:
            for name, path in files(folder):
                print(f"{name}: HTML file of {path.stat().st_size / 1e6:.2f} MB")
                for ratio in (1, 2):
                    browser, tab = opened(driver, path, ratio)
                    repeats = 1 if given.quick else 5
                    found = ", ".join(f"{motion} {frames(tab, motion, repeats):.0f}" for motion in MOTIONS)
                    load = os.getloadavg()[0]
                    print(f"  {ratio} device pixels: frames a second {found}; {memory_mb():.0f} MB; load {load:.1f}")
                    browser.close()
            if given.minutes:
                play(driver, folder / "1.html", given.minutes)
    view.main()


if __name__ == "__main__":
    main()
