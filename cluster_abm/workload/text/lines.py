"""Text files in blocks of whole lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cluster_abm.bounded_files import shown
from cluster_abm.errors import InputError

LONGEST_LINE = 1_000_000  # bytes
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Lines:
    """The blocks of a file, each cut off behind a line's end: \\n, \\r or both. A byte-order mark goes.

    Raises InputError: empty, no text, or a line that is too long.

    Args:
        blocks: bytes of the file; they are read as these blocks are asked for.

    Attributes:
        where: the file's name.
        ended: whether the last line has an end, once all is read.
    """

    def __init__(self, blocks: Iterable[bytes], where: str) -> None:
        self.where, self.ended = where, True
        self._blocks = blocks
        self._at = 0

    def __iter__(self) -> Iterator[bytes]:
        rest, is_empty = b"", True
        read = 0
        for number, block in enumerate(self._blocks):
            zero = block.find(b"\0")  # valid in UTF-8, but in no text
            if zero >= 0:
                raise self._no_text(read + zero)
            self._at, read = read - len(rest), read + len(block)
            is_empty = is_empty and not block.strip()
            data = rest + block
            if number == 0 and data.startswith(BYTE_ORDER_MARK):
                data, self._at = data[len(BYTE_ORDER_MARK) :], len(BYTE_ORDER_MARK)
            # A return at the end may be the first half of a line's end.
            cut = max(data.rfind(b"\n"), data.rfind(b"\r", 0, len(data) - 1)) + 1
            self._check_lengths(data)
            rest = data[cut:]
            if cut:
                yield data[:cut]
        if is_empty:
            raise InputError(f"{shown(self.where)}: empty")
        if rest:
            self.ended = rest.endswith((b"\n", b"\r"))
            self._at = read - len(rest)
            yield rest

    def blank(self, block: bytes) -> int:
        """How many lines a block has of which none holds anything; 0 for any other block."""
        if block.strip(b"\r\n"):
            return 0
        return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")

    def text(self, block: bytes) -> str:
        """The block that came last as text. Raises InputError where it is not UTF-8."""
        try:
            return block.decode()
        except UnicodeDecodeError as problem:
            raise self._no_text(self._at + problem.start) from None

    def _check_lengths(self, data: bytes) -> None:
        begin = 0
        while len(data) - begin > LONGEST_LINE:
            window = begin, begin + LONGEST_LINE + 1
            end = max(data.rfind(b"\n", *window), data.rfind(b"\r", *window)) + 1
            if not end:
                raise InputError(
                    f"{shown(self.where)}: the line at byte {self._at + begin:,} is longer than {LONGEST_LINE:,} bytes"
                )
            begin = end

    def _no_text(self, byte: int) -> InputError:
        return InputError(
            f"{shown(self.where)}: not a text file (byte {byte:,}): allowed UTF-8 text, plain or compressed by gzip "
            "or xz"
        )
