"""Guards of what carries out runs: a store and its claims, seeds that are wanted, runs that fail or are interrupted."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from
from cluster_abm.study.runner import counted_runs as counted
from cluster_abm.study.runner.calling import place_of, seeds_of
from cluster_abm.study.runner.counted_runs import CountedRuns
from cluster_abm.study.runner.record_keepers import InFolder, InMemory
from cluster_abm.study.runner.tasks import Where
from cluster_abm.study.runner.wanted import known_values, seeds_wanted, wanted_counts
from cluster_abm.study.store.leases import Leases
from cluster_abm.study.store.segments import table_of
from cluster_abm.study.store.store import Contents, Record, Store

KEY, OTHER = "ab" * 12, "ef" * 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(Store, "runs_a_segment", 3)
    store = Store(tmp_path)
    store.prepare()
    with Leases(tmp_path) as leases, Leases(tmp_path) as others:
        yield InFolder(store, leases), store, others


def fill(store, *seeds):
    for seed in seeds:
        store.add(Record(KEY, seed, {"a": 1.0}))


def parts(store):
    return len(list(store.segments.iterdir()))


def test_runs_go_into_parts_once_so_many_have_been_made(folder):
    keeper, store, _ = folder
    fill(store, 1, 2, 3)
    keeper.tidy(2)
    assert parts(store) == 0
    keeper.tidy(3)
    assert parts(store) == 1
    fill(store, 4, 5, 6)
    # Three more since then, and not three in all.
    keeper.tidy(5)
    assert parts(store) == 1
    keeper.tidy(6)
    assert parts(store) == 2


def test_all_parts_that_can_be_are_made_at_once_and_none_beside_another_process(folder):
    keeper, store, others = folder
    fill(store, *range(8))
    assert others.claim("compaction")
    keeper.tidy(9)
    assert parts(store) == 0
    others.release("compaction")
    keeper.compact()
    assert (parts(store), len(list(store.runs.iterdir()))) == (2, 2)
    # Its claim is given up.
    assert others.claim("compaction")


def test_a_run_is_one_process_s(folder):
    keeper, store, others = folder
    assert keeper.claim((KEY, 1))
    assert not others.claim(f"{KEY}-1")
    assert keeper.claim((KEY, 2))
    keeper.release((KEY, 1))
    assert others.claim(f"{KEY}-1")
    assert not keeper.claim((KEY, 1))
    assert keeper.look_up((KEY, 1)) is keeper.written_ns((KEY, 1)) is None
    keeper.add(Record(KEY, 1, {"a": 1.0}))
    assert keeper.look_up((KEY, 1)).metrics == {"a": 1.0}
    assert keeper.written_ns((KEY, 1)) is not None
    assert store.contents().finished == {(KEY, 1)}


def test_in_memory_there_is_no_other_process():
    keeper = InMemory()
    assert keeper.claim((KEY, 1))
    assert keeper.claim((KEY, 1))
    assert keeper.look_up((KEY, 1)) is None
    keeper.add(Record(KEY, 1))
    assert keeper.look_up((KEY, 1)) == Record(KEY, 1)
    assert keeper.look_up((KEY, 2)) is keeper.written_ns((KEY, 1)) is None


# ---- seeds ----


def study(precision=0.1, replications=5, limit=20, first=3):
    return SimpleNamespace(
        precision=precision, precision_metric="a", replications=replications, seed_limit=limit, first_seed=first,
        file="s.toml",
    )  # fmt: skip


SAME, WIDE = 4.0, [1.0, 9.0, 1.0, 9.0, 1.0]


@pytest.mark.parametrize(("values", "more", "wanted"), [
    # Seeds from 3 on: all five alike are enough; four of them are not all that there are to be.
    (dict.fromkeys(range(3, 8), SAME), {}, 5), (dict.fromkeys(range(3, 7), SAME), {}, 5), ({}, {}, 5),
    (dict.fromkeys(range(3, 8), SAME), {"precision": None}, 5),
    # Those that swing ask for as many again, and no more than the limit; at it for no more.
    (dict(zip(range(3, 8), WIDE, strict=True)), {}, 10), (dict(zip(range(3, 8), WIDE, strict=True)), {"limit": 7}, 7),
    (dict(zip(range(3, 8), WIDE, strict=True)), {"limit": 5}, 5),
    # Where all have failed more say nothing; one that has failed is one value less, of five that there have to be.
    (dict.fromkeys(range(3, 8)), {}, 5), (dict.fromkeys(range(3, 7), SAME) | {7: None}, {}, 6),
    (dict.fromkeys(range(3, 7), SAME) | {7: None}, {"limit": 5}, 5),
    # Others than the study's do not count.
    (dict.fromkeys(range(1, 8), SAME), {}, 5), (dict.fromkeys(range(8, 20), SAME), {}, 5),
])  # fmt: skip
def test_so_many_seeds_are_wanted(values, more, wanted):
    assert seeds_wanted(study(**more), values) == wanted


def test_what_is_known_is_what_finished_and_what_failed():
    records = [Record(KEY, 3, {"a": 1.0}), Record(KEY, 4, {"a": 2.0}), Record(OTHER, 3, {"a": 9.0})]
    contents = Contents(tables=[table_of([one.__dict__ for one in records])])
    failed = [(KEY, 4), (KEY, 5), (OTHER, 5)]
    # One that failed and finished after that has its value; keys that are not asked about are left out.
    assert known_values(study(), [KEY], contents, failed) == {KEY: {3: 1.0, 4: 2.0, 5: None}}
    assert wanted_counts(study(), [KEY, OTHER], contents, failed) == {KEY: 5, OTHER: 5}
    assert wanted_counts(study(precision=None), [KEY], contents, failed) == {KEY: 5}


def test_the_values_of_a_key_decide_its_number_of_seeds():
    swings = [Record(KEY, seed, {"a": value}) for seed, value in zip(range(3, 8), WIDE, strict=True)]
    steady = [Record(OTHER, seed, {"a": SAME}) for seed in range(3, 8)]
    contents = Contents(tables=[table_of([one.__dict__ for one in [*swings, *steady]])])
    assert wanted_counts(study(), [KEY, OTHER], contents, []) == {KEY: 10, OTHER: 5}
    assert wanted_counts(study(precision=None), [KEY, OTHER], contents, []) == {KEY: 5, OTHER: 5}


def test_precision_of_a_metric_that_runs_have_not_is_refused():
    for metrics in ({"b": 1.0}, {"a": None}):
        contents = Contents(tables=[table_of([Record(KEY, 3, metrics).__dict__])])
        with pytest.raises(InputError, match=f"precision_metric = 'a': run {KEY}-3 has no such metric"):
            known_values(study(), [KEY], contents, [])
        assert known_values(study(precision=None), [KEY], contents, []) == {KEY: {3: None}}
        assert known_values(study(), [OTHER], contents, []) == {OTHER: {}}


@pytest.mark.parametrize(("seeds", "found"), [(None, 8), (1, 1), (7, 7)])
def test_seeds_of_a_call(seeds, found, tmp_path):
    assert seeds_of(seeds, 8) == found
    for wrong in (0, -1, 1.5, "3", True):
        with pytest.raises(InputError, match="seeds"):
            seeds_of(wrong, 8)
    with pytest.raises(InputError, match="seeds"):
        seeds_of(1, 8, least=2)
    assert place_of(2, True, None, tmp_path) == Where(workers=2, folder=tmp_path / "store")
    assert place_of(None, True, None, None) == Where()
    given = Where(workers=3)
    assert place_of(2, True, given, tmp_path) is given
    for wrong in (0, -1, 1.5, "2", True):
        with pytest.raises(InputError, match="workers"):
            place_of(wrong, True, None, None)


# ---- runs that are counted ----


def test_runs_are_counted_and_faults_added_up(monkeypatch, capfd):
    outcomes = [
        SimpleNamespace(made=1, errors=["e1"], policy_faults={"p": 2}, interrupted=False, under_way=[], rows=[1, 2]),
        SimpleNamespace(made=0, errors=[], policy_faults={"p": 1, "q": 1}, interrupted=False, under_way=[], rows=[3]),
        SimpleNamespace(made=1, errors=["e2"], policy_faults={}, interrupted=True, under_way=["run 9"], rows=[None]),
    ]
    labels = []

    def run_all(tasks, *, label, whole, **_):
        labels.append((len(tasks), label, whole))
        return outcomes[len(labels) - 1]

    monkeypatch.setattr(counted, "run_all", run_all)
    runs = CountedRuns(Where(), None, True, 9, "plan")
    setup = scenario_from({})
    assert runs([(setup, 1), (setup, 2)]) == [1, 2]
    assert runs([(setup, 3)]) == [3]
    with pytest.raises(KeyboardInterrupt):
        runs([(setup, 4)])
    assert labels == [
        (2, "plan, 0 of 9 runs", ("plan", 0, 9)), (1, "plan, 2 of 9 runs", ("plan", 2, 9)),
        (1, "plan, 3 of 9 runs", ("plan", 3, 9)),
    ]  # fmt: skip
    assert (runs.made, runs.asked, runs.errors) == (2, 4, ["e1", "e2"])
    assert runs.policy_faults == {"p": 3, "q": 1}
    assert "under way when it was interrupted: run 9" in capfd.readouterr().err
