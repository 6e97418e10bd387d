"""What the load managers know of all nodes: what reports said, and what answers have told since.

Managers that the same reports reach at the same instants know the same by them: they are one audience, and share one
table. In an alike network all managers are one audience, in a fat tree those at one switch; where messages get lost or
routes change each is its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.compiling.blocks import BLOCK, GROUP, blocks_of, groups_of
from cluster_abm.engine.random_numbers import REPORT, Word, task_key, uniform
from cluster_abm.engine.tables import LOAD
from cluster_abm.jit import called, inlined, kernel

INDICES = len(LOAD.names or ())


class Known(NamedTuple):
    """The tables of all audiences, and what answers have told single managers."""

    audience: Integers  # of each manager, shape (nodes,)
    table: Floats  # loads as reported, shape (audiences, indices, nodes)
    # least, as_of: of each block of a row (compiling.blocks), shape (audiences, indices, blocks)
    least: Floats
    as_of: Integers
    # totals, added_as_of: sums of each block of a row, and as of which change, in the same shape
    totals: Floats
    added_as_of: Integers
    changes: Integers  # how often each block was changed, shape (audiences, blocks)
    # group_least, group_as_of, group_changes: the same of groups of blocks
    group_least: Floats
    group_as_of: Integers
    group_changes: Integers
    # when each node sent the latest report that has arrived, shape (audiences, nodes) [ns]; -1: none
    reported_ns: Integers
    # what answers told until then is stale, shape (audiences, nodes) [ns]: the latest report that has arrived was
    # sent then; where all reports of a period arrive at once, of any node
    stale_ns: Integers
    first: Integers  # position of the first thing that each manager has learnt, shape (nodes,); -1: none
    following: Integers  # position of the next thing of the same manager, shape (positions,)
    # node, learnt_ns: which node it is about, and when it was learnt [ns]
    node: Integers
    learnt_ns: Integers
    before_ns: Integers  # `stale_ns` of the node then: a later report makes it stale
    loads: Floats  # what was learnt, shape (positions, indices)
    free: Integers  # the first free position, and how many there are


def nothing_known(audience: Integers) -> Known:
    """Tables before the first report, of managers in these audiences."""
    nodes, audiences = len(audience), int(audience.max()) + 1
    blocks, groups, positions = blocks_of(nodes), groups_of(nodes), 64
    return Known(
        audience=audience,
        table=np.zeros((audiences, INDICES, nodes)),
        least=np.zeros((audiences, INDICES, blocks)),
        as_of=np.full((audiences, INDICES, blocks), -1, np.int64),
        totals=np.zeros((audiences, INDICES, blocks)),
        added_as_of=np.full((audiences, INDICES, blocks), -1, np.int64),
        changes=np.zeros((audiences, blocks), np.int64),
        group_least=np.zeros((audiences, INDICES, groups)),
        group_as_of=np.full((audiences, INDICES, groups), -1, np.int64),
        group_changes=np.zeros((audiences, groups), np.int64),
        reported_ns=np.full((audiences, nodes), -1, np.int64),
        stale_ns=np.full((audiences, nodes), -1, np.int64),
        first=np.full(nodes, -1, np.int64),
        following=np.append(np.arange(1, positions), -1),
        node=np.zeros(positions, np.int64),
        learnt_ns=np.zeros(positions, np.int64),
        before_ns=np.zeros(positions, np.int64),
        loads=np.zeros((positions, INDICES)),
        free=np.array([0, positions]),
    )


def with_room(known: Known, positions: int) -> Known:
    """The same with at least that many free positions."""
    lacking = positions - int(known.free[1])
    if lacking <= 0:
        return known
    old = len(known.node)
    new = max(2 * old, old + lacking)
    grown = {}
    for name in ("following", "node", "learnt_ns", "before_ns", "loads"):
        before = getattr(known, name)
        grown[name] = np.zeros((new, *before.shape[1:]), before.dtype)
        grown[name][:old] = before
    grown["following"][old:] = np.append(np.arange(old + 1, new), known.free[0])
    known.free[:] = old, known.free[1] + new - old
    return known._replace(**grown)


@kernel
def deliver(
    known: Known, sent_ns: int, loads: Floats, senders: Flags, latency_ns: Integers, number: int, key: Word,
    loss_share: float, at_once: bool, after_ns: int, now_ns: int,
) -> None:  # fmt: skip
    """Receive the reports of one period that arrive after one instant and up to another.

    Args:
        known: changed in place.
        sent_ns: when they were sent [ns].
        loads: their loads, shape (nodes, indices).
        senders: which nodes sent them, shape (nodes,).
        latency_ns: of the route from each node to each audience, shape (audiences, nodes) [ns].
        number: number of the period.
        key: key of the stream that says which messages get lost.
        loss_share: share of the reports that get lost; above 0 each manager is an audience, of its number.
        at_once: whether all reports of a period arrive at once.
        after_ns, now_ns: the instants [ns].
    """
    nodes = loads.shape[0]
    for audience in range(known.table.shape[0]):
        period_key = task_key(task_key(key, audience), number)
        for node in range(nodes):
            arrives_ns = sent_ns + latency_ns[audience, node]
            if at_once and after_ns < arrives_ns <= now_ns:
                known.stale_ns[audience, node] = max(known.stale_ns[audience, node], sent_ns)
            if not senders[node] or arrives_ns > now_ns or arrives_ns <= after_ns:
                continue
            if sent_ns < known.reported_ns[audience, node]:
                continue
            if loss_share > 0.0 and uniform(period_key, REPORT, node, 0) < loss_share:
                continue
            known.reported_ns[audience, node] = known.stale_ns[audience, node] = sent_ns
            for index in range(INDICES):
                known.table[audience, index, node] = loads[node, index]
            note_change(known, audience, node)


@inlined
def note_change(known: Known, audience: int, node: int) -> None:
    """A node's loads in a table have changed."""
    known.changes[audience, node // BLOCK] += 1
    known.group_changes[audience, node // (BLOCK * GROUP)] += 1


@inlined
def holds_still(known: Known, audience: int, position: int) -> bool:
    """Whether no report has come that is newer than what was learnt."""
    stale_ns = known.stale_ns[audience, known.node[position]]
    return bool(stale_ns == known.before_ns[position] or known.learnt_ns[position] > stale_ns)


@called
def learn(known: Known, manager: int, node: int, now_ns: int, loads: Floats) -> None:
    """An answer has told a manager a node's loads, shape (indices,); there must be a free position."""
    position = known.first[manager]
    while position >= 0 and known.node[position] != node:
        position = known.following[position]
    if position < 0:
        position = known.free[0]
        known.free[0] = known.following[position]
        known.free[1] -= 1
        known.following[position] = known.first[manager]
        known.first[manager] = position
        known.node[position] = node
    known.learnt_ns[position] = now_ns
    known.before_ns[position] = known.stale_ns[known.audience[manager], node]
    for index in range(INDICES):
        known.loads[position, index] = loads[index]


@inlined
def _put(known: Known, audience: int, node: int, loads: Floats, row: int) -> None:
    for index in range(INDICES):
        known.table[audience, index, node] = loads[row, index]
    note_change(known, audience, node)


@called
def begin_view(known: Known, manager: int, own: Floats, nodes: Integers, before: Floats) -> int:
    """Make the table of a manager's audience what this manager knows: what it has learnt, and its own loads.

    Args:
        known: changed in place, until `end_view`.
        manager: its node.
        own: its own loads now, shape (1, indices).
        nodes, before: filled with the nodes of which the table is changed, and what it said of them; shape
            (nodes + 1,), (nodes + 1, indices).

    Returns:
        how many they are.
    """
    audience, count = known.audience[manager], 0
    earlier, position = -1, known.first[manager]
    while position >= 0:
        following = known.following[position]
        if holds_still(known, audience, position):
            node = known.node[position]
            if node != manager:
                nodes[count] = node
                for index in range(INDICES):
                    before[count, index] = known.table[audience, index, node]
                _put(known, audience, node, known.loads, position)
                count += 1
            earlier = position
        else:
            if earlier < 0:
                known.first[manager] = following
            else:
                known.following[earlier] = following
            known.following[position] = known.free[0]
            known.free[0] = position
            known.free[1] += 1
        position = following
    nodes[count] = manager
    for index in range(INDICES):
        before[count, index] = known.table[audience, index, manager]
    _put(known, audience, manager, own, 0)
    return count + 1


@called
def end_view(known: Known, manager: int, nodes: Integers, before: Floats, count: int) -> None:
    """Make the table what the audience knows."""
    audience = known.audience[manager]
    for entry in range(count):
        _put(known, audience, nodes[entry], before, entry)


@kernel
def learn_one(known: Known, manager: int, node: int, now_ns: int, loads: Floats) -> None:
    """`learn`, for a caller that is not compiled."""
    learn(known, manager, node, now_ns, loads)


@called
def known_since(known: Known, manager: int, node: int) -> int:
    """When a node told what a manager knows of it now [ns]: in its latest report, or in an answer since; -1: never."""
    audience = known.audience[manager]
    position = known.first[manager]
    while position >= 0:
        if known.node[position] == node and holds_still(known, audience, position):
            return int(known.learnt_ns[position])
        position = known.following[position]
    return int(known.reported_ns[audience, node])


@kernel
def since_when(known: Known, manager: int, node: int) -> int:
    """`known_since`, for a caller that is not compiled."""
    return known_since(known, manager, node)


@kernel
def learnt_by(known: Known, manager: int, positions: Integers) -> int:
    """Fill `positions`, shape (nodes,), with what a manager has learnt and no report has made stale; how much it is."""
    audience, count = known.audience[manager], 0
    position = known.first[manager]
    while position >= 0:
        if holds_still(known, audience, position):
            positions[count] = position
            count += 1
        position = known.following[position]
    return count


@kernel
def show(known: Known, manager: int, shown: Floats, differing: Integers, count: int) -> int:
    """Bring a table of what the last manager knew up to what the next one of its audience knows.

    Args:
        known: what all managers know.
        manager: the next one.
        shown: the table, shape (nodes, indices); -1 as `count`: it is of another audience, or of an earlier report.
        differing: the nodes of which it differs from the audience's table, shape (nodes + 1,); changed in place.
        count: how many they are.

    Returns:
        how many they are now, the manager itself among them, whose row is left to the caller.
    """
    audience = known.audience[manager]
    for entry in range(count if count >= 0 else shown.shape[0]):
        node = differing[entry] if count >= 0 else entry
        for index in range(INDICES):
            shown[node, index] = known.table[audience, index, node]
    learnt = 0
    position = known.first[manager]
    while position >= 0:
        if holds_still(known, audience, position):
            node = known.node[position]
            differing[learnt] = node
            learnt += 1
            for index in range(INDICES):
                shown[node, index] = known.loads[position, index]
        position = known.following[position]
    differing[learnt] = manager
    return learnt + 1
