"""The simulator against queueing theory, by confidence intervals over independent nodes.

The seeds are arbitrary: set CLUSTER_ABM_TEST_SEED to draw others. Intervals are at 99.9 %: of a thousand intervals one
misses, so that all of this module's some thirty together raise a false alarm once in thirty choices of the seed.
"""

import numpy as np
import pytest
from known_queues import erlang_c, pollaczek_khinchine, throughput_of_a_closed_network
from replications import HEAVY, SECOND, inside, interval, run, slow, steady

BOUNDED = {"workload__cpu_ms__minimum": 300.0, "workload__cpu_ms__maximum": 6000.0}


def sharing(rho, window_s, **overrides):
    """Jobs of 24 nodes that come near to processor sharing.

    The margin is five relaxation times of M/M/1, E[S]/(1 - sqrt(rho))^2, or more.
    """
    model = run(
        cluster__nodes=24, cluster__quantum_ms=1, workload__utilisation=rho, workload__duration_s=window_s, **overrides
    )
    margin_s = max(100, 5 / (1 - rho**0.5) ** 2)
    frame = steady(model.jobs_frame(), window_s, margin_s)
    measured_rho = frame.groupby("home").cpu_ms.sum() / (window_s - 2 * margin_s) / 1000
    return frame, measured_rho


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "rho", "window_s", "extra"),
    [
        ("exponential", 0.6, 6000, SECOND),
        ("uniform", 0.6, 6000, SECOND),
        ("lifetime", 0.6, 6000, BOUNDED),
        slow("exponential", 0.9, 100_000, SECOND),
        slow("lifetime", 0.3, 40_000, HEAVY),
        slow("lifetime", 0.9, 120_000, HEAVY),
    ],
)
def test_processor_sharing_response_is_demand_over_one_minus_rho(kind, rho, window_s, extra):
    """M/M/1 and M/G/1 processor sharing: E[T] = E[S]/(1 - rho) whatever the law, as the quantum goes to 0."""
    frame, measured_rho = sharing(rho, window_s, workload__cpu_ms__kind=kind, **extra)
    ratio = frame.groupby("home").response_ms.mean() / frame.groupby("home").cpu_ms.mean()
    # A node that happened to get more work than rho responded slower: the correction halves the interval.
    inside(ratio * (1 - measured_rho) / (1 - rho), 1 / (1 - rho), 0.004 / (1 - rho))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(
    ("rho", "window_s", "extra"),
    [(0.5, 8000, {"workload__cpu_ms__minimum": 400.0, "workload__cpu_ms__maximum": 4000.0}), slow(0.9, 120_000, HEAVY)],
)
def test_processor_sharing_slowdown_is_the_same_for_short_and_long(rho, window_s, extra):
    """E[slowdown | size] = 1/(1 - rho) for every size: sizes bounded below, so that a quantum is small for each."""
    frame, _ = sharing(rho, window_s, workload__cpu_ms__kind="lifetime", **extra)
    truth, tolerance = 1 / (1 - rho), 0.005 / (1 - rho)
    inside(frame.groupby("home").slowdown.mean(), truth, tolerance)
    for _, part in frame.groupby(frame.cpu_ms > 1000):
        inside(part.groupby("home").slowdown.mean(), truth, tolerance)


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "rho"), [(4, 0.7), (16, 0.85)])
def test_the_bound_is_an_n_server_processor_sharing_station(nodes, rho):
    """With exponential demands as many tasks are in it as in M/M/n: E[T] = E[S] (1 + C/(n (1 - rho)))."""
    means = []
    for replication in range(12):
        window_s = 120_000 / nodes
        model = run(
            replication, policy__name="pooled", cluster__nodes=nodes, workload__utilisation=rho,
            workload__duration_s=window_s, **SECOND,
        )  # fmt: skip
        means.append(steady(model.jobs_frame(), window_s, 500).response_ms.mean())
    inside(means, 1000 * (1 + erlang_c(nodes, nodes * rho) / (nodes * (1 - rho))))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("rho", "window_s"), [(0.7, 6000), slow(0.9, 100_000)])
def test_response_converges_to_processor_sharing_as_the_quantum_shrinks(rho, window_s):
    """Round robin of equal demands: with the quantum as large as the demand it is FIFO, M/D/1, which is shorter."""
    margin_s = max(100, 5 / (1 - rho**0.5) ** 2)
    means = []
    for quantum in (1000.0, 200.0, 20.0, 2.0):
        model = run(
            cluster__nodes=24, cluster__quantum_ms=quantum, workload__utilisation=rho,
            workload__duration_s=window_s, workload__cpu_ms__kind="fixed", workload__cpu_ms__mean=1000.0,
        )  # fmt: skip
        means.append(steady(model.jobs_frame(), window_s, margin_s).groupby("home").response_ms.mean() / 1000)
    inside(means[0], 1 + pollaczek_khinchine(rho, 0.0))  # M/D/1 FIFO
    inside(means[-1], 1 / (1 - rho))
    distances = [abs(mean.mean() - means[-1].mean()) for mean in means[:-1]]
    assert distances == sorted(distances, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [1, 3, 8, slow(20)])
def test_closed_loop_of_cpu_and_disk_has_the_product_form_throughput(tasks):
    """Exponential bursts and requests, N tasks that never end on each node: a product-form network of two queues."""
    until_ms = 200_000
    throughput = []
    for offset in range(12):
        model = run(
            offset, cluster__nodes=1, run__until=until_ms, workload__jobs=1, workload__duration_s=1e-6,
            workload__tasks__parallel_share=1.0, workload__tasks__minimum=tasks, workload__tasks__maximum=tasks,
            workload__cpu_ms__kind="fixed", workload__cpu_ms__mean=1e9, cluster__quantum_ms=1e6,
            workload__io_per_ms__mean=0.2, workload__request_kb__kind="exponential", workload__request_kb__mean=300.0,
            cluster__disk_seek_rotation_ms=0.0,
        )  # fmt: skip
        assert model.engine.live == tasks
        throughput.append(model.engine.nodes["requests"][0] / until_ms)
    inside(throughput, throughput_of_a_closed_network(tasks, [(5.0, 1), (7.5, 1)]))


@pytest.mark.slow
def test_disk_waiting_time_is_pollaczek_khinchine():
    """M/G/1 FIFO disk: single requests of jobs that hardly use the CPU arrive as a Poisson stream.

    A job makes an access with probability 0.01, a second one hardly ever; the CPU is a thousand times faster.
    """
    nodes, rho, accesses = 16, 0.7, 0.01
    service_ms, second_moment = 10.5, 10.5**2 + (50 / 40) ** 2
    rate_per_s = rho / service_ms * 1000 / accesses * nodes
    model = run(
        cluster__nodes=nodes, cluster__cpu_speed=1000.0, workload__jobs_per_s=rate_per_s, workload__duration_s=60,
        workload__cpu_ms__kind="fixed", workload__cpu_ms__mean=1.0, workload__io_per_ms__mean=accesses,
        workload__memory_mb__kind="fixed", workload__request_kb__mean=100.0, workload__request_kb__sd=50.0,
    )  # fmt: skip
    frame = model.jobs_frame()
    frame = steady(frame[frame.io_requests > 0], 60, 2)
    waits = frame.groupby("home").io_queue_ms.sum() / frame.groupby("home").io_requests.sum()
    arrival_per_ms = rho / service_ms
    # A second access by the same job (half a percent of them) is not Poisson: allow 1 % for it.
    truth = arrival_per_ms * second_moment / (2 * (1 - rho))
    inside(waits, truth, 0.01 * truth)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("rho", "window_s"), [(0.5, 4000), slow(0.9, 20_000)])
def test_littles_law(rho, window_s):
    """Tasks seen at fixed instants = arrival rate x response."""
    model = run(
        cluster__nodes=24, workload__utilisation=rho, workload__duration_s=window_s, measure__period_ms=500,
        run__until=window_s * 1000,
    )  # fmt: skip
    frame = model.jobs_frame()
    seen = model.nodes_frame().groupby("node").tasks.mean()
    area = frame.groupby("home").response_ms.sum() / (window_s * 1000)
    inside((seen / area).to_numpy(), 1.0, 0.01)


@pytest.mark.slow
def test_jsq_beats_random_and_both_keep_the_work():
    """M/M/1 at each of 16 nodes: join the shortest queue responds faster than random, on the same jobs."""
    differences = []
    for offset in range(6):
        means = {
            policy: run(
                offset, cluster__nodes=16, workload__utilisation=0.8, workload__duration_s=300, policy__name=policy,
                negotiation__remote_execution_ms=0.0,
            ).summary()["metrics"]["mean_response_ms"]
            for policy in ("random", "jsq")
        }  # fmt: skip
        differences.append(means["random"] - means["jsq"])
    assert interval(differences)[0] > 0


def test_results_do_not_depend_on_the_slice_without_negotiation():
    """Placement at home needs no slice: the records are the same for any."""
    frames = [
        run(
            cluster__nodes=8, workload__duration_s=100, cluster__slice_ms=slice_ms, workload__io_per_ms__mean=0.02
        ).jobs_frame()
        for slice_ms in (1.0, 10.0, 250.0)
    ]
    assert frames[0].equals(frames[1])
    assert frames[0].equals(frames[2])


@pytest.mark.slow
def test_results_converge_as_the_slice_shrinks():
    """Arriving tasks are placed by what is known at their slice's start: the shorter the slice, the nearer to fresh."""
    errors = {slice_ms: [] for slice_ms in (2000.0, 200.0, 20.0)}
    for offset in range(4):

        def mean(slice_ms, offset=offset):
            return run(
                offset, cluster__nodes=16, workload__utilisation=0.8, workload__duration_s=400, policy__name="jsq",
                negotiation__remote_execution_ms=0.0, cluster__slice_ms=slice_ms,
            ).summary()["metrics"]["mean_response_ms"]  # fmt: skip

        finest = mean(1.0)
        for slice_ms, found in errors.items():
            found.append(abs(mean(slice_ms) / finest - 1))
    means = [np.mean(found) for found in errors.values()]
    assert means == sorted(means, reverse=True)
    assert means[-1] < 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "rho"), [("jsq", 0.6), ("jsq", 0.9), ("power-of-d", 0.8)])
def test_results_converge_as_the_slice_shrinks_whatever_the_load(policy, rho):
    """News as old as 4 s are worth less than those as old as 400 ms, and 20 ms are as good as one."""
    slices_ms = (4000.0, 400.0, 20.0, 1.0)
    responses = np.array(
        [
            [
                run(
                    offset, cluster__nodes=16, workload__utilisation=rho, workload__duration_s=600,
                    policy__name=policy, negotiation__remote_execution_ms=0.0, cluster__slice_ms=slice_ms,
                ).summary()["metrics"]["mean_response_ms"]
                for slice_ms in slices_ms
            ]
            for offset in range(10)
        ]
    )  # fmt: skip
    stale, older, fresh = (responses[:, :3] / responses[:, 3:] - 1).T
    assert interval(stale - older)[0] > 0
    assert interval(older - fresh)[0] > 0
    low, high = interval(fresh)
    assert -0.05 < low < high < 0.05
