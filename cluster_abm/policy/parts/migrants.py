"""EM(i,k): the tasks of a node that would gain by a migration, and the best of them. Compiled: it reads every task."""

from __future__ import annotations

from cluster_abm.formulas import available_mb_per_s, migration_cost_effectiveness, moving_ms, written_mb
from cluster_abm.jit import kernel
from cluster_abm.policy.parts.estimates import response_on
from cluster_abm.policy.view import Hardware, Table

EFFECTIVENESS = ("age", "remaining", "cpu-age")
AGE, REMAINING, CPU_AGE = range(3)


@kernel
def best_migrant(
    tasks: Table,
    loads: Table,
    me: int,
    target: int,
    here: Hardware,
    there: Hardware,
    network_mb_per_s: float,
    remote_execution_ms: float,
    migration_fixed_ms: float,
    estimator: int,
    effective_rates: bool,
    effectiveness: int,
) -> tuple[int, float, float, float, float]:
    """Find in EM(i,k) = {j on i: r(i,j) > r(k,j) + c_j} the first task of largest MCE: WAL-PM (5), (8).

    Args:
        tasks: the node's tasks, fields tasks.CANDIDATE.
        loads: load rows of all nodes, those of `me` with these tasks.
        me, target: nodes i and k.
        here, there: their hardware.
        network_mb_per_s, remote_execution_ms, migration_fixed_ms: of the costs: bandwidth of the route, and e and f
            with its latency.
        estimator, effective_rates: as for `response_on`.
        effectiveness: what is moved per cost: I/O by CPU received (AGE), by CPU still to come (REMAINING), or the CPU
            received itself (CPU_AGE).

    Returns:
        its place in `tasks` (-1: EM is empty), r(i,j), r(k,j) and c_j [ms], and MCE(j).
    """
    best = (-1, 0.0, 0.0, 0.0, 0.0)
    for place in range(tasks.shape[0]):
        task = tasks[place]
        age_ms, io_per_ms, request_kb = task["age_ms"], task["io_per_ms"], task["request_kb"]
        memory_mb, reaccess_rate = task["memory_mb"], task["reaccess_rate"]
        response_here_ms = response_on(
            loads[me], here, True, task["cpu_ms"], age_ms, io_per_ms, request_kb, memory_mb, reaccess_rate, estimator,
            effective_rates,
        )  # fmt: skip
        response_there_ms = response_on(
            loads[target], there, False, task["cpu_ms"], age_ms, io_per_ms, request_kb, memory_mb, reaccess_rate,
            estimator, effective_rates,
        )  # fmt: skip
        written = written_mb(age_ms, io_per_ms, task["write_share"], request_kb, reaccess_rate)
        cost_ms = moving_ms(
            task["running"], remote_execution_ms, migration_fixed_ms, memory_mb, task["initial_data_mb"],
            written, network_mb_per_s, available_mb_per_s(here.disk_mb_per_s, loads[me]["disk_delay_share"]),
            available_mb_per_s(there.disk_mb_per_s, loads[target]["disk_delay_share"]),
        )  # fmt: skip
        if response_here_ms > response_there_ms + cost_ms:
            counted_ms = task["cpu_ms"] if effectiveness == REMAINING else age_ms
            weight = 1.0 if effectiveness == CPU_AGE else io_per_ms
            mce = migration_cost_effectiveness(counted_ms, weight, max(cost_ms, 1e-9))
            if best[0] < 0 or mce > best[4]:
                best = (place, response_here_ms, response_there_ms, cost_ms, mce)
    return best
