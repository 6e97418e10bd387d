"""Recordings in files: `Recording.save`, and how they are read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from cluster_abm.arguments import PATH, TEXT, check_arguments, or_none
from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.recording.arrow_streams import Refused, table_from
from cluster_abm.recording.checks import problem_of_meta, problem_of_tables
from cluster_abm.recording.container import Packed, read, unpacked, write
from cluster_abm.recording.recorded_run import COLUMNS, DETAIL, OPTIONAL_COLUMNS
from cluster_abm.recording.recording import Recording


def load_recording(path: str | Path, policy: str | None = None) -> Recording:
    """Read a recording from a file that `Recording.save`, or `cluster-abm run --record`, has written.

    Args:
        path: the file.
        policy: of a file of two recordings (`compare --record`) which one: the name of its policy.

    Returns:
        the recording, equal to the one that was saved.

    Raises:
        InputError: the file is not a whole recording of this version, or it has several and `policy` names none of
            them.
    """
    check_arguments(path=(path, PATH), policy=(policy, or_none(TEXT)))
    found = load_recordings(path)
    names = [one.meta["policy"]["name"] for one in found]
    if policy is None and len(found) == 1:
        return found[0]
    chosen = [one for one, name in zip(found, names, strict=True) if name == policy]
    if len(chosen) != 1:
        given = "no policy is given" if policy is None else f"policy = {policy!r}"
        raise InputError(f"{shown(path)}: it has recordings of {' and '.join(map(repr, names))}, and {given}")
    return chosen[0]


def load_recordings(path: str | Path) -> list[Recording]:
    """All recordings in a file, one or two, in the order in which they were saved. Raises InputError: see above."""
    check_arguments(path=(path, PATH))
    found = []
    for meta, packed in read(Path(path)):
        problem = problem_of_meta(meta)
        if problem:
            raise InputError(f"{shown(path)}: {problem}")
        tables = _tables(packed, path)
        problem = problem_of_tables(meta, tables)
        if problem:
            raise InputError(f"{shown(path)}: {problem}")
        found.append(Recording(meta, tables))
    return found


def save_recordings(path: str | Path, recordings: Sequence[Recording]) -> None:
    """Write one or two recordings into one file. Raises InputError: it cannot be written."""
    check_arguments(path=(path, PATH))
    write(Path(path), [(one.meta, one.tables) for one in recordings])


def _tables(packed: Sequence[Packed], path: str | Path) -> dict[str, pa.Table]:
    names = [one.name for one in packed]
    needed = [name for name in COLUMNS if name != DETAIL]
    if names not in (needed, [*needed, DETAIL]):
        raise InputError(
            f"{shown(path)}: tables {shown(', '.join(names)[:200])}: allowed are {', '.join(needed)}, {DETAIL}"
        )
    return {one.name: _table(one, COLUMNS[one.name], path) for one in packed}


def _table(packed: Packed, columns: Mapping[str, Any], path: str | Path) -> pa.Table:
    what = f"{shown(path)}: table {packed.name}"
    stream = unpacked(packed)
    if stream is None:
        raise InputError(f"{what}: damaged, or not {packed.unpacked:,} bytes when it is unpacked")
    try:
        table = table_from(stream, columns, OPTIONAL_COLUMNS.get(packed.name, {}))
    except Refused as problem:
        raise InputError(f"{what}: {problem}") from None
    if table.num_rows != packed.rows:
        raise InputError(f"{what}: {table.num_rows:,} rows: {packed.rows:,} are allowed, as the header says")
    return table
