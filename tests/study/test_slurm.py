"""Slurm's executor on submitit's local one: the same files and pickles, with processes of this machine for jobs."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import executor_tasks as work
import pytest
from submitit.local.local import LocalJob
from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study.compare import with_policy
from cluster_abm.study.runner.executors import WorkerLost, open_executor
from cluster_abm.study.runner.executors.kinds import slurm as slurm_jobs
from cluster_abm.study.runner.tasks import SeededRun


@pytest.fixture
def path_of_tests(monkeypatch):
    """Jobs import the tasks as we do."""
    monkeypatch.setenv("PYTHONPATH", str(Path(work.__file__).parent), prepend=os.pathsep)


@pytest.fixture
def local(tmp_path, path_of_tests):
    return {"cluster": "local", "folder": tmp_path / "jobs"}


@pytest.mark.slow
def test_results_errors_and_lost_jobs_come_back(local):
    with open_executor("slurm", 4, slurm=local) as executor:
        square, killed = executor.submit(work.square, 3), executor.submit(work.die, None)
        failed, bad = executor.submit(work.fail, "disk on fire"), executor.submit(work.bad_input, "a: wrong")
    assert square.result() == 9
    assert isinstance(failed.exception(), ValueError)
    assert str(failed.exception()) == "disk on fire"
    assert bad.exception().problems == ["a: wrong", "and more"]
    assert isinstance(killed.exception(), WorkerLost)
    left = sorted(path.suffix for path in local["folder"].rglob("*") if path.is_file())
    # Only what tells why a job was lost stays.
    assert left == [".err", ".out", ".pkl"]


@pytest.mark.slow
def test_a_run_is_the_same_there_and_a_lost_one_can_be_submitted_again(local, tmp_path):
    task = SeededRun(with_policy(scenario(workload__duration_s=5.0, cluster__nodes=2), "jsq"), 1)
    with open_executor("slurm", 2, slurm=local) as executor:
        run = executor.submit(work.mean_slowdown, task)
        lost = executor.submit(work.die_the_first_time, str(tmp_path / "mark"))
        assert isinstance(lost.exception(timeout=60), WorkerLost)
        assert executor.submit(work.die_the_first_time, str(tmp_path / "mark")).result(timeout=60) == 2
        assert run.result(timeout=100) == work.mean_slowdown(task)


# Jobs of this machine are ended by it.
@pytest.mark.slow
@pytest.mark.usefixtures("ctrl_c")
def test_no_more_jobs_at_once_than_allowed_and_the_rest_is_cancelled(local, tmp_path):
    with pytest.raises(RuntimeError, match="enough"), open_executor("slurm", 1, slurm=local) as executor:  # noqa: PT012
        first = executor.submit(work.note_and_square, (str(tmp_path), 1))
        assert first.result(timeout=60) == 1
        running, waiting = executor.submit(work.slow_square, 2, 100.0), executor.submit(work.square, 3)
        began = time.monotonic()
        while not running.running():
            time.sleep(0.01)
            assert time.monotonic() < began + 60
        assert not waiting.running()
        raise RuntimeError("enough")
    assert waiting.cancelled()
    assert isinstance(running.exception(), WorkerLost)


@pytest.fixture
def look(monkeypatch):
    """Has a method of submitit's local jobs raise: `look(name, problem, times)`, the first so many times."""

    def call(name, problem, times):
        real, calls = getattr(LocalJob, name), []

        def sometimes(job, *args):
            calls.append(name)
            if len(calls) <= times:
                raise problem
            return real(job, *args)

        monkeypatch.setattr(LocalJob, name, sometimes)

    return call


STALE = OSError(errno.ESTALE, "Stale file handle")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["done", "result"])
def test_a_file_system_that_is_away_is_looked_at_again(local, look, name):
    look(name, STALE, 3)
    with open_executor("slurm", 1, slurm=local) as executor:
        assert executor.submit(work.square, 3).result(timeout=60) == 9


@pytest.mark.slow
def test_a_file_system_that_stays_away_is_a_lost_job(local, look, monkeypatch):
    monkeypatch.setattr(slurm_jobs, "UNSEEN_FOR_S", 0.3)
    look("done", STALE, 10_000)
    with open_executor("slurm", 1, slurm=local) as executor:
        problem = executor.submit(work.square, 3).exception(timeout=60)
    assert isinstance(problem, WorkerLost)
    assert "its files cannot be looked at: OSError: " in str(problem)


@pytest.mark.slow
def test_a_result_that_cannot_be_read_fails_its_own_task_only(local, look):
    look("result", ModuleNotFoundError("No module named 'theirs'"), 1)
    with open_executor("slurm", 1, slurm=local) as executor:
        unreadable, square = executor.submit(work.square, 2), executor.submit(work.square, 3)
        assert isinstance(unreadable.exception(timeout=60), ModuleNotFoundError)
        assert square.result(timeout=60) == 9


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.slow
def test_a_fault_of_its_own_is_told_to_all_who_wait_and_leaves_no_job(local, look, tmp_path):
    futures = []

    def use():
        with open_executor("slurm", 1, slurm=local) as executor:
            futures.append(executor.submit(work.note_and_wait, str(tmp_path)))
            while not list(tmp_path.glob("*.begun")):
                time.sleep(0.02)
            look("done", ZeroDivisionError("a fault"), 1)
            futures.append(executor.submit(work.square, 3))
            futures[0].exception(timeout=60)
            executor.submit(work.square, 3)

    with pytest.raises(BrokenExecutor, match="executor 'slurm': ZeroDivisionError: a fault"):
        use()
    assert [type(future.exception(timeout=60)) for future in futures] == [BrokenExecutor] * 2
    (begun,) = tmp_path.glob("*.begun")
    # A process that was told to end takes a moment.
    end = time.monotonic() + 60.0
    while is_there(int(begun.stem)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not is_there(int(begun.stem))


def is_there(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_cannot_be_submitted_for_a_fault_of_ours_is_told(local, monkeypatch):
    def faulty(*_):
        raise ZeroDivisionError("a fault")

    with open_executor("slurm", 1, slurm=local) as executor:
        monkeypatch.setattr(executor._jobs, "submit", faulty)
        future = executor.submit(work.square, 3)
        assert isinstance(future.exception(timeout=60), BrokenExecutor)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"cluster": "lsf"}, "'lsf': allowed are 'slurm' and 'local'"),
        ({"cluster": "local", "partitoin": "short"}, "Unknown argument 'partitoin'"),
        ({"cluster": "local", "timeout_min": "an hour"}, "timeout_min"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, parameters, said):
    with pytest.raises(InputError, match=said):
        open_executor("slurm", slurm={"folder": tmp_path} | parameters).__enter__()


@pytest.mark.skipif(shutil.which("srun") is not None, reason="there is Slurm here")
def test_a_machine_without_slurm_is_told_so(tmp_path):
    with pytest.raises(InputError, match="srun"):
        open_executor("slurm", slurm={"folder": tmp_path}).__enter__()


FAKE_SBATCH = """#!{python}
import os, re, subprocess, sys
text = open(sys.argv[1]).read()
open({record!r}, "a").write(text)
if "--partition=closed" in text:
    sys.exit("sbatch: error: invalid partition specified: closed")
array = re.search(r"--array=0-(\\d+)", text)
for index in range(int(array[1]) + 1) if array else [None]:
    ours = {{"SLURM_JOB_ID": "7", "SLURM_JOB_NODELIST": "here", "SLURM_NTASKS": "1", "SLURM_JOB_NUM_NODES": "1"}}
    ours |= dict.fromkeys(["SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"], "0")
    if index is not None:
        ours |= {{"SLURM_ARRAY_JOB_ID": "7", "SLURM_ARRAY_TASK_ID": str(index)}}
    subprocess.Popen(["bash", sys.argv[1]], env=os.environ | ours, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print("Submitted batch job 7")
"""
# Runs what it is given, without its own options.
FAKE_SRUN = """#!{python}
import os, sys
command = sys.argv[1:]
while command[0].startswith("-"):
    command = command[1:] if "=" in command[0] or command[0] == "--unbuffered" else command[2:]
os.execvp(command[0], command)
"""
FAKE_SACCT = "#!{python}\nprint('JobID|State|NodeList')\n"


@pytest.fixture
def machine_room(tmp_path, monkeypatch, path_of_tests):
    """A folder of commands named as Slurm's, first on the path; gives the file in which sbatch notes its scripts."""
    monkeypatch.setitem(slurm_jobs.POLL_INTERVAL_S, "slurm", 1.0)
    record = tmp_path / "sbatch.txt"
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, text in {"sbatch": FAKE_SBATCH, "srun": FAKE_SRUN, "sacct": FAKE_SACCT}.items():
        command = commands / name
        command.write_text(text.format(python=sys.executable, record=str(record)))
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(commands), prepend=os.pathsep)
    return record


@pytest.mark.slow
def test_what_is_submitted_together_is_one_array_with_what_was_asked_for(machine_room, tmp_path):
    asked = {"folder": tmp_path / "jobs", "partition": "short", "time": 30, "mem": "4GB", "cpus_per_task": 1}
    with open_executor("slurm", slurm=asked) as executor:
        futures = [executor.submit(work.square, number) for number in range(3)]
        assert [future.result(timeout=60) for future in futures] == [0, 1, 4]
    script = machine_room.read_text()
    assert script.count("#SBATCH --array=0-2") == 1
    for line in ("--partition=short", "--time=30", "--mem=4GB", "--cpus-per-task=1"):
        assert f"#SBATCH {line}" in script


def test_as_many_are_in_flight_as_there_may_be_jobs(machine_room, tmp_path):
    with open_executor("slurm", slurm={"folder": tmp_path / "jobs"}) as executor:
        assert executor.window == 1000
    with open_executor("slurm", 3000, slurm={"folder": tmp_path / "jobs"}) as executor:
        assert executor.window == 3000


def test_what_slurm_refuses_ends_the_batch_with_its_words(machine_room, tmp_path):
    with open_executor("slurm", slurm={"folder": tmp_path / "jobs", "partition": "closed"}) as executor:
        future = executor.submit(work.square, 3)
    with pytest.raises(InputError, match="invalid partition specified"):
        future.result()
