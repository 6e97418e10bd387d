"""What a run leaves on disk. Equal runs give equal bytes, `timing.json` apart."""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, scenario_to_toml
from cluster_abm.whole_files import in_one_move

if TYPE_CHECKING:
    from collections.abc import Mapping


def prepare_out(folder: str | Path) -> Path:
    """Make the folder, and make sure that a file can be written there: before hours of work, not after.

    Raises:
        InputError: it is a file, or cannot be made or written to.
    """
    path = Path(folder)
    if not str(folder):
        raise InputError("--out '': a folder is needed")
    try:
        path.mkdir(parents=True, exist_ok=True)
        try_to_write(path)
    except (OSError, ValueError, RecursionError) as problem:
        # RecursionError: so many folders in one another.
        reason = getattr(problem, "strerror", None) or str(problem)
        raise InputError(
            f"--out {str(folder)!r}: cannot be written to ({reason}); a writable folder is needed"
        ) from None
    return path


@contextmanager
def out_folder(folder: str | Path) -> Iterator[Path]:
    """As `prepare_out`, for a block that fills the folder; folders that it made and that stay empty are removed.

    Raises:
        InputError: as `prepare_out`.
    """
    path = Path(folder)
    made = list(itertools.takewhile(lambda one: not os.path.lexists(one), (path, *path.parents)))
    try:
        yield prepare_out(folder)
    finally:
        with suppress(OSError):
            for one in made:
                one.rmdir()


def try_to_write(folder: Path) -> None:
    """Raise OSError if no file can be made in a folder."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b" ")
        file.flush()


def to_json(document: Any) -> str:
    """A document as JSON text that ends with a newline; NaN is not JSON, so it is an error."""
    return json.dumps(document, indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def write_json(folder: Path, name: str, document: Any) -> Path:
    """Write a JSON file and give its path; a reader never sees half of it."""
    return write_text(folder, name, to_json(document))


def write_text(folder: Path, name: str, text: str) -> Path:
    """Write a text file in one move."""
    with in_one_move(folder / name) as partial:
        partial.write_text(text, encoding="utf-8")
    return folder / name


def write_table(folder: Path, name: str, frame: pd.DataFrame) -> Path:
    """Write a Parquet file and give its path."""
    with in_one_move(folder / name) as partial:
        frame.to_parquet(partial, engine="pyarrow", index=False, compression="zstd")
    return folder / name


def write_run(
    folder: Path,
    scenario: Scenario,
    summary: Mapping[str, Any],
    frames: Mapping[str, pd.DataFrame],
    wall_s: float,
) -> list[Path]:
    """Write scenario.toml (resolved), summary.json, one Parquet file a frame, and timing.json."""
    written = [
        write_text(folder, "scenario.toml", scenario_to_toml(scenario)),
        write_json(folder, "summary.json", dict(summary)),
    ]
    written += [write_table(folder, f"{name}.parquet", frame) for name, frame in frames.items()]
    written.append(write_json(folder, "timing.json", {"wall_s": wall_s}))
    return written
