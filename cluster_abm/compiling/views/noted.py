"""What views of compiled policies tell of remote memory, of samples, and of what the policy itself has noted.

The forms in Python are those of View, of the same names and results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.extending import register_jitable

from cluster_abm.compiling.operations import as_float, as_node, row_of
from cluster_abm.compiling.values import JIT_OPTIONS, attribute, method
from cluster_abm.compiling.views.methods import of_views
from cluster_abm.policy.memory import Remembered


@of_views(attribute, "overflow_held_mb")
def _overflow_held_mb(view: Any) -> Any:
    held_mb, row = np.zeros(view.nodes), view.row
    for piece in range(row.held_first[view.me], row.held_first[view.me + 1]):
        held_mb[row.held_by[piece]] = row.held_mb[piece]
    return held_mb


@register_jitable(**JIT_OPTIONS)
def place_of_sample(view: Any, index: Any) -> int:
    """The place of a load index among those that are sampled; ValueError: it is not."""
    for place in range(len(view.row.sampled)):
        if view.row.sampled[place] == row_of(index):
            return place
    raise ValueError("not sampled")


@register_jitable(**JIT_OPTIONS)
def sampled_column(view: Any, table: int, place: int) -> Any:
    """A row of `sample_shares` as the manager knows it (Samples)."""
    row, found = view.row, np.empty(view.nodes)
    shares = row.sample_shares[table, place]
    for node in range(len(found)):
        found[node] = shares[node]
    for piece in range(row.own_first[view.me], row.own_first[view.me + 1]):
        found[row.own_node[piece]] = row.own_shares[piece, place]
    return found


@of_views(method, "mean_share")
def _mean_share(view: Any, index: Any) -> Any:
    place = place_of_sample(view, index)
    table = view.row.sample_of[view.me]
    if table < 0:
        return view.loads[index] / view.row.sample_whole[place]
    return sampled_column(view, table, place)


@of_views(method, "share_deviation")
def _share_deviation(view: Any, index: Any) -> Any:
    place = place_of_sample(view, index)
    table = view.row.sample_of[view.me]
    if table < 0:
        return np.zeros(view.nodes)
    return sampled_column(view, table, len(view.row.sampled) + place)


@of_views(method, "remember")
def _remember(view: Any, task: int, node: int, amount: float) -> None:
    row, manager = view.row, view.row.note_row
    position, newest = row.noted_top[0], row.noted_ends[manager, 1]
    if position >= len(row.noted_task):
        # In Python there is always room.
        raise IndexError("no room to remember")
    row.noted_task[position], row.noted_node[position] = as_node(task), as_node(node)
    row.noted_amount[position], row.noted_ms[position] = as_float(amount), view.now_ms
    row.noted_following[position] = -1
    if newest < 0:
        row.noted_ends[manager, 0] = position
    else:
        row.noted_following[newest] = position
    row.noted_ends[manager, 1] = position
    row.noted_top[0] += 1


@of_views(method, "remembered")
def _remembered(view: Any, since_ms: float) -> Any:
    row, manager = view.row, view.row.note_row
    entry = row.noted_ends[manager, 0]
    while entry >= 0 and not row.noted_ms[entry] > as_float(since_ms):
        entry = row.noted_following[entry]
    row.noted_ends[manager, 0] = entry
    if entry < 0:
        row.noted_ends[manager, 1] = -1
    first, count = entry, 0
    while entry >= 0:
        entry = row.noted_following[entry]
        count += 1
    tasks, nodes, amounts = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
    entry = first
    for place in range(count):
        tasks[place], nodes[place] = row.noted_task[entry], row.noted_node[entry]
        amounts[place] = row.noted_amount[entry]
        entry = row.noted_following[entry]
    return Remembered(tasks, nodes, amounts)
