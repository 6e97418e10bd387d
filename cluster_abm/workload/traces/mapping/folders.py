"""A folder whose files are the parts of one table, as clusters' traces are published."""

from __future__ import annotations

import re
from pathlib import Path

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError, reason_of

ENDINGS = re.compile(r"\.(csv|tsv|txt|log|json|jsonl|ndjson|parquet)(\.(gz|xz))?$", re.IGNORECASE)
NUMBERS = re.compile(r"(\d{1,15})", re.ASCII)


def parts_of(path: Path) -> tuple[list[Path], int]:
    """The files of a folder that may be parts of a table, in natural order, and how many others there are.

    Raises InputError: the folder cannot be read.
    """
    try:
        there = [entry for entry in path.iterdir() if not entry.name.startswith(".") and not entry.is_dir()]
    except OSError as problem:
        raise InputError(f"{shown(path)}: cannot be read: {reason_of(problem)}") from None
    files = sorted((entry for entry in there if ENDINGS.search(entry.name)), key=natural)
    return files, len(there) - len(files)


def natural(path: Path) -> list[tuple[int, str]]:
    """2.csv before 10.csv."""
    return [(int(part), "") if NUMBERS.fullmatch(part) else (-1, part) for part in NUMBERS.split(path.name) if part]
