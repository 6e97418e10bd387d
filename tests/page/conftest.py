"""A page served by the command itself, and Debian's chromium to look at it."""

import os
import socket
import subprocess
import sys
import time

import pytest
from browser import CHROMIUM, FLAGS, ROOT, Tab

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

class Unready(Faulty):
    name = "unready"
    summary = "goes wrong before it runs"

    def __init__(self, *given, **named):
        raise RuntimeError("not even <begun>")
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
    (package / "entry_points.txt").write_text(
        "[cluster_abm.policies]\nfaulty = faulty:Faulty\nunready = faulty:Unready\n"
    )
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
