"""Files that are whole or not there: sealed with a checksum, on the disk before they have their name."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Sequence
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
    """Write a file so that a crash at any moment leaves it whole, as it was before, or absent; then it is there.

    Args: as of `write_whole`.
    """
    write_whole(path, data, partial)
    sync_folder(path.parent)


def write_whole(path: Path, data: bytes, partial: Path) -> None:
    """Write a file so that a crash at any moment leaves it whole, as it was before, or absent.

    No end of a process takes it away when this returns. After a loss of power it may be absent, unless its folder has
    been synchronised since.

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


def write_all_whole(files: Sequence[tuple[Path, bytes, Path]]) -> None:
    """Write several files as `write_whole` does, in less time: the first that waits for the disk waits for all.

    Args:
        files: of each the arguments of `write_whole`.
    """
    for _, data, partial in files:
        with partial.open("wb") as file:
            file.write(data)
    for _, _, partial in files:
        with partial.open("rb") as file:
            os.fsync(file.fileno())
    for path, _, partial in files:
        os.replace(partial, path)


def sync_folder(folder: Path) -> None:
    """Names of files, too, shall outlive a loss of power; where folders cannot be opened, that is left to the system.

    Args:
        folder: where the files are.
    """
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
