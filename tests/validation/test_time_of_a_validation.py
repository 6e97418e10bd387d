"""How a validation divides its time; the measurements are stand-ins that use all of theirs."""

from __future__ import annotations

import itertools

import pytest
from stubbed import BEGUN_S, FOLDER, Stubbed

from cluster_abm.validation import validate as module
from cluster_abm.validation.plans import Disk


def since(*instants):
    return pytest.approx([BEGUN_S + instant for instant in instants])


@pytest.mark.parametrize(("seconds", "look_s", "disk_s", "memory_until_s"), [
    # 2 s to look, 10 s for the disk, 90 s for memory.
    (300.0, 2.0, 10.0, 102.0),
    # Little time: 5 % to look, 15 % for the disk, and half of the 16 s that are left for memory.
    (20.0, 1.0, 3.0, 12.0),
    (100.0, 2.0, 10.0, 56.0),
])  # fmt: skip
def test_disk_and_memory_have_a_part_of_the_time(stubbed, seconds, look_s, disk_s, memory_until_s):
    found = stubbed.validate("disk", "memory", seconds=seconds)
    assert stubbed.of("look") == [[(7, 3), look_s]]
    assert stubbed.of("disk") == [[FOLDER, 6, disk_s]]
    assert stubbed.of("memory") == [["a group", "its limit", FOLDER, 6, pytest.approx(BEGUN_S + memory_until_s)]]
    assert found.disk == "a fit"
    assert found.memory == "judged shares"
    assert found.took_s == pytest.approx(memory_until_s)
    assert found.warnings == []
    assert (found.parts, found.seed, found.seconds) == (("disk", "memory"), 6, seconds)


def test_disk_and_memory_divide_the_time_after_compiling(stubbed):
    """Compiling takes 290 of 300 s, the look 2 s: the disk has half of the 8 s left, memory half of the next 4 s."""
    stubbed.ready_s = 290.0
    stubbed.validate("disk", "memory")
    assert stubbed.of("disk") == [[FOLDER, 6, pytest.approx(4.0)]]
    assert stubbed.of("memory")[0][-1] == pytest.approx(BEGUN_S + 298.0)


def test_the_simulator_is_ready_before_anything_is_measured(stubbed):
    """The simulator is compiled for one core, for two cores, and for tasks that read."""
    stubbed.validate("cpu")
    names = [name for name, *_ in stubbed.calls]
    assert names[:3] == ["predict", "predict", "look"]
    assert [cores for _, cores, _ in stubbed.of("predict")] == [1, 2]
    for tasks, _, disk in stubbed.of("predict"):
        assert disk == Disk()
        assert [task.node for task in tasks] == [0, 0]
        assert all(cpu_ms > 0 and reads is True for task in tasks for cpu_ms, reads in task.rows)


def test_blocks_share_the_time(stubbed):
    """300 s less a look of 2 s, a slice of 1.5 s, 15 s for the end and 3 s for the last slice are 278.5 s."""
    found = stubbed.validate("cpu", "mixed")
    first_s, second_s = 3.5 + 0.38 * 278.5, 3.5 + (0.38 + 0.24) * 278.5
    assert [until for _, until, _ in stubbed.of("block")] == since(first_s, second_s, 282.0)
    # A set is given up after 0.3 of the 15 s for the end: at 285 + 4.5 s.
    assert [latest for _, _, latest in stubbed.of("block")] == since(289.5, 289.5, 289.5)
    # A slice on a busy core may take 5 x 1.5 s + 1 s.
    assert stubbed.of("slice") == [[1.5, pytest.approx(8.5)]] * 2
    assert stubbed.of("look") == [[(7, 3), 2.0], [(7, 3), 2.0]]
    assert found.took_s == pytest.approx(285.5)
    assert [words for words in stubbed.said if ": up to" in words] == [
        "cpu on 1 core: up to 106 s", "cpu on 2 cores: up to 67 s", "mixed on 1 core: up to 106 s",
    ]  # fmt: skip


def test_blocks_share_little_time(stubbed):
    """20 s less a look of 1 s, a slice of 0.8 s, 6 s for the end and 1.6 s for the last slice are 10.6 s."""
    stubbed.validate("cpu", "mixed", seconds=20.0)
    untils_s = [until for _, until, _ in stubbed.of("block")]
    assert untils_s == since(1.8 + 0.38 * 10.6, 1.8 + 0.62 * 10.6, 12.4)
    assert stubbed.of("block")[0][2] == pytest.approx(BEGUN_S + 14.0 + 1.8)
    assert stubbed.of("look") == [[(7, 3), 1.0], [(7, 3), 1.0]]
    assert stubbed.of("slice") == [[0.8, pytest.approx(5.0)]] * 2


def test_unused_time_of_a_block_goes_to_the_next_blocks(stubbed):
    stubbed.at_once = True
    stubbed.validate("cpu", "mixed")
    untils_s = [until for _, until, _ in stubbed.of("block")]
    assert untils_s == since(3.5 + 0.38 * 278.5, 3.5 + 0.24 / 0.62 * 278.5, 282.0)


@pytest.mark.parametrize(("parts", "cores", "blocks"), [
    (("cpu", "mixed"), (7, 3), [("cpu", (7,)), ("cpu", (7, 3)), ("mixed", (7,))]),
    (("cpu",), (7, 3), [("cpu", (7,)), ("cpu", (7, 3))]),
    (("mixed",), (7, 3, 2), [("mixed", (7,))]),
    (("cpu", "mixed"), (7,), [("cpu", (7,)), ("mixed", (7,))]),
])  # fmt: skip
def test_the_blocks_of_each_part(monkeypatch, parts, cores, blocks):
    stubbed = Stubbed(monkeypatch, *cores)
    stubbed.sets = [[place + 1] for place in range(len(blocks))]
    found = stubbed.validate(*parts)
    # A bench for slower_together and for the first slice, one for each block, one for the last slice.
    crew, bare = "the crew", (None, -1)
    assert [tuple(given) for given in stubbed.of("bench")] == [
        (crew, cores, *bare), (crew, cores[:1], *bare), *[(crew, bound, Disk(), 55) for _, bound in blocks],
        (crew, cores[:1], *bare),
    ]  # fmt: skip
    assert found.slower_together == 1.25
    # Each block is predicted with the mean of both slices.
    assert stubbed.of("predicted") == [
        [part, len(bound), [*range(place + 1)], 3.5, Disk()] for place, (part, bound) in enumerate(blocks)
    ]
    assert found.blocks == [f"{part} on {len(bound)}" for part, bound in blocks]
    assert found.slices_ms == [2.0, 5.0]
    assert found.idle == {"before": (0.01, 0.0), "after": (0.02, 0.0)}
    assert stubbed.is_left


@pytest.mark.slow
@pytest.mark.parametrize(("cores", "processes"), [((7,), 6), ((7, 3), 6), ((7, 3, 2), 8), ((7, 3, 2, 1), 10)])
def test_as_many_processes_as_the_largest_set(monkeypatch, cores, processes):
    stubbed = Stubbed(monkeypatch, *cores)
    stubbed.validate("cpu", "mixed")
    assert stubbed.of("crew") == [[processes, [55]]]
    # Sizes of 200 sets: 2 to 6 processes on one core; on all cores more processes than cores.
    sizes = [{len(one) for one in itertools.islice(sets, 200)} for sets, _, _ in stubbed.of("block")]
    reading = {2, 3, 4, 5}
    on_all = [set(range(len(cores) + 1, 2 * len(cores) + 3))] if len(cores) > 1 else []
    assert sizes == [set(range(2, 7)), *on_all, reading]


def test_sets_follow_from_the_seed(monkeypatch):
    def first_of_each(seed):
        case = Stubbed(monkeypatch)
        case.validate("cpu", "mixed", seed=seed)
        return [[*itertools.islice(sets, 20)] for sets, _, _ in case.of("block")]

    one_core, all_cores, mixed = first_of_each(6)
    assert first_of_each(6) == [one_core, all_cores, mixed]
    assert all(other != one for other, one in zip(first_of_each(8), (one_core, all_cores, mixed), strict=True))
    reads = [{row.reads for one in sets for program in one for row in program.rows} for sets in (one_core, mixed)]
    assert reads == [{False}, {True}]
    # Demands of 40 ms to 1 s are 200 to 5000 units of 0.2 ms.
    units = {row.units for one in one_core + all_cores for program in one for row in program.rows}
    assert 200 <= min(units) < 300
    assert 3000 < max(units) <= 5000


def test_messages_during_a_validation(stubbed):
    stubbed.validate(*module.PARTS)
    assert [words.split(":")[0] for words in stubbed.said] == [
        "getting the simulator ready (compiling it on its first use takes up to a minute)", "reading the disk",
        "memory under a limit", "cpu on 1 core", "cpu on 1 core", "cpu on 2 cores", "cpu on 2 cores", "mixed on 1 core",
        "mixed on 1 core", "predicting the same by the simulator",
    ]  # fmt: skip
    assert [words for words in stubbed.said if "carried out" in words] == [
        f"{block}: {count} sets carried out"
        for block, count in (("cpu on 1 core", 4), ("cpu on 2 cores", 2), ("mixed on 1 core", 3))
    ]  # fmt: skip


def test_other_parts_are_not_measured(stubbed):
    found = stubbed.validate("disk")
    assert [name for name, *_ in stubbed.calls] == ["look", "disk"]
    assert found.memory is None
    assert stubbed.said == ["reading the disk"]
