"""Files are written whole or not at all, at the bottom of the layers so that all may write so."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cluster_abm.errors import InputError, reason_of


@contextmanager
def in_one_move(path: Path) -> Iterator[Path]:
    """A path to write to that becomes `path` when all is written: what is there already stays whole until then.

    Its ending is that of `path`, by which writers of pictures and films know what to write. Where `path` is a link,
    the file that it leads to is replaced, not the link.

    Raises InputError: it cannot be written.
    """
    try:
        target = Path(os.path.realpath(path))
        if target.is_symlink() or (target.exists() and not target.is_file()):
            # A folder, a device such as /dev/null, a link to itself: a file in its place would be worse than none.
            raise InputError(f"{path}: cannot be written (not a regular file)")
    except (OSError, ValueError) as problem:
        raise InputError(f"{str(path)[:200]!r}: cannot be written ({reason_of(problem)})") from None
    # Of no other writer, and of no file that the user has: only what was made here is ever taken away.
    partial = target.with_name(f".cluster-abm-{secrets.token_hex(8)}{target.suffix}")
    try:
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as problem:
        raise InputError(f"{path}: cannot be written ({reason_of(problem)})") from None
    try:
        yield partial
        if target.exists():
            shutil.copymode(target, partial)
        os.replace(partial, target)
    except BaseException as problem:
        # Of a disk that fails there may be nothing to clear up, and nothing more to say.
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if isinstance(problem, OSError):
            raise InputError(f"{path}: cannot be written ({reason_of(problem)})") from None
        raise


def check_can_be_written(path: Path, what: str, folder: Path | None = None) -> None:
    """Make sure, before what takes long, that a file can be written.

    Raises InputError: there is no such folder, it is a folder itself, or nothing can be written there.

    Args:
        path: the file.
        what: what the message calls it, such as "--record 'a.rec'".
        folder: one that will be made before, with those above it.
    """
    if folder is not None and not path.parent.exists() and path.parent in (folder, *folder.parents):
        return
    if not path.parent.is_dir():
        raise InputError(f"{what}: there is no folder {str(path.parent)!r}")
    if path.is_dir():
        raise InputError(f"{what}: is a folder; the name of a file is needed")
    try:
        try_to_write(path.parent)
    except OSError as problem:
        raise InputError(f"{what}: cannot be written ({reason_of(problem)}); a writable folder is needed") from None


def try_to_write(folder: Path) -> None:
    """Raise OSError if no file can be made in a folder."""
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b" ")
        file.flush()
