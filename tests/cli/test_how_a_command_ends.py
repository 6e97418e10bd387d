"""The exit code of a command and what stderr says, of each way in which it can end; no command is carried out."""

from __future__ import annotations

import errno
import logging
import os
import signal
import sys

import click
import pytest

from cluster_abm import cli as commands
from cluster_abm.cli.options import Interrupted
from cluster_abm.cli.output import OutputFailed, ending_with
from cluster_abm.errors import InputError
from cluster_abm.interrupts import PolicyInterrupted
from viz.server.serving import Sparing

USAGE = "Usage: cluster-abm run [OPTIONS] SCENARIO\nTry 'cluster-abm run --help' for help.\n\n"


@pytest.fixture
def ending(monkeypatch, capfd):
    """What comes of a command that returns this, or raises it: (exit code, stderr)."""

    def call(how, cause=None):
        def main(**_):
            if callable(how):
                return how()
            if isinstance(how, BaseException):
                raise how from cause
            return how

        monkeypatch.setattr(commands.cluster_abm, "main", main)
        with pytest.raises(SystemExit) as left:
            commands.main(["run"])
        return left.value.code, capfd.readouterr().err

    return call


def system(number, *names):
    return OSError(number, os.strerror(number), *names)


@pytest.mark.parametrize(("how", "code", "said"), [
    (None, 0, ""), (0, 0, ""), (7, 7, ""), ("text", 0, ""),
    (InputError(["a: wrong", "b: wrong"]), 2, "error: a: wrong\nerror: b: wrong\n"),
    (click.ClickException("no such thing"), 1, "Error: no such thing\n"),
    (click.UsageError("no such option"), 2, "Error: no such option\n"),
    (click.Abort(), 130, "interrupted\n"), (KeyboardInterrupt(), 130, "interrupted\n"),
    (Interrupted("kept 3 of 9 runs"), 130, "interrupted: kept 3 of 9 runs\n"),
    # What the system refuses is not this program's fault: a file by its name, the results where there is no room.
    (system(errno.EACCES, "jobs.csv"), 2, "error: jobs.csv could not be read or written: Permission denied\n"),
    (system(errno.EACCES), 2, "error: a file could not be read or written: Permission denied\n"),
    (system(errno.ENOSPC), 2, "error: the results could not be written: No space left on device\n"),
    (system(errno.EFBIG), 2, "error: the results could not be written: File too large\n"),
    (system(errno.ENOSPC, "x.csv"), 2, "error: x.csv could not be read or written: No space left on device\n"),
    (MemoryError(), 2, "error: there is not enough memory for this\n"),
    (MemoryError("9 GB"), 2, "error: there is not enough memory for this (9 GB)\n"),
])  # fmt: skip
def test_it_ends_so(ending, how, code, said):
    assert ending(how) == (code, said)


@pytest.mark.parametrize("problem", [system(errno.EDOM), OSError("without a number"), ZeroDivisionError("a fault")])
def test_any_other_problem_is_a_fault_of_this_program(ending, problem):
    code, said = ending(problem)
    assert code == 1
    assert said.startswith("error: this is a fault of cluster-abm, not of your input")
    assert "Traceback (most recent call last)" in said


def test_a_policy_that_was_interrupted_is_named_once_wherever_it_is_in_the_chain(ending):
    inner = PolicyInterrupted("policy 'mine', choose")
    assert ending(inner) == (130, f"interrupted: {inner}\n")
    assert ending(KeyboardInterrupt(), cause=inner) == (130, f"interrupted: {inner}\n")
    assert ending(PolicyInterrupted("outer"), cause=inner)[1].count("interrupted: ") == 1


def test_sigterm_has_an_exit_code_of_its_own(ending):
    assert ending(lambda: signal.raise_signal(signal.SIGTERM))[0] == 143


@pytest.mark.parametrize(("problem", "before", "code", "said"), [
    # A reader that has what it wants changes nothing of how the command ended; a full disk is told.
    (BrokenPipeError(), 0, 0, ""), (BrokenPipeError(), 130, 130, ""),
    (system(errno.ENOSPC), 0, 2, "error: stdout could not be written: No space left on device\n"),
    (system(errno.ENOSPC), 130, 2, "error: stdout could not be written: No space left on device\n"),
    (None, 0, 2, "error: stdout could not be written: it is closed\n"),
])  # fmt: skip
def test_where_stdout_takes_no_more(ending, monkeypatch, problem, before, code, said):
    # Stdout is the test's own: it stays open.
    monkeypatch.setattr(commands, "give_up_stdout", lambda: None)

    def print_it():
        with ending_with(before):
            raise OutputFailed(problem)

    assert ending(print_it) == (code, said)


@pytest.mark.parametrize(("length", "shown"), [(899, 899), (900, 900), (901, 700 + 5 + 190), (5000, 700 + 5 + 190)])
def test_a_line_that_is_too_long_has_its_middle_left_out(ending, length, shown):
    """Up to 900 characters are shown whole; of more the first 700, five for " ... " and the last 190."""
    line = "a" * 300 + "b" * (length - 301) + "c"
    said = ending(InputError([line]))[1].removeprefix("error: ").rstrip("\n")
    assert len(said) == shown
    assert (said[0], said[-1], " ... " in said) == ("a", "c", length > 900)


@pytest.mark.parametrize(("theirs", "ours"), [
    ("0 is not in the range x>=1.", "0 must be at least 1."), ("0 is not in the range x>0.", "0 must be above 0."),
    ("9 is not in the range 1<=x<=8.", "9 must be from 1 to 8."),
    ("'x' is not a valid integer range.", "'x' is no whole number."),
    ("'x' is not a valid float range.", "'x' is no number."),
    ("9 is not in the range x<=8.", "9 is not in the range x<=8."),
])  # fmt: skip
def test_what_click_says_of_numbers_is_said_plainly(ending, theirs, ours):
    context = click.Context(commands.cluster_abm.commands["run"], info_name="run",
                            parent=click.Context(commands.cluster_abm, info_name="cluster-abm"))  # fmt: skip
    code, said = ending(click.BadParameter(theirs, ctx=context, param_hint="--seeds"))
    assert code == 2
    assert said == f"{USAGE}Error: Invalid value for --seeds: {ours}\n"


def test_arguments_that_are_no_text_are_refused(capfd):
    with pytest.raises(SystemExit) as left:
        commands.main(["run", "caf\udce9"])
    assert left.value.code == 2
    assert "is no text in UTF-8" in capfd.readouterr().err
    # Letters of other languages are text.
    with pytest.raises(SystemExit) as left:
        commands.main(["run", "\u00e9"])
    assert "is no text in UTF-8" not in capfd.readouterr().err


def test_of_each_line_of_code_the_log_has_five_records():
    sparing = Sparing()

    def record(line):
        return logging.LogRecord("page", logging.ERROR, "tabs.py", line, "too much", (), None)

    assert [sparing.filter(record(7)) for _ in range(7)] == [True] * 5 + [False] * 2
    assert sparing.filter(record(8))


def test_what_a_terminal_cannot_show_is_shown_by_its_number(ending, monkeypatch):
    asked = []
    monkeypatch.setattr(type(sys.stdout), "reconfigure", lambda _, **given: asked.append(given), raising=False)
    ending(0)
    assert asked == [{"errors": "backslashreplace"}]
