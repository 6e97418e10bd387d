"""A file of which no format is known, in one line: what it looks like, what is nearest, and the page that goes on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError
from cluster_abm.workload.text.csv_cells import SEPARATORS
from cluster_abm.workload.text.separators import most_often
from cluster_abm.workload.traces.format import Head, formats
from cluster_abm.workload.traces.mapping.fields import columns_of
from cluster_abm.workload.traces.mapping.maps import names_of, shipped_maps
from cluster_abm.workload.traces.table import number

SHOWN_LINE, SHOWN_NAMES, LONGEST_NAME = 50, 6, 30
LOOKED_AT = 4096  # bytes that tell whether a file is text
# First bytes of what has to be unpacked, or written in another form.
PACKED = {
    b"PK\x03\x04": "a zip archive: unpack it",
    b"BZh": "one packed by bzip2: unpack it (gzip and xz are read)",
    b"\x28\xb5\x2f\xfd": "one packed by zstd: unpack it (gzip and xz are read)",
    b"SQLite format 3": "a database of SQLite: export its table of jobs as CSV",
    b"ORC": "a file of ORC: write it as Parquet or CSV",
}
COLON, MANY, BAR = ":", 8, "|"
SLURMS = "; if `sacct -n` wrote it: --map sacct-n --fields LIST, as given to `sacct -o`"
MARKS = SEPARATORS | {COLON: "colons"}
PAGE = "docs/reference/maps.md"
FORMATS_PAGE = "docs/reference/traces.md"


def unknown_file(head: Head, where: str) -> InputError:
    """The error for a file of which the beginning tells no format."""
    looks = _no_table(head)
    if looks is not None:
        return InputError(f"{shown(where)}: format not recognised: {looks}; what is read: {FORMATS_PAGE}")
    slurms = SLURMS if _separator(head.line) == BAR and _has_numbers(head.line, BAR) else ""
    return InputError(f"{shown(where)}: format not recognised: {_table(head)}{slurms}{_way_on(names_of(head), where)}")


def unknown_columns(kind: str, names: Sequence[str], where: str) -> InputError:
    """The error for a table whose columns are not ours.

    Args:
        kind: what the table is, as "a Parquet file".
        names: its columns.
    """
    lower = {name.lower() for name in names}
    return InputError(f"{shown(where)}: {kind} of {_listed(names)}: no columns of ours{_way_on(lower, where)}")


def _way_on(names: Iterable[str], where: str) -> str:
    near = _nearest(set(names))
    nearest = f"; nearest: {near}" if near else ""
    return f"{nearest}; `cluster-abm trace info {shown(where)} --guess` proposes a map of its columns ({PAGE})"


def _no_table(head: Head) -> str | None:
    """What a file without cells looks like, in words; None: it has cells."""
    begins = f"it begins with {_shown(head.line)}"
    for first, words in PACKED.items():
        if head.data.startswith(first):
            return f"not a text file, but {words}"
    text = head.data[:LOOKED_AT]
    if b"\0" in text or not _is_text(text):
        return f"not a text file: {begins}"
    if text.startswith(b"<"):
        return f"XML or HTML: {begins}"
    if text.startswith((b"{", b"[")) or _separator(head.line) is not None or _are_numbers(head.line.split()):
        return None
    return begins


def _table(head: Head) -> str:
    """What a file of cells, or of JSON, looks like, in words."""
    if head.data.startswith((b"{", b"[")):
        keys = names_of(head)
        kind = "JSON lines" if _is_json(head.line) and b"\n" in head.data.strip() else "JSON"
        return f"{kind} with {_listed(sorted(keys), 'name')}" if keys else f"{kind} without names"
    between = _separator(head.line)
    cells = [cell.strip().strip('"') for cell in head.line.split(between)]
    if between is None:
        return f"numbers with blanks between, {len(cells)} on the first line"
    if _has_numbers(head.line, between):
        return f"a table of {len(cells)} columns with {MARKS[between]}, and no header: {_shown(head.line)}"
    return f"a table of {_listed(cells)}, with {MARKS[between]} between"


def _nearest(names: set[str]) -> str:
    """The map or format that has most of its names among these, in words; "" if none has half of them, or three."""
    known = {
        f"the map {name}": {str(column).lower() for column in (*found.about.known_by, *columns_of(found))}
        for name, found in shipped_maps().items()
    }
    known |= {f"{name} ({one.title})": {column.lower() for column in one.names} for name, one in formats().items()}
    common = {words: len(names & theirs) for words, theirs in known.items()}
    common = {words: count for words, count in common.items() if count >= 3 or (count >= 2 and 2 * count >= len(names))}
    if not common:
        return ""
    # As many in common: the one with fewer others.
    best = max(common, key=lambda words: (common[words], -len(known[words])))
    return f"{best}, with {common[best]} of its names"


def _listed(names: Sequence[str], what: str = "column") -> str:
    """How many columns there are, and the first names."""
    first = ", ".join(_shown(name[:LONGEST_NAME])[1:-1] for name in names[:SHOWN_NAMES])
    return f"{len(names):,} {what}{'s' * (len(names) != 1)} ({first}{', ...' * (len(names) > SHOWN_NAMES)})"


def _separator(line: str) -> str | None:
    """What stands between the cells of a line most often; None: blanks alone."""
    most, count = most_often(line, MARKS)
    # Times and addresses have some colons, too.
    return most if count > (MANY if most == COLON else 0) else None


def _has_numbers(line: str, between: str) -> bool:
    """Whether a cell of a line is a number, which is no name of a column."""
    cells = (cell.strip().strip('"') for cell in line.split(between))
    return any(number(cell) == number(cell) for cell in cells)  # NaN: no number


def _are_numbers(words: Sequence[str]) -> bool:
    return len(words) > 1 and all(number(word) == number(word) for word in words)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        return problem.start > len(data) - 4  # a letter that is cut off at the end
    return True


def _is_json(line: str) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _shown(line: str) -> str:
    """The begin of a line for messages: escapes of what is not printed are long."""
    return repr(line[:SHOWN_LINE])[: 2 * SHOWN_LINE]
