"""What callers in Python give, checked by kind: a wrong one is bad input, and is named as that."""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from cluster_abm.errors import InputError

# Of values in messages, in letters.
LONGEST_SHOWN = 120


class Kind(NamedTuple):
    """What an argument has to be, in words, and whether a value is."""

    words: str
    fits: Callable[[object], bool]


def whole_number(value: object) -> int | None:
    """A value as a whole number, numpy's included; None: it is none, and True is none either."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def is_path(value: object) -> bool:
    """Whether it can be the path of a file: a text that is not empty, or a pathlib.Path, as the system takes it."""
    try:
        return isinstance(value, str | Path) and bool(str(value)) and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def from_on(least: int) -> Kind:
    """Whole numbers from this one on."""
    return Kind(
        f"a whole number from {least} on", lambda value: (number := whole_number(value)) is not None and number >= least
    )


COUNT = from_on(1)
FLAG = Kind("True or False", lambda value: isinstance(value, bool))
TEXT = Kind("a text", lambda value: isinstance(value, str))
PATH = Kind("a path, as a text or a pathlib.Path,", is_path)
NUMBER = Kind("a number", lambda value: not isinstance(value, str | bytes | bool) and _is_one(value))
TABLE = Kind("a mapping, as {name: value},", lambda value: isinstance(value, Mapping))


def _is_one(value: object) -> bool:
    try:
        float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def of_class(*classes: type) -> Kind:
    """Objects of one of these classes."""
    return Kind(
        f"a {' or a '.join(accepted.__name__ for accepted in classes)}", lambda value: isinstance(value, classes)
    )


def or_none(kind: Kind) -> Kind:
    """The same, or None."""
    return Kind(f"{kind.words} or None", lambda value: value is None or kind.fits(value))


CALLABLE_OR_NONE = or_none(Kind("a function", callable))
TIME_OR_NONE = or_none(
    Kind("a finite time from 0 on [ms]", lambda value: NUMBER.fits(value) and 0.0 <= float(value) < math.inf)  # type: ignore[arg-type]
)


def check_arguments(**given: tuple[object, Kind]) -> None:
    """Raise InputError for arguments that are not of their kind, all at once.

    Args:
        given: by the argument's name, its value and what it has to be.

    Example:
        >>> check_arguments(seeds=("8", or_none(COUNT)))
        Traceback (most recent call last):
        cluster_abm.errors.InputError: seeds = '8': a whole number from 1 on or None is needed
    """
    problems = [wrong(name, value, kind) for name, (value, kind) in given.items() if not kind.fits(value)]
    if problems:
        raise InputError(problems)


def wrong(name: str, value: object, kind: Kind) -> str:
    """An argument that is not of its kind, in a line."""
    return f"{name} = {shortened(value)}: {kind.words} is needed"


def shortened(value: object, quote: str = "'") -> str:
    """A value of a user's as Python writes it, in one line, cut where it is longer than a message can be.

    Args:
        quote: "" leaves a text without quotation marks.
    """
    try:
        text = repr(value) if quote or not isinstance(value, str) else value
    except Exception:
        # Integers of more digits than Python writes, tables within tables without end, classes of a caller's.
        return f"a {type(value).__name__} that cannot be written"
    if "\n" in text:
        text = " ".join(text.split())
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 12]} ... {text[-6:]}"
