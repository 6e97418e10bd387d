"""The cache of compiled kernels is named by all that their code can come from, and by nothing else."""

import importlib
import inspect
import os
import pkgutil
import time
from pathlib import Path

from support import busy, scenario

import cluster_abm
from cluster_abm import ClusterModel, jit
from cluster_abm.engine.loads import measure
from cluster_abm.jit import kernel_sources


def test_all_that_a_kernel_calls_is_among_the_sources():
    sources = set(kernel_sources())
    kernels, calls = 0, set()
    for found in pkgutil.walk_packages(cluster_abm.__path__, "cluster_abm."):
        if found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        compiled = [value.py_func for value in vars(module).values() if hasattr(value, "py_func")]
        kernels += len(compiled)
        for function in compiled:
            for name in function.__code__.co_names:
                value = function.__globals__.get(name)
                callee = getattr(value, "py_func", value)
                if inspect.isfunction(callee) and callee.__module__.startswith("cluster_abm"):
                    calls.add(Path(inspect.getfile(callee)).resolve())
            calls.add(Path(inspect.getfile(function)).resolve())
    assert kernels > 60
    assert calls <= sources


def test_the_entry_of_a_kernel_does_what_the_kernel_does():
    model = ClusterModel(scenario(**busy()), seed=1)
    model.run(until_ms=5000)
    engine = model.engine
    by_entry, by_kernel = engine.empty_loads(), engine.empty_loads()
    engine.measure(model.now_ns, by_entry)
    measure(engine.nodes, engine.tasks, model.now_ns, by_kernel, 0, len(by_kernel), engine.effective_rates)
    assert by_entry["tasks"].sum() > 0
    assert by_entry.tobytes() == by_kernel.tobytes()


def test_an_edited_policy_or_command_compiles_nothing_anew():
    names = {path.as_posix().split("cluster_abm/")[-1] for path in kernel_sources()}
    assert not names & {"policies/jsq.py", "model/model.py", "cli/run.py", "workload/jobs.py", "results/style.py"}


def test_caches_that_no_process_uses_any_more_go(tmp_path):
    """Each edit of a kernel leaves a folder."""
    now = time.time()
    ages_days = {f"{number:016x}": days for number, days in enumerate([0, 0.5, 2, 3, 4, 5, 0.1])}
    for name, days in ages_days.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "kernel.nbi").write_text("x")
        os.utime(tmp_path / name, (now - days * 86_400,) * 2)
    (tmp_path / "of another program").mkdir()
    jit._prune(tmp_path / f"{0:016x}")
    left = {path.name for path in tmp_path.iterdir()}
    # The one in use, the three used last, and what is not ours.
    assert left == {f"{number:016x}" for number in (0, 6, 1, 2)} | {"of another program"}


def test_an_installation_is_told_from_one_elsewhere_and_from_one_made_anew(tmp_path, monkeypatch):
    def told(path):
        monkeypatch.setattr(jit, "kernel_sources", lambda: [path])
        return jit.installation_hash.__wrapped__()

    here, there = tmp_path / "here.py", tmp_path / "there.py"
    for path in (here, there):
        path.write_text("x = 1\n")
        os.utime(path, (1e9, 1e9))
    first = told(here)
    assert told(here) == first
    assert told(there) != first
    os.utime(here, (1e9, 2e9))
    assert told(here) != first
