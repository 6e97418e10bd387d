"""Times of `cluster-abm view`: first picture, changed setting, and the first compile of a policy.

    python tests/benchmarks/view.py

Part of `tests/benchmarks/page.py`. Times are the best of five from the request, or the key, to the drawn picture.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from chromium import CHROMIUM, FLAGS
from playwright.sync_api import sync_playwright

from cluster_abm.policies import available

ROOT = Path(__file__).parents[2]
# Compiled by nobody before: its cache is a copy without it.
COMPILED = "mlb"
READY = "() => { const view = globalThis.desk?.()?.view; return Boolean(view && (%s)); }"


@contextmanager
def served(cache):
    """The page on a port of its own, with the kernels that `cache` holds."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    if cache is not None:
        environment["CLUSTER_ABM_CACHE_DIR"] = str(cache)
    server = subprocess.Popen(
        [sys.executable, "-m", "cluster_abm", "view", "--port", str(port)],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        begun = time.perf_counter()
        while time.perf_counter() - begun < 300:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}", time.perf_counter() - begun
    finally:
        server.terminate()
        server.wait(20)


def until(tab, condition):
    """Wait until the player shows a run of which a condition holds, and has drawn it."""
    tab.wait_for_function(READY % condition, timeout=300_000)
    tab.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def timed(act):
    """How long something takes [s]."""
    begun = time.perf_counter()
    act()
    return time.perf_counter() - begun


def changed(tab, seed):
    """Another seed, by its field: the time to its picture [s]."""
    field = tab.get_by_label("Seed", exact=True)
    field.fill(str(seed))

    def act():
        field.press("Enter")
        until(tab, f"view.recordings[0].header.seed === {seed}")

    return timed(act)


def compiled(browser, folder):
    """From a policy's choice to its first progress and to its picture [s], in a cache that does not hold it."""
    with served(folder) as (address, _):
        tab = browser.new_page(viewport={"width": 1600, "height": 900})
        tab.goto(address)
        until(tab, "true")
        field = tab.get_by_label("Policy", exact=True)
        field.fill(COMPILED)
        begun = time.perf_counter()
        field.press("Enter")
        tab.locator(".runs .line", has_text=f"{COMPILED}: compiling").wait_for(timeout=60_000)
        said_s = time.perf_counter() - begun
        until(tab, f"view.recordings[0].policy === '{COMPILED}'")
        return said_s, time.perf_counter() - begun


def forget(cache, policy):
    """Take a policy's code out of a cache, and the marks that say which policies are there."""
    for mark in cache.rglob("policy-*.compiled"):
        mark.unlink()
    for kernel in cache.rglob(f"*{available()[policy].__name__}*"):
        shutil.rmtree(kernel)


def main():
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        with served(None) as (address, answers_s):
            tab = browser.new_page(viewport={"width": 1600, "height": 900})
            tab.goto(address)
            until(tab, "true")
            first = []
            for _ in range(5):
                tab.close()
                tab = browser.new_page(viewport={"width": 1600, "height": 900})
                first.append(timed(lambda tab=tab: (tab.goto(address), until(tab, "true"))))
            settings = [changed(tab, seed) for seed in range(11, 16)]
        print(f"view quickstart, none beside wal-pm: the server answers after {answers_s:.1f} s")
        print(f"  first picture {min(first):.2f} s after the request, at most {max(first):.2f} s")
        print(f"  changed setting {min(settings):.2f} s, at most {max(settings):.2f} s")
        with tempfile.TemporaryDirectory() as folder:
            cache = Path(folder, "cache")
            own = os.environ.get("CLUSTER_ABM_CACHE_DIR")
            if own:
                shutil.copytree(own, cache)
                forget(cache, COMPILED)
            said_s, picture_s = compiled(browser, cache)
        print(f"  first compile of {COMPILED}: progress after {said_s:.2f} s, picture after {picture_s:.1f} s")
        browser.close()
    print(f"  load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")


if __name__ == "__main__":
    main()
