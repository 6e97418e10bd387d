"""What CONTRIBUTING.md says of adding a policy, a metric, a load index, a trace format and an executor is all that it
takes."""

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

TRACE_FORMAT = '''
"""A format of the guide's reader: a line for each job, of its submission and its CPU time [s]."""

from __future__ import annotations

from cluster_abm.workload.traces.format import OpenTrace, TraceFormat
from cluster_abm.workload.traces.parts.fields import CellRule, read_fields
from cluster_abm.workload.traces.parts.units import plain
from cluster_abm.workload.traces.table import Trace, job_frame


def pairs_trace(file: OpenTrace) -> Trace:
    """The trace in such lines."""
    cells = file.cells(between=" ", quoted=False, names=("pair", "submit_s", "cpu_s"))
    fields = read_fields(cells, dict.fromkeys(("submit_s", "cpu_s"), CellRule(plain, "a number")), ())
    jobs = {"arrival_ms": fields.number("submit_s") * 1000.0, "cpu_ms": fields.number("cpu_s") * 1000.0}
    return Trace(file.where, "pairs", len(jobs["cpu_ms"]), job_frame(jobs))


FORMAT = TraceFormat(
    title="pairs",
    row="a job",
    begins="the word pair and two numbers",
    rank=0,
    looks_like=lambda head: head.line.startswith("pair "),
    trace=pairs_trace,
)
'''
EXECUTOR = '''
"""An executor of the guide's reader: in this process, under another name."""

from cluster_abm.study.runner.executors.base import ExecutorKind
from cluster_abm.study.runner.executors.kinds.inline import InlineExecutor

EXECUTOR = ExecutorKind(opens=lambda asked: InlineExecutor())
'''


@pytest.fixture
def package(tmp_path):
    """A copy of the package."""
    shutil.copytree(ROOT / "cluster_abm", tmp_path / "cluster_abm", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "scenarios", tmp_path / "scenarios")
    return tmp_path / "cluster_abm"


@pytest.fixture
def carry_out(package):
    """Carries out a command of the copy; its exit code, stdout and stderr."""
    folder = package.parent

    def call(*words):
        done = subprocess.run(
            [sys.executable, "-m", "cluster_abm", *words], cwd=folder, capture_output=True, text=True,
            env=os.environ | {"PYTHONPATH": str(folder), "CLUSTER_ABM_CACHE_DIR": str(folder / "cache")},
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    return call


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, (path, before)
    path.write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.long
def test_a_policy_a_metric_and_a_load_index_are_added_by_the_guide_alone(package, carry_out, tmp_path):
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
        '           value=lambda run: run.outcomes.mean_of_tasks("cpu") / NS_PER_MS),\n'
        '    Metric("migrations", "1"',
    )
    # A policy: one file.
    (package / "policies" / "least_at_cpu.py").write_text(POLICY.lstrip(), encoding="utf-8")

    def command(*words):
        code, out, err = carry_out(*words)
        assert code == 0, err
        return out

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
    few = ("--policies", "least-at-cpu,none", "--seeds", "2", "--workers", "1")
    compared = command("compare", "cpu-bound", *few, *small, "--json")
    assert json.loads(compared)["policies"]["least-at-cpu"]["mean_task_cpu_ms"] > 0
    (tmp_path / "study.toml").write_text(
        'scenario = "cpu-bound"\npolicies = ["least-at-cpu"]\nreplications = 2\nmeasure = ["mean_task_cpu_ms"]\n'
        'overrides = { "cluster.nodes" = 4, "workload.duration_s" = 20 }\n'
    )
    command("batch", "run", "study.toml", "--out", "study", "--executor", "inline")
    command("batch", "report", "study")
    texts = [path.read_text(encoding="utf-8") for path in (tmp_path / "study" / "report").glob("*.md")]
    assert any("mean_task_cpu_ms" in text or "mean CPU of a task" in text for text in texts)


@pytest.mark.slow
def test_a_trace_format_and_an_executor_are_one_file_each(package, carry_out, tmp_path):
    (package / "workload" / "traces" / "formats" / "pairs.py").write_text(TRACE_FORMAT.lstrip(), encoding="utf-8")
    kinds = package / "study" / "runner" / "executors" / "kinds"
    (kinds / "here.py").write_text(EXECUTOR.lstrip(), encoding="utf-8")
    (tmp_path / "log").write_text("pair 0 1.5\npair 2 2.5\n")
    for options in ([], ["--format", "pairs"]):
        code, out, err = carry_out("trace", "info", "log", *options, "--json")
        assert code == 0, err
        found = json.loads(out)
        assert (found["format"], found["jobs"], found["cpu_s"]["mean"]) == ("pairs", 2, 2.0)
    (tmp_path / "odd").write_text("?\n")
    code, _, err = carry_out("trace", "info", "odd")
    assert (code, "format not recognised" in err) == (2, True)
    code, _, err = carry_out("trace", "info", "log", "--scenario", "replay", "--set", "workload.trace.format=paris")
    assert (code, "'pairs'" in err) == (2, True)
    code, _, err = carry_out("trace", "info", "log", "--scenario", "replay", "--set", "workload.trace.format=pairs")
    assert code == 0, err
    assert "|here|" in carry_out("compare", "--help")[1]
    command = (
        "from cluster_abm.study.runner.executors import open_executor\n"
        "with open_executor('here') as executor: print(executor.submit(abs, -3).result())"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout == "3\n", done.stderr
