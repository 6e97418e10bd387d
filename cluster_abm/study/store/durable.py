"""Files that are whole or not there: sealed with a checksum, on the disk before they have their name."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path


class Damaged(Exception):
    """A file's content is not what was written: cut short, overwritten, or changed."""


def seal(text: str, before: str = "", after: str = "") -> bytes:
    """A text behind a line with its SHA-256.

    Args:
        text: anything.
        before, after: what stands around the checksum in its line, so that the whole is of the text's own format.
    """
    body = text.encode()
    return f"{before}{hashlib.sha256(body).hexdigest()}{after}\n".encode() + body


def unseal(data: bytes, before: str = "", after: str = "") -> str:
    """The text of `seal`. Raises Damaged if a byte is not as it was."""
    line, _, body = data.partition(b"\n")
    if f"{before}{hashlib.sha256(body).hexdigest()}{after}".encode() != line:
        raise Damaged("its checksum is wrong")
    return body.decode()


def read_bytes(path: Path) -> bytes:
    """A file's bytes. Raises Damaged if there is something that cannot be read, FileNotFoundError if nothing is."""
    try:
        # A pipe would be waited for, and a device has no end; a folder is refused by the system.
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise Damaged("it is no regular file")
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except OSError as problem:
        raise Damaged(f"it cannot be read: {problem.strerror or problem}") from None


def write_durably(path: Path, data: bytes, partial: Path) -> None:
    """Write a file so that a crash at any moment leaves it whole, as it was before, or absent.

    Args:
        path: where it shall be.
        data: all of it.
        partial: where it is until it is whole: of the same file system, and no other process's.
    """
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(partial, path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """The new name, too, shall outlive a loss of power; where folders cannot be opened, that is left to the system."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
