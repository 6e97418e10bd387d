"""The page as its command serves it: a scenario, policies of one's own, and a server of them."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

from browser import ROOT
from support import hearing_ctrl_c, install_policies

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

    def place(self, task, view):
        if view.now_ms > 10_000:
            raise RuntimeError("lost my <marbles>")
        return Decision(view.me, rule="stay")

class Unready(Faulty):
    name = "unready"
    summary = "goes wrong before it runs"

    def __init__(self, *given, **named):
        raise RuntimeError("not even <begun>")

class Endless(Faulty):
    name = "endless"
    summary = "never returns"

    def place(self, task, view):
        while True:
            pass

class Leaving(Faulty):
    name = "leaving"
    summary = "leaves the program"

    def place(self, task, view):
        raise SystemExit(3)
"""


def fill(folder):
    """A scenario, and a package with policies of one's own."""
    (folder / "page.toml").write_text(SCENARIO)
    install_policies(folder, "faulty", FAULTY)


@contextmanager
def served(folder, *options, scenario="page.toml"):
    """The page of that folder's scenario, served by the command itself: its process and its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log_path = folder / f"log-{port}"
    with log_path.open("w") as log:
        # Ctrl-C is heard also where the tests themselves run in the background.
        with hearing_ctrl_c():
            server = subprocess.Popen(
                [sys.executable, "-m", "cluster_abm", "view", scenario, "--port", str(port), *options],
                env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"}, cwd=folder, stderr=log, stdout=log,
            )  # fmt: skip
        server.log = log_path.read_text
        try:
            # On a busy machine it compiles for minutes.
            for _ in range(3000):
                if server.poll() is not None:
                    break
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            else:
                raise AssertionError(f"it does not answer after five minutes: {log_path.read_text()}")
            assert server.poll() is None, log_path.read_text()
            yield server, port
        finally:
            if server.poll() is None:
                server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                raise
