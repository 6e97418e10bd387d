"""Memory and buffer: the demand on a node decides its page faults, the traffic its buffer hits."""

from __future__ import annotations

from cluster_abm.engine.cpu import book_progress, plan_stop
from cluster_abm.engine.streams import HIT, uniform
from cluster_abm.engine.tables import NONE, NS_PER_MS, Row, Table
from cluster_abm.formulas.buffer import buffer_share_kb, hit_rate
from cluster_abm.formulas.memory import page_faults_per_ms
from cluster_abm.jit import inlined


@inlined
def change_demand(node: Row, tasks: Table, memory_kb: int, stream: int, now_ns: int) -> None:
    """Add (or, negative, take away) a task's memory and traffic, and have the running task fault accordingly."""
    node.demand_kb += memory_kb
    node.stream += stream
    per_ms = page_faults_per_ms(
        float(node.demand_kb), float(node.user_memory_kb), node.fault_rate_per_ms, node.fault_ratio_cap,
        node.overflow_only != 0,
    )  # fmt: skip
    fault_per_ns = per_ms * node.speed / NS_PER_MS
    if fault_per_ns != node.fault_per_ns:
        if node.running != NONE:
            # What has run until now earned faults at the old rate.
            task = tasks[node.running]
            book_progress(node, task, now_ns)
            node.fault_per_ns = fault_per_ns
            plan_stop_of_running(node, task, now_ns)
        else:
            node.fault_per_ns = fault_per_ns


@inlined
def plan_stop_of_running(node: Row, task: Row, now_ns: int) -> None:
    """Plan anew in the middle of a run; quanta that passed while it was alone are over."""
    ran_ns = now_ns - node.quantum_start_ns
    if node.ready_head == NONE and ran_ns >= node.quantum_ns:
        node.quantum_start_ns += ran_ns // node.quantum_ns * node.quantum_ns
    plan_stop(node, task)


@inlined
def is_hit(node: Row, task: Row) -> bool:
    """Whether the task's present access is served from the node's buffer."""
    if task.reaccess_rate == 0.0 or node.buffer_kb == 0.0:
        return False
    share_kb = buffer_share_kb(float(task.stream), float(node.stream), node.buffer_kb)
    chance = hit_rate(task.reaccess_rate, share_kb, task.data_kb)
    return uniform(task.key, HIT, task.accesses, 0) < chance
