"""Files that the keys of a study name: as seen from the study's folder, like its scenario."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cluster_abm.study.design.study_file import Settings, Study

FILE_KEYS = ("workload.trace.file", "workload.programs.file", "interconnect.file")


def settings_with_paths(study: Study, settings: Settings) -> Settings:
    """Return the settings with absolute paths for names of files that lie there, seen from the study's folder.

    All other names stay: of shipped programs, and of files as seen from the current folder.
    """
    return {key: _absolute(study.file.parent, key, value) for key, value in settings.items()}


def with_paths(study: Study) -> Study:
    """The study with such names in all its settings: it means the same wherever it lies."""
    grid = {
        key: [settings_with_paths(study, {key: value})[key] for value in values] for key, values in study.grid.items()
    }
    points = tuple(settings_with_paths(study, point) for point in study.points)
    overrides = settings_with_paths(study, study.overrides)
    return study.model_copy(update={"overrides": overrides, "grid": grid, "points": points})


def _absolute(folder: Path, key: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _absolute(folder, f"{key}.{name}", inner) for name, inner in value.items()}
    if key in FILE_KEYS and isinstance(value, str) and (folder / value).is_file():
        return str((folder / value).absolute())
    return value
