"""Which code a result came from: what other machines carry out must be what this one would."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.study.fingerprint import result_version


def with_same_code(version: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function if this process has that version of the code.

    Raises:
        InputError: it has another one, so its results would be those of another program.
    """
    if version != result_version():
        raise InputError(
            f"worker on {socket.gethostname()}: its cluster_abm has other sources ({result_version()}) than the "
            f"process that sends it work ({version}): install the same version everywhere and start the workers again"
        )
    return function(*args, **kwargs)
