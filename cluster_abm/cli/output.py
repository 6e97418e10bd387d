"""Where commands write: results to stdout, remarks to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click


class OutputFailed(Exception):
    """Stdout could not be written.

    Attributes:
        closed: whether its reader has gone (`| head`), which is no failure.
        exit_code: the one to leave with if its reader has gone, for what else is to be said of the command.
    """

    def __init__(self, problem: OSError | None) -> None:
        self.closed, self.exit_code = isinstance(problem, BrokenPipeError), 0
        super().__init__("it is closed" if problem is None else problem.strerror or str(problem))


def echo(text: object = "", nl: bool = True) -> None:
    """Write a result to stdout at once. Raises OutputFailed, never OSError, so that no file is blamed for it."""
    if sys.stdout is None:
        raise OutputFailed(None)
    try:
        click.echo(text, nl=nl)
    except OSError as problem:
        raise OutputFailed(problem) from problem


def tell(text: object) -> None:
    """Write a remark to stderr; a stderr that cannot be written ends no command."""
    with suppress(OSError):
        click.echo(text, err=True)


@contextmanager
def ending_with(exit_code: int) -> Iterator[None]:
    """A reader that goes away while the block prints does not hide how the command ended."""
    try:
        yield
    except OutputFailed as problem:
        problem.exit_code = exit_code
        raise


def flush_stdout() -> None:
    """Hand over what stdout still holds back, or drop it. Raises OutputFailed if stdout does not take it."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as problem:
        give_up_stdout()
        raise OutputFailed(problem) from problem


def give_up_stdout() -> None:
    """Drop what stdout has not taken, or the interpreter would try once more at its end, and complain."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
