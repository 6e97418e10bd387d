"""A warm process, in whose forks scripts run: each begins with all imports and compiled kernels, as if it had waited.

A Python of its own imports for four seconds; the documentation alone shows 150 commands. What a script does is the
same, but for what only a fresh interpreter does: tests of start-up, signals and memory start one.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

# What stands in for a Python: it has the warm process run a script, with its own standard files and environment.
CLIENT = """#!{python} -ISE
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as warm:
    warm.connect({address!r})
    socket.send_fds(warm, [b"."], [0, 1, 2])
    wanted = {{"words": {before!r} + sys.argv[1:], "folder": os.getcwd(), "environment": dict(os.environ)}}
    if hasattr(os, "sched_getaffinity"):
        wanted["processors"] = sorted(os.sched_getaffinity(0))
    warm.sendall(json.dumps(wanted).encode() + b"\\n")
    answer = b"".join(iter(lambda: warm.recv(64), b""))
sys.exit(int(answer or 70))
"""


class Warm:
    """The warm process, as a test uses it."""

    def __init__(self, address: str) -> None:
        self.address = address

    def python(self, path: Path, *before: str | Path) -> Path:
        """Write a program that does as `python BEFORE...` does, with the words that it is given after these."""
        words = [str(word) for word in before]
        path.write_text(CLIENT.format(python=sys.executable, address=self.address, before=words), encoding="utf-8")
        path.chmod(0o755)
        return path


@contextlib.contextmanager
def warm_process() -> Iterator[Warm]:
    """A warm process that lives as long as the context."""
    with tempfile.TemporaryDirectory(prefix="warm-") as folder:
        address = f"{folder}/socket"
        environment = {**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        process = subprocess.Popen([sys.executable, __file__, address], env=environment, stdout=subprocess.PIPE)
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n", "the warm process has failed"
            yield Warm(address)
        finally:
            process.kill()
            process.communicate()


# ---- in the warm process --------------------------------------------------------------------------------------------


def serve(address: str) -> None:
    """Run the scripts of all who ask, several at a time, each in a fork."""
    _warm_up()
    # Those who look after a fork are not waited for.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen(16)
        os.write(1, b"ready\n")
        while True:
            asking, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _look_after(asking)
            asking.close()


def _warm_up() -> None:
    """Import, and load what is compiled, by two commands."""
    from tqdm import tqdm

    from cluster_abm.cli import main

    # Its own lock would be shared by all forks.
    tqdm.set_lock(threading.RLock())
    tqdm.monitor_interval = 0
    here, said = Path.cwd(), io.StringIO()
    with tempfile.TemporaryDirectory(prefix="warm-up-") as folder, contextlib.redirect_stdout(said):
        os.chdir(folder)
        for words in (
            ["run", "quickstart", "--policy", "jsq", "--set", "workload.duration_s=2", "--out", "one"],
            ["compare", "quickstart", "--policies", "none,jsq", "--seeds", "2", "--workers", "1", "--out", "two"],
        ):
            with contextlib.suppress(SystemExit):
                main(words)
        os.chdir(here)


def _look_after(asking: socket.socket) -> NoReturn:
    """In a fork: carry out what is asked for in a fork of its own, and tell how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        _, files, _, _ = socket.recv_fds(asking, 1, 3)
        wanted = json.loads(asking.makefile("rb").readline())
        child = os.fork()
        if child == 0:
            asking.close()
            _become(wanted, files)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asking.sendall(str(code if code >= 0 else 128 - code).encode())
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(0)


def _become(wanted: Mapping[str, Any], files: list[int]) -> NoReturn:
    """In that fork: be a Python that runs the script with these standard files, folder, environment and processors."""
    code = 70
    try:
        for number, opened in enumerate(files):
            os.dup2(opened, number)
            os.close(opened)
        os.chdir(wanted["folder"])
        if "processors" in wanted:
            os.sched_setaffinity(0, wanted["processors"])
        os.environ.clear()
        os.environ.update(wanted["environment"])
        # Whole: processes that it starts look for it from the folder in which this one was.
        script = str(Path(wanted["words"][0]).resolve())
        found = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [str(Path(script).parent), *filter(None, found)]
        code = called_as_by_a_fresh_python(wanted["words"], lambda: runpy.run_path(script, run_name="__main__"))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def called_as_by_a_fresh_python(words: list[str], call: Callable[[], object]) -> int:
    """Call something with streams of its own, and every warning not yet given; the exit code.

    Args:
        words: what it finds in `sys.argv`.
        call: it.
    """
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", "strict", write_through=False)
    sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", "backslashreplace", line_buffering=True)
    # Any change of the filters makes Python forget which warnings it has given.
    warnings.filterwarnings("ignore", message="a change, and no more")
    sys.argv = list(words)
    code = 0
    try:
        call()
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        traceback.print_exc()
        code = 1
    try:
        atexit._run_exitfuncs()
        sys.stdout.flush()
    except (OSError, ValueError):
        traceback.print_exc()
        code = 120
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    return code


if __name__ == "__main__":
    serve(sys.argv[1])
