"""Scenarios whose jobs are in a file that a test writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import scenario

from cluster_abm import Scenario


def scenario_of(folder: Path, text: str, trace: dict[str, Any] | None = None, **more: Any) -> Scenario:
    """Write a trace to a folder, and make a scenario of it; `trace` has further keys of workload.trace."""
    path = folder / "jobs.csv"
    path.write_text(text)
    return scenario(workload={"kind": "trace", "trace": {"file": str(path)} | (trace or {})}, **more)
