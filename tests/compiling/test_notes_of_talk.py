"""Queues of notes in compiled code do as those in Python, which are deques."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, NamedTuple

import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.compiling.talking.notes import layout_of, notes_type
from cluster_abm.compiling.translating import NotCompilable
from cluster_abm.model.talking.compiled.handing_over import Spoken
from cluster_abm.model.talking.compiled.rows import TalkRows
from cluster_abm.policy.notes import Queue, queue


class Pair(NamedTuple):
    node: int
    load: float
    is_up: bool


@dataclass
class Notes:
    count: int = 0
    share: float = 0.5
    is_on: bool = False
    nodes: Queue[int] = queue()
    pairs: Queue[Pair] = queue()


LAYOUT = layout_of(Notes)
make = notes_type(LAYOUT)[1]
APPEND, APPEND_LEFT, POP_LEFT, REMOVE, CLEAR, DELETE, SET = range(7)
OPERATIONS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 5)), max_size=60)


@numba.njit
def carry_out(at, me, operation, number):
    notes = make(at, me)
    nodes, pairs = notes.nodes, notes.pairs
    if operation == APPEND:
        nodes.append(number)
        pairs.append(Pair(number, number / 2.0, number > 2))
    elif operation == APPEND_LEFT:
        nodes.appendleft(number)
        pairs.appendleft(Pair(number, number / 2.0, number > 2))
    elif operation == POP_LEFT:
        notes.count += nodes.popleft()
        notes.share += pairs.popleft().load
    elif operation == REMOVE:
        nodes.remove(number)
        pairs.remove(Pair(number, number / 2.0, number > 2))
    elif operation == CLEAR:
        nodes.clear()
        pairs.clear()
    elif operation == DELETE:
        del nodes[number]
        del pairs[number]
    else:
        nodes[-number], pairs[-number] = 9, Pair(9, 4.5, True)
        notes.is_on = not notes.is_on
    return len(nodes), nodes.count(2), 3 in nodes, pairs[0].is_up if pairs else False


def carry_out_in_python(notes, operation, number):
    item = Pair(number, number / 2.0, number > 2)
    if operation == APPEND:
        notes.nodes.append(number)
        notes.pairs.append(item)
    elif operation == APPEND_LEFT:
        notes.nodes.appendleft(number)
        notes.pairs.appendleft(item)
    elif operation == POP_LEFT:
        notes.count += notes.nodes.popleft()
        notes.share += notes.pairs.popleft().load
    elif operation == REMOVE:
        notes.nodes.remove(number)
        notes.pairs.remove(item)
    elif operation == CLEAR:
        notes.nodes.clear()
        notes.pairs.clear()
    elif operation == DELETE:
        del notes.nodes[number]
        del notes.pairs[number]
    else:
        notes.nodes[-number], notes.pairs[-number] = 9, Pair(9, 4.5, True)
        notes.is_on = not notes.is_on
    return len(notes.nodes), notes.nodes.count(2), 3 in notes.nodes, notes.pairs[0].is_up if notes.pairs else False


def result_of(function: Any, *arguments: Any) -> Any:
    try:
        return tuple(function(*arguments))
    except (IndexError, ValueError) as problem:
        return type(problem)


@pytest.mark.slow
@given(OPERATIONS)
def test_queues_do_as_deques_do(operations):
    rows = TalkRows(nodes=3, note_size=LAYOUT.size, is_recorded=False)
    spoken, notes = Spoken(rows, LAYOUT, None), Notes()
    spoken.put([], [], [Notes(), notes, Notes()], [0, 0, 0], (0, 0, 0))
    for operation, number in operations:
        found = result_of(carry_out, rows.at, 1, operation, number)
        assert found == result_of(carry_out_in_python, notes, operation, number)
        assert spoken.notes(1) == notes
    assert spoken.notes(0) == Notes()
    # And from one form to the other.
    spoken.put([], [], [notes, Notes(), notes], [0, 0, 0], (0, 0, 0))
    assert [spoken.notes(manager) for manager in range(3)] == [notes, Notes(), notes]


def test_items_of_several_sizes_share_the_blocks():
    rows = TalkRows(nodes=1, note_size=LAYOUT.size, is_recorded=False)
    places = [rows.block(range(count)) for count in (1, 3, 4, 1000, 5000)]
    for (place, count), wanted in zip(places, (1, 3, 4, 1000, 5000), strict=True):
        assert (count, rows.arrays["blocks"][place : place + count].tolist()) == (wanted, [*map(float, range(wanted))])
    assert rows.block([]) == (-1, 0)


def test_notes_of_numbers_and_queues_have_a_layout():
    assert [(one.name, one.kind, one.is_queue) for one in LAYOUT.fields] == [
        ("count", int, False), ("share", float, False), ("is_on", bool, False), ("nodes", int, True),
        ("pairs", Pair, True),
    ]  # fmt: skip
    assert [one.slot for one in LAYOUT.fields] == [0, 1, 2, 3, 7]


def test_notes_of_anything_else_have_none():
    @dataclass
    class OfNames:
        name: str = ""

    class Named(NamedTuple):
        name: str

    @dataclass
    class OfRecords:
        names: Queue[Named] = queue()

    # Names are looked up where the class is defined.
    OfRecords.__annotations__["names"] = Queue[Named]
    OfNames.__annotations__["name"] = str
    for notes, words in (OfNames, "note 'name'"), (OfRecords, "note 'names'"), (dict, "a dictionary"):
        with pytest.raises(NotCompilable, match=words):
            layout_of(notes)


def test_a_queue_is_a_deque():
    assert Queue([1, 2]) == deque([1, 2])
