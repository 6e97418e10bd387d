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
"""A policy of the guide's reader: the node whose tasks are youngest."""

from __future__ import annotations

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View


class Youngest(Policy):
    """To the node on which tasks have received least CPU."""

    name = "youngest"
    source = "a test"
    summary = "least CPU received by the tasks of a node"
    index = "received_ms"

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The least received CPU."""
        return Decision(view.least("received_ms"), "youngest", "received_ms")
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
    # A load index: a field, its value, and what serves it.
    edit(
        package / "engine" / "fields.py",
        '    ("oversize", "f8", "1", "memory demand beyond',
        '    ("received_ms", "f8", "ms", "CPU that the tasks on the node have received"),\n'
        '    ("oversize", "f8", "1", "memory demand beyond',
    )
    loads = package / "engine" / "loads.py"
    for before, added in (
        ("        newest_ns, tasks_at_cpu = NEVER, 0\n", "        received_ms = 0.0\n"),
        ("            cpu_ms += remaining_ms\n", "            received_ms += task.cpu_ns / NS_PER_MS\n"),
        ("        load.cpu_queue = float(tasks_at_cpu)\n", "        load.received_ms = received_ms\n"),
    ):
        edit(loads, before, before + added)
    edit(package / "policies" / "capacities.py", "AS_MEASURED = frozenset(\n    [",
         'AS_MEASURED = frozenset(\n    ["received_ms", ')  # fmt: skip
    # A metric: one entry.
    edit(
        package / "results" / "metrics.py",
        '    Metric("migrations", "1"',
        '    Metric("mean_task_cpu_ms", "ms", "mean CPU of a task", better="less",\n'
        '           value=lambda run: float(run.finished["cpu_ns"].mean() / NS_PER_MS)),\n'
        '    Metric("migrations", "1"',
    )
    # A policy: one file.
    (package / "policies" / "youngest.py").write_text(POLICY.lstrip(), encoding="utf-8")

    def command(*words):
        done = subprocess.run(
            [sys.executable, "-m", "cluster_abm", *words], cwd=tmp_path, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path), "CLUSTER_ABM_CACHE_DIR": str(tmp_path / "cache")},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    small = ("--set", "cluster.nodes=4", "--set", "workload.duration_s=20")
    summary = json.loads(command("run", "cpu-bound", "--policy", "youngest", *small, "--out", "out", "--json"))
    assert summary["metrics"]["mean_task_cpu_ms"] > 0
    import pandas as pd

    assert pd.read_parquet(tmp_path / "out" / "nodes.parquet")["load_received_ms"].max() > 0
    compared = command("compare", "cpu-bound", "--policies", "youngest,jsq", "--seeds", "2", *small, "--json")
    assert json.loads(compared)["policies"]["youngest"]["mean_task_cpu_ms"] > 0
    (tmp_path / "study.toml").write_text(
        'scenario = "cpu-bound"\npolicies = ["youngest"]\nreplications = 2\nmeasure = ["mean_task_cpu_ms"]\n'
        'overrides = { "cluster.nodes" = 4, "workload.duration_s" = 20 }\n'
    )
    command("batch", "run", "study.toml", "--out", "study", "--executor", "inline")
    command("batch", "report", "study")
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "study" / "report").glob("*.md")]
    assert any("mean_task_cpu_ms" in text or "mean CPU of a task" in text for text in texts)
