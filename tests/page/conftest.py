"""A page served by the command itself, and Debian's chromium to look at it."""

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

CHROMIUM = shutil.which("chromium")
ABSENT = [name for name in ("solara", "solara_assets", "playwright") if importlib.util.find_spec(name) is None]
ABSENT += [] if CHROMIUM else ["chromium"]
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update"]  # fmt: skip
ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "out" / "page"

SCENARIO = """
name = "page"
[cluster]
nodes = 8
memory_mb = 30.0
buffer_in_memory = false
page_fault_ratio_cap = 1.5
[workload]
duration_s = 600.0
utilisation = 0.5
cpu_ms = { kind = "exponential", mean = 400.0 }
io_per_ms = { kind = "uniform", mean = 0.05 }
home = { kind = "weights", weights = [0.6, 0.2, 0.1, 0.1] }
[policy]
name = "jsq"
"""
# A policy of one's own, from another package, that goes wrong after a while.
FAULTY = """
from cluster_abm.policies import Decision, Policy

class Faulty(Policy):
    name = "faulty"
    source = "a test"
    summary = "goes wrong after ten seconds"

    def place(self, newcomer, view):
        if view.now_ms > 10_000:
            raise RuntimeError("lost my <marbles>")
        return Decision(view.me, rule="stay")
"""


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Where `cluster-abm view` serves."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "page.toml").write_text(SCENARIO)
    (folder / "faulty.py").write_text(FAULTY)
    package = folder / "faulty-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: faulty\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[cluster_abm.policies]\nfaulty = faulty:Faulty\n")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "cluster_abm", "view", str(folder / "page.toml"), "--port", str(port)],
            env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}, cwd=folder, stderr=log, stdout=log,
        )  # fmt: skip
        try:
            for _ in range(600):
                if server.poll() is not None:
                    break
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            assert server.poll() is None, (folder / "log").read_text()
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.wait(20)


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


class Tab:
    """One tab that shows the page, and what went wrong in it."""

    def __init__(self, context, address):
        self.errors, self.elsewhere = [], []
        self.page = context.new_page()
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.goto(address)
        self.page.wait_for_selector(".stage svg circle", timeout=60_000)

    def _note(self, url):
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.elsewhere.append(url)

    @property
    def clock_s(self):
        return float(re.sub(r"[ s,]", "", self.page.locator(".clock").inner_text()))

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def until(self, condition, timeout_s=20.0):
        """Wait until a condition holds; its last value."""
        end = time.monotonic() + timeout_s
        while not (found := condition()) and time.monotonic() < end:
            self.page.wait_for_timeout(20)
        assert found, self.page.locator("body").inner_text()[:2000]
        return found

    def steps(self, count):
        for _ in range(count):
            before = self.clock_s
            self.press("Step")
            self.until(lambda before=before: self.clock_s > before)

    def choose(self, label, value):
        """A value from the list under a label."""
        field = self._below(label)
        field.locator(".v-select__slot").click()
        menu = self.page.locator(".menuable__content__active")
        option = menu.locator(".v-list-item").filter(has_text=re.compile(rf"^\s*{re.escape(value)}\s*$"))
        menu.wait_for()
        # A long list is filled while one scrolls.
        self.until(lambda: option.count() or menu.evaluate("list => { list.scrollTop = list.scrollHeight }"))
        option.click()

    def enter(self, label, value):
        """A number into the field under a label."""
        field = self._below(label).locator("input")
        field.fill(str(value))
        field.press("Enter")

    def _below(self, label):
        whole = re.compile(rf"^\s*{re.escape(label)}\s*(\[|,|$)")
        return self.page.locator("label.control").filter(has_text=whole).locator("xpath=following-sibling::*[1]")

    def fills(self):
        """Colour of each node, in their order."""
        return self.page.locator("g.node[data-node] circle").evaluate_all(
            "all => all.map(one => one.getAttribute('fill'))"
        )

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png")


@pytest.fixture
def open_tab(chromium, address):
    """Open the page in a window of its own of 1280 x 800; at the end nothing may have gone wrong, or elsewhere."""
    tabs, contexts = [], []

    def opened(context=None):
        if context is None:
            context = chromium.new_context(viewport={"width": 1280, "height": 800})
            contexts.append(context)
        tabs.append(Tab(context, address))
        return tabs[-1]

    yield opened
    for tab in tabs:
        assert tab.errors == []
        assert tab.elsewhere == []
    for context in contexts:
        context.close()


@pytest.fixture
def tab(open_tab):
    return open_tab()
