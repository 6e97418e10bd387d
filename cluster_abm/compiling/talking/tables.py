"""The rows of a conversation in compiled code: events in a heap, waiting tasks, notes, and blocks of numbers.

Python has the same as objects (model.talking). Whichever form goes on gets all of it from the other one
(model.talking.compiled.handing_over).
"""

from __future__ import annotations

import numpy as np
from numba import types

from cluster_abm.compiling.pointers import group
from cluster_abm.compiling.tables import TASK_ROW
from cluster_abm.compiling.values import value_type
from cluster_abm.engine.tables import JOB, empty_nodes
from cluster_abm.policy.tasks import HARDWARE

# The methods of Talking that are called, by the kinds of events.
KINDS = ("begins", "arrives", "hears", "came", "ended", "unanswered", "node_failed")
BEGINS, ARRIVES, HEARS, CAME, ENDED, UNANSWERED, NODE_FAILED = range(len(KINDS))
NONE = -1
# Something that a manager is to be told (model.talking.mail.Event). Of a message all fields of policy.talking.Message;
# `task`: the row of the task that it brings, or of the one that has come. `first`, `count`: the place in `blocks`, and
# the number, of the nodes that go along; of "arrives" of the rows of tasks; of "ended" of the tasks that have ended.
# "node_failed" is about a node.
EVENT = np.dtype(
    [
        *((name, "i8") for name in ("at_ns", "number", "manager", "kind", "source", "target", "topic", "about")),
        ("value", "f8"),
        *((name, "i8") for name in ("sent_ns", "task", "first", "count")),
    ],
    align=True,
)  # fmt: skip
# Where a task stands among those that wait at its manager: NONE, of `manager`: it waits at none.
LINK = np.dtype([(name, "i8") for name in ("next", "before", "manager")], align=True)
# The first and the last task that waits, how many wait, and how many numbers were drawn.
MANAGER = np.dtype([(name, "i8") for name in ("first", "last", "waiting", "drawn")], align=True)
# What a policy says of a message, a start or a reminder, for the kernel that carries it out.
SAID = np.dtype(
    [
        *((name, "i8") for name in ("node", "topic", "about", "first", "count", "rule", "index")),
        ("value", "f8"), ("here", "f8"), ("there", "f8"),
    ],
    align=True,
)  # fmt: skip
# Of an ended task, in a block.
ENDED_FIELDS = ("task", "job", "here_ms")
ENDED_STRIDE = 4
# Counts: events in the heap; numbers given to events; messages sent; the first free row of a task; tasks that wait or
# are being handed over; how far the arena is filled; how far blocks are; records that managers have been told of;
# the instant of the event that is told [ns]; since when tasks wait while none runs [ns]; the manager whose view is
# open, and how much of it was changed for that (knowing.knowledge.begin_view); messages that have been written down.
(
    EVENTS, NUMBER, SENT, FREE_TASK, HELD, ARENA, BLOCKS, RECORDS_READ, AT_NS, IDLE_SINCE_NS, VIEW_OF, CHANGED, WRITTEN,
    TALK_COUNTS,
) = range(14)  # fmt: skip
# Which arrays `grow` makes longer.
GROW_EVENTS, GROW_TASKS, GROW_BLOCKS, GROW_ARENA, GROW_MESSAGES = range(5)
# Of a message of a run that is recorded (observing.happenings).
MESSAGE_NUMBERS = 6
# Blocks of 1, 2, 4, ... numbers: the first free one of each size.
SIZES = 48

_integers, _floats, _flags = np.zeros(1, np.int64), np.zeros(1), np.zeros(1, bool)
talk_group = group(
    "Talk",
    {
        "events": np.zeros(1, EVENT), "told": np.zeros(1, EVENT), "said": np.zeros(1, SAID),
        "tasks": np.zeros(1, TASK_ROW), "links": np.zeros(1, LINK), "managers": np.zeros(1, MANAGER),
        "notes": np.zeros((1, 1)), "blocks": _floats, "free": _integers, "arena": _integers, "closed": _integers,
        "counts": _integers, "messages": np.zeros((1, MESSAGE_NUMBERS), np.int64),
        "up": _flags, "accepting": _flags, "stand_in": _integers, "is_home": _flags,
        "hardware": np.zeros(1, HARDWARE), "methods": _integers, "nodes": empty_nodes(1), "jobs": np.zeros(1, JOB),
    },
    {
        **dict.fromkeys(
            ("tables_at", "known_at", "scratch_at", "settings_at", "views_at", "numbers", "head", "timeout_ns", "send",
             "remind", "hand", "start", "draw", "draw_nodes", "look", "grow"),
            "i8",
        ),
        **dict.fromkeys(("are_instant", "hears_starts", "hears_ends", "is_central", "can_change"), "?"),
        "draw_key": "u8", "slice_ms": "f8",
    },
)  # fmt: skip
talk_of = talk_group.at
i8 = types.int64
MESSAGE, message_of = value_type("Message", {"at": i8})
# Tasks, and nodes, by their numbers in the arena from `first` on.
TASKS, tasks_in = value_type("TasksInArena", {"at": i8, "first": i8, "count": i8})
NODES, nodes_in = value_type("NodesInArena", {"at": i8, "first": i8, "count": i8})
# Tasks that have ended, in a block; and one of them.
ENDS, ends_in = value_type("EndsInBlock", {"at": i8, "first": i8, "count": i8})
END, end_in = value_type("EndInBlock", {"at": i8, "first": i8})
