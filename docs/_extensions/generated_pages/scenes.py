"""What a guided scene may hold: its keys, and what placeholders can name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from cluster_abm.scenes import GuidedScene, Step
from cluster_abm.scenes.quantities import MOVE_QUANTITIES, NODE, RUN, TASK

from .markdown import code, escaped, table


def keys_of(section: str) -> str:
    """The keys of a scene (`scene`), or of a step (`step`), with their meanings."""
    kind: type[BaseModel] = GuidedScene if section == "scene" else Step
    rows = [
        (code(name), "yes" if field.is_required() else "", escaped(" ".join((field.description or "").split())))
        for name, field in kind.model_fields.items()
    ]
    return table(["key", "needed", "meaning"], rows)


def placeholders(of: str) -> str:
    """What can be said of a run, a node, a move or a task."""
    tables: Mapping[str, tuple[str, Mapping[str, tuple[Any, str]]]] = {
        "run": ("none.{}", RUN), "node": ("none.{}[16]", NODE), "move": ("move.{}", MOVE_QUANTITIES),
        "task": ("task.{}", TASK),
    }  # fmt: skip
    written, quantities = tables[of]
    rows = [(code("{" + written.format(name) + "}"), escaped(words)) for name, (_, words) in quantities.items()]
    return table(["placeholder", "what it is"], rows)
