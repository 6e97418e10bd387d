"""What is wrong in a file of the user: the first problems by line, and how many more."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from cluster_abm.errors import InputError

SHOWN_PROBLEMS = 10  # of one file; the rest is counted
# A file with more problems is of another kind than expected: reading stops.
MOST_PROBLEMS = 100_000


class Problems:
    """Problems of a file as they are found. Only those that are shown are kept: a file may hold millions.

    Raises InputError: by `add` and `add_rows`, once there are too many.

    Args:
        unit: what their numbers count.
    """

    def __init__(self, where: str, unit: str = "line") -> None:
        self.where, self._unit = where, unit
        self._count = 0
        self._first: list[tuple[int, str]] = []

    def __bool__(self) -> bool:
        return self._count > 0

    def add(self, problems: Iterable[tuple[int, str]]) -> None:
        """Note problems: (line, what is wrong)."""
        new = list(problems)
        self._first = sorted(self._first + new)[:SHOWN_PROBLEMS]
        self._counted(len(new))

    def add_rows(
        self, rows: Sequence[int], lines: Sequence[int] | Mapping[int, int], words: Callable[[int], str]
    ) -> None:
        """Note problems of rows, in the order of their lines.

        Args:
            lines: the line of each row, at least of the first SHOWN_PROBLEMS of `rows`.
            words: says of a row what is wrong.
        """
        self.add((lines[row], words(row)) for row in rows[:SHOWN_PROBLEMS])
        self._counted(len(rows[SHOWN_PROBLEMS:]))

    def refuse(self) -> None:
        """Raise InputError if there are problems: the first ones by line, and how many more."""
        if not self._count:
            return
        more = self._count - len(self._first)
        raise InputError(self._listed() + ([f"{self.where}: {more:,} more problems"] if more > 0 else []))

    def _counted(self, more: int) -> None:
        self._count += more
        if self._count > MOST_PROBLEMS:
            raise InputError([*self._listed(), f"{self.where}: more than {MOST_PROBLEMS:,} problems: not read further"])

    def _listed(self) -> list[str]:
        return [f"{self.where}, {self._unit} {line}: {message}" for line, message in self._first]
