"""The load indices as names: `view.least(load.tasks)` is `view.least("tasks")`, and a misspelt one is found at once.

from cluster_abm import load
"""

from __future__ import annotations

from typing import Final

from cluster_abm.engine.fields import LOAD_INDICES
from cluster_abm.scenario import nearest

NAMES: Final = [index.name for index in LOAD_INDICES]
globals().update(zip(NAMES, NAMES, strict=True))
__doc__ += "\n".join(["", *(f"{index.name}: {index.meaning} [{index.unit}]" for index in LOAD_INDICES)])


def unknown_index(name: str) -> str:
    """What to say of a name that no load index has."""
    return f"no load index {name!r:.100}; {nearest(str(name)[:100], NAMES)}"


def __getattr__(name: str) -> str:
    raise AttributeError(unknown_index(name))
