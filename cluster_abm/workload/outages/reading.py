"""The outages in the table that `failures.file` names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.bounded_files import Limit, opened, shown, unpacked
from cluster_abm.errors import InputError
from cluster_abm.scenario.columns.failures import PLAIN, READ_AS, FailureColumns
from cluster_abm.scenario.columns.shipped import shipped_failure_maps
from cluster_abm.scenario.failures import LONGEST_S, Failures
from cluster_abm.workload.text.problems import Problems
from cluster_abm.workload.traces.layouts.blocks import Source
from cluster_abm.workload.traces.layouts.opening import opened_table
from cluster_abm.workload.traces.mapping.fields import Fields, columns_of
from cluster_abm.workload.traces.mapping.instants import Instants
from cluster_abm.workload.traces.mapping.mapped import check_patterns

MS_PER_S = 1000.0
MOST_DIGITS = 9
"""of a node's number"""


@dataclass(frozen=True, eq=False)
class FileOutages:
    """When nodes are down, by node and then by time; those of one node do not touch.

    Attributes:
        node: numbers of nodes, shape (outages,).
        down_s, up_s: when it fails, and when it is up again (infinite: never) [s], shape (outages,).
        notes: what was left out or put together, a line each.
    """

    node: Integers
    down_s: Floats
    up_s: Floats
    notes: tuple[str, ...] = ()


@dataclass(eq=False)
class _OutageRows:
    """Rows of the table, those that the filter lets pass.

    Attributes:
        ids: what the file calls the node, "" where it says none, or a part of an id alone.
        numbers: of the rows in the file, from 1.
        down_s, up_s: NaN where nothing is known.
        unread: rows with a time that cannot be read.
    """

    ids: list[str]
    numbers: Integers
    down_s: Floats
    up_s: Floats
    unread: Flags


def outages_in_file(failures: Failures, nodes: int, names: Sequence[str] = ()) -> FileOutages:
    """The outages in the file of a scenario; none if it names none.

    Outages of one node that overlap or touch are one. Those that end before `failures.start_s` are left out; one that
    reaches over it begins at the start.

    Raises InputError: no such file, no such columns; in a table of our columns every row that is wrong; in one that a
    map reads, no outage at all; nodes that the cluster does not have, or more than it has.

    Args:
        failures: the scenario's section.
        nodes: how many there are.
        names: what the network's file calls each node; () where it has none.
    """
    if failures.file is None:
        return FileOutages(np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
    columns, is_plain = columns_of_failures(failures), failures.map is None and failures.columns is None
    where, skipped = shown(failures.file), Counter[str]()
    rows = _joined(list(_read(failures, columns, skipped)))
    if is_plain:
        _check_rows(rows, skipped, where)
    rows = _usable(rows, columns, skipped)
    if not len(rows.numbers):
        reasons = ", ".join(f"{reason}: {count:,}" for reason, count in skipped.items() if count)
        raise InputError(f"{where}: no outage in it{f' ({reasons})' if reasons else ''}")
    node = _nodes_of(rows, columns, nodes, names, where)
    zero_s = failures.start_s + (float(rows.down_s.min()) if columns.zero == "first" else 0.0)
    down_s, up_s = rows.down_s - zero_s, rows.up_s - zero_s
    _check_times(rows, down_s, up_s, where)
    is_later = up_s > 0.0
    merged = _merged(node[is_later], np.maximum(down_s[is_later], 0.0), up_s[is_later])
    counts = {
        **skipped,
        "before failures.start_s": int((~is_later).sum()),
        "put together with another outage of their node": int(is_later.sum()) - len(merged.node),
    }
    notes = tuple(f"{where}: rows {reason}: {count:,}" for reason, count in counts.items() if count)
    return FileOutages(merged.node, merged.down_s, merged.up_s, notes)


def columns_of_failures(failures: Failures) -> FailureColumns:
    """The map that reads the file: a shipped one, the scenario's own, or our columns; with the scenario's filter."""
    columns = PLAIN if failures.map is None else shipped_failure_maps()[failures.map]
    if failures.columns is not None:
        own = failures.columns.model_dump(exclude_unset=True)
        base = {} if failures.map is None else columns.model_dump(exclude_unset=True)
        if "file" in base and "file" in own:
            own["file"] = base["file"] | own["file"]
        columns = FailureColumns.model_validate(base | own)
    filters = [given for given in (columns.filter, failures.filter) if given is not None]
    if len(filters) == 2:
        filters = [f"({filters[0]}) and ({filters[1]})"]
    return columns.model_copy(update={"filter": filters[0] if filters else None})


def _read(failures: Failures, columns: FailureColumns, skipped: Counter[str]) -> Iterator[_OutageRows]:
    """The rows of the table, some at a time."""
    found, path, instants, before = columns.as_map(), Path(str(failures.file)), Instants(), 0
    check_patterns(found, "failures.columns", {theirs: ours for ours, theirs in READ_AS.items()})
    assert columns.node is not None  # the scenario's check
    assert columns.down is not None
    with opened(path) as file:
        blocks = unpacked(file, path, Limit(failures.max_mb, "failures.max_mb"))
        for block in opened_table(Source(blocks, str(path)), found.file, columns_of(found)).blocks:
            skipped.update({f"left out, {reason}": count for reason, count in block.wrong.items()})
            fields = Fields(found, block, instants)
            places = np.arange(fields.rows) if block.places is None else block.places
            numbers = before + 1 + places
            before += block.rows
            if found.filter is not None and fields.rows:
                holds = fields.holds(found.filter)
                skipped["left out by the filter"] += int((~holds).sum())
                fields.take(holds)
                numbers = numbers[holds]
            if not fields.rows:
                continue
            down = fields.number("start", columns.down)
            up_ms, unread = np.full(fields.rows, np.nan), down.unread
            if columns.up is not None:
                up = fields.number("end", columns.up)
                up_ms, unread = up.amounts, unread | up.unread
            if columns.lasts is not None:
                lasts = fields.number("run", columns.lasts)
                unread = unread | (np.isnan(up_ms) & lasts.unread)
                up_ms = np.where(np.isnan(up_ms), down.amounts + lasts.amounts, up_ms)
            ids = fields.words(columns.node, is_id=True).to_pylist()
            yield _OutageRows(ids, numbers, down.amounts / MS_PER_S, up_ms / MS_PER_S, unread)


def _joined(parts: list[_OutageRows]) -> _OutageRows:
    if not parts:
        return _OutageRows([], np.zeros(0, np.int64), np.zeros(0), np.zeros(0), np.zeros(0, bool))
    return _OutageRows(
        [one for part in parts for one in part.ids],
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("numbers", "down_s", "up_s", "unread")),
    )


def _check_rows(rows: _OutageRows, skipped: Counter[str], where: str) -> None:
    """Raise InputError for the rows of our own columns that are wrong, with their numbers."""
    for reason, count in skipped.items():
        if reason != "left out by the filter":
            raise InputError(f"{where}: {count} rows have {reason.removeprefix('left out, ')}")
    problems = Problems(where, "row")
    for place in np.flatnonzero(_wrong(rows)).tolist():
        down, up = rows.down_s[place], rows.up_s[place]
        if rows.unread[place]:
            said = "down_s and up_s: a number of seconds is needed (up_s empty: down for good)"
        elif np.isnan(down):
            said = "down_s is empty: when the node fails is needed [s]"
        elif not rows.ids[place]:
            said = "node is empty: a node's number or name is needed"
        elif down < 0.0:
            said = f"down_s = {down:g}: allowed: 0 or more"
        else:
            said = f"up_s = {up:g}: must be after down_s = {down:g}"
        problems.add([(int(rows.numbers[place]), said)])
    problems.refuse()


def _wrong(rows: _OutageRows) -> Flags:
    nameless = np.array([not one for one in rows.ids], bool)
    return rows.unread | np.isnan(rows.down_s) | (rows.down_s < 0.0) | nameless | (rows.up_s <= rows.down_s)


def _usable(rows: _OutageRows, columns: FailureColumns, skipped: Counter[str]) -> _OutageRows:
    """The rows that are outages; the others are counted by reason. Without an end they are for good, or left out."""
    endless = np.isnan(rows.up_s) & ~rows.unread
    reasons: list[tuple[str, Flags]] = [
        ("left out, a time is not read", rows.unread),
        ("left out, no time of failure", np.isnan(rows.down_s)),
        ("left out, no node", np.array([not one for one in rows.ids], bool)),
        ("left out, up again at or before the time of failure", rows.up_s <= rows.down_s),
    ]
    if columns.without_end == "left out":
        reasons.append(("left out, without an end", endless))
    kept = np.ones(len(rows.numbers), bool)
    for reason, holds in reasons:
        skipped[reason] += int((kept & holds).sum())
        kept &= ~holds
    ids = [one for one, is_kept in zip(rows.ids, kept.tolist(), strict=True) if is_kept]
    up_s = np.where(endless, np.inf, rows.up_s)[kept]
    return _OutageRows(ids, rows.numbers[kept], rows.down_s[kept], up_s, rows.unread[kept])


def _nodes_of(rows: _OutageRows, columns: FailureColumns, nodes: int, names: Sequence[str], where: str) -> Integers:
    """The number of each row's node. Raises InputError: one that there is not, or more than there are."""
    there = sorted(set(rows.ids), key=_natural)
    of_names = {name: node for node, name in enumerate(names)}
    if len(of_names) == nodes and set(there) <= set(of_names):
        found = of_names
    elif columns.nodes == "ranks":
        if len(there) > nodes:
            raise InputError(
                f"{where}: outages of {len(there):,} nodes, but cluster.nodes is {nodes:,}: allowed are "
                f"cluster.nodes = {len(there)} or more, or a part of them by failures.filter"
            )
        found = {one: rank for rank, one in enumerate(there)}
    else:
        found = {one: int(one) for one in there if _is_number(one, nodes)}
        problems = Problems(where, "row")
        for place, one in enumerate(rows.ids):
            if one not in found:
                also = ", or the name of a vertex of the network" if len(of_names) == nodes else ""
                problems.add([(int(rows.numbers[place]), f"node = {one[:60]!r}: allowed: 0 to {nodes - 1}{also}")])
        problems.refuse()
    return np.array([found[one] for one in rows.ids], np.int64)


def _is_number(one: str, nodes: int) -> bool:
    return one.isascii() and one.isdecimal() and len(one) <= MOST_DIGITS and int(one) < nodes


def _natural(one: str) -> list[tuple[int, int, str]]:
    """Numbers in a name by their value: n2 comes before n10."""
    parts = re.findall(r"\d+|\D+", one, re.ASCII)
    return [(0, int(part[:300]), part) if part.isdecimal() else (1, 0, part) for part in parts]


def _check_times(rows: _OutageRows, down_s: Floats, up_s: Floats, where: str) -> None:
    last = np.where(np.isinf(up_s), down_s, up_s)
    for place in np.flatnonzero(~(last <= LONGEST_S))[:1].tolist():
        raise InputError(f"{where}, row {rows.numbers[place]}: {last[place]:g} s: allowed up to {LONGEST_S:g} s")


def _merged(node: Integers, down_s: Floats, up_s: Floats) -> FileOutages:
    """Outages by node and time; what overlaps or touches is one."""
    order = np.lexsort((down_s, node))
    kept: list[list[float]] = []
    before = -1
    for at in order.tolist():
        if node[at] == before and down_s[at] <= kept[-1][2]:
            kept[-1][2] = max(kept[-1][2], float(up_s[at]))
        else:
            kept.append([float(node[at]), float(down_s[at]), float(up_s[at])])
            before = int(node[at])
    table = np.array(kept, np.float64).reshape(-1, 3)
    return FileOutages(table[:, 0].astype(np.int64), table[:, 1], table[:, 2])
