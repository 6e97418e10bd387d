"""disk-io-score, target-load and load-risk: which node scores highest, worked by hand, and what they know."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import busy, finished

from cluster_abm.engine.tables import LOAD
from cluster_abm.model.knowing.sampling import Ring
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View, create
from cluster_abm.policy.memory import Memory
from cluster_abm.policy.samples import no_samples
from cluster_abm.scenario.schema import PolicyChoice

# Requests of 200 KB take 8 + 2 ms on its disk of 100 MB/s; memory for programs 100 MB.
NODE = Hardware(1.0, 100.0, 0.0, math.inf, False, 8.0, 8.0, 100.0, 0.0, cores=4)


def view_of(hardware, me=0, refused=(), now_ms=0.0, memory=None, samples=None, notes=None, **columns):
    loads = np.zeros(len(hardware), LOAD)
    for name, values in columns.items():
        loads[name] = values
    return View(
        me, loads, tuple(hardware), Paths.alike(len(hardware), 128.0), 100.0, lambda task, draw: 0.5,
        frozenset(refused), now_ms=now_ms, memory=Memory() if memory is None else memory, samples=samples,
        notes={} if notes is None else notes,
    )  # fmt: skip


def as_column(load, hardware):
    return np.broadcast_to(np.array(load, float), len(hardware))


def samples_of(hardware, *samples):
    """What each load manager has sampled for `load-risk`: columns by name."""
    sampling = create(PolicyChoice(name="load-risk")).samples
    before = no_samples(sampling, hardware)
    shares = np.array([[as_column(sample.get(name, 0.0), hardware) for name in sampling.indices] for sample in samples])
    shares /= before.sample_whole
    found = np.concatenate([shares.mean(axis=0), shares.std(axis=0)])[None]
    return before._replace(sample_of=np.zeros(len(hardware), np.int64), sample_shares=found)


def task_of(number=0, io_per_ms=0.0, memory_mb=0.0):
    return ArrivingTask(number, number, 0, 100.0, io_per_ms, 200.0, memory_mb, 0.0)


# ---- disk bandwidth -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("strategy", "at_disk", "target", "rule"), [
    # Half its time at the disk: R = 50 MB/s. Left are 60, 80 and 100: scores 17, 38 and 50; or 83, 63 and 50.
    ("least-allocated", [0.4, 0.2, 0.0], 2, "score 50"),
    ("most-allocated", [0.4, 0.2, 0.0], 0, "score 83"),
    # Node 0 has 40 left, too little, and is filtered out.
    ("most-allocated", [0.6, 0.2, 0.0], 1, "score 63"),
    # None has enough; most is left on node 1.
    ("least-allocated", [1.4, 0.8, 0.9], 1, "most disk bandwidth left"),
    # Equal scores: at home.
    ("least-allocated", [0.1, 0.1, 0.1], 0, "score 44"),
])  # fmt: skip
def test_disk_scores(strategy, at_disk, target, rule):
    policy = create(PolicyChoice(name="disk-io-score", strategy=strategy))
    decision = policy.place(task_of(io_per_ms=0.1), view_of([NODE] * 3, at_disk=at_disk))
    assert (decision.target, decision.rule) == (target, rule)


def test_a_disk_of_several_requests_at_once_has_as_many_times_its_bandwidth():
    """200 of 4 x 100 MB/s are left on node 1, 90 of 100 on node 0."""
    decision = create(PolicyChoice(name="disk-io-score")).place(
        task_of(io_per_ms=0.1), view_of([NODE, NODE._replace(disk_channels=4)], at_disk=[0.1, 2.0])
    )
    assert (decision.target, decision.rule) == (1, "score 75")


def test_a_task_without_io_stays_at_home_and_one_that_was_refused_goes_on():
    policy = create(PolicyChoice(name="disk-io-score"))
    assert policy.place(task_of(), view_of([NODE] * 3, me=1, at_disk=[0.0, 0.7, 0.0])).target == 1
    assert policy.place(task_of(), view_of([NODE] * 3, refused=(0, 1), at_disk=[0.0, 0.7, 0.0])).target == 2


# ---- target load --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("cpu_percent", "target", "rule"), [
    # One core of four, as it asks for 1.5 but cannot use more than one: 25 % more. u = 25, 35, 45 with x = 40:
    # 60 25/40 + 40 = 77.5, 92.5, 40 55/60 = 36.7.
    ([0.0, 10.0, 20.0], 1, "score 93"),
    ([0.0, 16.0, 20.0], 0, "score 78"),
    # All beyond 100 %: the least of them.
    ([95.0, 80.0, 90.0], 1, "score 0"),
])  # fmt: skip
def test_target_scores(cpu_percent, target, rule):
    decision = create(PolicyChoice(name="target-load")).place(task_of(), view_of([NODE] * 3, cpu_percent=cpu_percent))
    assert (decision.target, decision.rule) == (target, rule)


def test_what_was_placed_lately_is_counted_until_the_mean_shows_it():
    """Three tasks of 25 % of a node each, one after another: to home, u = 25 and a score of 78; there again it would be
    50 and 33, so to node 1; then both would have 50: to node 2. Five seconds later none of them counts any more."""
    policy, memory = create(PolicyChoice(name="target-load")), Memory()
    targets = [
        policy.place(task_of(number), view_of([NODE] * 3, now_ms=now_ms, memory=memory)).target
        for number, now_ms in enumerate([0.0, 100.0, 200.0, 5300.0])
    ]
    assert targets == [0, 1, 2, 0]
    # A task that is placed again because the first node has refused counts once.
    again = view_of([NODE] * 3, refused=(0,), now_ms=5300.0, memory=memory)
    assert policy.place(task_of(3), again).target == 1
    later = view_of([NODE] * 3, now_ms=5400.0, memory=memory)
    assert policy.place(task_of(4), later).target == 0


def test_a_task_that_waits_for_its_disk_uses_less_of_a_core():
    """Half of its time, times 1.5: 0.75 cores of four, 18.75 %: 60 18.75/40 + 40 = 68.1."""
    decision = create(PolicyChoice(name="target-load")).place(task_of(io_per_ms=0.1), view_of([NODE]))
    assert decision.rule == "score 68"


# ---- mean and deviation -------------------------------------------------------------------------------------------


def test_risk_by_mean_and_deviation():
    """Samples of CPU: node 0 steadily 41 %, node 1 21 and 61 %: deviation 0.2. With 25 % of the task, mu = 0.66:
    (0.66 + 0)/2 and (0.66 + 0.2)/2: scores 67 and 57."""
    policy = create(PolicyChoice(name="load-risk"))
    samples = samples_of([NODE] * 2, {"cpu_percent": [41.0, 21.0]}, {"cpu_percent": [41.0, 61.0]})
    seen = view_of([NODE] * 2, me=1, samples=samples, cpu_percent=[99.0, 99.0])
    decision = policy.place(task_of(), seen)
    assert (decision.target, decision.rule) == (0, "score 67")
    # Node 0 refuses: node 1, 100 (1 - 0.43).
    assert policy.place(task_of(), view_of([NODE] * 2, refused=(0,), samples=samples)).rule == "score 57"


def test_the_worse_of_cpu_and_memory_counts():
    """Memory 90 of 100 MB on node 0, 10 more: 1 - 1/2; node 1 has 61 % CPU and 25 more: 1 - 0.86/2."""
    loads = {"cpu_percent": [0.0, 61.0], "memory_mb": [90.0, 0.0]}
    decision = create(PolicyChoice(name="load-risk")).place(task_of(memory_mb=10.0), view_of([NODE] * 2, **loads))
    assert (decision.target, decision.rule) == (1, "score 57")


@pytest.mark.slow
def test_only_the_samples_of_the_window_count():
    sampling = create(PolicyChoice(name="load-risk", sample_ms=1000.0, window_ms=2000.0)).samples
    ring = Ring((1, 1), sampling.most)
    for share in (1.0, 0.2, 0.4):
        ring.add(np.array([[share]]))
    assert ring.statistics().ravel().tolist() == pytest.approx([0.3, 0.1])


@pytest.mark.slow
def test_samples_are_taken_in_a_run_of_what_was_reported():
    """Every second, of utilisations that nodes report; nothing migrates by it."""
    model = finished(2, **busy(policy__name="load-risk", policy__sample_ms=1000.0, negotiation__mode="negotiated"))
    (taken,) = model.parts.sampling.taken
    assert taken.count == pytest.approx(model.now_ms / 1000.0, abs=2)
    view = model.view_of(model.load_managers[0])
    assert view.mean_share("cpu_percent").max() > 0.1
    assert view.share_deviation("cpu_percent").max() > 0.05
    assert model.summary()["metrics"]["migrations"] == 0
