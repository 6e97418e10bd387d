"""Which code a result came from: what other machines carry out must be what this one would."""

from __future__ import annotations

import hashlib
import socket
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from cluster_abm.errors import InputError


@cache
def code_version() -> str:
    """Hash of the package's sources as this process found them first: 16 hexadecimal digits."""
    package = Path(__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def with_same_code(version: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function if this process has that version of the code.

    Raises:
        InputError: it has another one, so its results would be those of another program.
    """
    if version != code_version():
        raise InputError(
            f"worker on {socket.gethostname()}: its cluster_abm has other sources ({code_version()}) than the process "
            f"that sends it work ({version}): install the same version everywhere and start the workers again"
        )
    return function(*args, **kwargs)
