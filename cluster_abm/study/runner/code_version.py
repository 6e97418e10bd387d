"""Which code a result came from: what other machines carry out must be what this one would."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from cluster_abm.errors import InputError
from cluster_abm.study.design.fingerprint import result_version
from cluster_abm.study.design.policy_sources import MISSING, policy_version


def with_same_code(version: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function if this process has that version of the code.

    Raises InputError: it has another one, so its results would be those of another program.
    """
    if version != result_version():
        raise InputError(
            f"worker on {socket.gethostname()}: its cluster_abm has other sources ({result_version()}) than the "
            f"process that sends it work ({version}): install the same version everywhere and start the workers again"
        )
    return function(*args, **kwargs)


def check_policy(name: str, version: str) -> None:
    """Make sure that a policy of another package has the same sources in this process as in the one that asks for it.

    Raises InputError: it has others, or is not installed.
    """
    here = policy_version(name)
    if here != version:
        other = f"the process that sends it work ({version})"
        difference = f"{MISSING}, but in {other}" if here == MISSING else f"of other sources ({here}) than in {other}"
        raise InputError(
            f"worker on {socket.gethostname()}: the policy {name!r} is {difference}: install the same version of its "
            "package everywhere and start the workers again"
        )
