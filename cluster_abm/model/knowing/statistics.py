"""Mean and deviation of samples of loads by node: the same sums, in the same order, as numpy's over the first axis."""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.jit import allocating_kernel, inlinable
from cluster_abm.model.knowing.knowledge import Known, holds_still


@inlinable
def mean_and_deviation(samples: Floats, first: int, count: int, found: Floats) -> None:
    """Fill `found`, shape (2, columns), with the mean and the standard deviation of each column of samples.

    Args:
        samples: a ring of rows, shape (slots, columns).
        first: the slot of the oldest row.
        count: how many rows there are.
        found: is filled.
    """
    slots, columns = samples.shape
    mean, deviation = found[0], found[1]
    for column in range(columns):
        mean[column], deviation[column] = 0.0, 0.0
    for sample in range(count):
        row = samples[(first + sample) % slots]
        for column in range(columns):
            mean[column] += row[column]
    for column in range(columns):
        mean[column] /= count
    for sample in range(count):
        row = samples[(first + sample) % slots]
        for column in range(columns):
            deviation[column] += (row[column] - mean[column]) * (row[column] - mean[column])
    for column in range(columns):
        deviation[column] = math.sqrt(deviation[column] / count)


@allocating_kernel
def of_columns(samples: Floats, first: int, count: int) -> Floats:
    """What `mean_and_deviation` fills, of the same arguments."""
    found = np.empty((2, samples.shape[1]))
    mean_and_deviation(samples, first, count, found)
    return found


@allocating_kernel
def of_own(
    tables: Floats, own: Floats, audience: Integers, shares: Flags, first_learnt: Integers, number: Integers,
    node: Integers, learnt: Floats, oldest: int, count: int,
) -> tuple[Integers, Integers, Floats]:  # fmt: skip
    """Mean and deviation of the nodes of which managers knew better than their reports: themselves, and those that had
    answered them.

    Args:
        tables: what the reports said, shape (slots, audiences, indices, nodes).
        own: what was true of each node, shape (slots, indices, nodes).
        audience: of each manager.
        shares: which managers share the tables.
        first_learnt: where begin in the next three what each manager had learnt, shape (nodes + 1,).
        number: at which sample, ascending for each manager.
        node: about which node.
        learnt: its shares, shape (pieces, indices).
        oldest, count: number of the oldest sample, and how many there are.

    Returns:
        the arrays `own_first`, `own_node` and `own_shares` of policy.samples.Samples.
    """
    slots, _, indices, nodes = tables.shape
    pieces = nodes + len(node)
    own_first, own_node = np.zeros(nodes + 1, np.int64), np.empty(pieces, np.int64)
    own_shares = np.empty((pieces, 2 * indices))
    place_of = np.full(nodes, -1, np.int64)
    total = 0
    for manager in range(nodes):
        own_first[manager] = total
        if not shares[manager]:
            continue
        about = own_node[total:]
        about[0], known = manager, 1
        for entry in range(first_learnt[manager], first_learnt[manager + 1]):
            if place_of[node[entry]] < 0:
                place_of[node[entry]] = known
                about[known] = node[entry]
                known += 1
        samples, found = np.empty((count, known * indices)), np.empty((2, known * indices))
        for sample in range(count):
            slot = (oldest + sample) % slots
            for index in range(indices):
                row = tables[slot, audience[manager], index]
                for place in range(1, known):
                    samples[sample, place * indices + index] = row[about[place]]
                samples[sample, index] = own[slot, index, manager]
        for entry in range(first_learnt[manager], first_learnt[manager + 1]):
            for index in range(indices):
                samples[number[entry] - oldest, place_of[node[entry]] * indices + index] = learnt[entry, index]
        mean_and_deviation(samples, 0, count, found)
        for place in range(known):
            place_of[about[place]] = -1
            for index in range(indices):
                own_shares[total + place, index] = found[0, place * indices + index]
                own_shares[total + place, indices + index] = found[1, place * indices + index]
        total += known
    own_first[nodes] = total
    return own_first, own_node[:total], own_shares[:total]


@allocating_kernel
def learnt_until_now(
    known: Known, takes: Flags, rows: Integers, whole: Floats, first_learnt: Integers, number: Integers,
    node: Integers, learnt: Floats, oldest: int, now: int,
) -> tuple[Integers, Integers, Integers, Floats]:  # fmt: skip
    """What managers had learnt at earlier samples and what they have learnt at this one, as arrays of `of_own`.

    Args:
        known: what managers know.
        takes: which of them take this sample.
        rows, whole: of policy.samples.Samples.
        first_learnt, number, node, learnt: of `of_own`, until now.
        oldest: number of the oldest sample that counts.
        now: number of this one.
    """
    nodes, indices = len(takes), len(rows)
    new = 0
    for manager in range(nodes):
        position = known.first[manager] if takes[manager] else -1
        while position >= 0:
            new += 1
            position = known.following[position]
    room = len(number) + new
    first, numbers, about = np.zeros(nodes + 1, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    shares = np.empty((room, indices))
    total = 0
    for manager in range(nodes):
        first[manager] = total
        for entry in range(first_learnt[manager], first_learnt[manager + 1]):
            if number[entry] >= oldest:
                numbers[total], about[total] = number[entry], node[entry]
                for index in range(indices):
                    shares[total, index] = learnt[entry, index]
                total += 1
        position = known.first[manager] if takes[manager] else -1
        while position >= 0:
            told = known.node[position]
            if told != manager and holds_still(known, known.audience[manager], position):
                numbers[total], about[total] = now, told
                for index in range(indices):
                    shares[total, index] = known.loads[position, rows[index]] / whole[index, told]
                total += 1
            position = known.following[position]
    first[nodes] = total
    return first, numbers[:total].copy(), about[:total].copy(), shares[:total].copy()
