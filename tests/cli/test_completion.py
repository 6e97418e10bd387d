"""What the shell completes: by click's own interface, and in a bash."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from cluster_abm.cli import cluster_abm
from cluster_abm.cli.shell import names
from cluster_abm.cli.shell.completion import FISH_SPLITS, ZSH_ADDS, FishWholeLists, ZshOpenKeys
from cluster_abm.policies import available
from cluster_abm.results.metrics import METRICS
from cluster_abm.scenario import scenario_keys, scenario_names


def completed(line):
    """The words that complete the last one of a line."""
    *words, last = line.split(" ")
    found = ShellComplete(cluster_abm, {}, "cluster-abm", "_CLUSTER_ABM_COMPLETE").get_completions(words, last)
    return [item.value for item in found if item.type == "plain"]


def test_names_read_off_the_sources_are_those_that_there_are():
    assert list(names.policy_summaries()) == list(available())
    assert names.policy_summaries() == {name: policy.summary for name, policy in available().items()}
    parameters = {key for policy in available().values() for key in policy.Parameters.model_fields}
    assert set(names.parameter_names()) == parameters
    named = [metric.name for metric in METRICS if not metric.name.startswith(("breakdown_ms.", "jobs."))]
    assert set(names.metric_names()) == set(named)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("po", ["policies"]),
        ("run quick", ["quickstart"]),
        ("compare iolb-t", ["iolb-table-1", "iolb-table-2"]),
        ("view quick", ["quickstart"]),
        ("view --scene hot", ["hot-spot"]),
        ("scene dy", ["dying-node"]),
        ("plan quick", ["quickstart"]),
        ("trace info x.csv --scenario quick", ["quickstart"]),
        ("scenarios quick", ["quickstart"]),
        ("policies iolb", ["iolb", "iolb-net", "iolb-pm"]),
        ("run quickstart --policy mlb", ["mlb"]),
        ("compare quickstart --policies jsq,iolb,iolb", ["jsq,iolb,iolb-net", "jsq,iolb,iolb-pm"]),
        ("arena --policies mlb,clb,c", ["mlb,clb," + name for name in (
            "central-queue", "cm-pm", "cm-re", "combined", "conservative", "contract-net", "cpu-based")]),
        ("run quickstart --set cluster.nod", ["cluster.nodes="]),
        ("run quickstart --set policy.probe_r", ["policy.probe_ratio="]),
        ("run quickstart --set negotiation.mode=p", ["negotiation.mode=papers"]),
        ("run quickstart --set cluster.remote_memory=", ["cluster.remote_memory=true", "cluster.remote_memory=false"]),
        ("run quickstart --set policy.name=mlb", ["policy.name=mlb"]),
        ("run quickstart --set cluster.hardware=ssd", ["cluster.hardware=ssd-2015"]),
        ("run quickstart --set cluster.nodes=", []),
        ("tune quickstart --over cluster.nod", ["cluster.nodes="]),
        ("plan quickstart --over cluster.nod", ["cluster.nodes"]),
        ("tune quickstart --metric mean_r", ["mean_response_ms"]),
        ("plan quickstart --need p95", ["p95_slowdown"]),
        ("batch run qui", ["quick-study"]),
        ("reproduce lmip-d", ["lmip-data", "lmip-data-amount"]),
        ("hardware nv", ["nvme-2024"]),
        ("completion b", ["bash"]),
    ],
)  # fmt: skip
def test_completed(line, expected):
    assert completed(line) == expected


@pytest.mark.parametrize(("words", "matching"), [
    (["run"], "quick"), (["batch", "run"], "quick"), (["hardware"], "nv"), (["run", "x", "--policy"], "mlb"),
    (["compare", "x", "--policies"], "mlb"),
])  # fmt: skip
def test_where_no_name_fits_any_file_is_offered(words, matching):
    def kinds(last):
        found = ShellComplete(cluster_abm, {}, "cluster-abm", "_CLUSTER_ABM_COMPLETE").get_completions(words, last)
        return {item.type for item in found}

    assert kinds(matching) == {"plain"}
    assert kinds("my/fil") == {"file"}


def test_after_a_comma_there_are_policies_only():
    found = ShellComplete(cluster_abm, {}, "cluster-abm", "_CLUSTER_ABM_COMPLETE")
    assert found.get_completions(["compare", "x", "--policies"], "mlb,my/fil") == []


def test_all_of_a_kind_are_offered():
    assert set(scenario_names()) <= set(completed("run "))
    assert {f"{entry['key']}=" for entry in scenario_keys()} <= set(completed("run x --set "))


def test_a_scenario_of_ones_own_is_offered(tmp_path, monkeypatch):
    (tmp_path / "queue-of-mine.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    assert completed("run queue") == ["queue-of-mine.toml"]


@pytest.mark.slow
@pytest.mark.parametrize("line", ["", "run qui", "policies i", "run x --set cluster.nod", "tune x --metric m"])
def test_nothing_heavy_is_imported(line, tmp_path):
    """Imports, not seconds: which of them are slow does not depend on the machine."""
    environment = {**os.environ, "COMP_LINE": f"cluster-abm {line}", "_CLUSTER_ABM_COMPLETE": "bash_complete"}
    script = (
        "import sys, atexit\n"
        "atexit.register(lambda: print('heavy', *sorted({'numpy', 'numba', 'mesa', 'pandas'} & set(sys.modules))))\n"
        "from cluster_abm.cli import main\nmain([])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    *found, heavy = done.stdout.splitlines()
    assert found
    assert heavy == "heavy"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_names_the_command_and_the_variable(cli, shell):
    code, out, err = cli("completion", shell)
    assert (code, err) == (0, "")
    assert "_CLUSTER_ABM_COMPLETE=" in out
    assert "cluster-abm" in out


def prepared(cli, folder, shell):
    """A shell's script in a folder, and the environment in which cluster-abm is this clone's."""
    (folder / "script").write_text(cli("completion", shell)[1])
    program = folder / "bin" / "cluster-abm"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cluster_abm "$@"\n')
    program.chmod(0o755)
    root = str(Path(__file__).parents[2])
    return {
        **os.environ,
        "PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")])),
    }


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cluster-abm run quick", ["quickstart"]),
        # Bash takes what follows `=` for a word of its own.
        ("cluster-abm run quickstart --set negotiation.mode=p", ["papers"]),
        ("cluster-abm run quickstart --set negotiation.mode=", ["papers", "negotiated", "head-node"]),
        ("cluster-abm run quickstart --set cluster.nod", ["cluster.nodes="]),
        ("cluster-abm compare quickstart --policies jsq,mlb", ["jsq,mlb"]),
        ("cluster-abm policies iolb-", ["iolb-net", "iolb-pm"]),
    ],
)
def test_in_a_bash(cli, tmp_path, line, expected):
    environment = prepared(cli, tmp_path, "bash")
    words = line.replace("=", " = ").split(" ")
    script = (
        f"source {tmp_path / 'script'}\n"
        "compopt() { :; }\n"
        f'COMP_LINE="{line}"; COMP_POINT=${{#COMP_LINE}}\n'
        f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}\n"
        "_cluster_abm_completion cluster-abm\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.split() == expected


def test_click_has_the_lines_that_are_changed():
    assert FISH_SPLITS[1] in FishWholeLists.source_template
    for _, after in ZSH_ADDS:
        assert after in ZshOpenKeys.source_template


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cluster-abm compare quickstart --policies none,jsq", ["none,jsq", "none,jsq-memory"]),
        ("cluster-abm run quickstart --policy mlb", [f"mlb\t{available()['mlb'].summary}"]),
        ("cluster-abm run quickstart --set cluster.nod", ["cluster.nodes=\tnumber of nodes"]),
    ],
)
def test_in_a_fish(cli, tmp_path, line, expected):
    environment = prepared(cli, tmp_path, "fish")
    script = f'source {tmp_path / "script"}; complete -C "{line}"'
    done = subprocess.run(["fish", "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == expected


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_reads_its_script(cli, tmp_path):
    (tmp_path / "script").write_text(cli("completion", "zsh")[1])
    done = subprocess.run(["zsh", "-n", tmp_path / "script"], capture_output=True, text=True, check=True)
    assert done.stderr == ""
