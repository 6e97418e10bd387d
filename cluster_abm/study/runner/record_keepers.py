"""Where a runner keeps its records: in memory, or in a folder that outlives it and that several processes fill."""

from __future__ import annotations

from typing import Protocol

from cluster_abm.study.store.leases import Leases
from cluster_abm.study.store.store import Record, RunName, Store


class ResultKeeper(Protocol):
    """Keeps records, and sees to it that no two processes carry out the same run."""

    def claim(self, run: RunName) -> bool:
        """Take a run for this process; False if another one has it."""

    def release(self, run: RunName) -> None:
        """Give up a claim."""

    def look_up(self, run: RunName) -> Record | None:
        """A run's record if it is there by now."""

    def written_ns(self, run: RunName) -> int | None:
        """When a run's own record was written [ns]; None if there is none."""

    def add(self, record: Record) -> None:
        """Keep a record; when this returns no interrupt can lose it."""

    def tidy(self, made: int) -> None:
        """Called now and then, with how many runs have been carried out."""


class InMemory:
    """Records of this process alone.

    Attributes:
        records: by name of the run.
    """

    def __init__(self) -> None:
        self.records: dict[RunName, Record] = {}

    def claim(self, run: RunName) -> bool:
        """As ResultKeeper: there is no other process."""
        return True

    def release(self, run: RunName) -> None:
        """As ResultKeeper."""

    def look_up(self, run: RunName) -> Record | None:
        """As ResultKeeper."""
        return self.records.get(run)

    def written_ns(self, run: RunName) -> int | None:
        """As ResultKeeper."""
        return None

    def add(self, record: Record) -> None:
        """As ResultKeeper."""
        self.records[record.name] = record

    def tidy(self, made: int) -> None:
        """As ResultKeeper."""


class InFolder:
    """Records in a store, with the claims of this process on its runs."""

    def __init__(self, store: Store, leases: Leases) -> None:
        self._store, self._leases = store, leases
        self._compacted = 0

    def claim(self, run: RunName) -> bool:
        """As ResultKeeper."""
        return self._leases.claim(_claim_name(run))

    def release(self, run: RunName) -> None:
        """As ResultKeeper."""
        self._leases.release(_claim_name(run))

    def look_up(self, run: RunName) -> Record | None:
        """As ResultKeeper."""
        return self._store.look_up(run)

    def written_ns(self, run: RunName) -> int | None:
        """As ResultKeeper."""
        return self._store.written_ns(run)

    def add(self, record: Record) -> None:
        """As ResultKeeper: it is on the disk when this returns."""
        self._store.add(record)

    def tidy(self, made: int) -> None:
        """As ResultKeeper: put runs into segments whenever there are enough of them."""
        if made >= self._compacted + self._store.runs_a_segment:
            self.compact()
            self._compacted = made

    def compact(self) -> None:
        """Put runs into segments while there are enough of them, unless another process does."""
        if not self._leases.claim("compaction"):
            return
        while self._store.compact():
            pass
        self._leases.release("compaction")


def _claim_name(run: RunName) -> str:
    return f"{run[0]}-{run[1]}"
