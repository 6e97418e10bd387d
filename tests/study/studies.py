"""What the tests of studies share: a cluster so small that a run takes some milliseconds, and studies of it."""

from __future__ import annotations

from pathlib import Path

import tomli_w

from cluster_abm.study.design.study_file import Study, load_study

SCENARIO = {"cluster": {"nodes": 2}, "workload": {"utilisation": 0.5, "duration_s": 2.0, "cpu_ms": {"mean": 100.0}}}


def study_path(folder: Path, **changes: object) -> Path:
    """A study file of 2 points, 2 policies and 3 seeds, but for the changes (None: left out), beside its scenario."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tiny-cluster.toml").write_text(tomli_w.dumps(SCENARIO), encoding="utf-8")
    study = {
        "scenario": "tiny-cluster.toml",
        "policies": ["none", "jsq"],
        "replications": 3,
        "grid": {"workload.utilisation": [0.3, 0.6]},
    } | changes
    path = folder / "tiny.toml"
    path.write_text(tomli_w.dumps({key: value for key, value in study.items() if value is not None}), encoding="utf-8")
    return path


def study(folder: Path, **changes: object) -> Study:
    """The same, loaded."""
    return load_study(study_path(folder, **changes))
