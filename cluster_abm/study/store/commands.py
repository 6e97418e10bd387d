"""Which command a folder of results is for: what another one left there is not mixed with its own."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.json_text import json_value
from cluster_abm.results.files import write_json
from cluster_abm.study.store.durable import Damaged, read_bytes

# Says by which command a folder was made.
COMMAND = "command.json"


def claim(folder: Path, command: Mapping[str, Any], what: str) -> None:
    """Leave in a folder what it is for.

    Args:
        folder: of the results.
        command: what the command was, as far as its result depends on it.
        what: the command is, in words, e.g. "a search".

    Raises InputError: the folder holds the results of another command; names what differs.
    """
    path = folder / COMMAND
    if not os.path.lexists(path):
        write_json(folder, COMMAND, command)
        return
    try:
        theirs = json.loads(read_bytes(path))
        if not isinstance(theirs, dict):
            raise ValueError("it holds no table")
    except (Damaged, FileNotFoundError, ValueError, RecursionError) as problem:
        raise InputError(
            f"{path}: is damaged ({problem}): remove it, and the same command goes on with the runs in {folder}"
        ) from None
    before, now = dict(_flat(theirs)), dict(_flat(json_value(command)))
    differing = [key for key in {**before, **now} if before.get(key) != now.get(key)]
    if differing:
        words = [f"{key} was {_words(before.get(key))}, is {_words(now.get(key))}" for key in differing[:5]]
        more = f", and {len(differing) - 5} more" if len(differing) > 5 else ""
        raise InputError(
            f"--out {str(folder)!r}: holds {what} by another command: {'; '.join(words)}{more}; "
            "another folder is needed"
        )


def _flat(tree: object, path: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of nested tables by their dotted keys; lists are leaves."""
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from _flat(value, f"{path}.{name}" if path else str(name))
    else:
        yield path, tree


def _words(value: object) -> str:
    return "not set" if value is None else shortened(value)
