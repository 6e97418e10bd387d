"""What a file of a log is: content that is known, or a table for which a map is guessed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster_abm.bounded_files import MOST_MB, Limit, opened, shown, unpacked
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.traces.guessing.proposal import Guess, guess
from cluster_abm.workload.traces.mapping.maps import map_known_by, shipped_maps
from cluster_abm.workload.traces.recognition import beginning, formats

# Only the beginning is looked at.
ANY_SIZE = Limit(MOST_MB, "the largest file that is read")
# Formats with few marks, which other files have too: some names, a bracket, a remark, 18 numbers.
BY_LITTLE = ("csv", "hbd", "parquet", "swf", "swim", "wfformat")


@dataclass(frozen=True)
class FileGuess:
    """What a file is taken to be.

    Attributes:
        known: the shipped map or the format that reads it without an option; "" if none does.
        guess: the proposed map; of content that is known that map, each field sure 1.
    """

    known: str
    guess: Guess

    @property
    def columns(self) -> ColumnMap | None:
        """The map to read the file by; None if it is read without one. Raises ValueError: none that is complete."""
        if self.known:
            return None
        found = ColumnMap.model_validate(self.guess.map)
        found.check_complete()
        return found


def guess_file(path: Path, *, never_known: bool = False) -> FileGuess:
    """What a file holds: known content, or a table for which a map is proposed.

    Raises InputError: no such file, a folder, a pipe; or no table recognised.

    Args:
        path: the file, plain or packed by gzip or xz.
        never_known: propose a map even if the content is known.
    """
    if os.path.isdir(path):
        raise InputError(f"{shown(path)}: a folder: --guess looks at one file; guess one of its parts, then --map")
    with opened(path) as file:
        known = "" if never_known else _known(file, path)
        if known:
            return FileGuess(known, guess_of_known(known))
        file.seek(0)
        plain = None if str(path).lower().endswith((".gz", ".xz")) else path
        return FileGuess("", guess(unpacked(file, path, ANY_SIZE), str(path), plain))


def _known(file: Any, path: Path) -> str:
    """The map or format that knows the content; "" for none."""
    head, _ = beginning(unpacked(file, path, ANY_SIZE))
    mapped = map_known_by(head)
    if mapped is not None:
        return mapped
    ending = Path(str(path).lower().removesuffix(".gz").removesuffix(".xz")).suffix
    for name, one in formats().items():
        if one.looks_like(head):
            return "" if name in BY_LITTLE and not _reads(path, name) else name
    return next((name for name, one in formats().items() if ending in one.endings and _reads(path, name)), "")


def _reads(path: Path, name: str) -> bool:
    """Whether a format reads a file that looks like it: a foreign table may only happen to begin alike."""
    from cluster_abm.workload.traces.reading import read_trace

    try:
        read_trace(path, format=name)
    except InputError:
        return False
    return True


def guess_of_known(name: str) -> Guess:
    """What is known, as a guess that is sure: the shipped map of that name, or the format."""
    found = shipped_maps().get(name)
    if found is None:
        return Guess({"format": name}, {"format": 1.0}, {"format": "known by its content"})
    data = found.model_dump(mode="json", exclude_unset=True, exclude={"about"})
    return Guess(data, dict.fromkeys(found.fields, 1.0), dict.fromkeys(found.fields, "a shipped map"))
