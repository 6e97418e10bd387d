"""The one error that means "what you gave me is wrong", at the bottom of the layers so that all may raise it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_ADDRESS = re.compile(r"(<[^<>]*?) at 0x[0-9a-fA-F]+")


class InputError(Exception):
    """Bad input: one message per problem, each naming where, the field, the value and what is allowed.

    The command line prints the problems and leaves with exit code 2.

    Attributes:
        problems: the messages.
    """

    def __init__(self, problems: str | Iterable[str]) -> None:
        # Several checks may come to the same problem, which is said once.
        # An object's address says nothing, and is another one every time.
        lines = [_ADDRESS.sub(r"\1", line) for line in ([problems] if isinstance(problems, str) else problems)]
        self.problems: list[str] = list(dict.fromkeys(lines))
        super().__init__("\n".join(self.problems))

    def __reduce__(self) -> tuple[type[InputError], tuple[list[str]]]:
        """Keep the problems apart when the error crosses a process boundary."""
        return type(self), (self.problems,)


def reason_of(problem: Exception) -> str:
    """Why the system refused, without the file's name, as a message ends with it."""
    return getattr(problem, "strerror", None) or str(problem)


class Gathering:
    """Collects the InputErrors of several `with` blocks, so that all that is wrong is said at once."""

    def __init__(self) -> None:
        self.problems: list[str] = []

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> bool:
        if not isinstance(problem, InputError):
            return False
        self.problems += problem.problems
        return True


@contextmanager
def gathered() -> Iterator[Gathering]:
    """A Gathering for the block, at the end of which it raises InputError with all that was collected."""
    gathering = Gathering()
    yield gathering
    if gathering.problems:
        raise InputError(gathering.problems)


class PolicyFault(InputError):
    """A policy's own method raised an exception, or returned what it must not: names the policy and its line."""
