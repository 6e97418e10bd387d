"""On which nodes copies of files lie at the moment."""

from __future__ import annotations

from cluster_abm.engine.state import EngineState
from cluster_abm.engine.tables import FREE, IN_TRANSIT
from cluster_abm.model.moving.staging import Staging


def copies_by_node(staging: Staging | None, engine: EngineState) -> tuple[tuple[str, ...], ...]:
    """Names of the files of which each node has a copy now, in the order of the files; none where there are no files.

    These are the copies of the catalogue, which outlive a failure of their node, and those that tasks on the node have
    fetched for themselves: such a copy is there from the task's start to its end, or until it leaves. What is on its
    way is nowhere yet.
    """
    if staging is None:
        return ((),) * len(engine.nodes)
    fetched: dict[int, set[int]] = {}
    tasks = engine.tasks
    here = (tasks["state"] != FREE) & (tasks["state"] != IN_TRANSIT) & (tasks["job"] >= 0)
    for job, node in {*zip(tasks["job"][here].tolist(), tasks["node"][here].tolist(), strict=True)}:
        fetched.setdefault(node, set()).update(staging.files_of(job))
    files = (held | fetched.get(node, set()) for node, held in enumerate(staging.held))
    return tuple(tuple(staging.names[file] for file in sorted(held)) for held in files)
