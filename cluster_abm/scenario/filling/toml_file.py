"""TOML files of users, as nested tables: whatever is in them, an InputError says what is wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from cluster_abm.errors import InputError

LARGEST_MB = 16


def is_there(path: Path) -> bool:
    """Whether a path is a file; one that the system does not take, because it is too long, is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether a path is a folder, as `is_there`."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file. Raises InputError: it cannot be read, is too large, no text, or no TOML."""
    try:
        if path.stat().st_size > LARGEST_MB * 1e6:
            raise InputError(f"{path}: {path.stat().st_size / 1e6:,.0f} MB: allowed are {LARGEST_MB}")
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read as a text file ({problem})") from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"{path}: not a TOML file: {problem}") from None
    except (RecursionError, ValueError) as problem:
        raise InputError(f"{path}: cannot be read as TOML: {too_much(problem)}") from None


def too_much(problem: Exception) -> str:
    """Why TOML without a mistake cannot be read: tomllib's RecursionError or ValueError in words."""
    return "it is nested too deeply" if isinstance(problem, RecursionError) else "a number has too many digits"
