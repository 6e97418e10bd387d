"""Nodes served by several threads: the same bytes with any number of them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import busy, mostly_slow, same_records, scenario

from cluster_abm import ClusterModel
from cluster_abm.engine import state
from cluster_abm.engine.threads import crew, shares
from cluster_abm.errors import InputError
from cluster_abm.model.setup import most_threads
from cluster_abm.scenario import scenario_from, scenario_to_toml
from cluster_abm.study.design.fingerprint import cell_key

# More nodes than 7 threads have blocks for, and not a whole number of blocks.
NODES = 70
SMALL = {"cluster__nodes": NODES, "workload__duration_s": 8.0, "workload__cpu_ms__mean": 300.0}
IO = {"workload__io_per_ms__kind": "uniform", "workload__io_per_ms__mean": 0.1, "workload__reaccess_rate": 1.0}
# What is shared out, as far as something of a run is.
SHARED = {
    "CPU only": SMALL,
    "measured each second": {**SMALL, "measure__period_ms": 1000.0},
    "I/O, paging and a buffer": {
        **busy(**SMALL, policy__name="none", workload__tasks__parallel_share=0.0), "cluster__memory_mb": 40.0,
    },
    "I/O and parallel jobs": busy(**SMALL, policy__name="none", workload__tasks__barrier_ms=0.0),
    "parallel jobs with barriers for a while": busy(
        **SMALL, policy__name="none", workload__tasks__parallel_share=0.003, workload__tasks__barrier_ms=20.0,
        measure__period_ms=200.0,
    ),
    "remote execution by jsq": {**SMALL, **IO, "policy__name": "jsq"},
    "remote execution by iolb": busy(**SMALL),
    "migration": {**SMALL, **IO, "policy__name": "wal-pm", "cluster__nodes": 20, "workload__utilisation": 0.4},
    "nodes that fail": {
        **SMALL, **IO, "failures__node__kind": "exponential", "failures__node__mean_up_s": 6.0,
        "failures__node__mean_down_s": 1.0, "run__until": 15_000.0, "failures__on_failure": "checkpoint",
        "failures__checkpoint_period_ms": 1000.0,
    },
    "unlike nodes, the first of them busy": {
        **SMALL, **IO, "workload__home": {"kind": "weights", "weights": [1.0] * 20},
        "workload__utilisation": 0.2, "cluster__group": [{"count": 30, "cpu_speed": 2.0}],
    },
    "profiles of programs": {
        "cluster__nodes": NODES, "workload__programs__mix": {"bit-r": 1.0}, "workload__utilisation": 3.0,
        "workload__duration_s": 70.0,
    },
    "oversize": {**SMALL, **IO, "cluster__paging": "oversize", "cluster__memory_mb": 40.0},
    "closed users, once all jobs are submitted": {
        "cluster__nodes": NODES, "workload__arrivals__kind": "closed", "workload__cpu_ms__mean": 300.0,
    },
    "buffers under control": {
        **busy(**SMALL, policy__name="none", workload__tasks__parallel_share=0.0), "cluster__buffer_in_memory": True,
        "cluster__buffer_mb": 10.0, "cluster__buffer_control__kind": "feedback",
    },
    "measured bandwidths": {
        **busy(**SMALL, workload__initial_data_mb__mean=0.5, workload__tasks__parallel_share=0.0),
        "negotiation__bandwidths": "measured",
    },
    "an end in the middle": {**SMALL, **IO, "run__until": 4_000.0},
}  # fmt: skip
# What stays with one thread: tasks that depend on others, or windows that end with a task.
ALONE = {
    "memory that may end": {**SMALL, "cluster__swap_mb": 10.0, "cluster__memory_mb": 200.0},
    "a pool": {**SMALL, "policy__name": "pooled"},
}


def use_all(patch):
    """Threads are used however little there is to do, and all have begun before the first one does."""
    patch.setattr(shares.Pace, "begin", lambda pace, live, window_ns: True)
    patch.setattr(shares, "PAYS_S", 1e-12)
    patch.setattr(crew, "EARLY", 10**7)
    patch.setattr(state, "FEWEST_STARTS", 1)


@pytest.fixture
def always(monkeypatch):
    """As `use_all`; what is ordered is counted, of how many threads."""
    use_all(monkeypatch)
    counts = []
    carry_out = crew.Crew.carry_out

    def counted(self, kind, every, *given, **named):
        counts.append(len(every))
        return carry_out(self, kind, every, *given, **named)

    monkeypatch.setattr(crew.Crew, "carry_out", counted)
    return counts


def run(threads, seed=1, **overrides):
    model = ClusterModel(scenario(**overrides, run__threads=threads), seed=seed)
    model.run()
    return model


def check_same(one, other):
    assert json.dumps(one.summary()) == json.dumps(other.summary())
    assert same_records(one, other)
    for frame in ("jobs_frame", "nodes_frame", "decisions_frame"):
        first, second = getattr(one, frame)(), getattr(other, frame)()
        assert first.to_csv() == second.to_csv()
        assert first.dtypes.equals(second.dtypes)
    assert one.datacollector.get_model_vars_dataframe().equals(other.datacollector.get_model_vars_dataframe())


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(SHARED, [*SHARED][::4]))
def test_the_same_bytes_with_any_number_of_threads(name, always):
    alone = run(1, **SHARED[name])
    assert not always
    assert alone.engine.finished > 50
    for threads in (2, 7):
        check_same(alone, run(threads, **SHARED[name]))
        assert max(always) == threads
        always.clear()


@pytest.mark.parametrize("name", ALONE)
def test_what_depends_on_others_is_served_by_one(name, always):
    overrides = ALONE[name]
    alone = run(1, **overrides)
    served = []
    serve = shares.Shares.serve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares.Shares, "serve", lambda self, *given: (served.append(given), serve(self, *given)))
        check_same(alone, run(3, **overrides))
    assert not served


@pytest.mark.slow
@settings(max_examples=8)
@given(
    nodes=st.integers(1, 60), threads=st.integers(2, 5), seed=st.integers(0, 2**31), load=st.floats(0.1, 1.5),
    io=st.sampled_from([0.0, 0.05, 0.3]), policy=st.sampled_from(["none", "random", "power-of-d", "clb"]),
    parallel=st.sampled_from([0.0, 0.3]), period_ms=st.sampled_from([100.0, 1000.0, 10_000.0]),
)  # fmt: skip
def test_any_small_cluster(nodes, threads, seed, load, io, policy, parallel, period_ms):
    overrides = {
        "cluster__nodes": nodes, "workload__duration_s": 3.0, "workload__cpu_ms__mean": 150.0,
        "workload__utilisation": load, "workload__io_per_ms__mean": io, "workload__tasks__parallel_share": parallel,
        "policy__name": policy, "measure__period_ms": period_ms, "run__until": 6_000.0,
    }  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        use_all(patch)
        check_same(run(1, seed, **overrides), run(threads, seed, **overrides))


def test_stepping_and_stopping_between_is_the_same_too(always):
    overrides = {**SMALL, **IO}
    stepped = ClusterModel(scenario(**overrides, run__threads=3), seed=1)
    while stepped.running and stepped.now_ms < 2_000.0:
        stepped.step()
    stepped.run(until_ms=5_000.0)
    stepped.run()
    check_same(run(1, **overrides), stepped)
    assert max(always) == 3


def test_little_work_stays_with_one_thread(monkeypatch):
    used = []
    monkeypatch.setattr(shares, "PAYS_S", 3600.0)
    monkeypatch.setattr(crew.Crew, "carry_out", lambda self, *given, **named: used.append(given))
    run(4, **SMALL)
    assert not used


class Windows:
    """Windows of a run, each of which takes as long as is said for one thread and for several [s]."""

    def __init__(self, monkeypatch, one_s, several_s):
        self.now_s, self.took_s = 0.0, [one_s, several_s]
        self.pace = shares.Pace()
        monkeypatch.setattr(shares, "perf_counter", lambda: self.now_s)

    def live(self, count, tasks=999, window_ns=10**9):
        """So many windows: in which of them several threads were used."""
        found = []
        for _ in range(count):
            found.append(int(self.pace.begin(tasks, window_ns)))
            self.now_s += self.took_s[found[-1]] * (tasks + 1) / 1000.0 * window_ns / 10**9
        return found


@pytest.mark.parametrize(("one_s", "several_s", "better"), [(1e-3, 8e-4, 1), (8e-4, 1e-3, 0)])
def test_both_ways_are_tried_and_the_faster_one_is_taken(monkeypatch, one_s, several_s, better):
    monkeypatch.setattr(shares, "AGAIN", 20)
    windows = Windows(monkeypatch, one_s, several_s)
    assert windows.live(20) == [1] * 4 + [0] * 4 + [better] * 12
    assert windows.live(20) == [1 - better] * 4 + [better] * 16
    # Neither the length of a window nor how many tasks there are counts.
    assert windows.live(20, 50_000, 10**8) == [1 - better] * 4 + [better] * 16


def test_what_other_work_adds_once_does_not_count_and_a_change_does(monkeypatch):
    windows = Windows(monkeypatch, 1e-3, 8e-4)
    windows.live(50)
    windows.took_s[1] = 5e-3
    assert windows.live(1) == [1]
    windows.took_s[1] = 8e-4
    assert windows.live(20) == [1] * 20
    windows.took_s[1] = 5e-3
    assert 0 in windows.live(20)
    assert windows.live(5) == [0] * 5


def test_little_work_is_looked_at_now_and_then(monkeypatch):
    monkeypatch.setattr(shares, "RESTS", 3)
    windows = Windows(monkeypatch, 2e-4, 1e-4)
    assert windows.live(9, tasks=20) == [0] * 9
    assert windows.live(9, tasks=5000) == [0, 0, 0, 1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("value", [0, -1, 257, 1.0, 2.5, True, "two", "", [2], None])
def test_bad_numbers_of_threads(value):
    with pytest.raises(InputError, match=r'run\.threads.*must be "auto" or a whole number from 1 to 256'):
        scenario_from({"run": {"threads": value}, "workload": {"utilisation": 0.5}})


def test_auto_is_a_thread_for_each_core(monkeypatch):
    monkeypatch.setattr("cluster_abm.model.setup.available_processors", lambda: 5)
    assert most_threads("auto") == 5
    assert most_threads(3) == 3
    model = ClusterModel(scenario(run__threads="auto", workload__duration_s=1.0))
    assert model.setup.run.threads == "auto"
    monkeypatch.setattr("cluster_abm.model.setup.available_processors", lambda: 1000)
    assert most_threads("auto") == 256


def test_threads_name_no_run():
    names = {cell_key(scenario(run__threads=threads), "") for threads in (1, 2, "auto")}
    assert len(names) == 1
    texts = {scenario_to_toml(scenario(run__threads=threads)) for threads in (1, 2, "auto")}
    assert len(texts) == 1
