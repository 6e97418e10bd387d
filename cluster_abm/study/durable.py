"""Files that are whole or not there: sealed with a checksum, on the disk before they have their name."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


class Damaged(Exception):
    """A file's content is not what was written: cut short, overwritten, or changed."""


def seal(text: str) -> bytes:
    """A text behind a line with its SHA-256."""
    body = text.encode()
    return hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def unseal(data: bytes) -> str:
    """The text of `seal`. Raises Damaged if a byte is not as it was."""
    digest, _, body = data.partition(b"\n")
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise Damaged("its checksum is wrong")
    return body.decode()


def write_durably(path: Path, data: bytes, partial: Path) -> None:
    """Write a file so that a crash at any moment leaves it whole, as it was before, or absent.

    Args:
        path: where it shall be.
        data: all of it.
        partial: where it is until it is whole: of the same file system, and nobody else's.
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
