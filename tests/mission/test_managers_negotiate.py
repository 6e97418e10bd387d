"""Show, message by message, that "policy agents negotiate migrations by the documents' cost and load metrics".

Tasks without I/O make it easy to reckon. Of n tasks on a node, itself included, one with R ms of CPU left is expected
to take r = R n (IOLB's and WAL-PM's estimate). To migrate a task of 16 MB over 1 Gbps costs c = f + m/b = 50 + 125 ms
and the latency of 1 ms (WAL-PM (6)); to start an arriving task elsewhere costs 1,000 s, so that all start at home.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from cluster_abm import ClusterModel
from cluster_abm.model.agents.load_manager import LoadManager

C_MS = 50.0 + 1000.0 * 16.0 / 128.0 + 1.0
PLAIN = {
    "workload__kind": "trace", "cluster__context_switch_ms": 0.0, "cluster__quantum_ms": "inf",
    "interconnect__latency_ms": 1.0, "negotiation__migration_ms": 50.0,
    "negotiation__remote_execution_ms": 1e6, "policy__period_ms": 100.0, "policy__d": "all",
}  # fmt: skip


class Listening(LoadManager):
    """A load manager that also writes down what its policy is told."""

    heard: ClassVar[list] = []

    def told(self, event, post):
        if event.message is not None and event.message.source != self.index:
            self.heard.append((self.index, event.message))
        super().told(event, post)


class Overheard(ClusterModel):
    load_manager_class = Listening


def model_of(folder: Path, policy: str, nodes: int, jobs: list[str], **more) -> ClusterModel:
    """Jobs, each of one task, as `arrival_ms,home,cpu_ms`."""
    path = folder / "jobs.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n" + "".join(f"{job},0,16\n" for job in jobs))
    Listening.heard = []
    return Overheard(
        "cpu-bound", policy=policy, seed=1, cluster__nodes=nodes, workload__trace__file=str(path), **{**PLAIN, **more}
    )


@pytest.mark.slow
@pytest.mark.parametrize("formula", ["iolb", "wal-pm"])
def test_a_running_task_migrates_after_a_call_bids_and_an_award(tmp_path, formula):
    """Node 0 has three tasks of 5 s, node 1 one of 2 s, node 2 none.

    At 100 ms the managers act. The first task of node 0 has run for 100 ms, the two others wait for the CPU. Node 0 is
    overloaded, and announces the first: it has 4,900 ms left, and would take three times as long, 14,700 ms. Node 1,
    with another task, bids 2 4,900 + c, node 2 bids 4,900 + c. Node 2 gets the award; 4 ms after the call the task
    leaves. By WAL-PM's rule node 0 calls for bids for its arrivals as well, which takes 2 ms: 1 ms there and 1 ms back.
    So the task has run for 98 ms then.
    """
    model = model_of(
        tmp_path, "contract-net", 3, ["0.0,0,5000", "0.0,0,5000", "0.0,0,5000", "0.0,1,2000"],
        policy__formula=formula, cluster__exchange_period_ms=20.0,
    )  # fmt: skip
    model.run(until_ms=200.0)
    heard = [(node, message) for node, message in Listening.heard if message.sent_ms >= 100.0]
    calls = [message for _, message in heard if message.topic == "call for bids"]
    bids = {message.source: message.note for _, message in heard if message.topic == "answer"}
    awards = [(node, message.value) for node, message in heard if message.topic == "award"]
    announced, left_ms = calls[0].note.tasks[0], {"iolb": 4900.0, "wal-pm": 4902.0}[formula]
    assert announced.task.cpu_ms == pytest.approx(left_ms)
    assert announced.response_here_ms == pytest.approx(3 * left_ms)
    assert {message.source for message in calls} == {0}
    assert bids[1].ms == pytest.approx(2 * left_ms + C_MS)
    assert bids[2].ms == pytest.approx(1 * left_ms + C_MS)
    assert awards == [(2, pytest.approx(left_ms + C_MS))]
    (decision,) = model.decisions_frame().query("source != target").itertuples()
    assert (decision.task, decision.source, decision.target) == (announced.task.task, 0, 2)
    assert decision.response_there_ms + decision.cost_ms == pytest.approx(awards[0][1])
    assert model.summary()["metrics"]["migrations"] == 1


@pytest.mark.slow
@pytest.mark.parametrize("fresh", [True, False])
def test_an_offer_is_made_to_one_node_at_a_time_and_may_be_refused(tmp_path, fresh):
    """`wal-pm`: a third task comes to node 0 at 150 ms, and its first task is offered to the least loaded node.

    Reports of 100 ms say that node 1 has none and node 2 one task. If they are still true, node 1 accepts: the first
    task has 4,850 ms left, and 3 4,850 are more than 4,850 + c. If three tasks have come to node 1 since, it refuses:
    it is not the lighter node any more. Node 2 is asked next, and accepts: 3 4,850 are more than 2 4,850 + c. (Two
    tasks of 20 ms on node 1 keep node 0 from sending its second task there at 0 ms.)
    """
    came = [] if fresh else ["110.0,1,80"] * 3
    jobs = ["0.0,0,5000", "0.0,2,5000", "0.0,1,20", "0.0,1,20", "0.0,0,5000", *came, "150.0,0,5000"]
    model = model_of(tmp_path, "wal-pm", 3, jobs, cluster__exchange_period_ms=100.0)
    model.run(until_ms=160.0)
    asked = model.decisions_frame().query("source == 0 and target != 0 and time_ms >= 150")
    assert asked["target"].tolist() == ([1] if fresh else [1, 2])
    assert asked["accepted"].tolist() == ([True] if fresh else [False, True])
    assert asked["reason"].tolist() == ([""] if fresh else ["not the lighter node any more", ""])
    last = asked.iloc[-1]
    assert last["response_here_ms"] == pytest.approx(3 * 4850.0)
    assert last["response_there_ms"] + last["cost_ms"] == pytest.approx((1 if fresh else 2) * 4850.0 + C_MS)
