"""A recording as the player reads it: few columns, rounded, in one deflated block with its length and checksum.

The bytes are `MAGIC`, then VERSION, the length of what follows the envelope, the length of it inflated and its CRC-32
(32-bit little-endian numbers each), then zlib's stream. Inflated it is the length of the header (32 bits), the header
as JSON, and the columns. A column is as many planes of bytes as its numbers have bytes: first the lowest byte of all of
them, then the next, which deflates well. Whole numbers lie zigzag (0, -1, 1, -2, ...), after the difference from the
number before them where the header says `delta`. `viz/player/decode.js` reads it.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from cluster_abm.arrays import Array
from cluster_abm.errors import InputError
from cluster_abm.recording.columns_of_player import MOST_LINKS, PlayerColumn, columns_of
from cluster_abm.recording.recorded_run import RecordedRun
from cluster_abm.recording.words import words_of

MAGIC, VERSION = b"CABM", 1
ENVELOPE = struct.Struct("<4s4I")
# A time is a whole number of these; the first is taken in which the end fits in 31 bits.
TICKS_NS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)
# Doubles keep as many bits behind the point: four digits.
KEPT_BITS = 13
ROUNDED = "times to {tick:g} ms, times inside a visit to 0.1 ms, all other numbers to four digits"


def payload_of(recording: RecordedRun) -> bytes:
    """The bytes of a recording for the player.

    Raises:
        InputError: its times are too long for the player.
    """
    tick_ns = _tick_of(recording)
    tables: dict[str, Any] = {}
    blocks: list[bytes] = []
    offset = 0
    for table, columns in columns_of(recording, tick_ns).items():
        rows = len(columns[0].values) if columns else 0
        described = {}
        for column in columns:
            described[column.name], block = _packed(column, offset)
            blocks.append(block)
            offset += len(block)
        tables[table] = {"rows": rows, "columns": described}
    header = {
        **_plain(recording.meta),
        **words_of(recording),
        "tick_ms": tick_ns / 1e6,
        "rounded": ROUNDED.format(tick=tick_ns / 1e6),
        "links_left_out": recording.tables["links"].num_rows > MOST_LINKS,
        "tables": tables,
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False, sort_keys=True).encode()
    raw = b"".join([struct.pack("<I", len(text)), text, *blocks])
    packed = zlib.compress(raw, 9)
    return ENVELOPE.pack(MAGIC, VERSION, len(packed), len(raw), zlib.crc32(raw)) + packed


def _tick_of(recording: RecordedRun) -> int:
    times = [int(recording.meta["end_ns"])]
    for table in recording.tables.values():
        for name in table.column_names:
            if name in ("to_ns", "at_ns", "heard_ns", "arrival_ns") and table.num_rows:
                found = table[name].to_numpy()
                # Closed users' next jobs have no arrival yet.
                found = found[found < 2**62]
                times += [int(found.max())] if len(found) else []
    for tick_ns in TICKS_NS:
        if max(times) // tick_ns < 2**30:
            return tick_ns
    raise InputError(f"recording: {max(times) / 1e9:g} s are too long for the player")


def _packed(column: PlayerColumn, offset: int) -> tuple[dict[str, Any], bytes]:
    """How the header describes a column, and its bytes."""
    described: dict[str, Any] = {"offset": offset}
    if column.texts is not None:
        described["texts"] = column.texts
    if column.values.dtype.kind == "f":
        bits = _rounded(column.values)
        return described | {"type": "float", "width": 4}, _planes(bits, 4)
    values = column.values.astype(np.int64)
    if column.delta:
        values = np.diff(values, prepend=0)
    zigzag = ((values << 1) ^ (values >> 63)).astype(np.uint64)
    most = int(zigzag.max()) if len(zigzag) else 0
    width = next((width for width in (1, 2, 4) if most < 1 << 8 * width), 0)
    if not width:
        raise InputError(f"recording: column {column.name} has numbers of more than 31 bits, too large for the player")
    described |= {"type": "int", "width": width}
    if column.delta:
        described["delta"] = True
    return described, _planes(zigzag, width)


def _planes(values: Array, width: int) -> bytes:
    return values.astype(f"<u{width}").view(np.uint8).reshape(-1, width).T.tobytes()


def _rounded(values: Array) -> Array:
    """The bits of single-precision numbers, of which only the leading ones are kept."""
    bits = values.astype(np.float32).view(np.uint32)
    dropped = 23 - KEPT_BITS
    rounded = (bits + np.uint32(1 << (dropped - 1))) & np.uint32(0xFFFFFFFF << dropped & 0xFFFFFFFF)
    return np.where(np.isfinite(values), rounded, bits & np.uint32(0xFFC00000))


def _plain(value: Any) -> Any:
    """The same as data that JSON can hold: what is no number is null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
