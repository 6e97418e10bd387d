"""What load managers know: the state at the decision, or load reports (policy.information)."""

from __future__ import annotations

import pytest
from support import busy, same_records, scenario

from cluster_abm.errors import InputError
from cluster_abm.model import ClusterModel

# Nothing but what is known sets the two modes apart: answers and starts take no time, and none is refused.
AT_ONCE = {"interconnect__latency_ms": 0.0, "negotiation__refusals": False}
FRESH, REPORTED = {"policy__information": "fresh"}, {"policy__information": "reported"}
PAPERS = {"negotiation__mode": "papers"}
POLICIES = ["jsq", "power-of-d", "iolb", "wal-pm", "load-risk", "low-load"]


def ended(*overrides, seed=1, **how):
    settings = {key: value for one in overrides for key, value in one.items()}
    model = ClusterModel(scenario(**busy(**settings)), seed=seed, agents_step=False, **how)
    model.run()
    return model


@pytest.mark.slow
@pytest.mark.parametrize("name", POLICIES)
def test_the_mode_is_information_and_refusals(name):
    """Fresh information without refusals is mode `papers`, and `papers` by reports is `negotiated` without refusals."""
    named = {"policy__name": name}
    fresh, papers = ended(named, FRESH, AT_ONCE), ended(named, PAPERS, AT_ONCE)
    assert same_records(fresh, papers)
    assert fresh.decisions_frame().equals(papers.decisions_frame())
    reported, plain = ended(named, REPORTED, PAPERS, AT_ONCE), ended(named, AT_ONCE)
    assert same_records(reported, plain)
    assert not same_records(fresh, reported)
    assert same_records(plain, ended(named, AT_ONCE, REPORTED))
    assert same_records(papers, ended(named, PAPERS, AT_ONCE, FRESH))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["papers", "negotiated"])
@pytest.mark.parametrize("name", ["jsq", "iolb", "wal-pm", "iocm-pm", "jiq", "work-stealing", "load-risk"])
@pytest.mark.parametrize("information", ["fresh", "reported"])
def test_both_forms_and_both_ways_to_go_on_agree(name, information, mode):
    settings = {"policy__name": name, "policy__information": information, "negotiation__mode": mode}
    first = ended(settings)
    assert not first.decides_in_python
    in_python = ended(settings, compile_decisions=False)
    stepped = ClusterModel(scenario(**busy(**settings)), seed=1, agents_step=False)
    while stepped.running:
        stepped.step()
    for other in (in_python, stepped):
        assert same_records(first, other)
        assert first.decisions_frame().equals(other.decisions_frame())
        assert first.summary() == other.summary()


def test_the_state_at_the_decision_is_what_is_true():
    """Two tasks of 12 ms are on node 2 at time 0, when it reports; the next report is an hour later. With a quantum of
    10 ms they end at 22 and 24 ms, in the third slice."""
    jobs = {
        "cluster__nodes": 4, "cluster__exchange_period_ms": 3_600_000.0, "cluster__context_switch_ms": 0.0,
        "workload__kind": "none", "workload__initial": [{"node": 2, "cpu_ms": 12.0}, {"node": 2, "cpu_ms": 12.0}],
        "policy__name": "jsq",
    }  # fmt: skip
    fresh, blind = ClusterModel(scenario(**jobs, **FRESH)), ClusterModel(scenario(**jobs))
    for slices, true in enumerate([2.0, 2.0, 0.0], 1):
        for model, known in ((fresh, true), (blind, 2.0)):
            model.step()
            assert model.steps == slices
            assert model.load_managers[0].known_loads()["tasks"] == [0.0, 0.0, known, 0.0]
        # Its own node each manager knows exactly.
        assert blind.load_managers[2].known_loads()["tasks"] == [0.0, 0.0, true, 0.0]


def test_fresh_information_sends_no_report():
    settings = {"policy__name": "power-of-d", "cluster__exchange_period_ms": 100.0}
    by_reports, fresh = ended(settings), ended(settings, FRESH)
    nodes, asked = by_reports.setup.cluster.nodes, fresh.parts.questions.messages
    # Every period each node reports to each other one.
    assert by_reports.parts.reports.messages >= nodes * (nodes - 1) * (by_reports.now_ms // 100.0)
    assert fresh.parts.reports.messages == 0
    assert fresh.summary()["metrics"]["messages_per_job"] == asked / len(fresh.jobs_frame()["job"].unique())


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"policy__name": "batch-system", "policy__information": "reported"},
            "policy 'batch-system' decides at one head node",
        ),
        (
            {
                "policy__name": "jsq",
                "cluster__group": [
                    {"count": 2, "policy": "power-of-d", "policy_parameters": {"information": "fresh"}}
                ],
            },
            "give all of them the same `information`",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(settings, words):
    with pytest.raises(InputError, match=words):
        ClusterModel(scenario(**busy(**settings)))
