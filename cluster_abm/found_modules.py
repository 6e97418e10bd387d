"""Kinds of things of which each is one module: what is in the folder is found, and named like the module."""

from __future__ import annotations

import pkgutil
from pathlib import Path


def _modules_in(folder: str) -> tuple[str, ...]:
    """The names of the modules in a folder of the package, sorted; none is imported."""
    return tuple(sorted(one.name for one in pkgutil.iter_modules([str(Path(__file__).parent / folder)])))


def _files_in(folder: str, ending: str) -> tuple[str, ...]:
    """The names of the files in a folder of the package, without their ending, sorted."""
    return tuple(sorted(path.stem for path in (Path(__file__).parent / folder).glob(f"*{ending}")))


TRACE_FORMATS = _modules_in("workload/traces/formats")
TRACE_MAPS = _files_in("workload/traces/maps", ".toml")
FAILURE_MAPS = _files_in("workload/outages/maps", ".toml")
EXECUTORS = _modules_in("study/runner/executors/kinds")
