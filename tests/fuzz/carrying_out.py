"""Carry out a case, in a fork of this warm process or in a Python of its own, inside of its limits."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from case import Case

# These scripts are started by themselves, too, where pytest has not said where tests find each other.
sys.path.append(str(Path(__file__).parents[1]))

from warm import called_as_by_a_fresh_python

Command = Callable[[list[str]], object]

POLL_S = 0.02


@dataclass(frozen=True)
class Limits:
    """What a command may take: time, and memory with its children.

    Attributes:
        wall_s: as on a machine that has nothing else to do.
        address_mb: of a single process; so that a command that asks for all there is fails, and takes no machine down.
    """

    wall_s: float = 40.0
    memory_mb: int = 2048
    address_mb: int = 12_288


LIMITS = Limits()


@dataclass(frozen=True)
class Ending:
    """What became of a case.

    Attributes:
        code: exit code; minus the signal that ended it.
        killed: why the harness killed it; empty if it did not.
        empty: folders without anything in them that were not there before.
    """

    code: int
    wall_s: float
    memory_mb: float
    stdout: bytes
    stderr: bytes
    killed: str = ""
    empty: tuple[str, ...] = ()


def carry_out(case: Case, command: Command | None, limits: Limits = LIMITS, keep: Path | None = None) -> Ending:
    """Lay out the case's files in a folder of its own and carry it out there.

    Args:
        command: called with the arguments in a fork of this process, which must have no threads that hold locks; None:
            `python -m cluster_abm`.
        keep: leave the folder here, with what was printed beside it.
    """
    scratch = Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder = scratch / "case"
    folder.mkdir()
    try:
        case.lay_out(folder)
        before = _empty_folders(folder)
        begun = time.monotonic()
        child = os.fork()
        if child == 0:
            _become(case, scratch, command, limits)
        code, wall_s, peak_mb, killed = _watch(child, begun, limits)
        empty = tuple(sorted(_empty_folders(folder) - before))
        texts = [_head(scratch / name) for name in ("stdout", "stderr")]
        if keep is not None:
            shutil.rmtree(keep, ignore_errors=True)
            shutil.copytree(scratch, keep, symlinks=True)
        return Ending(code, wall_s, peak_mb, texts[0], texts[1], killed, empty)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _head(path: Path, most: int = 20_000_000) -> bytes:
    if not path.is_file():
        return b""
    with path.open("rb") as file:
        return file.read(most)


def _empty_folders(folder: Path) -> set[str]:
    """Folders without a file, whatever is empty in them; those of a folder of results belong to its form."""
    found = set()
    for place, folders, files in os.walk(folder):
        if "plan.json" in files or ("runs" in folders and os.listdir(os.path.join(place, "runs"))):
            folders.clear()
        elif place != str(folder) and not any(names for *_, names in os.walk(place)):
            found.add(os.path.relpath(place, folder))
            folders.clear()
    return found


def _watch(child: int, begun: float, limits: Limits) -> tuple[int, float, float, str]:
    """Wait for the child.

    Returns:
        Exit code; how long it took, without the time in which it waited for a processor that others had [s]; the peak
        of its memory and its children's [MB]; why it was killed, if it was.
    """
    peak_mb, waited_s, killed = 0.0, 0.0, ""
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            break
        peak_mb = max(peak_mb, _resident_mb(child))
        waited_s = max(waited_s, _waited_s(child))
        if peak_mb > limits.memory_mb:
            killed = f"memory above {limits.memory_mb} MB"
        elif time.monotonic() - begun - waited_s > limits.wall_s:
            killed = f"not over after {limits.wall_s:g} s"
        if killed:
            _end_group(child)
            _, status, usage = os.wait4(child, 0)
            break
        time.sleep(POLL_S)
    # Whatever it has started and left behind.
    _end_group(child)
    wall_s = time.monotonic() - begun - waited_s
    return os.waitstatus_to_exitcode(status), wall_s, max(peak_mb, usage.ru_maxrss / 1024), killed


def _waited_s(process: int) -> float:
    """How long a process could have run and did not, because the machine was busy with others [s]."""
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def _end_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _resident_mb(process: int) -> float:
    """Of a process and all that it has started."""
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        children = [
            int(one) for path in Path(f"/proc/{process}/task").glob("*/children") for one in path.read_text().split()
        ]
    except (OSError, IndexError, ValueError):
        return 0.0
    return pages * resource.getpagesize() / 2**20 + sum(map(_resident_mb, children))


# ---- in the child -------------------------------------------------------------------------------------------------


def _become(case: Case, scratch: Path, command: Command | None, limits: Limits) -> NoReturn:
    code = 70
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for name, value in {"PYTHONIOENCODING": "utf-8:strict", **case.environment}.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        os.chdir(scratch / "case")
        _redirect(case, scratch)
        resource.setrlimit(resource.RLIMIT_AS, (limits.address_mb * 2**20,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if case.file_size is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (case.file_size,) * 2)
        if command is None:
            _execute(case)
        words = ["cluster-abm", *case.arguments]
        code = called_as_by_a_fresh_python(words, lambda: command(case.arguments))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _redirect(case: Case, scratch: Path) -> None:
    stdin = os.open(os.devnull, os.O_RDONLY)
    stderr = os.open(scratch / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    if case.stdout == "full":
        stdout = os.open("/dev/full", os.O_WRONLY)
    elif case.stdout == "broken":
        unread, stdout = os.pipe()
        os.close(unread)
    else:
        stdout = os.open(scratch / "stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for number, opened in enumerate((stdin, stdout, stderr)):
        os.dup2(opened, number)
        os.close(opened)
    if case.stdout == "closed":
        os.close(1)


def _execute(case: Case) -> NoReturn:
    # The nursery's, which would be all that the Python finds first.
    os.environ.pop("PYTHONPATH", None)
    words = [sys.executable, "-m", "cluster_abm", *case.arguments]
    os.execv(sys.executable, [os.fsencode(word) for word in words])
