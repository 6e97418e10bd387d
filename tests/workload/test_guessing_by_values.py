"""What values tell of columns without names, or with names in words that are not known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from drawn_jobs import TimedJobs

from cluster_abm.workload.traces.guessing import Guess, guess

JOBS = 300


class Log(TimedJobs):
    """Jobs of a batch system drawn by a seed, with whole seconds."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.rng = rng
        self.submit = np.sort(rng.integers(0, 400_000, JOBS))
        self.wait = np.floor(rng.gamma(0.7, 900.0, JOBS)).astype(int) * (rng.random(JOBS) < 0.55)
        self.run = np.floor(rng.lognormal(6.0, 1.4, JOBS)).astype(int) + 5
        self.cores = rng.choice([1, 1, 2, 4, 8, 20, 32], JOBS)


def guessed(head: str | None = None, **columns: Any) -> tuple[Guess, dict[str, str | int]]:
    """The guess, and field -> name of the column (of these arguments) that it takes."""
    names = list(columns)
    rows = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    text = "\n".join([head or ",".join(f"c{at + 1}" for at in range(len(names))), *rows]) + "\n"
    found = guess(iter([text.encode()]), "table.csv")
    given = text.partition("\n")[0].split(",")
    entries = {name: entry["column"] for name, entry in found.map.items() if name != "file" and "column" in entry}
    return found, {name: names[given.index(column)] for name, column in entries.items()}


@pytest.mark.parametrize("gb", [2, 4, 8])
@pytest.mark.parametrize("seed", [1, 2])
def test_of_two_counts_in_a_fixed_small_ratio_the_smaller_one_is_cores(gb, seed):
    log = Log(seed)
    _, taken = guessed(memory=log.cores * gb, submit=log.submit, run=log.run, cores=log.cores)
    assert taken["cores"] == "cores"
    assert "memory" not in taken


def test_nodes_of_many_cores_each_are_no_cores():
    log = Log(3)
    _, taken = guessed(submit=log.submit, run=log.run, nodes=log.cores, cores=log.cores * 64)
    assert taken["cores"] == "cores"


@pytest.mark.parametrize("seed", [4, 5, 6])
@pytest.mark.parametrize("with_sum", [False, True])
def test_a_run_time_beside_waits_that_are_often_0(seed, with_sum):
    log = Log(seed)
    columns = {"wait": log.wait, "cores": log.cores, "run": log.run, "submit": 1_600_000_000 + log.submit}
    if with_sum:
        columns["response"] = log.wait + log.run
    _, taken = guessed(**columns)
    assert (taken["submit"], taken["run"], taken["cores"]) == ("submit", "run", "cores")


def test_a_wait_that_is_the_time_from_submission_to_start_is_no_run_time():
    log = Log(7)
    _, taken = guessed(submit=log.submit, start=log.start, wait=log.wait, run=log.run, cores=log.cores)
    assert {name: taken[name] for name in ("submit", "start", "run")} == {
        "submit": "submit",
        "start": "start",
        "run": "run",
    }
    found, _ = guessed(submit=log.submit, start=log.start, wait=log.wait, cores=log.cores)
    assert "run" not in found.map


@pytest.mark.parametrize(("length", "unit"), [(1, "s"), (1000, "ms")])
def test_wait_and_run_time_that_are_together_the_time_from_submission_to_end(length, unit):
    log = Log(8)
    wait, run = log.wait * length, log.run * length
    found, taken = guessed(end=log.end, wait=wait, submit=log.submit, run=run, cores=log.cores)
    assert found.map["run"]["unit"] == unit
    assert {name: taken[name] for name in ("submit", "end", "run")} == {"submit": "submit", "end": "end", "run": "run"}
    # Without zeros nothing tells which of both is the wait: from submission to end is no run time either.
    log.wait = log.wait + 1 + log.rng.integers(0, 50, JOBS)
    found, taken = guessed(end=log.end, wait=log.wait, submit=log.submit, run=log.run, cores=log.cores)
    assert taken["submit"] == "submit"
    assert not {"run", "end", "start"} & found.map.keys()


@pytest.mark.parametrize("seed", [14, 15])
def test_a_difference_beside_which_another_column_may_be_the_run_time_is_less_sure(seed):
    # Submission, start and wait; or start, end and run time: nothing but the column beside them speaks for the former.
    log = Log(seed)
    first, length = log.submit, 1 + log.rng.integers(0, 900, JOBS)
    found, _ = guessed(first=first, then=first + length, length=length, run=log.run, cores=log.cores)
    alone, _ = guessed(first=first, then=first + length, length=length, cores=log.cores)
    assert "may be a wait" in found.why["run"]
    assert "may be a wait" not in alone.why["run"]
    assert found.sure["run"] < alone.sure["run"] - 0.1
    limit = np.ceil(length / 60 * 1.5).astype(int) * 60
    limited, _ = guessed(first=first, then=first + length, length=length, limit=limit, cores=log.cores)
    assert limited.sure["run"] == alone.sure["run"]


def test_a_wait_alone_and_a_wait_with_the_time_to_the_end_give_no_run_time():
    log = Log(9)
    found, _ = guessed(submit=1_600_000_000 + log.submit, wait=log.wait, cores=log.cores)
    assert "run" not in found.map
    found, _ = guessed(submit=1_600_000_000 + log.submit, wait=log.wait, response=log.wait + log.run)
    assert "run" not in found.map


@pytest.mark.parametrize("numbers", ["amounts", "random", "codes"])
def test_numbers_that_all_differ_by_chance_are_no_ids(numbers):
    log = Log(10)
    columns = {
        "amounts": np.unique(log.rng.integers(1000, 10**6, 2 * JOBS))[:JOBS] * 4,
        "random": log.rng.integers(0, 2**60, JOBS),
        "codes": 40_000 + np.arange(JOBS) ** 2,
    }
    shuffled = log.rng.permutation(columns[numbers])
    assert len(set(shuffled)) == JOBS
    found, _ = guessed(other=shuffled, submit=1_600_000_000 + log.submit, cores=log.cores)
    assert "job" not in found.map


@pytest.mark.parametrize("order", ["as they came", "shuffled"])
@pytest.mark.parametrize("step", [1, 3])
def test_numbers_that_count_and_texts_that_all_differ_are_ids(order, step):
    log = Log(11)
    ids = 7000 + step * np.arange(JOBS)
    if order == "shuffled":
        ids = log.rng.permutation(ids)
    _, taken = guessed(submit=1_600_000_000 + log.submit, id=ids, cores=log.cores)
    assert taken["job"] == "id"
    _, taken = guessed(submit=1_600_000_000 + log.submit, id=[f"j-{one}" for one in ids], cores=log.cores)
    assert taken["job"] == "id"


@pytest.mark.parametrize(
    "head", ["Benutzer,abgeschickt,gestartet,beendet,Kerne", "User,abgeschickt,gestartet,beendet,Kerne"]
)
def test_names_in_words_that_are_not_known_leave_it_to_the_values(head):
    log = Log(12)
    users = [f"u{one}" for one in log.rng.integers(0, 9, JOBS)]
    stamps = [[f"{1_600_000_000 + one}" for one in column] for column in (log.submit, log.start, log.end)]
    found, taken = guessed(head, user=users, submit=stamps[0], start=stamps[1], end=stamps[2], cores=log.cores)
    assert {name: taken[name] for name in ("submit", "start", "end", "cores")} == {
        name: name for name in ("submit", "start", "end", "cores")
    }
    assert taken.get("user") == ("user" if head.startswith("User") else None)
    assert found.why["submit"].startswith("values: ")


def test_values_do_not_overrule_names_that_say_when_jobs_came():
    # `priority` looks like cores, but the names are known words and none of them says cores.
    log = Log(13)
    found, taken = guessed("submit,runtime_s,priority", submit=log.submit, run=log.run, priority=log.cores)
    assert (taken["submit"], taken["run"]) == ("submit", "run")
    assert "cores" not in found.map
