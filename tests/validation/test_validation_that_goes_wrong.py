"""A validation warns about each part that it could not measure, and measures the others."""

from __future__ import annotations

import pytest
from stubbed import Stubbed

from cluster_abm.validation.crew import DeadlinePassed

LITTLE_TIME = "the time was not enough; give it more --seconds"


def test_no_warning_if_all_is_measured(stubbed):
    found = stubbed.validate("cpu", "mixed", "disk", "memory")
    assert found.warnings == []
    assert found.quantum_ms == 3.5


@pytest.mark.parametrize(("parts", "lacking"), [
    (("cpu", "mixed", "disk", "memory"), ["cpu", "mixed", "memory"]), (("disk", "memory"), ["memory"]), (("disk",), []),
])  # fmt: skip
def test_a_system_other_than_linux(stubbed, parts, lacking):
    """Only the disk is measured, and nothing is compiled."""
    stubbed.lacking = ["sched_setaffinity", "/proc/stat"]
    found = stubbed.validate(*parts)
    assert found.warnings == [
        f"{part}: not possible here: this system has no sched_setaffinity, /proc/stat" for part in lacking
    ]
    assert [name for name, *_ in stubbed.calls] == ["disk"]
    assert found.idle == {}
    assert found.parts == parts


@pytest.mark.parametrize(("disk", "why"), [
    (OSError(28, "No space left on device"), "No space left on device"), (OSError("odd"), "odd"), (None, LITTLE_TIME),
])  # fmt: skip
def test_a_disk_that_cannot_be_measured(stubbed, disk, why):
    stubbed.disk = disk
    found = stubbed.validate("disk", "memory")
    assert found.disk is None
    assert found.warnings == [f"disk: not measured: {why}"]
    assert found.memory == "judged shares"


@pytest.mark.parametrize(("memory", "why"), [
    (OSError(16, "Device or resource busy"), "[Errno 16] Device or resource busy"), (DeadlinePassed("x"), LITTLE_TIME),
])  # fmt: skip
def test_memory_that_cannot_be_measured(stubbed, memory, why):
    stubbed.memory = memory
    found = stubbed.validate("memory")
    assert found.memory is None
    assert found.warnings == [f"memory: not measured: {why}"]


def test_memory_without_a_group(stubbed):
    stubbed.group = "root may be needed"
    assert stubbed.validate("memory").warnings == ["memory: not measured: root may be needed"]
    assert stubbed.of("memory") == []


def test_a_folder_in_memory(stubbed):
    stubbed.impossible = "it is in memory"
    found = stubbed.validate("disk", "memory")
    assert found.warnings == ["disk: not measured: it is in memory", "memory: not measured: it is in memory"]
    assert stubbed.of("disk") == stubbed.of("memory") == []
    assert (found.disk, found.memory) == (None, None)


def test_one_core(monkeypatch):
    one = "cpu: one physical core may be used here: nothing was measured on several"
    assert Stubbed(monkeypatch, 7).validate("cpu", "mixed").warnings == [one]
    # Part mixed never needs several cores.
    assert Stubbed(monkeypatch, 7).validate("mixed").warnings == []


@pytest.mark.parametrize(("problem", "words"), [
    (DeadlinePassed("late"), "ended early: late: other load on this machine, or a core that was taken away"),
    (OSError("no such core"), "ended early: no such core"),
])  # fmt: skip
def test_sets_that_are_given_up(stubbed, problem, words):
    """The second block is given up: its sets so far count, and the third block is left out."""
    stubbed.sets = [[4], [2, problem], [3]]
    found = stubbed.validate("cpu", "mixed")
    assert found.warnings == [words]
    assert found.blocks == ["cpu on 1", "cpu on 2"]
    assert [outcomes for _, _, outcomes, *_ in stubbed.of("predicted")] == [[0, 1, 2, 3], [0, 1]]
    # Only the slice before the sets is known; the look after the sets still takes place.
    assert found.quantum_ms == 2.0
    assert found.slices_ms == [2.0]
    assert [*found.idle] == ["before", "after"]
    assert stubbed.is_left


def test_sets_that_are_given_up_at_once(stubbed):
    stubbed.sets = [[0, DeadlinePassed("late")]]
    found = stubbed.validate("mixed")
    assert found.blocks == []
    assert found.warnings == [
        "ended early: late: other load on this machine, or a core that was taken away",
        "mixed on 1 core: no time was left for a set; give it more --seconds",
    ]


def test_no_time_for_a_set(stubbed):
    stubbed.sets = [[4], [0], [3]]
    found = stubbed.validate("cpu", "mixed")
    assert found.warnings == ["cpu on 2 cores: no time was left for a set; give it more --seconds"]
    assert found.blocks == ["cpu on 1", "mixed on 1"]


@pytest.mark.parametrize(("slices", "kept", "quantum_ms", "warnings"), [
    ([None, None], [], 3.0, ["the effective slice could not be measured: 3 ms are assumed"]),
    ([None, 4.0], [4.0], 4.0, []), ([4.0, None], [4.0], 4.0, []),
])  # fmt: skip
def test_slices_that_cannot_be_measured(stubbed, slices, kept, quantum_ms, warnings):
    stubbed.slices = slices
    found = stubbed.validate("mixed")
    assert (found.slices_ms, found.quantum_ms, found.warnings) == (kept, quantum_ms, warnings)
    assert stubbed.of("predicted")[0][3] == quantum_ms
