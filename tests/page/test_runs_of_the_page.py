"""Runs for the page: on processes of their own, told how far they are, stopped, and none disturbs another."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import asdict, replace

import pytest
from command import fill

from cluster_abm import load_scenario, record
from cluster_abm.recording.payload import payload_of
from viz.server.files import KINDS
from viz.server.runs import Runs
from viz.server.said import Made, Stage, Task
from viz.settings import scenario_with, settings_of

# Processes are started, which takes seconds.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Runs of a scenario with policies that go wrong, and its settings."""
    folder = tmp_path_factory.mktemp("runs")
    fill(folder)
    sys.path.insert(0, str(folder))
    path = str(folder / "page.toml")
    runs = Runs({"scenario": path, "overrides": {"workload.duration_s": 60}}, ready=2)
    scenario = load_scenario(path, {"workload.duration_s": 60})
    yield runs, scenario, settings_of(scenario)
    runs.close()
    sys.path.remove(str(folder))


class Waiting:
    """A task that is waited for."""

    def __init__(self, page, policy, whose="me", wanted="run", **changes):
        self.runs, self.stages, self.made = page[0], [], None
        self.done = threading.Event()
        settings = asdict(replace(page[2], **changes))
        self.asked = page[0].ask(whose, Task(settings, (policy,), wanted), self.see)

    def see(self, what):
        if isinstance(what, Stage):
            self.stages.append(what)
        else:
            self.made = what
            self.done.set()

    def result(self, timeout_s=240.0) -> Made:
        assert self.done.wait(timeout_s), self.stages[-1:]
        return self.made

    def until(self, phase, timeout_s=240.0):
        end = time.monotonic() + timeout_s
        while not any(one.phase == phase for one in self.stages) and time.monotonic() < end:
            time.sleep(0.02)
        assert any(one.phase == phase for one in self.stages)


def test_what_is_computed_is_the_run(page):
    _, scenario, settings = page
    made = Waiting(page, "jsq", seed=7).result()
    assert made.error == ""
    assert made.data == payload_of(record(scenario_with(scenario, replace(settings, seed=7), "jsq")))
    # Asked for again it is there at once.
    begun = time.monotonic()
    assert Waiting(page, "jsq", seed=7).result().data == made.data
    assert time.monotonic() - begun < 1.0


def test_progress_is_told(page):
    waiting = Waiting(page, "jsq", seed=8)
    assert waiting.result().error == ""
    phases = [one.phase for one in waiting.stages]
    assert phases[0] == "waiting"
    assert {"preparing", "running", "packing"} <= {*phases}
    shares = [one.share for one in waiting.stages if one.phase == "running"]
    assert shares == sorted(shares)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_file_is_made_of_the_same_run(page, kind):
    made = Waiting(page, "jsq", wanted=kind).result()
    assert (made.error, len(made.data) > 100) == ("", True)


@pytest.mark.parametrize(("policy", "words", "has_picture"), [
    ("faulty", "the run ends at 10.0", True), ("unready", "not even <begun>", False), ("leaving", "'leaving'", True),
])  # fmt: skip
def test_what_a_policy_does_wrong_is_told_in_words(page, policy, words, has_picture):
    made = Waiting(page, policy).result()
    assert words in made.error
    assert bool(made.data) == has_picture
    assert not made.refused


def test_settings_that_cannot_be_are_refused(page):
    made = Waiting(page, "jsq", nodes=0).result()
    assert made.refused
    assert made.error.startswith("cluster.nodes = 0")


def test_a_policy_that_does_not_return_holds_up_nobody_and_is_stopped(page, monkeypatch):
    # On a slow machine the others need their time.
    monkeypatch.setattr("viz.server.runs.SILENT_S", 600.0)
    endless = [Waiting(page, "endless", whose="other", seed=seed) for seed in (1, 2)]
    for one in endless:
        one.until("running")
    # More processes are had than are kept ready.
    assert Waiting(page, "jsq", seed=9).result().error == ""
    for one in endless:
        page[0].stop(one.asked)
    assert Waiting(page, "jsq", seed=10).result().error == ""
    assert [one.made for one in endless] == [None, None]


def test_one_visitors_stop_is_not_anothers(page):
    first = Waiting(page, "none", whose="one", seed=11)
    second = Waiting(page, "none", whose="two", seed=11)
    page[0].stop(first.asked)
    assert second.result().error == ""
    assert first.made is None


def test_a_silent_policy_is_stopped_where_others_wait(page, monkeypatch):
    monkeypatch.setattr("viz.server.runs.SILENT_S", 2.0)
    monkeypatch.setattr("viz.server.runs.MORE", 0)
    # More than there are processes, one of which an earlier test may have left.
    endless = [Waiting(page, "endless", whose="other", seed=seed) for seed in (3, 4, 5, 6)]
    for one in endless[:2]:
        one.until("running")
    assert Waiting(page, "jsq", seed=12).result().error == ""
    # It may have got the process that an earlier test had left: the last of the endless ones wait still.
    end = time.monotonic() + 60.0
    while not any(one.done.is_set() for one in endless) and time.monotonic() < end:
        time.sleep(0.02)
    assert any(one.made is not None and "had not returned for" in one.made.error for one in endless)
    for one in endless:
        page[0].stop(one.asked)
