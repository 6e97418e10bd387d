"""The file of recordings: its bytes, and what is in them.

    magic, 8 bytes            b"cabm-rec"
    version                   unsigned 32 bits, little-endian as all numbers here
    length of the header      unsigned 32 bits [bytes]
    length of the file        unsigned 64 bits [bytes]
    checksum                  SHA-256 of all the file's other bytes, 32 bytes
    header                    JSON, UTF-8
    tables                    one after another: each an Arrow IPC stream in one Zstandard frame

The header is a list of one or two recordings: `meta` (recording.Recording) and `tables`, a list of [name, bytes in the
file, bytes unpacked, rows] in the order in which they follow. Nothing in it depends on when, where or how it was
written.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cluster_abm.bounded_files import MEGABYTE, opened, shown
from cluster_abm.errors import InputError, reason_of
from cluster_abm.json_text import json_line
from cluster_abm.limits import check_memory
from cluster_abm.recording.arrow_streams import stream_of
from cluster_abm.whole_files import in_one_move

MAGIC, VERSION = b"cabm-rec", 1
_BEGIN = struct.Struct("<8sIIQ")
_FIRST = _BEGIN.size + hashlib.sha256().digest_size
# A file holds the runs of two policies at most: those that are looked at side by side.
MOST_RECORDINGS = 2
# The most that a file, and its tables unpacked, may take, and its header [bytes].
MOST_BYTES, MOST_HEADER = 2048 * MEGABYTE, 64 * MEGABYTE
_LEVEL = 3


class Packed(NamedTuple):
    """A table as it stands in a file."""

    name: str
    data: memoryview  # a Zstandard frame
    unpacked: int  # bytes of its Arrow stream
    rows: int


def write(path: Path, recordings: Sequence[tuple[Mapping[str, Any], Mapping[str, pa.Table]]]) -> None:
    """Write recordings, each its meta and its tables, into a file: whole, or not at all.

    Raises InputError: it cannot be written, or would be larger than a file may be.
    """
    header, frames = [], []
    codec = pa.Codec("zstd", compression_level=_LEVEL)
    for meta, tables in recordings:
        listed = []
        for name, table in tables.items():
            stream = stream_of(table)
            frame = codec.compress(stream, asbytes=True)
            listed.append([name, len(frame), len(stream), table.num_rows])
            frames.append(frame)
        header.append({"meta": dict(meta), "tables": listed})
    text = json_line(header).encode()
    length = _FIRST + len(text) + sum(map(len, frames))
    unpacked = sum(row[2] for one in header for row in one["tables"])
    if max(length, unpacked) > MOST_BYTES or len(text) > MOST_HEADER:
        raise InputError(
            f"{shown(path)}: the recording takes {max(length, unpacked) // MEGABYTE:,} MB: allowed are "
            f"{MOST_BYTES // MEGABYTE:,} (keep every n-th job, or a window: every, from_s, to_s)"
        )
    begin = _BEGIN.pack(MAGIC, VERSION, len(text), length)
    hashed = hashlib.sha256(begin)
    for part in (text, *frames):
        hashed.update(part)
    with in_one_move(path) as partial, partial.open("wb") as file:
        file.writelines([begin, hashed.digest(), text, *frames])


def is_recording(path: Path) -> bool:
    """Whether a file begins as a recording."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def read(path: Path) -> list[tuple[dict[str, Any], list[Packed]]]:
    """The recordings in a file, each its meta and its tables, which are not unpacked yet.

    Raises InputError: it cannot be read, is cut off, longer, damaged, of another version, or no recording.
    """
    with opened(path) as file:
        try:
            return _read(file, path)
        except OSError as problem:
            raise InputError(f"{shown(path)}: cannot be read: {reason_of(problem)}") from None


def _read(file: io.BufferedReader, path: Path) -> list[tuple[dict[str, Any], list[Packed]]]:
    begin = file.read(_FIRST)
    if begin[:8] != MAGIC[: len(begin[:8])] or not begin:
        raise InputError(f"{shown(path)}: no recording: it does not begin with {MAGIC.decode()!r}")
    if len(begin) < _FIRST:
        raise InputError(f"{shown(path)}: cut off: {len(begin)} bytes, of which the first {_FIRST} say how long it is")
    _, version, header_length, length = _BEGIN.unpack_from(begin)
    if version != VERSION:
        raise InputError(f"{shown(path)}: a recording of version {version:,}: this package reads version {VERSION}")
    size = os.fstat(file.fileno()).st_size
    if size != length:
        what = "cut off" if size < length else "longer than it was written"
        raise InputError(f"{shown(path)}: {what}: it has {size:,} bytes, and says that it has {length:,}")
    if length > MOST_BYTES or header_length > min(MOST_HEADER, length - _FIRST):
        raise InputError(
            f"{shown(path)}: {length:,} bytes, {header_length:,} of them header: allowed are {MOST_BYTES:,}, and "
            f"{min(MOST_HEADER, max(0, length - _FIRST)):,} of them"
        )
    check_memory(f"{shown(path)}", float(length), float(length), "bytes")
    rest = file.read(length - _FIRST)
    if hashlib.sha256(begin[: _BEGIN.size] + rest).digest() != begin[_BEGIN.size :]:
        raise InputError(f"{shown(path)}: damaged: its checksum does not fit its bytes")
    return _parts(_header(rest[:header_length], path), memoryview(rest)[header_length:], path)


def _header(text: bytes, path: Path) -> object:
    try:
        return json.loads(text.decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as problem:
        why = "it is nested too deeply" if isinstance(problem, RecursionError) else str(problem)[:120]
        raise InputError(f"{shown(path)}: its header is no JSON: {why}") from None


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number")


def _parts(header: object, data: memoryview, path: Path) -> list[tuple[dict[str, Any], list[Packed]]]:
    """The recordings of a header, and where their tables are; all sizes fit each other, and what is allowed."""
    what = f"{shown(path)}: its header"
    if not isinstance(header, list) or not 1 <= len(header) <= MOST_RECORDINGS:
        raise InputError(f"{what} lists no recordings: allowed is a list of 1 to {MOST_RECORDINGS}")
    found, at, unpacked = [], 0, 0
    for one in header:
        if not isinstance(one, dict) or set(one) != {"meta", "tables"} or not isinstance(one["meta"], dict):
            raise InputError(f"{what}: each recording has 'meta', a table, and 'tables', a list, and nothing else")
        if not isinstance(one["tables"], list):
            raise InputError(f"{what}: 'tables' is a list")
        tables = []
        for row in one["tables"]:
            is_right = isinstance(row, list) and len(row) == 4 and isinstance(row[0], str)
            if not is_right or not all(type(number) is int and 0 <= number <= MOST_BYTES for number in row[1:]):
                raise InputError(
                    f"{what}: a table is [name, bytes, bytes unpacked, rows], numbers up to {MOST_BYTES:,}"
                )
            name, size, whole, rows = row
            tables.append(Packed(name, data[at : at + size], whole, rows))
            at, unpacked = at + size, unpacked + whole
        found.append((one["meta"], tables))
    if at != len(data):
        raise InputError(f"{what} has tables of {at:,} bytes: in the file are {len(data):,}")
    if unpacked > MOST_BYTES:
        raise InputError(f"{what} has tables of {unpacked:,} bytes, unpacked: allowed are {MOST_BYTES:,}")
    check_memory(f"{shown(path)}", 2.0 * unpacked, float(unpacked), "bytes, unpacked,")
    return found


def unpacked(table: Packed) -> bytes | None:
    """The Arrow stream of a table; None: its frame is damaged, or unpacks to another size than is said."""
    try:
        # The frame is unpacked into room of just that size, and nothing else is taken.
        return bytes(pa.Codec("zstd").decompress(pa.py_buffer(table.data), table.unpacked, asbytes=True))
    except (pa.ArrowException, OSError, ValueError, OverflowError):
        return None
