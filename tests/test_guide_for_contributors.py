"""What CONTRIBUTING.md says of adding a policy, a metric and a load index is all that it takes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import cluster_abm

ROOT = Path(cluster_abm.__file__).parents[1]

POLICY = '''
"""A policy of the guide's reader: the node of the smallest share of tasks at the CPU."""

from __future__ import annotations

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View


class LeastAtCpu(Policy):
    """To the node of the smallest share of tasks at the CPU."""

    name = "least-at-cpu"
    source = "a test"
    summary = "the smallest share of tasks at the CPU"
    index = "cpu_share"

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The smallest share."""
        return Decision(view.least("cpu_share"), "least at CPU", "cpu_share")
'''


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, (path, before)
    path.write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.slow
def test_a_policy_a_metric_and_a_load_index_are_added_by_the_guide_alone(tmp_path):
    shutil.copytree(ROOT / "cluster_abm", tmp_path / "cluster_abm", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    package = tmp_path / "cluster_abm"
    # A load index: a row, and its value. It is a share: the whole pool has it as each node does.
    edit(
        package / "engine" / "fields.py",
        '    LoadIndex("oversize", "f8"',
        '    LoadIndex("cpu_share", "f8", "1", "share of the tasks that are at the CPU", AS_MEASURED, ALIKE),\n'
        '    LoadIndex("oversize", "f8"',
    )
    value = "        load.cpu_share = tasks_at_cpu / load.tasks if load.tasks > 0.0 else 0.0\n"
    queue = "        load.cpu_queue = float(tasks_at_cpu)\n"
    edit(package / "engine" / "loads.py", queue, queue + value)
    # A metric: one entry.
    edit(
        package / "results" / "metrics.py",
        '    Metric("migrations", "1"',
        '    Metric("mean_task_cpu_ms", "ms", "mean CPU of a task", better="less",\n'
        '           value=lambda run: float(run.finished["cpu_ns"].mean() / NS_PER_MS)),\n'
        '    Metric("migrations", "1"',
    )
    # A policy: one file.
    (package / "policies" / "least_at_cpu.py").write_text(POLICY.lstrip(), encoding="utf-8")

    def command(*words):
        done = subprocess.run(
            [sys.executable, "-m", "cluster_abm", *words], cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path), "CLUSTER_ABM_CACHE_DIR": str(tmp_path / "cache")},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    small = ("--set", "cluster.nodes=4", "--set", "workload.duration_s=20")
    summary = json.loads(command("run", "cpu-bound", "--policy", "least-at-cpu", *small, "--out", "out", "--json"))
    assert summary["metrics"]["mean_task_cpu_ms"] > 0
    import pandas as pd

    assert 0 < pd.read_parquet(tmp_path / "out" / "nodes.parquet")["load_cpu_share"].max() <= 1
    # Tasks without I/O are always at the CPU: their share is 1 in the pool, and not 1 over the number of nodes.
    command("run", "cpu-bound", "--policy", "pooled", *small, "--out", "pool")
    assert set(pd.read_parquet(tmp_path / "pool" / "nodes.parquet")["load_cpu_share"]) == {0.0, 1.0}
    changed = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if not (ROOT / (relative := path.relative_to(tmp_path))).is_file()
        or path.read_bytes() != (ROOT / relative).read_bytes()
    }
    assert changed == {"engine/fields.py", "engine/loads.py", "results/metrics.py", "policies/least_at_cpu.py"}
    compared = command("compare", "cpu-bound", "--policies", "least-at-cpu,jsq", "--seeds", "2", *small, "--json")
    assert json.loads(compared)["policies"]["least-at-cpu"]["mean_task_cpu_ms"] > 0
    (tmp_path / "study.toml").write_text(
        'scenario = "cpu-bound"\npolicies = ["least-at-cpu"]\nreplications = 2\nmeasure = ["mean_task_cpu_ms"]\n'
        'overrides = { "cluster.nodes" = 4, "workload.duration_s" = 20 }\n'
    )
    command("batch", "run", "study.toml", "--out", "study", "--executor", "inline")
    command("batch", "report", "study")
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "study" / "report").glob("*.md")]
    assert any("mean_task_cpu_ms" in text or "mean CPU of a task" in text for text in texts)
