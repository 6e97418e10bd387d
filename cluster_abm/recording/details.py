"""What each task does at each moment of a window: notes of a run, cut to the visits of a recording."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from cluster_abm.arrays import Array, Integers
from cluster_abm.engine.tables import LOST
from cluster_abm.recording.recorded_run import DETAIL, DOING, table_of
from cluster_abm.recording.recording import Recording
from cluster_abm.recording.segments import GOES_ON, IS_LOST, RUNS

HAS_DISK, HAS_PAGE = DOING.index("disk"), DOING.index("page fault")
# Beyond every time.
_FAR = np.iinfo(np.int64).max


def with_detail(recording: Recording, notes: Array, from_ns: int, to_ns: int) -> Recording:
    """The same recording, with the table `detail` of a window.

    Args:
        notes: a row each time that a task did something else (engine.detail.looking.NOTE), of each task in the order of
            their times, from before the window to its end.
        from_ns, to_ns: the window [ns].
    """
    table = detail_table(notes, recording.tables, from_ns, to_ns)
    meta = {**recording.meta, "detail": {"from_ns": from_ns, "to_ns": to_ns}}
    return Recording(meta, {**recording.tables, DETAIL: table})


def detail_table(notes: Array, tables: Mapping[str, pa.Table], from_ns: int, to_ns: int) -> pa.Table:
    """The table `detail`: what tasks do in the window, inside their visits; pieces alike that meet are one."""
    notes = _valid(notes)
    visits = _visits(tables["segments"], tables["tasks"])
    notes, visit = _in_visits(notes, visits)
    to = np.minimum(_until(notes, visit), visits["to_ns"][visit])
    pieces = _pieces(notes, visit, to, visits)
    begin, end = np.maximum(pieces["from_ns"], from_ns), np.minimum(pieces["to_ns"], to_ns)
    inside = begin < end
    columns = {name: values[inside] for name, values in pieces.items()}
    columns |= {"from_ns": begin[inside], "to_ns": end[inside]}
    order = np.lexsort((columns["from_ns"], columns["task"]))
    columns = {name: values[order] for name, values in columns.items()}
    goes_on = np.zeros(len(order), bool)
    goes_on[1:] = columns["from_ns"][1:] == columns["to_ns"][:-1]
    for name in ("task", "visit", "doing"):
        goes_on[1:] &= columns[name][1:] == columns[name][:-1]
    first = np.flatnonzero(~goes_on)
    last = np.append(first[1:], len(order))[: len(first)] - 1
    found = {name: columns[name][first] for name in ("task", "node", "from_ns", "doing")}
    return table_of(DETAIL, found | {"to_ns": columns["to_ns"][last]})


def _valid(notes: Array) -> Array:
    """Notes by task; without those of a CPU that was given while it still switched, if it never came to that."""
    notes = notes[np.argsort(notes["task"], kind="stable")]
    is_valid = np.ones(len(notes), bool)
    is_valid[:-1] = (notes["task"][1:] != notes["task"][:-1]) | (notes["at_ns"][:-1] <= notes["at_ns"][1:])
    return notes[is_valid]


def _visits(segments: pa.Table, tasks: pa.Table) -> dict[str, Any]:
    """The visits among segments, and whether each ends as its node fails, or is not over."""
    column = {name: segments[name].to_numpy() for name in ("task", "node", "from_ns", "to_ns", "what", "is_open")}
    task, is_visit = column["task"], column["what"] == RUNS
    follows = np.append(task[1:] == task[:-1], False)[: len(task)]
    goes_on = follows & np.isin(np.append(column["what"][1:], RUNS)[: len(task)], (IS_LOST, GOES_ON))
    lost = tasks["task"].to_numpy()[tasks["outcome"].to_numpy() == LOST]
    is_cut = column["is_open"] | goes_on | (~follows & np.isin(task, lost))
    return {name: values[is_visit] for name, values in column.items()} | {"is_cut": is_cut[is_visit]}


def _in_visits(notes: Array, visits: dict[str, Any]) -> tuple[Array, Integers]:
    """The notes inside visits, and the place of the visit of each."""
    count = len(visits["task"])
    task = np.concatenate([visits["task"], notes["task"]])
    at_ns = np.concatenate([visits["from_ns"], notes["at_ns"]])
    # At one instant the visit begins, then come the notes, in their order.
    order = np.lexsort((np.arange(len(task)), at_ns, task))
    last = np.maximum.accumulate(np.where(order < count, np.arange(len(order)), -1)) if len(order) else order
    is_note = (order >= count) & (last >= 0)
    note, visit = order[is_note] - count, order[last[is_note]]
    is_inside = notes["task"][note] == visits["task"][visit]
    is_inside &= notes["node"][note] == visits["node"][visit]
    is_inside &= notes["at_ns"][note] < visits["to_ns"][visit]
    return notes[note[is_inside]], visit[is_inside]


def _until(notes: Array, visit: Integers) -> Integers:
    """When the next note of the same visit is [ns]; far away: there is none."""
    until_ns = np.full(len(notes), _FAR)
    same = visit[1:] == visit[:-1]
    until_ns[:-1][same] = notes["at_ns"][1:][same]
    return until_ns


def _pieces(notes: Array, visit: Integers, to_ns: Integers, visits: dict[str, Any]) -> dict[str, Integers]:
    """What is noted as pieces: of a request in the device its seek, its wait for the bus, and its transfer."""
    at_ns, doing = notes["at_ns"], notes["doing"].astype(np.int64)
    in_device = (doing == HAS_DISK) | (doing == HAS_PAGE)
    found_ns = np.where(in_device, notes["found_ns"], _FAR)
    bus_ns = np.where(in_device, notes["bus_ns"], _FAR)
    # With its request a task leaves the node, or ends: it has been served whole.
    is_last = to_ns == visits["to_ns"][visit]
    is_whole = in_device & is_last & ~visits["is_cut"][visit]
    bus_ns = np.where(is_whole, to_ns - notes["transfer_ns"], bus_ns)
    waits_ns = np.clip(found_ns, at_ns, to_ns)
    has_bus_ns = np.clip(np.maximum(bus_ns, found_ns), waits_ns, to_ns)
    cuts = ((at_ns, waits_ns, doing), (waits_ns, has_bus_ns, doing - 1), (has_bus_ns, to_ns, doing))
    return {
        "task": np.tile(notes["task"], 3),
        "node": np.tile(notes["node"], 3),
        "visit": np.tile(visit, 3),
        "from_ns": np.concatenate([cut[0] for cut in cuts]),
        "to_ns": np.concatenate([cut[1] for cut in cuts]),
        "doing": np.concatenate([cut[2] for cut in cuts]),
    }
