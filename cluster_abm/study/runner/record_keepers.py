"""What keeps a runner's records: memory, or a folder that outlives the process and that several processes fill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cluster_abm.study.store.leases import Leases
from cluster_abm.study.store.setting_aside import set_aside
from cluster_abm.study.store.store import Contents, Record, RunName, Store


class ResultKeeper:
    """Keeps records, and sees to it that no two processes carry out the same run; by itself it knows no other process.

    Attributes:
        records: those that were added, by name of the run.
    """

    def __init__(self) -> None:
        self.records: dict[RunName, Record] = {}

    def claim(self, run: RunName) -> bool:
        """Take a run for this process; False if another one has it."""
        return True

    def release(self, run: RunName) -> None:
        """Give up a claim."""

    def look_up(self, run: RunName) -> Record | None:
        """A run's record if it is there by now."""
        return self.records.get(run)

    def written_ns(self, run: RunName) -> int | None:
        """When a run's own record was written [ns]; None if there is none."""
        return None

    def add(self, record: Record) -> None:
        """Keep a record; when this returns no interrupt can lose it."""
        self.records[record.name] = record

    def add_all(self, records: Sequence[Record]) -> None:
        """Keep several records; when this returns no interrupt can lose them."""
        for record in records:
            self.add(record)

    def tidy(self, made: int) -> None:
        """Called now and then, with how many runs have been carried out."""


class InMemory(ResultKeeper):
    """Records of this process alone."""


class InFolder(ResultKeeper):
    """Records in a store, with the claims of this process on its runs."""

    def __init__(self, store: Store, leases: Leases) -> None:
        super().__init__()
        self._store, self._leases = store, leases
        self._compacted = 0

    def claim(self, run: RunName) -> bool:
        """Take a run for this process, by a lease in the folder."""
        return self._leases.claim(_claim_name(run))

    def release(self, run: RunName) -> None:
        """Give up the lease."""
        self._leases.release(_claim_name(run))

    def look_up(self, run: RunName) -> Record | None:
        """A run's record if any process has written it."""
        return self._store.look_up(run)

    def written_ns(self, run: RunName) -> int | None:
        """When any process wrote it [ns]."""
        return self._store.written_ns(run)

    def add(self, record: Record) -> None:
        """Keep a record; no end of the process loses it when this returns."""
        self._store.add(record)

    def add_all(self, records: Sequence[Record]) -> None:
        """Keep several records, in less time than one after the other."""
        self._store.add_all(records)

    def tidy(self, made: int) -> None:
        """Put runs into segments whenever there are enough of them."""
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


@contextmanager
def kept_in(store: Store, metrics: Sequence[str] | None, quiet: bool) -> Iterator[tuple[InFolder, Contents, list[str]]]:
    """Open a store for this process: what keeps its records, what it holds, and which damaged files were set aside.

    Args:
        store: of the folder.
        metrics: as of `Store.contents`.
        quiet: nothing about damaged files on stderr.
    """
    store.prepare()
    with Leases(store.folder) as leases, store.written_by(leases.token):
        for token in leases.dead():
            store.forget_partial(token)
        contents = store.contents(metrics)
        yield InFolder(store, leases), contents, set_aside(store, leases, contents.damaged, quiet)
