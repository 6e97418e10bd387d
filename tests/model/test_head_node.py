"""A head node that gathers all load reports and broadcasts them: what each node knows when, and what gets lost."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support import busy, finished, same_records, scenario, steps_with_reports

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.model import message_losses
from cluster_abm.policies import Decision

HEAD = {"negotiation__mode": "head-node"}
# 20 ms from node to node by the switch.
STAR = {"interconnect__kind": "star", "interconnect__latency_ms": 10.0}
# Two nodes at a switch: 20 ms between them, 10 + 100 + 100 + 10 ms to the others.
TREE = STAR | {"interconnect__kind": "tree", "interconnect__rack_nodes": 2, "interconnect__trunk_latency_ms": 100.0}
# Two clusters of two nodes: 20 ms near, 500 ms far.
FAR = {
    "interconnect__kind": "clusters", "interconnect__clusters": 2, "interconnect__latency_ms": 10.0,
    "interconnect__trunk_latency_ms": 480.0,
}  # fmt: skip
# Node 1, the head, is down from 3 s to 7.5 s.
HEADLESS = HEAD | {
    "negotiation__head_node": 1, "failures__event": [{"node": 1, "at_s": 3.0, "for_s": 4.5}],
    "negotiation__missed_reports": 2, "workload__utilisation": 0.8,
}  # fmt: skip


def watched(seed=1, **more):
    """A model whose tasks all stay at home."""
    model = ClusterModel(scenario(**busy(policy__name="jsq", **HEAD | more)), seed=seed)
    model.policy.place = lambda arriving, view: Decision(view.me, "test")
    return model


def reported_ms(model):
    """When each node sent the latest report that each manager has, shape (managers, nodes) [ms]; 0: none."""
    reports = model.parts.reports
    reports.receive()
    return np.maximum(0, reports.known.reported_ns[reports.known.audience]) / 1e6


def stepped_to(model, time_ms):
    while model.now_ms < time_ms:
        model.step()
    return reported_ms(model)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jsq", "iolb", "wal-pm", "working-set"])
@pytest.mark.parametrize("kind", ["complete", "tree"])
def test_without_latency_and_loss_it_is_as_if_each_told_all_others(policy, kind):
    settings = busy(policy__name=policy, interconnect__kind=kind, negotiation__head_node=2, workload__duration_s=8.0)
    each, by_head = (finished(3, **settings | {"negotiation__mode": mode}) for mode in ("negotiated", "head-node"))
    assert len(each.decisions_frame()) > 50
    assert same_records(each, by_head)
    assert each.jobs_frame().equals(by_head.jobs_frame())
    assert each.decisions_frame().equals(by_head.decisions_frame())


def test_with_latency_it_is_not():
    settings = busy(policy__name="jsq", **FAR)
    each, by_head = (finished(3, **settings | {"negotiation__mode": mode}) for mode in ("negotiated", "head-node"))
    assert not each.decisions_frame().equals(by_head.decisions_frame())


@pytest.mark.slow
@pytest.mark.parametrize(("network", "head", "delays_ms"), [
    # The last report comes to the head after 20 ms; from there it is 20 ms to all others.
    (STAR, 0, (20, 40, 40, 40)),
    (STAR, 2, (40, 40, 20, 40)),
    (TREE, 0, (220, 240, 440, 440)),
    (TREE, 3, (440, 440, 240, 220)),
    (FAR, 1, (520, 500, 1000, 1000)),
])  # fmt: skip
def test_a_report_waits_for_the_last_one_and_then_for_the_broadcast(network, head, delays_ms):
    model = watched(negotiation__head_node=head, **network)
    busy_looks = 0
    for true in steps_with_reports(model, 4500):
        reported = reported_ms(model)
        for manager, delay_ms in enumerate(delays_ms):
            newest = max((sent for sent in true if sent + delay_ms <= model.now_ms), default=0)
            assert (reported[manager] == newest).all(), (model.now_ms, manager)
            known = model.load_managers[manager].known_loads()["cpu_ms"]
            others = [node for node in range(4) if node != manager]
            assert [known[node] for node in others] == [true[newest][node] for node in others]
            busy_looks += newest > 0 and any(known[node] > 0 for node in others)
    assert busy_looks > 100


@pytest.mark.parametrize(("senders", "delays_ms"), [
    # Only near the head: it does not wait for others. Only itself: it waits for none.
    ([0, 1], (20, 40, 520, 520)),
    ([0], (0, 20, 500, 500)),
    ([3], (500, 520, 1000, 1000)),
    ([], (math.inf,) * 4),
])  # fmt: skip
def test_the_head_waits_for_those_that_report(senders, delays_ms):
    model = watched(negotiation__head_node=0, cluster__exchange_period_ms=60_000.0, **FAR)
    stepped_to(model, 2000)
    before = reported_ms(model).copy()
    assert (before == 0).all()
    is_sender = np.isin(np.arange(4), senders)
    model.parts.reports.send(is_sender)
    for now_ms in range(2010, 3100, 10):
        reported = stepped_to(model, now_ms)
        for manager, delay_ms in enumerate(delays_ms):
            assert (reported[manager, is_sender] == (2000 if 2000 + delay_ms <= now_ms else 0)).all()
            assert (reported[manager, ~is_sender] == 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("network", [{}, FAR, TREE])
def test_while_the_head_is_down_nothing_new_is_known(network):
    model = watched(**HEADLESS, **network)
    # What was sent at 3 s is everywhere after a second at most; the next that the head gathers is sent at 8 s.
    for now_ms in range(4000, 8000, 100):
        assert (stepped_to(model, now_ms) == 3000).all()
    assert (stepped_to(model, 9000) >= 8000).all()


@pytest.mark.slow
@pytest.mark.parametrize("network", [{}, FAR])
def test_what_an_answer_has_told_holds_until_the_head_broadcasts_something_newer(network):
    model = watched(**HEADLESS, **network)
    stepped_to(model, 4500)
    told = model.true_loads(2).copy()
    told["cpu_ms"] = 12_345.0
    model.parts.reports.learn(0, 2, told)
    for now_ms in range(4510, 8000, 50):
        stepped_to(model, now_ms)
        assert model.load_managers[0].known_loads()["cpu_ms"][2] == 12_345.0
    stepped_to(model, 9000)
    assert model.load_managers[0].known_loads()["cpu_ms"][2] != 12_345.0


def test_what_an_answer_has_told_of_a_node_that_reports_no_more_holds():
    """Node 2 is down from 2.5 s on: what the others report makes nothing stale that it has said itself."""
    model = watched(negotiation__head_node=1, failures__event=[{"node": 2, "at_s": 2.5}], **TREE)
    stepped_to(model, 2400)
    told = model.true_loads(2).copy()
    told["cpu_ms"] = 12_345.0
    model.parts.reports.learn(0, 2, told)
    assert (stepped_to(model, 6000)[0, [0, 1, 3]] == 5000).all()
    assert model.load_managers[0].known_loads()["cpu_ms"][2] == 12_345.0


@pytest.mark.slow
@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("network", [{}, TREE])
def test_without_broadcasts_all_others_are_believed_down_and_tasks_stay_at_home(network, compiles):
    settings = busy(policy__name="power-of-d", **HEADLESS, **network) | {"workload__utilisation": 1.5}
    model = ClusterModel(scenario(**settings), seed=2, compile_decisions=compiles)
    assert (model.decides_in_python == "") == compiles
    # Where routes have latencies, those to the head are gone with it: nothing is waited for but the two reports.
    model.run(until_ms=5000)
    assert not {2, 3} & model.view_of(model.load_managers[0]).down
    model.run(until_ms=5010)
    assert model.view_of(model.load_managers[0]).down == {1, 2, 3}
    assert model.view_of(model.load_managers[2]).down == {0, 1, 3}
    model.run(until_ms=8500)
    assert not model.view_of(model.load_managers[0]).down
    model.run()
    frame = model.decisions_frame()
    leaves = frame["target"] != frame["source"]
    time_ms = frame["time_ms"]
    alone = (time_ms > 5010) & (time_ms < 8000)
    assert alone.sum() > 20
    assert not leaves[alone].any()
    assert leaves[time_ms < 3000].sum() > 5
    assert leaves[time_ms > 8500].sum() > 5


def losing(monkeypatch, lost):
    """Messages of `lost`, (period, receiver, sender), get lost and no others; the broadcasts are from sender 4."""

    def messages(key, number, receiver, senders, share):
        if receiver == senders:
            return np.array([(number, manager, senders) in lost for manager in range(senders)])
        return np.array([(number, receiver, sender) in lost for sender in range(senders)])

    monkeypatch.setattr(message_losses, "lost_messages", messages)


def test_a_lost_message_to_the_head_hides_one_node_and_a_lost_broadcast_all_of_them(monkeypatch):
    losing(monkeypatch, {(2, 1, 3), (3, 0, 4), (4, 1, 1), (4, 1, 4), (5, 1, 0), (5, 2, 4)})
    model = watched(negotiation__head_node=1, interconnect__loss_share=0.1)
    assert (stepped_to(model, 1000) == 1000).all()
    # Node 3's report is lost on its way to node 1: no node gets it.
    assert stepped_to(model, 2000).tolist() == [[2000, 2000, 2000, 1000]] * 4
    # The broadcast to node 0 is lost.
    assert stepped_to(model, 3000).tolist() == [[2000, 2000, 2000, 1000]] + [[3000] * 4] * 3
    # The head sends itself no messages.
    assert (stepped_to(model, 4000) == 4000).all()
    # Both at once.
    assert stepped_to(model, 5000).tolist() == [
        [4000, 5000, 5000, 5000], [4000, 5000, 5000, 5000], [4000] * 4, [4000, 5000, 5000, 5000],
    ]  # fmt: skip


@pytest.mark.slow
def test_so_many_messages_get_lost_each_by_itself():
    """What arrives is what has come to the head, on nodes that its broadcast reaches: within 5 standard errors."""
    share, nodes, periods = 0.3, 12, 80
    model = watched(
        negotiation__head_node=4, interconnect__loss_share=share, cluster__nodes=nodes, workload__duration_s=100.0,
        workload__utilisation=0.05,
    )  # fmt: skip
    counts = {"gathered": 0, "broadcast": 0}
    for period in range(1, periods + 1):
        model.run(until_ms=1000.0 * period)
        came = reported_ms(model) == 1000.0 * period
        reached, gathered = came.any(axis=1), came.any(axis=0)
        assert (came == np.outer(reached, gathered)).all()
        assert reached[4]
        assert gathered[4]
        counts["gathered"] += gathered.sum() - 1
        counts["broadcast"] += reached.sum() - 1
    count = periods * (nodes - 1)
    for arrived in counts.values():
        assert abs(arrived / count - (1 - share)) < 5 * math.sqrt(share * (1 - share) / count)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jsq", "wal-pm", "working-set"])
def test_the_same_messages_get_lost_however_many_slices_a_call_advances(policy):
    settings = busy(
        policy__name=policy, negotiation__head_node=3, interconnect__loss_share=0.3, workload__duration_s=6.0,
        cluster__exchange_period_ms=300.0, **HEAD, **FAR,
    )  # fmt: skip
    ran = finished(3, **settings)
    stepped, in_parts = (ClusterModel(scenario(**settings), seed=3) for _ in range(2))
    while stepped.running:
        stepped.step()
    for until_ms in range(0, 60_000, 770):
        in_parts.run(until_ms=until_ms)
    in_parts.run()
    for other in (stepped, in_parts):
        assert same_records(ran, other)
        assert ran.decisions_frame().equals(other.decisions_frame())


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["jsq", "iolb", "wal-pm"])
@pytest.mark.parametrize("what", ["far", "lossy", "the head fails", "the head fails far away"])
def test_compiled_decisions_are_those_in_python(policy, what):
    more = {
        "far": FAR,
        "lossy": {"interconnect__loss_share": 0.3, "negotiation__timeout_ms": 30.0},
        "the head fails": HEADLESS,
        "the head fails far away": HEADLESS | FAR,
    }[what]
    setup = scenario(**busy(policy__name=policy, workload__duration_s=10.0) | HEAD | more)
    compiled, plain = (ClusterModel(setup, seed=3, compile_decisions=compiles) for compiles in (True, False))
    for model in (compiled, plain):
        model.run()
    # Running tasks that migrate over links that can fail are decided about in Python.
    assert (compiled.decides_in_python == "") == ((policy, what) != ("wal-pm", "the head fails far away"))
    assert len(plain.decisions_frame()) > 50
    assert same_records(compiled, plain)
    assert compiled.decisions_frame().equals(plain.decisions_frame())


@pytest.mark.parametrize(("head", "network", "audiences"), [
    (1, STAR, [1, 0, 1, 1]), (0, TREE, [0, 1, 2, 2]), (3, FAR, [2, 2, 1, 0]),
])  # fmt: skip
def test_managers_that_broadcasts_reach_together_share_a_table(head, network, audiences):
    found = watched(negotiation__head_node=head, **network).parts.reports.known.audience
    pairs = set(zip(found.tolist(), audiences, strict=True))
    assert len(pairs) == len(set(found.tolist())) == len(set(audiences))


def test_where_nodes_of_a_star_fail_two_tables_are_enough():
    assert len(watched(**HEADLESS, **STAR).parts.reports.known.table) == 2
    assert len(watched(**HEADLESS, **TREE).parts.reports.known.table) == 4


@pytest.mark.parametrize("mode", ["negotiated", "head-node"])
def test_the_first_of_an_audience_fails_and_the_others_go_on_to_be_told(mode):
    """Clusters of three nodes; node 3 is the first of its cluster. That nodes fail is not said beforehand."""
    model = watched(**FAR | {"negotiation__mode": mode, "cluster__nodes": 6})
    stepped_to(model, 3000)
    model.node_agents[3].fail()
    reported = stepped_to(model, 7000)
    for manager in (4, 5):
        assert (reported[manager, [0, 1, 2, 4, 5]] >= 6000).all()
    assert model.view_of(model.load_managers[4]).down == {3}


def test_one_of_those_equally_far_is_cut_off_and_only_its_way_is_longer():
    """A ring: nodes 2 and 6 are two links from the head, until node 1 fails, over which node 2 is reached."""
    model = watched(
        cluster__nodes=8, interconnect__kind="torus", interconnect__dimensions=(8,), interconnect__latency_ms=30.0
    )
    stepped_to(model, 3000)
    model.node_agents[1].fail()
    # The last report comes from node 2, over 6 links, as its broadcast does then.
    reported = stepped_to(model, 4000 + 6 * 30 + 2 * 30)
    assert (reported[6, 2:] == 4000).all()
    assert (reported[2, 2:] == 3000).all()
    assert (stepped_to(model, 4000 + 2 * 6 * 30)[2, 2:] == 4000).all()


def test_how_long_news_can_take_counts_the_way_to_the_head_and_the_way_from_it():
    """Held jobs are looked at once more after four periods and twice the longest way, 500 ms."""
    settings = busy(policy__name="working-set", **FAR)
    news = {
        mode: ClusterModel(
            scenario(**settings | {"negotiation__mode": mode})
        ).parts.submissions.holding.news.spread_ns()
        for mode in ("negotiated", "head-node")
    }
    assert news == {"negotiated": 4_500_000_000, "head-node": 5_000_000_000}


@pytest.mark.parametrize("head", [4, 5, -1, 1.0, 0.5, True, "one", None])
def test_bad_head_nodes(head):
    with pytest.raises(InputError, match=r"negotiation\.head_node"):
        scenario(negotiation__head_node=head, **HEAD)


def test_the_last_node_may_be_the_head():
    assert scenario(negotiation__head_node=3, **HEAD).negotiation.head_node == 3


def test_a_policy_that_starts_no_jobs_at_a_head_node_sees_no_free_core_and_no_running_job():
    """Nobody counts them then, and nothing is written for the jobs that end."""
    model = ClusterModel(scenario(**busy(policy__name="jsq")), seed=1)
    seen = []

    def place(arriving, view):
        seen.append((view.free.tolist(), view.free_cores, len(view.running), view.nodes_of(arriving.job).tolist()))
        return Decision(view.me, "test")

    model.policy.place = place
    unfinished = model.parts.cores._arrays["unfinished"].copy()
    model.run(until_ms=5000.0)
    assert model.engine.finished > 1
    assert seen
    assert all(one == ([0, 0, 0, 0], 0, 0, []) for one in seen)
    assert np.array_equal(model.parts.cores._arrays["unfinished"], unfinished)
