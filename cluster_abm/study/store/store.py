"""A folder of results that outlives the processes that fill it.

    study.toml, scenario.toml   the study, resolved; plan.json its points and what its runs are called (documents.py)
    runs/KEY-SEED.run           a run: a line with a checksum, then JSON; KEY names scenario, warm-up and code
    parts/HASH.parquet          a segment: many finished runs in one file that is named by its content
    damaged/                    files that were not as they had been written, set aside
    tmp/, claims/, sessions/    of the processes at work

A run counts as soon as it has its name in `runs`. Names are synchronised once a second: after a loss of power runs of
the last second may have to be made again. Compaction writes a segment first and removes the runs' files after
that, so a run may be in both, and is counted once; it is never in neither.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from cluster_abm.errors import InputError
from cluster_abm.study.store.documents import DOCUMENTS, damaged_documents, read_document
from cluster_abm.study.store.durable import (
    Damaged,
    read_bytes,
    seal,
    sync_folder,
    unseal,
    write_all_whole,
    write_durably,
    write_whole,
)
from cluster_abm.study.store.segments import of_those, read_segment, table_of, to_bytes

RunName = tuple[str, int]
# So often at most the names of new runs are synchronised: on many disks that takes longer than a short run [s].
SYNCED_EVERY_S = 1.0


@dataclass(frozen=True)
class Record:
    """What is known of a run that is over."""

    # key, seed: the name of the run
    key: str
    seed: int
    metrics: dict[str, Any] = field(default_factory=dict)  # its numbers; empty if it failed
    load: dict[str, Any] | None = None  # its load over time, where that was kept
    error: str = ""  # why it failed, in a line; empty if it finished
    traceback: str = ""  # and where

    @property
    def name(self) -> RunName:
        """Key and seed."""
        return self.key, self.seed

    @property
    def failed(self) -> bool:
        """Whether it failed."""
        return bool(self.error)


@dataclass
class Contents:
    """What a store holds."""

    finished: set[RunName] = field(default_factory=set)  # runs that finished
    # the records of those that failed, and did not finish before or after
    failed: dict[RunName, Record] = field(default_factory=dict)
    # files that are not as they were written, with what is wrong
    damaged: dict[Path, str] = field(default_factory=dict)
    # finished runs as tables, `load` left out; a run may stand in several
    tables: list[pa.Table] = field(default_factory=list)


class Store:
    """Results in a folder.

    Args:
        folder: where; made when the first thing is written.
        session: a name that no other process at work has; names of partial files begin with it.

    Attributes:
        runs_a_segment: how many runs a segment takes, and how many files of them are waited for until one is made.
    """

    runs_a_segment = 1000

    def __init__(self, folder: str | Path, session: str = "one") -> None:
        self.folder = Path(folder)
        self.session = session
        self.runs, self.segments = self.folder / "runs", self.folder / "parts"
        self._written = 0
        # When the names of runs were last synchronised; and whether there are new ones.
        self._synced_s, self._has_new = -SYNCED_EVERY_S, False
        self._seen_segments: set[str] = set()
        self._in_segments: dict[RunName, Path] = {}

    # ---- writing ---------------------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Make the folders. Raises InputError if they cannot be made."""
        try:
            for name in ("runs", "parts", "damaged", "tmp"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise InputError(f"--out {str(self.folder)!r}: cannot be written to ({problem.strerror})") from None

    def write(self, path: Path, data: bytes) -> None:
        """Write a file of the store, durably."""
        write_durably(path, data, self._partial())

    def add(self, record: Record) -> None:
        """Keep a run; when this returns no end of the process loses it. Any later record replaces a failed one."""
        write_whole(*self._file(record))
        self._note_new()

    def add_all(self, records: Sequence[Record]) -> None:
        """Keep several runs, as `add` keeps one."""
        write_all_whole([self._file(record) for record in records])
        self._note_new()

    def _file(self, record: Record) -> tuple[Path, bytes, Path]:
        return self.path_of(record.name), seal(json.dumps(record.__dict__)), self._partial()

    def _note_new(self) -> None:
        self._has_new = True
        if time.monotonic() - self._synced_s >= SYNCED_EVERY_S:
            self.sync()

    def sync(self) -> None:
        """Have the names of all runs outlive a loss of power, too."""
        if self._has_new:
            sync_folder(self.runs)
            self._synced_s, self._has_new = time.monotonic(), False

    def _partial(self) -> Path:
        self._written += 1
        return self.folder / "tmp" / f"{self.session}.{self._written}"

    @contextmanager
    def written_by(self, session: str) -> Iterator[None]:
        """Write under this name, which no other process at work has; nothing half written stays behind."""
        self.session = session
        try:
            yield
            self.sync()
        finally:
            self.forget_partial(session)

    def forget_partial(self, session: str) -> None:
        """Remove what a process that is over had not finished writing."""
        for path in (self.folder / "tmp").glob(f"{session}.*"):
            path.unlink(missing_ok=True)

    def compact(self, at_least: int | None = None) -> int:
        """Put finished runs into a segment if there are `at_least` files of them (runs_a_segment); return how many.

        One process at a time should; two give two segments with the same runs, which are counted once.
        """
        least = max(1, self.runs_a_segment if at_least is None else at_least)
        files = sorted(self.runs.glob("*.run"))
        if len(files) < least:
            return 0
        records: list[Record] = []
        paths: list[Path] = []
        for path in files:
            if len(records) == self.runs_a_segment:
                break
            record = self._read(path)
            if isinstance(record, Record) and not record.failed:
                records.append(record)
                paths.append(path)
        if len(records) < least:
            return 0
        data = to_bytes(table_of([record.__dict__ for record in records]))
        self.write(self.segments / f"{hashlib.sha256(data).hexdigest()}.parquet", data)
        for path in paths:
            path.unlink(missing_ok=True)
        return len(records)

    def set_aside(self, path: Path) -> bool:
        """Move a file to `damaged`, beside earlier ones of its name, if it still is damaged; return whether it was.

        Another process may have mended it since it was found. None may do so between check and move, so the caller
        holds a claim on it.
        """
        if self._damage(path) is None:
            return False
        target = self.folder / "damaged" / path.name
        number = 1
        while target.exists():
            target = target.with_name(f"{path.name}.{number}")
            number += 1
        os.replace(path, target)
        return True

    def _damage(self, path: Path) -> str | None:
        """What is wrong with a file of the store now; None if nothing is, or it is gone."""
        try:
            if path.parent == self.runs:
                record = self._read(path)
                return str(record) if isinstance(record, Damaged) else None
            if path.parent == self.segments:
                read_segment(path, ["key"])
            elif path.name in DOCUMENTS:
                read_document(path)
        except Damaged as problem:
            return str(problem)
        except FileNotFoundError:
            pass
        return None

    # ---- reading ---------------------------------------------------------------------------------------------

    def path_of(self, name: RunName) -> Path:
        """Return where a run's own file is, if it is not in a segment."""
        return self.runs / f"{name[0]}-{name[1]}.run"

    def written_ns(self, name: RunName) -> int | None:
        """When a run's own file was written [ns, by the file system's clock]; None if there is none."""
        try:
            return self.path_of(name).stat().st_mtime_ns
        except FileNotFoundError:
            return None

    def contents(self, metrics: Sequence[str] | None = None) -> Contents:
        """All runs there are, and what is damaged; only these metrics, if they are named."""
        wanted = None if metrics is None else ["key", "seed", *(f"metrics.{name}" for name in metrics)]
        found = Contents(damaged=damaged_documents(self.folder))
        records: list[dict[str, Any]] = []
        # Files before segments: what moves from the one to the other in between is then read once at least.
        for path in sorted(self.runs.glob("*.run")):
            record = self._read(path)
            if isinstance(record, Damaged):
                found.damaged[path] = str(record)
            elif record is not None and record.failed:
                found.failed[record.name] = record
            elif record is not None:
                records.append(record.__dict__ | {"load": None})
        if records:
            table = table_of(records)
            found.tables.append(table.select(of_those(table.column_names, wanted)))
        for path in self._segment_files():
            try:
                found.tables.append(read_segment(path, wanted))
            except Damaged as problem:
                found.damaged[path] = str(problem)
            except FileNotFoundError:
                # Damaged, and set aside by another process just now.
                continue
        for table in found.tables:
            found.finished.update(_names(table))
        for name in found.finished & found.failed.keys():
            del found.failed[name]
        return found

    def look_up(self, name: RunName) -> Record | None:
        """Return a run's record if it is there by now, perhaps by another process; from a segment without its load."""
        record = self._read(self.path_of(name))
        if isinstance(record, Record):
            return record
        for file in set(os.listdir(self.segments)) - self._seen_segments:
            # A damaged one is named, and set aside, when the store is next opened.
            path = self.segments / file
            with suppress(Damaged, FileNotFoundError):
                if path.suffix == ".parquet":
                    self._in_segments |= dict.fromkeys(_names(read_segment(path, ["key", "seed"])), path)
            self._seen_segments.add(file)
        if name not in self._in_segments:
            return None
        try:
            row = read_segment(self._in_segments[name], run=name).to_pylist()[0]
        except (Damaged, FileNotFoundError):
            # Damaged since, and perhaps set aside by another process.
            return None
        return Record(*name, {key.removeprefix("metrics."): row[key] for key in row if key.startswith("metrics.")})

    def loads(self) -> dict[RunName, dict[str, Any]]:
        """Return the loads over time of the runs that have kept them."""
        found = {}
        for path in sorted(self.runs.glob("*.run")):
            record = self._read(path)
            if isinstance(record, Record) and record.load is not None:
                found[record.name] = record.load
        for path in self._segment_files():
            with suppress(Damaged, FileNotFoundError):
                for row in read_segment(path, ["key", "seed", "load"]).to_pylist():
                    if row["load"] is not None:
                        found[row["key"], row["seed"]] = json.loads(row["load"])
        return found

    def _segment_files(self) -> list[Path]:
        return sorted(self.segments.glob("*.parquet"))

    def _read(self, path: Path) -> Record | Damaged | None:
        """A run's record; None if there is no such file (any more)."""
        try:
            record = Record(**json.loads(unseal(read_bytes(path))))
            _check_record(record)
        except FileNotFoundError:
            return None
        except Damaged as problem:
            return problem
        except (TypeError, ValueError, RecursionError) as problem:
            # Whole, and not what this program writes: by a later version, or by hand.
            return Damaged(f"it is no record of a run: {problem}")
        return record if self.path_of(record.name) == path else Damaged("it is another run than its name says")


# Of each field of a record, what JSON may say there.
_KINDS: dict[str, type | tuple[type, ...]] = {
    "key": str, "seed": int, "metrics": dict, "load": (dict, type(None)), "error": str, "traceback": str,
}  # fmt: skip


def _check_record(record: Record) -> None:
    """Raise ValueError for what no run of this program has measured, and no table holds."""
    for field_of, kind in _KINDS.items():
        value = getattr(record, field_of)
        if not isinstance(value, kind) or (field_of == "seed" and not _is_number(value)):
            raise ValueError(f"{field_of} is {value!r:.60}")
    for name, value in record.metrics.items():
        numbers = value if isinstance(value, list) else [value]
        if not name.isprintable() or not all(map(_is_number, numbers)):
            raise ValueError(f"metric {name!r:.60} is {value!r:.60}")


def _is_number(value: object) -> bool:
    """Whether it is what a table holds of a metric; None is one that a run has not."""
    return value is None or isinstance(value, float) or (isinstance(value, int) and -(2**63) <= value < 2**63)


def _names(table: pa.Table) -> Iterator[RunName]:
    return zip(table["key"].to_pylist(), table["seed"].to_pylist(), strict=True)
