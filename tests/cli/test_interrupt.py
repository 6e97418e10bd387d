"""Ctrl-C, as a terminal gives it to a group of processes: what is finished is kept, no process is left behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path

import pandas as pd
import pytest
from support import install_policies

pytestmark = [
    pytest.mark.usefixtures("ctrl_c"),
    pytest.mark.skipif(
        not (hasattr(os, "openpty") and Path("/proc/self/stat").exists()), reason="needs terminals and /proc"
    ),
]
# Waits end long before, unless kernels are compiled meanwhile on a slow machine.
PATIENCE_S = 240


class Started:
    """A command in its own group of processes, its stderr a terminal, so that its progress can be seen."""

    def __init__(self, arguments, folder):
        import termios  # only where there are terminals

        master, terminal = os.openpty()
        termios.tcsetwinsize(terminal, (24, 120))  # a bar needs room
        shown = {name: value for name, value in os.environ.items() if name != "CLUSTER_ABM_PROGRESS"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cluster_abm", *arguments], env=shown,
            cwd=folder, stdout=subprocess.PIPE, stderr=terminal, text=True, start_new_session=True,
        )  # fmt: skip
        os.close(terminal)
        self.err = ""
        self._reader = threading.Thread(target=self._read, args=(master,), daemon=True)
        self._reader.start()

    def _read(self, master):
        try:
            while data := os.read(master, 65536):
                self.err += data.decode(errors="replace")
        except OSError:
            # So Linux says that the last process at the other end has closed it.
            pass
        finally:
            os.close(master)

    def wait_until(self, seen):
        """Wait until `seen(self)`; the command must not end before."""
        deadline = time.monotonic() + PATIENCE_S
        while not seen(self):
            assert self.process.poll() is None, f"ended too early: {self.err}"
            assert time.monotonic() < deadline, f"not seen in {PATIENCE_S} s: {self.err}"
            time.sleep(0.001)

    def group(self):
        """Numbers of the processes of its group that live (a zombie does not)."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                # pid (name) state parent group ...: the name may hold anything, brackets included.
                state, _, group, *_ = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(group) == self.process.pid and state != "Z":
                found.append(int(path.parent.name))
        return found

    def interrupt(self):
        """Ctrl-C: (exit code, stdout, stderr)."""
        os.killpg(self.process.pid, signal.SIGINT)
        out, _ = self.process.communicate(timeout=PATIENCE_S)
        deadline = time.monotonic() + 20
        while self.group() and time.monotonic() < deadline:
            time.sleep(0.005)
        assert self.group() == []
        self._reader.join(20)
        return self.process.returncode, out, self.err


@pytest.fixture
def start(tmp_path):
    begun = []

    def call(*arguments):
        begun.append(Started([str(argument) for argument in arguments], tmp_path))
        return begun[-1]

    yield call
    for one in begun:
        for process in one.group():
            os.kill(process, signal.SIGKILL)
        one.process.communicate()


def progress(pattern):
    """Whether the bar has come so far."""
    return lambda command: re.search(pattern, command.err) is not None


# A minute of work and more, at one measurement a simulated second; one per cent of it takes a second.
LONG = ["--set", "workload.duration_s=3e5", "--set", "workload.jobs_per_s=0.01", "--set", "measure.period_ms=1000"]


@pytest.mark.slow
def test_a_run_keeps_what_is_finished_and_says_so(start, tmp_path):
    command = start("run", "quickstart", "--json", "--out", "out", *LONG)
    command.wait_until(progress(r"run quickstart: +[1-9]\d*%"))
    code, out, err = command.interrupt()
    assert code == 130
    assert "kept what was finished" in err
    assert "Traceback" not in err
    document = json.loads(out)
    counts = document["jobs"]
    assert counts["submitted"] == counts["finished"] + counts["running"] > 0
    jobs = pd.read_parquet(tmp_path / "out" / "jobs.parquet")
    assert jobs["job"].nunique() >= counts["finished"] > 0
    assert jobs["finish_ms"].max() <= document["simulated_ms"]


# A run takes a tenth of a second or so; all of them, ten minutes.
MANY = ["--policies", "none,jsq,clb", "--seeds", 5000, "--workers", 2]


@pytest.mark.slow
def test_a_comparison_keeps_complete_seeds_and_leaves_no_process(start, tmp_path):
    command = start("compare", "quickstart", "--json", "--out", "out", *MANY)
    command.wait_until(progress(r"\b([89]|[1-9]\d+)/15000 "))
    assert len(command.group()) >= 3
    code, out, err = command.interrupt()
    assert code == 130
    assert "Traceback" not in err
    kept, complete = map(int, re.search(r"kept (\d+) of 15000 runs; complete for all policies: (\d+) of", err).groups())
    document = json.loads(out)
    runs = pd.read_parquet(tmp_path / "out" / "runs.parquet")
    assert len(runs) == kept >= 8
    per_seed = runs.groupby("seed")["policy"].nunique()
    whole = sorted(per_seed[per_seed == 3].index)
    assert document["seeds"] == whole
    assert len(whole) == complete > 0
    chosen = runs[runs["seed"].isin(whole)]
    for policy, entry in document["policies"].items():
        mean = chosen.loc[chosen["policy"] == policy, "mean_slowdown"].mean()
        assert entry["mean_slowdown"] == pytest.approx(mean, rel=1e-12)
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == document
    assert (tmp_path / "out" / "compare.png").exists()


@pytest.mark.slow
def test_a_comparison_for_people_says_how_many_seeds_its_table_is_over(start):
    command = start("compare", "quickstart", *MANY)
    command.wait_until(progress(r"\b([89]|[1-9]\d+)/15000 "))
    code, out, err = command.interrupt()
    assert code == 130
    complete = int(re.search(r"complete for all policies: (\d+) of", err).group(1))
    assert f"{complete} seed{'s' if complete > 1 else ''}, the same jobs for every policy" in out
    for name in ("none", "jsq", "clb"):
        assert f" {name} " in out


@pytest.mark.slow
def test_a_comparison_that_has_just_booked_a_run(start):
    """The command is busy with a long list of runs then; it must not hang with half of the list locked."""
    command = start("compare", "quickstart", "--json", *MANY, "--seeds", 20_000)
    command.wait_until(progress(r"\b([3-9]|[1-9]\d+)/60000 "))
    code, out, err = command.interrupt()
    assert code == 130
    assert "Traceback" not in err
    kept = int(re.search(r"interrupted: kept (\d+) of 60000 runs", err).group(1))
    assert kept >= 3 * len(json.loads(out)["seeds"])


@pytest.mark.slow
@pytest.mark.parametrize("delay_s", [0.0, 0.5])
def test_a_comparison_that_has_just_sent_for_its_workers(start, delay_s):
    """While the other processes start and import, they hear Ctrl-C too; only the command itself may speak of it."""
    command = start("compare", "quickstart", "--json", *MANY)
    # The command, the tracker of what processes share, two workers.
    command.wait_until(lambda one: len(one.group()) >= 4)
    time.sleep(delay_s)
    code, out, err = command.interrupt()
    assert code == 130
    assert "Traceback" not in err
    kept = int(re.search(r"interrupted: kept (\d+) of 15000 runs", err).group(1))
    assert kept < 100
    if kept < 3:
        nothing = {"scenario": "quickstart", "seeds": [], "replications": 0, "policies": {}, "pairs": []}
        assert nothing.items() <= json.loads(out).items()


def ended_by(command, number):
    """As `interrupt`, by another signal to the whole group, as Slurm and systemd send it."""
    os.killpg(command.process.pid, number)
    out, _ = command.process.communicate(timeout=PATIENCE_S)
    command._reader.join(20)
    return command.process.returncode, out, command.err


@pytest.mark.slow
def test_sigterm_keeps_what_a_run_has_finished(start, tmp_path):
    command = start("run", "quickstart", "--json", "--out", "out", *LONG)
    command.wait_until(progress(r"run quickstart: +[1-9]\d*%"))
    code, out, err = ended_by(command, signal.SIGTERM)
    assert code == 143
    assert "kept what was finished" in err
    assert "Traceback" not in err
    assert json.loads(out)["jobs"]["finished"] > 0
    assert len(pd.read_parquet(tmp_path / "out" / "jobs.parquet")) > 0


@pytest.mark.slow
def test_sigterm_keeps_what_a_comparison_has_finished_and_leaves_no_process(start, tmp_path):
    command = start("compare", "quickstart", "--json", "--out", "out", *MANY)
    command.wait_until(progress(r"\b([89]|[1-9]\d+)/15000 "))
    code, out, err = ended_by(command, signal.SIGTERM)
    assert code == 143
    assert "Traceback" not in err
    kept = int(re.search(r"kept (\d+) of 15000 runs", err).group(1))
    assert len(pd.read_parquet(tmp_path / "out" / "runs.parquet")) == kept >= 8
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == json.loads(out)
    deadline = time.monotonic() + 20
    while command.group() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert command.group() == []


@pytest.mark.slow
def test_sigterm_ends_a_batch_that_goes_on_later(start, tmp_path):
    command = start("batch", "run", "load-and-io", "--out", "out", "--workers", 2)
    command.wait_until(progress(r"\b[1-9]\d*/\d+ "))
    code, _, err = ended_by(command, signal.SIGTERM)
    assert code == 143
    assert "the same command goes on" in err


@pytest.mark.slow
@pytest.mark.parametrize(("number", "expected", "delay_s"), [(signal.SIGINT, 130, 0.8), (signal.SIGTERM, 143, 2.0)])
def test_a_signal_in_the_first_seconds_of_a_run_leaves_whole_results(start, tmp_path, number, expected, delay_s):
    """While it imports and compiles: the results then say that little, or nothing, was simulated."""
    command = start("run", "quickstart", "--json", "--out", "out", *LONG)
    command.wait_until(lambda one: Path(f"/proc/{one.process.pid}/maps").read_text().count("numpy") > 0)
    time.sleep(delay_s)
    code, out, err = ended_by(command, number)
    assert code == expected, err
    assert "Traceback" not in err
    document = json.loads(out)
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == document
    assert (tmp_path / "out" / "jobs.parquet").exists()


# A policy of one's own, of another package, whose third decision does not come to an end.
ENDLESS = """
import os
from pathlib import Path

from cluster_abm.policies import Decision, Policy

class Endless(Policy):
    name = "endless"
    source = "a test"
    summary = "does not return"

    def place(self, task, view):
        if task.task > 2:
            Path(os.environ["BEGUN"]).touch()
            while True:
                pass
        return Decision(view.me, rule="stay")
"""


@pytest.fixture
def endless(tmp_path, monkeypatch):
    install_policies(tmp_path, "endless", ENDLESS)
    root = str(Path(__file__).parents[2])
    monkeypatch.setenv("BEGUN", str(tmp_path / "begun"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, str(tmp_path)]))


@pytest.mark.slow
@pytest.mark.usefixtures("endless")
def test_a_policy_that_does_not_return_is_named_by_a_run(start, tmp_path):
    command = start("run", "cpu-bound", "--policy", "endless", "--out", "out")
    command.wait_until(lambda _: (tmp_path / "begun").exists())
    time.sleep(0.5)
    code, _, err = ended_by(command, signal.SIGINT)
    assert code == 130, err
    assert re.search(r"interrupted in policy 'endless': place had not returned for \d+\.\d s \(.*endless.py, line", err)
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.slow
def test_one_signal_ends_a_policy_that_waits_for_something(start, tmp_path, endless):
    path = tmp_path / "endless.py"
    path.write_text(path.read_text().replace("while True:\n                pass", "__import__('time').sleep(1000)"))
    command = start("run", "cpu-bound", "--policy", "endless", "--out", "out")
    command.wait_until(lambda _: (tmp_path / "begun").exists())
    time.sleep(0.5)
    code, _, err = ended_by(command, signal.SIGTERM)
    assert code == 143, err
    assert "interrupted in policy 'endless': place had not returned for" in err
    assert (tmp_path / "out" / "summary.json").exists()


@pytest.mark.slow
def test_a_reader_that_has_gone_does_not_hide_that_a_run_was_interrupted(start, tmp_path):
    """As Ctrl-C in `cluster-abm run ... | tee log`, which ends tee first."""
    command = start("run", "quickstart", "--out", "out", *LONG)
    command.wait_until(progress(r"run quickstart: +[1-9]\d*%"))
    command.process.stdout.close()
    command.process.stdout = None
    os.killpg(command.process.pid, signal.SIGTERM)
    assert command.process.wait(PATIENCE_S) == 143
    command._reader.join(20)
    assert "kept what was finished" in command.err


@pytest.mark.slow
@pytest.mark.usefixtures("endless")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_policy_that_does_not_return_is_named_by_a_comparison(start, tmp_path, workers):
    command = start("compare", "cpu-bound", "--policies", "none,endless", "--seeds", 4, "--workers", workers)
    command.wait_until(lambda _: (tmp_path / "begun").exists())
    time.sleep(7.0)
    code, _, err = ended_by(command, signal.SIGINT)
    assert code == 130, err
    assert re.search(r"under way when it was interrupted: .*policy '?endless'?", err), err


def test_a_signal_while_the_calls_of_policies_are_being_imported_is_noted(monkeypatch):
    from cluster_abm.cli.stopping import stop_request

    half_imported = types.ModuleType("cluster_abm.policy.calling")
    monkeypatch.setitem(sys.modules, half_imported.__name__, half_imported)
    with stop_request() as request:
        os.kill(os.getpid(), signal.SIGINT)
        assert request.requested
        with pytest.raises(KeyboardInterrupt):
            request.raise_if_requested()
