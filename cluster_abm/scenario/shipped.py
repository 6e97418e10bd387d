"""Where the shipped files are, and what messages have in common that name a user's words."""

from __future__ import annotations

import difflib
import importlib.resources
from functools import cache
from pathlib import Path

from cluster_abm.scenario.filling.toml_file import is_there

# Of names that a command lists, as many are all named in a message.
MOST_NAMES = 12


def shipped_path(*parts: str) -> Path:
    """A file or folder below the shipped `scenarios/` (beside the package in a checkout, inside it in a wheel)."""
    return _scenarios_folder().joinpath(*parts)


@cache
def _scenarios_folder() -> Path:
    package = Path(str(importlib.resources.files("cluster_abm")))
    inside = package / "shipped" / "scenarios"
    return inside if inside.is_dir() else package.parent / "scenarios"


def shipped_file(folder: str, name: str, ending: str) -> Path | None:
    """A shipped file by its name, which has no folder and no ending; None if it is not the name of any."""
    path = shipped_path(folder, f"{name}{ending}")
    return path if Path(name).stem == name and is_there(path) else None


def names_in(folder: str, ending: str) -> list[str]:
    """Names of the shipped files of a folder, sorted."""
    return sorted(path.stem for path in shipped_path(folder).glob(f"*{ending}"))


def nearest(word: str, allowed: list[str], listed_by: str = "") -> str:
    """A hint with the nearest allowed word; else with all of them, or, of many, the command that lists them."""
    close = difflib.get_close_matches(word.lower(), allowed, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else all_of(allowed, listed_by)


def all_of(allowed: list[str], listed_by: str = "") -> str:
    """All allowed words; of many the command that lists them, if there is one."""
    if listed_by and len(allowed) > MOST_NAMES:
        return f"`{listed_by}` lists all {len(allowed)}"
    return f"allowed: {', '.join(allowed)}"
