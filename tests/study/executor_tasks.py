"""Tasks that other processes import and carry out in the tests of the executors."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from cluster_abm.errors import InputError
from cluster_abm.study.runner.one_run import finished_model


def square(number):
    return number * number


def process_of(_):
    return os.getpid()


def another_version():
    """Not the same in two processes, as if their sources differed."""
    return str(os.getpid())


def slow_square(number, seconds=0.1):
    time.sleep(seconds)
    return number * number


def fail(text):
    raise ValueError(text)


def bad_input(text):
    raise InputError([text, "and more"])


def leave(code):
    raise SystemExit(code)


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def die_the_first_time(mark):
    """Dies if the file is not there, having left it; says how often it was called otherwise."""
    path = Path(mark)
    if not path.exists():
        path.write_text("1")
        die(None)
    return int(path.read_text()) + 1


def note_and_square(folder_and_number):
    """Leaves a file as each beginning and each end of a call, then squares."""
    folder, number = folder_and_number
    name = f"{number}.{os.getpid()}"
    Path(folder, f"{name}.begun").touch()
    time.sleep(0.15)
    Path(folder, f"{name}.ended").touch()
    return number * number


def note_and_wait(folder):
    """Leaves a file named by its process, and then waits for its end."""
    Path(folder, f"{os.getpid()}.begun").touch()
    time.sleep(100)


def mean_slowdown(task):
    """Of one run (runner.tasks.SeededRun)."""
    with finished_model(task.scenario, task.seed) as model:
        return model.summary()["metrics"]["mean_slowdown"]
