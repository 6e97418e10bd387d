"""The rows of a conversation: arrays that compiled code reads and changes, and makes longer when it needs to."""

from __future__ import annotations

import ctypes
import weakref
from functools import partial
from typing import Any

import numpy as np

from cluster_abm.compiling.pointers import point
from cluster_abm.compiling.tables import TASK_ROW, address
from cluster_abm.compiling.talking.blocks import block_of
from cluster_abm.compiling.talking.tables import (
    EVENT,
    EVENTS,
    FREE_TASK,
    GROW_ARENA,
    GROW_BLOCKS,
    GROW_EVENTS,
    GROW_MESSAGES,
    GROW_TASKS,
    LINK,
    MANAGER,
    MESSAGE_NUMBERS,
    NONE,
    SAID,
    SIZES,
    TALK_COUNTS,
    VIEW_OF,
    talk_group,
)
from cluster_abm.engine.tables import Table

_Grow = ctypes.CFUNCTYPE(ctypes.c_int64, *(ctypes.c_int64,) * 4)
# What is made longer, and how much of it there is at first.
_GROWING = {
    GROW_EVENTS: "events", GROW_BLOCKS: "blocks", GROW_ARENA: "arena", GROW_MESSAGES: "messages",
}  # fmt: skip


class TalkRows:
    """The rows of one conversation.

    Args:
        nodes: number of nodes.
        note_size: numbers in a manager's row of notes.
        is_recorded: whether messages are written down.

    Attributes:
        row: the row of addresses and settings (compiling.talking.tables.talk_group).
        at: its address.
        arrays: the arrays by their names.
    """

    def __init__(self, nodes: int, note_size: int, is_recorded: bool) -> None:
        self.row = np.zeros(1, talk_group.row)
        self.at = address(self.row)
        self.arrays: dict[str, Any] = {
            "told": np.zeros(1, EVENT), "said": np.zeros(1, SAID), "managers": np.zeros(nodes, MANAGER),
            "closed": np.zeros(nodes + 1, np.int64), "counts": np.zeros(TALK_COUNTS, np.int64),
            "events": np.zeros(nodes + 64, EVENT), "blocks": np.zeros(1024), "arena": np.zeros(nodes + 64, np.int64),
            "messages": np.zeros((1024 if is_recorded else 0, MESSAGE_NUMBERS), np.int64),
            "tasks": np.zeros(0, TASK_ROW), "links": np.zeros(0, LINK), "notes": np.zeros((nodes, note_size)),
            "free": np.full(SIZES, NONE),
        }  # fmt: skip
        point(self.row, self.arrays)
        # Kept, for compiled code has its address.
        self._grow = _Grow(partial(_grow, weakref.ref(self)))
        self.row["grow"] = ctypes.cast(self._grow, ctypes.c_void_p).value
        self.empty()

    @property
    def counts(self) -> Any:
        """The counts (compiling.talking.tables)."""
        return self.arrays["counts"]

    @property
    def events(self) -> Table:
        """The events that are to come, in no order."""
        return self.arrays["events"][: self.counts[EVENTS]]

    def empty(self) -> None:
        """Forget all that is said, waited for and noted."""
        self.counts[:] = 0
        self.counts[VIEW_OF] = NONE
        self.arrays["free"][:] = NONE
        self.arrays["notes"][:] = 0.0
        managers, links = self.arrays["managers"], self.arrays["links"]
        managers["first"] = managers["last"] = NONE
        managers["waiting"] = 0
        self.counts[FREE_TASK] = 0 if len(links) else NONE
        links["next"], links["manager"] = np.arange(1, len(links) + 1), NONE
        if len(links):
            links["next"][-1] = NONE

    def set(self, **arrays: Any) -> None:
        """Put other arrays in the place of some."""
        self.arrays |= arrays
        point(self.row, arrays)

    def block(self, numbers: Any) -> tuple[int, int]:
        """Numbers in a block of their own: its place, and how many they are."""
        numbers = np.asarray(numbers, float)
        if not len(numbers):
            return NONE, 0
        place = block_of(self.at, max(0, (len(numbers) - 1).bit_length()))
        self.arrays["blocks"][place : place + len(numbers)] = numbers
        return place, len(numbers)

    def make_longer(self, which: int, wanted: int) -> None:
        """Make an array longer, as compiled code asks for it (GROW_EVENTS and so on); at least that long."""
        if which == GROW_TASKS:
            self._grow_tasks(wanted)
        else:
            name = _GROWING[which]
            old = self.arrays[name]
            new = np.zeros((max(wanted, 2 * len(old)), *old.shape[1:]), old.dtype)
            new[: len(old)] = old
            self.set(**{name: new})

    def _grow_tasks(self, wanted: int) -> None:
        tasks, links = self.arrays["tasks"], self.arrays["links"]
        count = max(wanted, 2 * len(tasks), 64)
        more_tasks, more_links = np.zeros(count, TASK_ROW), np.zeros(count, LINK)
        more_tasks[: len(tasks)], more_links[: len(links)] = tasks, links
        more_links["manager"][len(links) :] = NONE
        more_links["next"][len(links) :] = np.arange(len(links) + 1, count + 1)
        more_links["next"][-1] = self.counts[FREE_TASK]
        self.counts[FREE_TASK] = len(links)
        self.set(tasks=more_tasks, links=more_links)


def _grow(rows: weakref.ref[TalkRows], which: int, wanted: int, *_: int) -> int:
    """Make an array longer; without a circle of references, for a run that is over leaves nothing in memory."""
    if (found := rows()) is not None:
        found.make_longer(which, wanted)
    return 0
