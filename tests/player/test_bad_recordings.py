"""Bytes that are no whole recording of this version are told in the player, in one line."""

import base64
import json
import re
import struct
import zlib

import pytest
from recorded import eventful

from cluster_abm.recording.html import html_of
from cluster_abm.recording.payload import ENVELOPE, MAGIC, VERSION, payload_of


def packed(raw, length=None, checksum=None):
    deflated = zlib.compress(raw)
    length = len(raw) if length is None else length
    checksum = zlib.crc32(raw) if checksum is None else checksum
    return ENVELOPE.pack(MAGIC, VERSION, len(deflated), length, checksum) + deflated


def of_header(change):
    """The bytes of the recording, its header changed."""
    raw = zlib.decompress(payload_of(eventful())[ENVELOPE.size :])
    (length,) = struct.unpack_from("<I", raw)
    header = json.loads(raw[4 : 4 + length])
    change(header)
    text = json.dumps(header).encode()
    return packed(struct.pack("<I", len(text)) + text + raw[4 + length :])


def bad():
    good = payload_of(eventful())
    raw = zlib.decompress(good[ENVELOPE.size :])
    return {
        "empty": (b"", "is cut off: it has 0 bytes"),
        "cut off": (good[:-7], f"is cut off: it has {len(good) - 7} bytes of {len(good)}"),
        "something else": (b"PAR1" + bytes(100), "does not begin as one"),
        "another version": (good[:4] + struct.pack("<I", 9) + good[8:], "has version 9; this player reads version 1"),
        "wrong checksum": (packed(raw, checksum=1), "checksum is wrong"),
        "huge": (packed(raw, length=2**31), "is too large"),
        "longer than it says": (packed(raw, length=100), "cannot be unpacked"),
        "shorter than it says": (packed(raw, length=len(raw) + 1), "shorter than it says"),
        "no header": (packed(b"\xff\xff\xff\xff{}"), "its tables are not what they should be"),
        "no JSON": (packed(struct.pack("<I", 3) + b"{;}"), "its tables are not what they should be"),
        "no tables": (of_header(lambda header: header.pop("tables")), "its tables are not what they should be"),
        "a table is missing": (of_header(lambda header: header["tables"].pop("segments")), "lacks the table segments"),
        "a column is missing": (
            of_header(lambda header: header["tables"]["tasks"]["columns"].pop("job")), "lacks the column tasks.job"
        ),
        "a column is too long": (
            of_header(lambda header: header["tables"]["tasks"].update(rows=2**24)),
            "its tables are not what they should be",
        ),
        "a node that is not there": (
            of_header(lambda header: header["tables"]["nodes"].update(rows=3)), "has the value"
        ),
        "no length": (of_header(lambda header: header.update(end_ns="long")), "does not say how long it is"),
    }  # fmt: skip


@pytest.mark.parametrize("name", [
    "empty", "cut off", "something else", "another version", "wrong checksum", "huge", "longer than it says",
    "shorter than it says", "no header", "no JSON", "no tables", "a table is missing", "a column is missing",
    "a column is too long", "a node that is not there", "no length",
])  # fmt: skip
def test_it_is_told_in_one_line(show, tmp_path, name):
    payload, words = bad()[name]
    page = re.sub(r'(class="recording">)[^<]*', rf"\g<1>{base64.b64encode(payload).decode()}", html_of([eventful()]))
    (tmp_path / "bad.html").write_text(page, encoding="utf-8")
    tab = show(tmp_path / "bad.html")
    said = tab.page.get_by_role("alert").inner_text()
    assert words in said
    assert "\n" not in said
    assert len(said) < 120
