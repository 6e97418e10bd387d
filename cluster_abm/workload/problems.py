"""What is wrong in a file of the user: the first problems by line, and how many more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from cluster_abm.errors import InputError

SHOWN_PROBLEMS = 10  # of one file; the rest is counted


class Problems:
    """Problems of a file as they are found. Only those that are shown are kept: a file may hold millions."""

    def __init__(self, where: str) -> None:
        self.where = where
        self._count = 0
        self._first: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, found: Iterable[tuple[int, str]]) -> None:
        """Note problems: (line, what is wrong)."""
        all_found = list(found)
        self._count += len(all_found)
        self._first = sorted(self._first + all_found)[:SHOWN_PROBLEMS]

    def add_rows(self, rows: Sequence[int], lines: Sequence[int], words: Callable[[int], str]) -> None:
        """Note problems of rows, in the order of their lines; `words` says of a row what is wrong."""
        self.add((lines[row], words(row)) for row in rows[:SHOWN_PROBLEMS])
        self._count += len(rows[SHOWN_PROBLEMS:])

    def refuse(self) -> None:
        """Raise InputError if there are problems: the first ones by line, and how many more."""
        if not self._count:
            return
        listed = [f"{self.where}, line {line}: {message}" for line, message in self._first]
        more = self._count - len(listed)
        raise InputError(listed + ([f"{self.where}: {more:,} more problems"] if more > 0 else []))
