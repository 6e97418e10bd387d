"""Results are on the disk before anything is said of them; stdout that fails is told as that; no folder stays empty."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from support import install_policies

SMALL = ["--set", "workload.duration_s=15", "--set", "cluster.nodes=2"]
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")


def command(*arguments):
    return [sys.executable, "-m", "cluster_abm", *map(str, arguments)]


FEW_PICTURES = ["--size", "640x360", "--to", "1"]
COMPARE = ["compare", "quickstart", *SMALL, "--policies", "none,jsq", "--seeds", 1, "--workers", 1, "--out", "out"]


@pytest.mark.parametrize(("words", "kept"), [
    pytest.param(["run", "quickstart", *SMALL, "--json", "--out", "out"], ["summary.json", "jobs.parquet", "run.png"],
                 marks=pytest.mark.slow),
    pytest.param(["run", "quickstart", *SMALL, "--out", "out"], ["summary.json", "jobs.parquet", "run.png"],
                 marks=pytest.mark.slow),
    pytest.param(["run", "quickstart", *SMALL, "--animate", "out/film.gif", *FEW_PICTURES, "--out", "out"],
                 ["summary.json", "film.gif"], marks=pytest.mark.slow),
    pytest.param(COMPARE, ["summary.json", "runs.parquet", "compare.png"], marks=pytest.mark.slow),
    pytest.param([*COMPARE, "--json"], ["summary.json", "runs.parquet", "compare.png"], marks=pytest.mark.slow),
    pytest.param(["reproduce", "memory-centric-fig1", "--quick", "--workers", 1, "--out", "out"],
                 ["memory-centric-fig1.json"], marks=pytest.mark.slow),
])  # fmt: skip
@needs_full
def test_a_full_disk_under_stdout_loses_nothing(tmp_path, warm_command, words, kept):
    with FULL.open("w") as stdout:
        done = subprocess.run(
            [*warm_command, *map(str, words)], cwd=tmp_path, stdout=stdout, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 2, done.stderr
    assert "error: stdout could not be written: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    assert set(kept) <= {path.name for path in (tmp_path / "out").iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [["policies"], ["--help"], COMPARE, [*COMPARE, "--json"], ["scenarios", "--keys"]]
)  # fmt: skip
def test_a_reader_that_has_enough_is_no_failure(tmp_path, warm_command, words):
    # What Python itself does with a closed stdout at its end is seen at those that do little.
    before = warm_command if words[0] == "compare" else command()
    with subprocess.Popen(
        [*before, *map(str, words)], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        # Gone before the first word.
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 0, err
    assert "Traceback" not in err
    assert "fault" not in err
    if words[0] == "compare":
        assert json.loads((tmp_path / "out" / "summary.json").read_text())["seeds"] == [1]


FAULTY = """
from cluster_abm.policies import Policy

class Faulty(Policy):
    name = "faulty"
    source = "a test"
    summary = "returns nothing"

    def place(self, task, view):
        return None
"""


@pytest.mark.parametrize("words", [
    ["compare", "quickstart", *SMALL, "--policies", "jsq,faulty", "--seeds", 1, "--workers", 1],
    ["batch", "run", "study.toml", "--out", "out", "--executor", "inline"],
])  # fmt: skip
@pytest.mark.slow
def test_a_reader_that_has_enough_hides_no_failure(tmp_path, words):
    install_policies(tmp_path, "faulty", FAULTY)
    (tmp_path / "study.toml").write_text(
        'scenario = "quickstart"\npolicies = ["jsq", "faulty"]\nreplications = 1\n'
        'overrides = { "workload.duration_s" = 15, "cluster.nodes" = 2 }\n'
    )
    root = Path(__file__).parents[2]
    with subprocess.Popen(
        command(*words), cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(tmp_path)])},
    ) as process:  # fmt: skip
        process.stdout.close()
        err = process.stderr.read()
    assert process.returncode == 2, err
    assert "policy 'faulty': place returned None" in err


@needs_full
def test_help_on_a_full_disk(tmp_path):
    with FULL.open("w") as stdout:
        done = subprocess.run(command("--help"), stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "Exception ignored" not in done.stderr


@pytest.mark.slow
@needs_full
def test_a_full_disk_under_stderr_changes_no_exit_code(tmp_path):
    with FULL.open("w") as stderr:
        done = subprocess.run(command("run", "nothing"), stdout=subprocess.PIPE, stderr=stderr)
    assert done.returncode == 2


@pytest.mark.slow
def test_a_closed_stdout_is_told(tmp_path):
    words = " ".join(command("run", "quickstart", *SMALL, "--json", "--out", "out"))
    done = subprocess.run(f"{words} >&-", shell=True, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "error: stdout could not be written: it is closed" in done.stderr
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.parametrize("words", [
    ["run", "quickstart", "--set", "policy.nonsense=1", "--out", "deep/er/out"],
    ["run", "quickstart", "--set", "workload.trace.file=no.csv", "--out", "deep/er/out"],
    ["run", "quickstart", "--animate", "film.txt", "--out", "deep/er/out"],
    ["run", "quickstart", "--set", "interconnect.file=no.graphml", "--out", "deep/er/out"],
    ["compare", "quickstart", "--set", "interconnect.file=no.graphml", "--out", "deep/er/out"],
    ["compare", "quickstart", "--set", "interconnect.file=no.graphml"],
    ["compare", "quickstart", "--seeds", "999999999999"],
    ["reproduce", "iolb-table-1", "--trace", "no.csv", "--out", "deep/er/out"],
    ["reproduce", "iolb-table-1", "--seeds", "999999999999"],
    ["batch", "run", "study.toml", "--out", "deep/er/out", "--executor", "inline"],
])  # fmt: skip
def test_a_failed_command_leaves_no_empty_folder(cli, tmp_path, words):
    (tmp_path / "study.toml").write_text('scenario = "quickstart"\npolicies = ["jsq"]\nmeasure = ["nonsense"]\n')
    code, out, err = cli(*words)
    assert code == 2, err
    assert out == ""
    assert {path.name for path in tmp_path.iterdir()} == {"study.toml"}


def test_what_was_there_before_stays(cli, tmp_path):
    (tmp_path / "mine" / "empty").mkdir(parents=True)
    assert cli("run", "quickstart", "--set", "policy.nonsense=1", "--out", "mine/empty/out")[0] == 2
    assert (tmp_path / "mine" / "empty").is_dir()
    assert not (tmp_path / "mine" / "empty" / "out").exists()


@pytest.mark.parametrize("words", [
    ["run", "quickstart", "--out", ""],
    ["run", "quickstart", "--animate", ""],
    ["run", "replay", "--trace", ""],
    ["compare", "quickstart", "--out", ""],
    ["reproduce", "iolb-table-1", "--out", ""],
    ["batch", "run", "quick-study", "--out", ""],
    ["batch", "status", ""],
    ["batch", "report", ""],
    ["batch", "report", "x", "--out", ""],
    ["trace", "info", ""],
    ["trace", "convert", "x.csv", ""],
])  # fmt: skip
def test_an_empty_path_is_none(cli, tmp_path, words):
    """`--out "$UNSET"` would write into the current folder."""
    code, out, err = cli(*words)
    assert code == 2
    assert "is no path" in err
    assert out == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_name_does_not_lead_out_of_the_folder(cli, tmp_path):
    (tmp_path / "s.toml").write_text('name = "../../evil/$\\\\frac{a}$"\n[workload]\nutilisation = 0.5\n')
    code, _, err = cli("compare", "s.toml", *SMALL, "--policies", "none", "--seeds", 1)
    assert code == 0, err
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["compare-evil-frac-a"]
    assert (tmp_path / "out" / "compare-evil-frac-a" / "compare.png").exists()


@pytest.mark.slow
def test_names_that_a_terminal_cannot_show(tmp_path):
    (tmp_path / "s.toml").write_text('name = "é 日本"\n[workload]\nutilisation = 0.5\n', encoding="utf-8")
    done = subprocess.run(
        command("run", "s.toml", *SMALL, "--out", "out"), cwd=tmp_path, capture_output=True,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert b"Warning" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", [
    [b"run", b"\xff.toml"], [b"trace", b"info", b"\xff.csv"], [b"run", b"quickstart", b"--set", b"name=\xff"],
    [b"run", b"quickstart", b"--out", b"\xff"],
])  # fmt: skip
def test_arguments_are_text(tmp_path, words):
    done = subprocess.run([sys.executable, "-m", "cluster_abm", *words], cwd=tmp_path, capture_output=True)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: ")
    assert b"no text in UTF-8" in done.stderr


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_is_told(tmp_path):
    """EFBIG, as of `ulimit -f`."""
    words = " ".join(command("batch", "run", "quick-study", "--executor", "inline", "--out", "out"))
    done = subprocess.run(f"ulimit -f 1; {words}", shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2, done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_without_compiled_code_nothing_runs_and_one_line_says_so(tmp_path):
    done = subprocess.run(
        command("run", "quickstart"), capture_output=True, text=True, env=os.environ | {"NUMBA_DISABLE_JIT": "1"}
    )
    assert done.returncode == 2
    assert done.stderr == "error: NUMBA_DISABLE_JIT is set: cluster_abm runs compiled only; unset it\n"
    # Numba reads this file of the current folder, too.
    (tmp_path / ".numba_config.yaml").write_text("disable_jit: 1\n")
    done = subprocess.run(command("run", "quickstart"), capture_output=True, text=True, cwd=tmp_path)
    if importlib.util.find_spec("yaml"):
        assert done.returncode == 2
        assert done.stderr == (
            "error: disable_jit in .numba_config.yaml is set: cluster_abm runs compiled only; unset it\n"
        )
