"""What a run leaves on disk. Equal runs give equal bytes, `timing.json` apart."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cluster_abm.errors import InputError, reason_of
from cluster_abm.json_text import to_json
from cluster_abm.scenario import Scenario, scenario_files
from cluster_abm.whole_files import in_one_move, try_to_write

if TYPE_CHECKING:
    from collections.abc import Mapping

# Rows of a part of a Parquet file that is written, and can be read, by itself.
ROW_GROUP = 1 << 20


def prepare_out(folder: str | Path) -> Path:
    """Make the folder, and make sure that a file can be written there: before hours of work, not after.

    Raises InputError: it is a file, or cannot be made or written to.
    """
    path = Path(folder)
    if not str(folder):
        raise InputError("--out '': a folder is needed")
    try:
        path.mkdir(parents=True, exist_ok=True)
        try_to_write(path)
    except (OSError, ValueError, RecursionError) as problem:
        # RecursionError: the folders are nested too deeply.
        raise InputError(
            f"--out {str(folder)!r}: cannot be written to ({reason_of(problem)}); a writable folder is needed"
        ) from None
    return path


@contextmanager
def out_folder(folder: str | Path) -> Iterator[Path]:
    """As `prepare_out`, for a block that fills the folder; folders that it made and that stay empty are removed.

    Raises InputError: as `prepare_out`.
    """
    path = Path(folder)
    made = list(itertools.takewhile(lambda ancestor: not os.path.lexists(ancestor), (path, *path.parents)))
    try:
        yield prepare_out(folder)
    finally:
        with suppress(OSError):
            for ancestor in made:
                ancestor.rmdir()


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


def write_pieces(folder: Path, name: str, pieces: Iterable[pd.DataFrame]) -> Path:
    """Write a table that comes in pieces as a Parquet file, and give its path: the bytes of `write_table` of all of it.

    Args:
        pieces: its rows, one frame after another, of which a whole number fills ROW_GROUP; at least one, if empty.
    """
    import pyarrow.parquet as parquet

    with in_one_move(folder / name) as partial, ExitStack() as files:
        writer = None
        for group in _row_groups(pieces):
            if writer is None:
                writer = files.enter_context(parquet.ParquetWriter(partial, group.schema, compression="zstd"))
            writer.write_table(group)
    return folder / name


def _row_groups(pieces: Iterable[pd.DataFrame]) -> Iterator[Any]:
    """Arrow tables of ROW_GROUP rows each but the last, of whole columns: how a column is cut shows in the file."""
    import pyarrow

    gathered: list[Any] = []

    def whole() -> Any:
        schema = gathered[0].schema
        columns = [[piece.column(position).chunk(0) for piece in gathered] for position in range(len(schema))]
        gathered.clear()
        # Column by column, so that no second copy of them all is ever there.
        arrays = []
        while columns:
            arrays.append(pyarrow.concat_arrays(columns.pop(0)))
        return pyarrow.Table.from_arrays(arrays, schema=schema)

    rows = 0
    for frame in pieces:
        gathered.append(pyarrow.Table.from_pandas(frame, preserve_index=False))
        rows += len(frame)
        if rows == ROW_GROUP:
            rows = 0
            yield whole()
    if gathered:
        yield whole()


def write_run(
    folder: Path,
    scenario: Scenario,
    summary: Mapping[str, Any],
    frames: Mapping[str, pd.DataFrame | Iterable[pd.DataFrame]],
    wall_s: float,
) -> list[Path]:
    """Write scenario.toml (resolved; a graph that was handed over beside it), summary.json, a Parquet file a frame
    (whole, or in pieces), and timing.json."""
    written = [
        *(write_text(folder, name, text) for name, text in scenario_files(scenario).items()),
        write_json(folder, "summary.json", dict(summary)),
    ]
    for name, table in frames.items():
        if isinstance(table, pd.DataFrame):
            written.append(write_table(folder, f"{name}.parquet", table))
        else:
            written.append(write_pieces(folder, f"{name}.parquet", table))
    written.append(write_json(folder, "timing.json", {"wall_s": wall_s}))
    return written
