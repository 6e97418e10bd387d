"""`validate` as a user meets it: it asks, keeps its time, writes what it says, and leaves nothing behind.

No test looks at a measured error: the machine may be busy with other tests.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from cluster_abm.cli.studies import validate as command
from cluster_abm.validation import validate as module
from cluster_abm.validation.crew import WORKER
from cluster_abm.validation.machine import missing_features
from cluster_abm.validation.report import text

linux = pytest.mark.skipif(bool(missing_features()), reason="needs Linux")
# Beyond --seconds: interpreter, imports, and a machine that is busy with other tests.
GRACE_S = 20


def test_it_does_not_begin_unasked(cli, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    code, out, err = cli("validate", "--out", "a")
    assert code == 2
    assert out == ""
    assert "give it --yes" in err
    assert "write a file of 256 MB in a" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("answer", "measures"), [("y\n", True), ("n\n", False)])
def test_it_asks_on_a_terminal(cli, monkeypatch, answer, measures):
    asked = []
    monkeypatch.setattr(command.sys, "stdin", type("Terminal", (), {"isatty": lambda _: True})())
    monkeypatch.setattr(command.click, "confirm", lambda words, err: asked.append((words, err)) or answer == "y\n")
    called = []

    def validate(parts, *_):
        called.append(parts)
        return module.Validation(module.machine(), tuple(parts), 1, 300.0)

    monkeypatch.setattr(module, "validate", validate)
    code, out, err = cli("validate", "--json", "--memory", "--parts", "disk,cpu")
    assert code == 0
    # On stderr: stdout is the document's.
    assert asked == [("Go on?", True)]
    assert called == ([["cpu", "disk", "memory"]] if measures else [])
    assert (json.loads(out)["cpu"]["verdict"] == "inconclusive") if measures else (out == "")
    assert ("nothing was measured" in err) is not measures


def test_without_json_the_document_is_told_in_words_and_warnings_go_to_stderr(cli, monkeypatch):
    found = module.Validation(module.machine(), ("cpu",), 1, 300.0)
    found.warnings.append("the machine was busy")
    monkeypatch.setattr(module, "validate", lambda *_: found)
    code, out, err = cli("validate", "--yes", "--parts", "cpu")
    assert (code, out) == (0, text(found.document()) + "\n")
    assert "inconclusive" in out
    assert "warning: the machine was busy\n" in err


@pytest.mark.parametrize(("arguments", "words"), [
    (["--parts", "cpu,memroy"], "'cpu,memroy'"), (["--parts", ""], "allowed are cpu, mixed, disk, memory"),
    (["--seconds", "1"], "10"), (["--seconds", "nan"], ""), (["--out", ""], "is no path"),
])  # fmt: skip
def test_bad_input(cli, arguments, words):
    code, out, err = cli("validate", "--yes", *arguments)
    assert code == 2
    assert out == ""
    assert words in err


def test_a_system_that_lacks_what_is_needed(cli, tmp_path, monkeypatch):
    """As macOS does."""
    monkeypatch.setattr(module, "missing_features", lambda: ["sched_setaffinity", "/proc/stat"])
    monkeypatch.setattr(module, "not_possible", lambda _: "this system has no posix_fadvise")
    code, out, err = cli("validate", "--yes", "--memory", "--out", "a")
    assert code == 0, err
    assert "Linux" in out or out
    assert "cpu: not possible here: this system has no sched_setaffinity, /proc/stat" in err
    assert "disk: not measured: this system has no posix_fadvise" in err
    assert {path.name for path in (tmp_path / "a").iterdir()} == {"validation.json", "MACHINE.md"}
    document = json.loads((tmp_path / "a" / "validation.json").read_text())
    assert len(document["warnings"]) == 4
    assert document["cpu"]["verdict"] == document["mixed"]["verdict"] == "inconclusive"


def test_a_part_without_a_response_in_time_has_no_caption():
    none = {"median_error": None, "p90_error": None, "verdict": "inconclusive"}
    some = {"median_error": 0.021, "p90_error": 0.094, "verdict": "outside the goal"}
    assert command.captions_of({"cpu": none, "mixed": some}) == {
        "mixed": "median error 2.1%, 90 % below 9.4%: outside the goal"
    }
    assert command.captions_of({"cpu": None, "mixed": None}) == {}


def workers_of(session):
    """Numbers of the workers that live in a session."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            state, _, _, its_session, *_ = (path / "stat").read_text().rpartition(")")[2].split()
            is_worker = str(WORKER).encode() in (path / "cmdline").read_bytes()
        except OSError:
            continue
        if is_worker and int(its_session) == session and state != "Z":
            found.append(int(path.name))
    return found


@linux
@pytest.mark.slow
def test_a_short_one(tmp_path):
    from cluster_abm.validation.validate import _get_ready

    _get_ready()  # compiles, if need be
    begun = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", "cluster_abm", "validate", "--yes", "--seconds", "15", "--out", "a", "--json"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    assert time.monotonic() - begun < 15 + GRACE_S
    assert workers_of(process.pid) == []
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    document = json.loads(out)
    assert out == (tmp_path / "a" / "validation.json").read_text()
    assert document["took_s"] < 15 + GRACE_S
    assert {"machine", "cpu", "mixed", "disk", "warnings"} <= document.keys()
    for part in ("cpu", "mixed"):
        one = document[part]
        assert one["verdict"] in ("within the goal", "outside the goal", "inconclusive")
        assert bool(one["reasons"]) == (one["verdict"] == "inconclusive")
        if one["responses"]:
            assert one["ci95"][0] <= one["median_error"] <= one["ci95"][1]
            table = pd.read_csv(tmp_path / "a" / "responses.csv")
            assert (table["part"] == part).sum() == one["responses"]
            assert (table[["measured_ms", "predicted_ms", "demand_ms"]] > 0).all(axis=None)
            assert (tmp_path / "a" / "validation.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "a" / "MACHINE.md").read_text().startswith("# ")


@linux
@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_a_signal_leaves_nothing_behind(tmp_path, number, code):
    with subprocess.Popen(
        [sys.executable, "-m", "cluster_abm", "validate", "--yes", "--seconds", "120", "--out", "a/b"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    ) as process:  # fmt: skip
        deadline = time.monotonic() + 240
        while len(workers_of(process.pid)) < 6:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.02)
        # In the middle of a set.
        time.sleep(1.0)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert out == ""
    if number != signal.SIGKILL:
        assert err.rstrip().endswith("interrupted")
        assert list(tmp_path.iterdir()) == []
    deadline = time.monotonic() + 10
    while workers_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert workers_of(process.pid) == []
