"""Tables as Arrow IPC streams: written in one way only, and read without trust in what their headers claim.

A buffer of such a stream may be compressed, and then says itself how large it becomes. No recording has any: the
messages are looked at before one of them is unpacked.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import pyarrow as pa

from cluster_abm.bounded_files import shown

# The places of what is looked at in the FlatBuffers tables of Arrow's format (Message.fbs).
_HEADER_OF_MESSAGE, _DATA_OF_DICTIONARY, _IS_DELTA, _COMPRESSION = 2, 1, 2, 3


class Refused(Exception):
    """A stream is not one of a recording; says why."""


def stream_of(table: pa.Table) -> bytes:
    """A table as an Arrow IPC stream of one record batch, the same bytes for the same values."""
    whole = table.replace_schema_metadata(None).combine_chunks()
    batches = whole.to_batches()
    if not batches:
        batches = [pa.RecordBatch.from_arrays([pa.array([], kind) for kind in whole.schema.types], schema=whole.schema)]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, whole.schema, options=pa.ipc.IpcWriteOptions(compression=None)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def table_from(stream: bytes, columns: Mapping[str, pa.DataType], optional: Mapping[str, pa.DataType]) -> pa.Table:
    """The table in a stream that has these columns, in this order, and perhaps `optional` ones behind them.

    Raises Refused: it has others, is damaged, or its buffers are compressed.
    """
    try:
        return _read(stream, columns, optional)
    except Refused:
        raise
    except (pa.ArrowException, struct.error, ValueError, IndexError, KeyError, OverflowError, OSError) as problem:
        raise Refused(f"no Arrow stream: {shown(' '.join(str(problem).split())[:120])}") from None


def _read(stream: bytes, columns: Mapping[str, pa.DataType], optional: Mapping[str, pa.DataType]) -> pa.Table:
    kinds = []
    for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(stream)):
        kinds.append(message.type)
        if message.type != "schema":
            _check_batch(bytes(message.metadata), message.type == "dictionary")
    with pa.ipc.open_stream(pa.BufferReader(stream)) as reader:
        schema = reader.schema
        named = dict(columns) if len(schema) == len(columns) else {**columns, **optional}
        if schema.names != [*named]:
            raise Refused(f"columns {_few(schema.names)}: allowed are {_few([*named])}")
        for field in schema:
            if field.type != named[field.name]:
                raise Refused(
                    f"column {field.name!r} has type {shown(str(field.type)[:120])}: allowed is {named[field.name]}"
                )
        dictionaries = sum(pa.types.is_dictionary(kind) for kind in schema.types)
        if kinds != ["schema", *["dictionary"] * dictionaries, "record batch"]:
            raise Refused(f"{len(kinds):,} messages: allowed are one schema, {dictionaries} dictionaries, one batch")
        table = reader.read_all()
    table.validate(full=True)
    return table


def _check_batch(metadata: bytes, is_dictionary: bool) -> None:
    """Raise Refused if the buffers that a message describes are compressed, or add to a dictionary."""
    batch = _table_in(metadata, struct.unpack_from("<I", metadata, 0)[0], _HEADER_OF_MESSAGE)
    if batch is None:
        raise Refused("a message without a header")
    if is_dictionary:
        place = _field(metadata, batch, _IS_DELTA)
        if place is not None and metadata[place]:
            raise Refused("a dictionary in parts")
        batch = _table_in(metadata, batch, _DATA_OF_DICTIONARY)
        if batch is None:
            raise Refused("a dictionary without data")
    if _field(metadata, batch, _COMPRESSION) is not None:
        raise Refused("its buffers are compressed one by one: allowed are plain ones")


def _field(data: bytes, table: int, number: int) -> int | None:
    """Where a field of a FlatBuffers table is; None: it is left out."""
    entries = table - struct.unpack_from("<i", data, table)[0]
    if entries < 0:
        raise Refused("a message that points outside itself")
    size = struct.unpack_from("<H", data, entries)[0]
    place = 4 + 2 * number
    offset = struct.unpack_from("<H", data, entries + place)[0] if place + 2 <= size else 0
    return table + offset if offset else None


def _table_in(data: bytes, table: int, number: int) -> int | None:
    """Where the table is to which a field of another one points; None: it points to none."""
    place = _field(data, table, number)
    return None if place is None else place + int(struct.unpack_from("<I", data, place)[0])


def _few(names: list[str]) -> str:
    return shown(", ".join(names)[:250]) if names else "none"
