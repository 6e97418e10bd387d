"""Sizes without end are refused before anything of them is taken: what they would take is said."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc

import pytest
from support import scenario

from cluster_abm import ClusterModel, limits
from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario
from cluster_abm.study.compare import compare
from cluster_abm.study.design.expansion import expand
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.papers.reproduce import reproduce

HEAD = 'scenario = "quickstart"\npolicies = ["none", "jsq"]\n'
STUDIES = {
    "replications": "replications = 1000000000\n",
    "latin_hypercube": '[latin_hypercube]\nsamples = 1000000000\n"workload.duration_s" = { low = 1, high = 2 }\n',
    "sobol": f'[sensitivity]\nmethod = "sobol"\nsamples = {2**30}\n"workload.duration_s" = {{ low = 1, high = 2 }}\n',
    "morris": '[sensitivity]\nmethod = "morris"\nsamples = 1000000000\n"workload.duration_s" = { low = 1, high = 2 }\n',
    "latin_hypercube of 400 digits": (
        f'[latin_hypercube]\nsamples = 1{"0" * 400}\n"workload.duration_s" = {{ low = 1, high = 2 }}\n'
    ),
    "grid of many keys": "[grid]\n" + "".join(f'"workload.key{number}" = [1, 2]\n' for number in range(1100)),
    "grid": "[grid]\n" + "".join(
        f'"cluster.{key}" = {[float(value) for value in range(1, 1001)]}\n'
        for key in ("memory_mb", "disk_mb_per_s", "cpu_speed", "page_kb")
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_studies(tmp_path, name):
    (tmp_path / "s.toml").write_text(HEAD + STUDIES[name])
    study = load_study(tmp_path / "s.toml")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=r"runs take about [\d,.e+]+ [TPEZ]B of memory; here there are .* fit"):
            expand(study)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20e6


def test_seeds():
    with pytest.raises(InputError, match=r"runs take about .* ZB"):
        reproduce("iolb-table-1", seeds=10**400)
    for refused in (
        lambda: compare(load_scenario("quickstart"), ["none", "jsq"], seeds=999_999_999_999),
        lambda: reproduce("iolb-table-1", seeds=999_999_999_999),
    ):
        with pytest.raises(InputError, match=r"999,999,999,999 seeds of .* runs take about"):
            refused()


@pytest.mark.parametrize("overrides", [
    {"workload.jobs": 50_000_000},
    {"workload.jobs_per_s": 1e6, "workload.duration_s": 80.0},
    {"workload.utilisation": 0.9, "workload.cpu_ms.kind": "fixed", "workload.cpu_ms.mean": 2.0},
    {"workload.jobs": 1000, "workload.tasks.parallel_share": 1.0, "workload.tasks.maximum": 90_000},
    {"workload.arrivals.kind": "bursty", "workload.arrivals.burst_s": 1e-9, "workload.arrivals.quiet_s": 1e-9},
])  # fmt: skip
def test_work(monkeypatch, overrides):
    monkeypatch.setattr(limits, "memory_bytes", lambda: 2e9)
    with pytest.raises(InputError, match=r"take about [\d,.]+ [GT]B of memory; here there are 2 GB, in which about"):
        ClusterModel(load_scenario("cpu-bound", overrides))


def test_an_hour_of_10_000_nodes_fits_into_3_gb(monkeypatch):
    monkeypatch.setattr(limits, "memory_bytes", lambda: 3e9)
    limits.check_jobs("25 million jobs", 25.2e6, 1.0)


def test_jobs_of_closed_users(monkeypatch):
    monkeypatch.setattr(limits, "memory_bytes", lambda: 8e9)
    with pytest.raises(InputError, match=r"jobs_per_user = 10,000,000 of 4 users: 40,000,000 jobs take about"):
        ClusterModel(scenario(workload__arrivals__kind="closed", workload__arrivals__jobs_per_user=10_000_000))


@pytest.mark.slow
def test_processes(monkeypatch):
    monkeypatch.setattr(limits, "memory_bytes", lambda: 8e9)
    with pytest.raises(InputError, match=r"workers = 100,000: 100,000 processes take about"):
        compare(load_scenario("quickstart"), ["none", "jsq"], seeds=60_000, workers=100_000)


def test_processes_that_nothing_asks_for_are_no_more_than_fit(monkeypatch):
    monkeypatch.setattr(limits, "memory_bytes", lambda: 2e9)
    assert limits.checked_workers(None, 16, 100) == 10
    assert limits.checked_workers(None, 16, 3) == limits.checked_workers(7, 16, 3) == 3
    assert limits.checked_workers(7, 2, 100) == 7
    with pytest.raises(InputError, match=r"^workers = 16: 16 processes take about"):
        limits.checked_workers(16, 16, 100)
    monkeypatch.setattr(limits, "memory_bytes", lambda: 1e6)
    assert limits.checked_workers(None, 16, 100) == 1


@pytest.mark.parametrize(("own", "files", "expected"), [
    ("0::/job/step\n", {"job/memory.max": "3e9", "job/step/memory.max": "max"}, [3e9]),
    ("0::/\n", {"memory.max": "2e9"}, [2e9]),
    ("5:cpu:/a\n4:memory:/slurm/job\n", {"memory/slurm/job/memory.limit_in_bytes": "1e9", "cpu/a/memory.max": "5"},
     [1e9]),
    ("not a line\n", {"memory.max": "4e9"}, [4e9]),
    ("", {}, []),
])  # fmt: skip
def test_the_limit_of_a_group_counts_wherever_the_group_is(tmp_path, own, files, expected):
    """As a job of Slurm, a unit of systemd, a container with a view of its own."""
    (tmp_path / "own").write_text(own)
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert limits._limits_of_groups(tmp_path / "groups", tmp_path / "own") == expected


def test_what_fits_is_said_and_fits(monkeypatch):
    monkeypatch.setattr(limits, "memory_bytes", lambda: 1e9)
    limits.check_memory("x", 0.8e9, 10, "things")
    with pytest.raises(InputError, match=r"^x: 20 things take about 1.6 GB of memory; .* 1 GB, in which about 10 fit$"):
        limits.check_memory("x", 1.6e9, 20, "things")


def test_a_limit_of_the_shell_counts():
    tell = "from cluster_abm.limits import memory_bytes; print(memory_bytes())"
    done = subprocess.run(
        f"ulimit -v 2000000; {sys.executable} -c '{tell}'", shell=True, capture_output=True, text=True
    )
    assert float(done.stdout) == 2_000_000 * 1024
    assert limits.memory_bytes() <= os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@pytest.mark.slow
def test_the_command_refuses_at_once(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "cluster_abm", "run", "quickstart", "--json", "--out", "out",
         "--set", "workload.jobs=50000000", "--set", "workload.tasks.maximum=2000000000"],
        cwd=tmp_path, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    said = "error: workload.jobs = 50,000,000: 50,000,000 jobs of 1e+09 tasks in the mean take about 2 EB of memory; "
    assert done.stderr.startswith(said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("text", "said"), [
    ("first_seed = 18446744073709551616\nreplications = 0\n", ["first_seed", "replications"]),
    (f"first_seed = {2**63 - 1}\nreplications = 2\n[grid]\nnodes = [1]\n", ["first_seed", "keys are dotted"]),
    (f"first_seed = {10**30}\n", ["first_seed"]),
])  # fmt: skip
def test_seeds_beyond_64_bits_are_said_with_all_else(tmp_path, text, said):
    (tmp_path / "s.toml").write_text(HEAD + text)
    with pytest.raises(InputError) as caught:
        load_study(tmp_path / "s.toml")
    words = "\n".join(caught.value.problems)
    if "keys are dotted" not in words:
        assert all(one in words for one in said), words


def test_a_comparison_checks_its_last_seed():
    with pytest.raises(InputError, match="a seed must be below 2\\^63"):
        compare(load_scenario("quickstart", {"run.seed": 2**63 - 2}), ["none"], seeds=4)


def test_all_that_is_wrong_with_a_study_is_said_at_once(tmp_path):
    (tmp_path / "s.toml").write_text(
        'scenario = "quickstart"\npolicies = ["nun", "jsq"]\n[overrides]\n"cluster.nodes" = 0\n'
    )
    with pytest.raises(InputError) as caught:
        expand(load_study(tmp_path / "s.toml"))
    words = "\n".join(caught.value.problems)
    assert "'nun'" in words
    assert "cluster.nodes" in words


DEEP = "[" * 3000 + "]" * 3000


@pytest.mark.slow
@pytest.mark.parametrize("value", [DEEP, "{a=" * 2000 + "1" + "}" * 2000, "9" * 5000, "[1]", "x" * 5000, "1979-05-27"])
@pytest.mark.parametrize("key", ["workload.memory_mb.kind", "cluster.nodes", "failures.node.kind", "policy.d"])
def test_values_without_end_are_bad_input(key, value, tmp_path, capfd):
    from cluster_abm.cli import main

    with pytest.raises(SystemExit) as left:
        main(["run", "quickstart", "--policy", "power-of-d", "--set", f"{key}={value}"])
    err = capfd.readouterr().err
    assert left.value.code == 2
    assert "Traceback" not in err
    assert all(len(line) < 1000 for line in err.splitlines())
    section, _, name = key.rpartition(".")
    for load, text in ((load_scenario, f"[{section}]\n{name} = {value}\n"), (load_study, f"{HEAD}x = {value}\n")):
        path = tmp_path / "s.toml"
        path.write_text(text)
        with pytest.raises(InputError):
            load(path) if load is load_study else ClusterModel(load(path))


@pytest.mark.parametrize("name", ["s" * 5000, "a/" * 3000 + "b", "a\0b"])
def test_names_that_no_file_has(name):
    for load in (load_scenario, load_study):
        with pytest.raises(InputError) as caught:
            load(name)
        assert len(str(caught.value)) < 1000


def test_texts_that_no_file_can_hold():
    for key in ("name", "workload.trace.file", "interconnect.file"):
        for text in ("a\0b", "\udcff"):
            with pytest.raises(InputError, match="is no text in UTF-8"):
                load_scenario("replay", {key: text})


def test_unknown_things_are_json_too():
    assert json.loads(json.dumps(limits.in_words(999.0))) == "999 bytes"
