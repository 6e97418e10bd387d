"""Policies whose load managers talk, against what their papers' models say (later_policies_theory.py).

Messages take no time and starting a task elsewhere costs nothing, as in these models. Ends of tasks are known from the
end of their slice on: slices are a ten-thousandth of the mean demand, so that what a model says is off by about that
share of a mean demand for each end that matters. Intervals are at 99.9 %; each is made narrower by what is known to
vary with it and has a known mean (replications.interval).
"""

from __future__ import annotations

import numpy as np
import pytest
from known_queues import wait_of_exponential_services
from later_policies_theory import (
    central_queue_starts,
    persistent_idle,
    sparse_feedback,
    tails_with_memory,
    tails_with_stealing,
)
from queueing.chains import join_idle_queue, mean_tasks
from queueing.limits import managers_without_idle
from queueing.sizes import BoundedPareto, cutoffs_of, waits_of_classes
from replications import EXPONENTIAL, HEAVY, LIFETIME, SECOND, SEED, Steady, inside, interval, is_steady, run
from support import scenario

from cluster_abm import ClusterModel

SLICE_MS = 0.1
FREE = {"negotiation__mode": "negotiated", "negotiation__remote_execution_ms": 0.0, "cluster__slice_ms": SLICE_MS}
BARE = {"cluster__context_switch_ms": 0.0, "cluster__page_fault_rate_per_ms": 0.0}
ONE_BY_ONE = {"cluster__quantum_ms": "inf"}
HEAVY_DEMANDS = {"workload__cpu_ms__kind": LIFETIME, **HEAVY}
EXPONENTIAL_DEMANDS = {"workload__cpu_ms__kind": EXPONENTIAL, **SECOND}


def in_order(model):
    """Records of the tasks in the order of their arrivals, and when each started [ns]: it ran without a break."""
    records = model.engine.records[: model.engine.finished]
    records = records[np.argsort(records["arrival_ns"], kind="stable")]
    return records, records["finish_ns"] - records["cpu_ns"]


# ---- job by job ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["negotiated", "papers"])
@pytest.mark.parametrize("slice_ms", [10.0, 1000.0])
def test_least_work_left_starts_each_task_when_a_central_queue_does(mode, slice_ms):
    """Of a dispatcher that knows all work, the node with least is the one that would take the task first."""
    for offset in range(3):
        model = run(
            offset, policy__name="lwl", cluster__nodes=4, workload__utilisation=0.85, workload__duration_s=80,
            **(FREE | ONE_BY_ONE | HEAVY_DEMANDS | {"negotiation__mode": mode, "cluster__slice_ms": slice_ms}),
        )  # fmt: skip
        records, starts = in_order(model)
        truth = central_queue_starts(records["arrival_ns"].tolist(), records["cpu_ns"].tolist(), 4)
        assert (starts > records["arrival_ns"]).mean() > 0.3
        assert abs(starts - truth).max() <= 1


@pytest.mark.slow
@pytest.mark.parametrize("slice_ms", [0.1, 10.0, 300.0])
def test_a_central_queue_serves_the_oldest_task_at_the_slice_after_an_end(slice_ms):
    """M/G/k in which a service lasts until its slice ends: so between M/G/k, and M/G/k of services a slice longer.

    What ends late starts the next one late, so that in a long busy period the delays of one node add up.
    """
    slice_ns = round(slice_ms * 1e6)
    for offset in range(3):
        model = run(
            offset, policy__name="central-queue", cluster__nodes=4, workload__utilisation=0.8, workload__duration_s=80,
            **(FREE | ONE_BY_ONE | HEAVY_DEMANDS | {"cluster__slice_ms": slice_ms}),
        )  # fmt: skip
        records, starts = in_order(model)
        arrivals, services = records["arrival_ns"].tolist(), records["cpu_ns"].tolist()
        assert (starts == central_queue_starts(arrivals, services, 4, slice_ns)).all()
        assert (starts >= central_queue_starts(arrivals, services, 4)).all()
        assert (starts <= central_queue_starts(arrivals, (records["cpu_ns"] + slice_ns).tolist(), 4)).all()


@pytest.mark.slow
def test_a_dispatcher_that_knows_the_idle_of_many_nodes_finds_one():
    """Persistent-idle on 100 nodes: of M/M/100 at this load all servers are busy once in ten thousand instants."""
    model = run(
        policy__name="persistent-idle", cluster__nodes=100, workload__utilisation=0.6, workload__duration_s=25,
        **(FREE | ONE_BY_ONE | EXPONENTIAL_DEMANDS),
    )  # fmt: skip
    records, starts = in_order(model)
    assert len(records) > 1000
    assert (starts > records["arrival_ns"]).mean() < 0.002


@pytest.mark.slow
@pytest.mark.parametrize("nodes", [2, 5, 16])
def test_size_classes_that_are_found_bring_the_same_work(nodes):
    """Up to the task at a cutoff: the work of the classes up to each is that share of all, or less than a task more."""
    model = run(
        policy__name="sita-e", cluster__nodes=nodes, workload__utilisation=0.6, workload__duration_s=200,
        **(FREE | ONE_BY_ONE | HEAVY_DEMANDS),
    )  # fmt: skip
    records, _ = in_order(model)
    classes = [np.sort(records["cpu_ns"][records["node"] == node]) for node in range(nodes)]
    done = 0
    for place, sizes in enumerate(classes[:-1], 1):
        assert sizes[-1] <= classes[place][0]
        done += sizes.sum()
        more = done - records["cpu_ns"].sum() * place / nodes
        assert 0 <= more <= sizes[-1]


@pytest.mark.parametrize("load", [0.3, 0.8])
def test_the_theory_agrees_with_itself(load):
    """One node is M/M/1; limits that are known; and the rules that are derived anew, where the papers give them."""
    response = 1 / (1 - load)
    assert mean_tasks(persistent_idle(load, (1.0,), 150)) / load == pytest.approx(response, rel=1e-6)
    assert mean_tasks(join_idle_queue(load, 1, 1, 150)) / load == pytest.approx(response, rel=1e-6)
    # Withdrawals spread idle nodes more evenly than Lu et al. have it, and so does joining the shortest queue.
    assert managers_without_idle(load, 2) < managers_without_idle(load) < 1 / (2 - load)
    memory, stealing = tails_with_memory(load), tails_with_stealing(load)
    assert memory[1:4] == pytest.approx([load, load**2, load**5 / (1 - load + load**2)])
    # Each task that arrives ends: nodes are busy for that share of the time; fewer tasks than without balancing.
    for found in (memory, stealing):
        assert found[1] == pytest.approx(load)
        assert found[1:].sum() < load * response
    # At the threshold the share that waits begins to rise from nothing.
    threshold = load / (1 - load)
    assert sparse_feedback(load, 1.01 * threshold)[0] == 0.0
    assert 0.0 < sparse_feedback(load, 0.99 * threshold)[0] < 0.02


# ---- few nodes -------------------------------------------------------------------------------------------------------


def runs(count, policy, nodes, load, window_s, demands=None, **overrides):
    """So many runs, each from a seed of its own."""
    for offset in range(count):
        yield run(
            offset, policy__name=policy, cluster__nodes=nodes, workload__utilisation=load,
            workload__duration_s=window_s, **(FREE | ONE_BY_ONE | (demands or EXPONENTIAL_DEMANDS) | overrides),
        )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "load"), [(4, 0.8), (2, 0.6)])
def test_a_central_queue_waits_as_erlang_says(nodes, load):
    """M/M/n. What the exact queue of the same jobs waits varies alike, and has the same mean.

    A service lasts half a slice longer in the mean: the tolerance is what twice that much more load is to a wait.
    """
    window_s, margin_s = 1500, 100
    waits, exact = [], []
    for model in runs(20, "central-queue", nodes, load, window_s):
        records, starts = in_order(model)
        arrivals = records["arrival_ns"]
        kept = is_steady(arrivals / 1e6, window_s, margin_s)
        waits.append((starts - arrivals)[kept].mean() / 1e9)
        truth = central_queue_starts(arrivals.tolist(), records["cpu_ns"].tolist(), nodes)
        exact.append((truth - arrivals)[kept].mean() / 1e9)
    truth = wait_of_exponential_services(nodes, load)
    more = wait_of_exponential_services(nodes, load * (1 + SLICE_MS / 2000)) - truth
    inside(waits, truth, 2 * more, controls=[(exact, truth)], widest=0.001)


@pytest.mark.slow
def test_each_size_class_waits_as_pollaczek_and_khinchine_say():
    """Poisson arrivals, parted by size: queues M/G/1, all at the same load."""
    nodes, load, window_s, margin_s = 3, 0.5, 4000, 60
    least, most, shape = 100.0, 3000.0, 1.1
    law = BoundedPareto(least, most, shape)
    bounds = [least, *cutoffs_of(law, nodes), most]
    rate = nodes * load / law.part(1, least, most)
    demands = {"kind": LIFETIME, "minimum": least, "maximum": most, "shape": shape}
    models = runs(
        24, "sita-e", nodes, load, window_s, {f"workload__cpu_ms__{key}": value for key, value in demands.items()},
        policy__cutoffs_ms=bounds[1:-1],
    )  # fmt: skip
    done = [Steady(model, window_s, margin_s) for model in models]
    for node, truth in enumerate(waits_of_classes(law, rate, bounds)):
        low, high = bounds[node : node + 2]
        # Of the tasks of a ms: their work, and half its squares, of which Pollaczek and Khinchine make the wait.
        brought, left, waits = [], [], []
        for one in done:
            sizes = one.ms("cpu")
            here = one.records["node"] == node
            assert (here == (sizes > low) & (sizes <= high)).all()
            brought.append(sizes[here].sum() / one.span_ms)
            left.append((sizes[here] ** 2).sum() / 2 / one.span_ms)
            waits.append((one.response_ms() - sizes)[here].mean())
        assert rate * law.part(1, low, high) == pytest.approx(load)
        inside(waits, truth, controls=[(brought, load), (left, rate * law.part(2, low, high) / 2)], widest=0.13)


@pytest.mark.slow
@pytest.mark.parametrize("speeds", [(1.0, 1.0), (1.0, 3.0)])
def test_persistent_idle_on_two_nodes_is_its_markov_chain(speeds):
    """Numbers of tasks on both, and the node that was idle last."""
    load, window_s, margin_s = 0.7, 1000, 60
    arrivals = load * sum(speeds)
    group = [{"count": 1, "cpu_speed": speed} for speed in speeds]
    models = runs(32, "persistent-idle", 2, load, window_s, cluster__group=group)
    agrees_with_the_chain(
        [Steady(model, window_s, margin_s) for model in models],
        persistent_idle(arrivals, speeds, 60), lambda tasks, last: 0 in tasks, arrivals,
        lambda one: (one.ms("cpu") * np.array(speeds)[one.records["node"]]).sum() / one.span_ms,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("probes", [1, 2])
def test_join_idle_queue_on_two_nodes_is_its_markov_chain(probes):
    """Numbers of tasks on both, and the idle queues of both, in their order."""
    load, window_s, margin_s = 0.7, 1000, 60

    def started_at_once(tasks, queues):
        return np.mean([1.0 if queue else tasks.count(0) / 2 for queue in queues])

    models = runs(32, "jiq", 2, load, window_s, policy__probes=probes)
    agrees_with_the_chain(
        [Steady(model, window_s, margin_s) for model in models],
        join_idle_queue(load, 2, probes, 40), started_at_once, 2 * load, lambda one: one.ms("cpu").sum() / one.span_ms,
    )  # fmt: skip


def agrees_with_the_chain(done, chances, started_at_once, arrivals, work):
    """Mean response by Little's law; and what share of the tasks starts at once.

    Args:
        done: the runs.
        chances: of the chain's states.
        started_at_once: of a state, what share of the tasks that arrive in it.
        arrivals: rate, and what work it brings a second.
        work: of a run, at speed 1, over the time in which it arrived.
    """
    controls = [([work(one) for one in done], arrivals)]
    controls += [([len(one.records) / one.span_ms * 1000 for one in done], arrivals)]
    response_s = [one.response_ms().mean() / 1000 for one in done]
    inside(response_s, mean_tasks(chances) / arrivals, SLICE_MS / 1000, controls=controls, widest=0.1)
    at_once = [(one.ms("cpu_queue") + one.ms("blocked") == 0).mean() for one in done]
    truth = sum(chance * started_at_once(*state) for state, chance in chances.items())
    inside(at_once, truth, SLICE_MS / 1000, controls=controls, widest=0.04)


# ---- many nodes ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("probes", [1, 2])
def test_managers_without_an_idle_node_are_as_many_as_the_limit_says(probes):
    """JIQ on 100 nodes, processor sharing; and E[T | x] = x / (1 - load q) for short and long demands."""
    nodes, load, window_s, margin_s = 100, 0.7, 70, 15
    without = managers_without_idle(load, probes)
    shares, factors, brought = [], [], []
    for model in runs(20, "jiq", nodes, load, window_s, policy__probes=probes, cluster__quantum_ms=2.0):
        decided = model.decisions_frame()
        decided = decided[is_steady(decided.time_ms, window_s, margin_s)]
        shares.append(decided.rule.str.startswith("random").mean())
        done = Steady(model, window_s, margin_s)
        long = done.ms("cpu") > 1000
        factors.append([done.response_ms()[which].sum() / done.ms("cpu")[which].sum() for which in (long, ~long)])
        brought.append(done.ms("cpu").sum() / nodes / done.span_ms)
    controls = [(brought, load)]
    # The chain of 50 to 400 nodes, simulated apart: the share is within 0.2/n of the limit, the factor within 2/n.
    inside(shares, without, 0.2 / nodes, controls=controls, widest=0.02)
    for factor in np.transpose(factors):
        inside(factor, 1 / (1 - load * without), 2 / nodes, controls=controls, widest=0.06)


def tails(model, until_s, margin_s):
    """Share of nodes with i tasks or more, those that wait at their managers included, in the mean of many instants."""
    counts = np.zeros(60)
    for instant in np.arange(margin_s, until_s, 0.5):
        model.run(until_ms=1000.0 * instant)
        waiting = [len(post.waiting) for post in model.conversation.posts]
        counts += np.bincount(model.engine.nodes["tasks"] + waiting, minlength=60)
    return 1.0 - np.cumsum(counts / counts.sum())


def tails_of_runs(count, policy, nodes, load, window_s, margin_s, **overrides):
    found = []
    for offset in range(count):
        own = {"policy__name": policy, "cluster__nodes": nodes, "workload__utilisation": load}
        own |= {"workload__duration_s": window_s, **BARE, **FREE, **ONE_BY_ONE, **EXPONENTIAL_DEMANDS}
        found.append(tails(ClusterModel(scenario(**own | overrides), seed=SEED + offset), window_s, margin_s))
    return np.transpose(found)


@pytest.mark.slow
def test_queues_with_a_memory_are_as_long_as_the_limit_says():
    """One random probe and one remembered node, of 100."""
    nodes, load = 100, 0.8
    busy, *longer = tails_of_runs(20, "jsq-memory", nodes, load, 60, 15, policy__d=1, policy__memory=1)[:4]
    truth = tails_with_memory(load)
    # The chain of 50 to 400 nodes, simulated apart, has fewer by up to 0.8/n: the memory grows stale in between.
    for place, share, widest in zip((2, 3, 4), longer, (0.02, 0.05, 0.2), strict=True):
        inside(share, truth[place] - 0.5 / nodes, 0.5 / nodes, controls=[(busy, load)], widest=widest)


@pytest.mark.slow
def test_thieves_leave_as_many_long_queues_as_the_limit_says():
    """One victim, asked once, for one task; of 100 nodes."""
    nodes, load = 100, 0.8
    busy, *longer = tails_of_runs(
        20, "work-stealing", nodes, load, 60, 20, policy__victims=1, policy__amount="one", policy__retry_slices=0
    )[:4]
    truth = tails_with_stealing(load)
    # The chain of 50 to 400 nodes, simulated apart, is within 0.1/n.
    for place, share, widest in zip((2, 3, 4), longer, (0.03, 0.06, 0.1), strict=True):
        inside(share, truth[place], 0.1 / nodes, controls=[(busy, load)], widest=widest)


@pytest.mark.slow
def test_sparse_updates_suffice_above_the_threshold_only():
    """At load 0.6 more than 1.5 updates in a mean demand let no task wait, as nodes become many; half as many do."""
    load, margin_s = 0.6, 10
    enough, too_few = 3.0, 0.75
    assert sparse_feedback(load, enough)[0] == 0.0
    shares = {}
    for updates in (enough, too_few):
        for nodes, window_s in ((20, 150), (80, 70)):
            waits, brought = [], []
            for model in runs(16, "sparse-jsq", nodes, load, window_s, policy__update_ms=1000 / updates):
                done = Steady(model, window_s, margin_s)
                waits.append((done.ms("cpu_queue") > 0).mean())
                brought.append(done.ms("cpu").sum() / nodes / done.span_ms)
            shares[updates, nodes] = waits, [(brought, load)]
    # Four times as many nodes: less than a third of the share is left, on its way to nothing.
    few, many = (interval(*shares[enough, nodes]) for nodes in (20, 80))
    assert many[1] < few[0] / 3
    # The chain of 10 to 400 nodes, simulated apart, lets a share wait that is above the limit by 1/n to 3/n.
    for nodes in (20, 80):
        waits, controls = shares[too_few, nodes]
        inside(waits, sparse_feedback(load, too_few)[0] + 2 / nodes, 1 / nodes, controls=controls, widest=0.1)
