"""I/O rates as they reach the disk: the project's tasks A, B, C on one node, worked by hand.

Buffer 160 MB: A and B hit with 0.5 and 0.75, so that their rates are 0.01 and 0.0025 per ms.
"""

import pytest
from support import busy, finished, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.policies import Hardware, create
from cluster_abm.policy.parts.estimates import CLOSED, MG1, response_on
from cluster_abm.scenario.schema import PolicyChoice

JOBS = """arrival_ms,home,cpu_ms,io_per_ms,memory_mb,request_kb,reaccess_rate
0,0,2000,0.02,4,100,1
0,0,5000,0.01,8,256,3
0,0,3000,0,16,100,0
"""
# Requests of 10.5 and 14.4 ms.
QUEUE = 1 / (1 + 0.01 * 10.5) + 1 / (1 + 0.0025 * 14.4) + 1
B_AT_DISK = 0.0025 * 14.4 / (1 + 0.0025 * 14.4)


@pytest.fixture
def node(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text(JOBS)
    model = ClusterModel(
        scenario(
            workload={"kind": "trace", "trace": {"file": str(path)}}, cluster__nodes=1,
            policy={"name": "wal-pm", "rates": "effective"},
        ),
        seed=1,
    )  # fmt: skip
    for arrivals in model.parts.submissions.arrive(1):
        assert model.placement.place(arrivals)
    return model.node_agents[0].loads


def test_loads(node):
    assert node["queue"] == pytest.approx(QUEUE)
    assert node["io_per_ms"] == pytest.approx(0.0125)
    assert node["disk_work"] == pytest.approx(0.01 * 10.5 + 0.0025 * 14.4)
    assert node["at_disk"] == pytest.approx(0.01 * 10.5 / (1 + 0.01 * 10.5) + B_AT_DISK)
    assert node["io_ms"] == pytest.approx(2000 * 0.01 * 10.5 + 5000 * 0.0025 * 14.4)
    # What WAL-PM (11) counts was always what reaches the disk.
    assert node["io_load"] == pytest.approx(0.0125)
    assert node["stream"] == pytest.approx(0.02 * 100 + 0.01 * 256)


PAPERS_NODE = Hardware(1.0, 480.0, 0.5, 1.5, False, 8.1, 8.0, 40.0, 160.0)
A = (1500.0, 500.0, 0.02, 100.0, 4.0, 1.0)  # remaining, age, lambda, request, memory, re-access


def test_response_here(node):
    by_hand = 1500 * QUEUE + 1500 * 0.01 * 10.5 * (1 + B_AT_DISK)
    assert response_on(node, PAPERS_NODE, True, *A, CLOSED, True) == pytest.approx(by_hand)
    rho = (0.01 * 10.5 + 0.0025 * 14.4) / QUEUE
    mean_ms, square_ms2 = (0.105 + 0.036) / 0.0125, (0.105 * 10.5 + 0.036 * 14.4) / 0.0125
    waiting_ms = 0.0125 / QUEUE * square_ms2 / (2 * (1 - rho))
    by_mg1 = 1500 * QUEUE + 1500 * 0.01 * (mean_ms + waiting_ms)
    assert response_on(node, PAPERS_NODE, True, *A, MG1, True) == pytest.approx(by_mg1)


def test_response_on_an_idle_node_with_all_the_buffer(node):
    idle = dict.fromkeys(node, 0.0)
    # Alone A has 160 MB of buffer for 2 MB of data: hit rate 0.5.
    assert response_on(idle, PAPERS_NODE, False, *A, CLOSED, True) == pytest.approx(1500 + 1500 * 0.01 * 10.5)
    assert response_on(idle, PAPERS_NODE, False, *A, CLOSED, False) == pytest.approx(1500 + 1500 * 0.02 * 10.5)


def test_page_faults_count_as_io(node):
    crowded = dict.fromkeys(node, 0.0) | {"memory_mb": 716.0}
    # 720 MB on 480: 0.75 faults per ms of CPU, 8.1 ms each.
    at_cpu = 1 / (1 + 0.01 * 10.5 + 0.75 * 8.1)
    found = response_on(crowded, PAPERS_NODE, False, *A, CLOSED, True)
    assert at_cpu < 1
    assert found == pytest.approx(1500 + 1500 * 0.01 * 10.5 + 1500 * 0.75 * 8.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wal-pm", "iocm-re", "iocm-pm"])
def test_it_is_an_option_that_changes_decisions(name):
    work = busy(policy__name=name, workload__reaccess_rate=4.0)
    raw, effective = (finished(2, **work, policy__rates=rates) for rates in ("raw", "effective"))
    assert finished(2, **work).summary() == raw.summary()
    assert raw.summary()["metrics"] != effective.summary()["metrics"]


def test_a_buffer_in_free_memory_is_what_a_newcomer_would_leave_of_it(node):
    """Of 3 MB, with 2 MB free beside it, A's 4 MB leave 1 MB, of which A gets 2/(4.56 + 2) of the traffic; one that is
    counted already has 2/4.56 of all 3. It hits with 1/2 x 304.878/2000, and with 1/2 x 1315.79/2000."""
    lives_in_memory = PAPERS_NODE._replace(by_oversize=True)
    row = node | {"cache_mb": 3.0, "free_mb": 2.0}
    at_disk = 0.02 * (1 - 0.0762195) * 10.5
    by_hand = 1500 * (QUEUE + 1 / (1 + at_disk)) + 1500 * at_disk * (1 + row["at_disk"])
    assert response_on(row, lives_in_memory, False, *A, CLOSED, True) == pytest.approx(by_hand, rel=1e-6)
    at_disk = 0.02 * (1 - 0.3289474) * 10.5
    by_hand = 1500 * QUEUE + 1500 * at_disk * (1 + row["at_disk"] - at_disk / (1 + at_disk))
    assert response_on(row, lives_in_memory, True, *A, CLOSED, True) == pytest.approx(by_hand, rel=1e-6)


def test_rates_that_count_faults_and_an_estimator_that_does_not_are_refused_together():
    with pytest.raises(InputError) as caught:
        create(PolicyChoice(name="io-pm", rates="effective", estimator="closed-without-paging"))
    assert str(caught.value).startswith("policy.rates = 'effective' counts page faults, ")
    assert "estimator = 'closed-without-paging'" in str(caught.value)
    for allowed in ({"rates": "effective"}, {"estimator": "closed-without-paging"}):
        assert create(PolicyChoice(name="io-pm", **allowed)).effective_rates == ("rates" in allowed)
