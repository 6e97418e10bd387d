"""Files of the user, read in blocks and up to a limit, at the bottom of the layers so that all may read so.

A few kilobytes can unpack to gigabytes, and a device has no end: what is read is counted as it comes out.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import lzma
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from cluster_abm.errors import InputError, reason_of

BLOCK = 2**20  # bytes read at once
MEGABYTE = 2**20
# Limits where none is given, and the largest that may be given.
TRACE_MB, PROFILES_MB, NETWORK_MB, MOST_MB = 512, 64, 64, 100_000
GZIP, XZ = b"\x1f\x8b", b"\xfd7zXZ\x00"  # first bytes of such files
SHOWN_PATH = 300
MOST_FOR_NOTHING = 16 * MEGABYTE  # bytes that a packed file may have beyond those that it unpacks to


class Limit(NamedTuple):
    """How much a file may hold, unpacked [MB of 2^20 bytes], and the key or option that says so."""

    mb: int
    raised_by: str

    def counted(self, blocks: Iterator[bytes], path: str | Path) -> Iterator[bytes]:
        """The same blocks. Raises InputError once they hold more."""
        total = 0
        for block in blocks:
            total += len(block)
            if total > self.mb * MEGABYTE:
                raise _too_large(path, self)
            yield block


@contextmanager
def opened(path: str | Path, *, pipes: bool = False) -> Iterator[io.BufferedReader]:
    """A regular file, open for reading; with `pipes` also a pipe, which can be read only once.

    Raises InputError: there is none, it cannot be read, or is a folder or a device.
    """
    try:
        kind = os.stat(path).st_mode
        if not (stat.S_ISREG(kind) or (pipes and stat.S_ISFIFO(kind))):
            raise InputError(f"{shown(path)}: cannot be read: {_named(kind)}; a file is needed")
        file = open(path, "rb")  # noqa: SIM115
    except (OSError, ValueError) as problem:
        raise _unreadable(path, problem) from None
    with file:
        yield file


def whole(path: str | Path, limit: Limit) -> bytes:
    """All that a file holds, unpacked. Raises InputError as `opened` and `unpacked` do."""
    with opened(path) as file:
        return b"".join(unpacked(file, path, limit))


def unpacked(file: io.BufferedReader, path: str | Path, limit: Limit) -> Iterator[bytes]:
    """What a file holds in blocks, unpacked if it begins as files packed by gzip or xz do.

    Raises InputError: more than the limit; damaged, cut off, or not packed although it is named .gz or .xz.

    Args:
        file: of `opened`.
        limit: no more than this comes out, nor is read of a packed file.
    """
    most = limit.mb * MEGABYTE
    _check_size(file, path, limit)
    try:
        head = file.read(len(XZ))
        raw = _BoundedSource(head, file, path, limit)
        source = io.BufferedReader(raw, BLOCK)
        stream: io.BufferedIOBase = source
        if head.startswith(GZIP):
            stream = gzip.GzipFile(fileobj=source)
        elif head == XZ:
            stream = lzma.LZMAFile(source)  # noqa: SIM115
        elif str(path).lower().endswith((".gz", ".xz")):
            empty = "" if head else " (empty file)"
            raise InputError(f"{shown(path)}: not compressed by gzip or xz, as its name says{empty}")
        total = 0
        while block := stream.read(BLOCK):
            total += len(block)
            raw.made = total
            if total > most:
                raise _too_large(path, limit)
            yield block
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as problem:
        raise InputError(f"{shown(path)}: compressed file damaged or cut off: {problem}") from None
    except OSError as problem:
        raise _unreadable(path, problem) from None
    except MemoryError:
        # An xz file says how much it takes to unpack it, up to 4 GB.
        raise InputError(f"{shown(path)}: takes more memory to unpack than there is") from None


def digest(file: io.BufferedReader, path: str | Path, limit: Limit) -> str:
    """The SHA-256 of an open file's bytes as they lie there, from where it stands.

    Raises InputError: it cannot be read, or is larger than the limit; then nothing of it is read.
    """
    _check_size(file, path, limit)
    hashed, read = hashlib.sha256(), 0
    try:
        # Some files of the system have no size and no end.
        while block := file.read(BLOCK):
            read += len(block)
            if read > limit.mb * MEGABYTE:
                raise _too_large(path, limit)
            hashed.update(block)
        return hashed.hexdigest()
    except OSError as problem:
        raise _unreadable(path, problem) from None


def shown(path: str | Path) -> str:
    """A path for messages: short, and without characters that move the cursor."""
    text = str(path)
    if len(text) > SHOWN_PATH:
        text = f"{text[:SHOWN_PATH]}... ({len(text):,} characters)"
    return text if text.isprintable() else repr(text)


class _BoundedSource(io.RawIOBase):
    """The bytes of a file of which the first were looked at already (a pipe cannot be rewound), up to a limit."""

    def __init__(self, head: bytes, file: io.BufferedReader, path: str | Path, limit: Limit) -> None:
        self._head, self._file, self._path, self._limit = head, file, path, limit
        self._read = self.made = 0  # bytes that were read of it, and bytes that have been unpacked from it so far

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Packed parts that are empty make no byte, however many there are: what goes in is counted as well."""
        block = self._head or self._file.read(min(len(buffer), BLOCK))
        self._head = b""
        self._read += len(block)
        if self._read > self._limit.mb * MEGABYTE + BLOCK:
            raise _too_large(self._path, self._limit)
        if self._read - self.made > MOST_FOR_NOTHING:
            packed, unpacked = (size // MEGABYTE for size in (self._read, self.made))
            raise InputError(f"{shown(self._path)}: {packed:,} MB of it unpack to {unpacked:,} MB: no file in use")
        buffer[: len(block)] = block
        return len(block)


def _check_size(file: io.BufferedReader, path: str | Path, limit: Limit) -> None:
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_size > limit.mb * MEGABYTE:
        raise _too_large(path, limit)


def _too_large(path: str | Path, limit: Limit) -> InputError:
    return InputError(
        f"{shown(path)}: more than {limit.mb:,} MB, unpacked: allowed up to {limit.mb:,} MB ({limit.raised_by}, "
        f"which may be up to {MOST_MB:,})"
    )


def _unreadable(path: str | Path, problem: OSError | ValueError) -> InputError:
    return InputError(f"{shown(path)}: cannot be read: {reason_of(problem)}")


def _named(kind: int) -> str:
    if stat.S_ISDIR(kind):
        return "a folder"
    if stat.S_ISFIFO(kind):
        return "a pipe, which can be read only once"
    return "a socket" if stat.S_ISSOCK(kind) else "a device"
