"""Notes of a compiled policy as its methods in Python see them: the same rows."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cluster_abm.compiling.operations import LARGEST
from cluster_abm.compiling.tables import FLOAT, NO_NOTE, OTHER, TRUTH, WHOLE
from cluster_abm.compiling.texts import number_of, text_of
from cluster_abm.model.deciding.compiled.scratch import Scratch

KINDS: dict[type, int] = {bool: TRUTH, int: WHOLE, float: FLOAT}
TYPES = {kind: of for of, kind in KINDS.items()}


class Notes(MutableMapping[str, Any]):
    """What one load manager's policy remembers.

    Numbers and truth values stand in rows that compiled code reads and writes; anything else is kept beside them.

    Args:
        names, values, kinds: the rows, shape (notes,): numbers of the names (compiling.texts), 0: none.
    """

    def __init__(
        self, names: npt.NDArray[np.int64], values: npt.NDArray[np.float64], kinds: npt.NDArray[np.int64]
    ) -> None:
        self._names, self._values, self._kinds = names, values, kinds
        self._others: dict[Any, Any] = {}

    def _position(self, name: Any) -> int:
        """Where a note is in the rows; -1: nowhere."""
        number = number_of(name) if isinstance(name, str) else 0
        positions = np.flatnonzero(self._names == number)
        return int(positions[0]) if number and len(positions) else -1

    def __getitem__(self, name: str) -> Any:
        position = self._position(name)
        if position < 0 or self._kinds[position] == OTHER:
            return self._others[name]
        return TYPES[int(self._kinds[position])](self._values[position])

    def __setitem__(self, name: str, value: Any) -> None:
        position = self._position(name)
        free = np.flatnonzero(self._names == 0)
        if position < 0 and isinstance(name, str) and name and len(free):
            position = int(free[0])
        kind = KINDS.get(type(value), OTHER)
        if kind == WHOLE and abs(value) > LARGEST:
            kind = OTHER
        self._others.pop(name, None)
        if position < 0 or kind == OTHER:
            self._others[name] = value
        if position >= 0:
            self._names[position], self._kinds[position] = number_of(name), kind
            self._values[position] = 0.0 if kind == OTHER else value

    def __delitem__(self, name: str) -> None:
        position = self._position(name)
        if position < 0:
            del self._others[name]
            return
        self._others.pop(name, None)
        # In the order in which they were made, as in a dictionary.
        for row in (self._names, self._values, self._kinds):
            row[position:-1] = row[position + 1 :]
            row[-1] = NO_NOTE

    def __iter__(self) -> Iterator[str]:
        names = [text_of(number) for number in self._names.tolist() if number]
        return iter([*names, *(name for name in self._others if name not in names)])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __repr__(self) -> str:
        return repr(dict(self))


def share_notes(of_managers: list[MutableMapping[str, Any]], scratch: Scratch) -> None:
    """Let the notes of each load manager, in Python too, be the rows of scratch space that compiled code uses."""
    rows = zip(scratch.note_names, scratch.note_values, scratch.note_kinds, strict=True)
    kept = [Notes(*row) for row in rows]
    for node in range(len(of_managers)):
        of_managers[node] = kept[int(scratch.note_row[node])]
