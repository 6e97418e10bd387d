"""What `cluster-abm run` prints of a run, each line of it, of the runs that are worked by hand in small_runs.py."""

from __future__ import annotations

import pytest
from small_runs import model_of

from cluster_abm.cli.run import _print_summary


def printed(name, folder, capsys, changed=""):
    """Head, and lines by what they are about."""
    _print_summary(model_of(name, folder).summary(), changed)
    head, *lines = capsys.readouterr().out.splitlines()
    parts = [line.strip().split("  ", 1) for line in lines]
    return head, {words: rest[0].strip() if rest else "" for words, *rest in parts}


def test_a_run_of_programs_that_page(tmp_path, capsys):
    """35 ms of CPU and 15 of paging in 100 ms, of one task."""
    head, lines = printed("paging", tmp_path, capsys)
    assert head == "test, policy none, seed 1"
    expected = {
        "simulated": "0.1 s in 10 slices", "jobs": "1 submitted: 1 finished",
        "mean slowdown (wall / isolated time)": "1", "wall / CPU time": "1.429", "mean response of a job": "0.05 s",
        "CPU busy": "35 %", "disk busy": "15 %", "page faults": "3", "page faults by CPU time": "85.71 /s",
        "messages per job": "0", "where a task's time went, in the mean": "", "CPU": "0.035 s (70 %)",
        "pager": "1 finished, 1.429 times their CPU, 3 page faults each, 30 % of life paging",
    }  # fmt: skip
    assert {words: lines.get(words) for words in expected} == expected
    # Parts without any time have no line.
    assert not [words for words in lines if "barrier" in words or "disk queue" in words]
    assert [text for text in lines.values() if text.endswith("(30 %)")] == ["0.015 s (30 %)"]


@pytest.mark.parametrize(("run", "jobs", "slowdown", "messages"), [
    ("cut", "2 submitted: 1 blocked, 1 running", "no job finished", "0"),
    ("empty", "0 submitted: none", "no job finished", "no job was submitted"),
    ("killed", "2 submitted: 1 finished, 1 killed", "1", "0"), ("lost", "2 submitted: 1 finished, 1 lost", "1", "0"),
])  # fmt: skip
def test_jobs_by_how_they_ended(run, jobs, slowdown, messages, tmp_path, capsys):
    _, lines = printed(run, tmp_path, capsys)
    assert (lines["jobs"], lines["mean slowdown (wall / isolated time)"]) == (jobs, slowdown)
    assert lines["messages per job"] == messages
    nothing = "where a task's time went, in the mean: no task finished"
    assert (nothing in lines) == (slowdown == "no job finished")


def test_what_was_changed_stands_below_the_head(tmp_path, capsys):
    _, lines = printed("killed", tmp_path, capsys, "cluster.nodes=1")
    assert "with cluster.nodes=1" in lines
    assert not [words for words in printed("killed", tmp_path, capsys)[1] if words.startswith("with ")]


def test_what_is_estimated_stands_below_the_head(tmp_path, capsys):
    _print_summary(model_of("disk", tmp_path).summary(), "", ["estimated: the window", "warning: it is short"])
    assert capsys.readouterr().out.splitlines()[1:3] == ["estimated: the window", "warning: it is short"]
