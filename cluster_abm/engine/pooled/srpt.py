"""The lower bound `srpt-pool`: the job of the shortest remaining work first, on one server.

No order of service has a smaller sum of responses on one server that takes any share of itself for any job (Schrage
1968, Operations Research 16:687-690). A cluster is no more than that server: what its cores, or its disks, do
together in some time is at most what the server does.
"""

from __future__ import annotations

import math

import numpy as np

from cluster_abm.arrays import Floats, Integers
from cluster_abm.engine.admission import barriers_of
from cluster_abm.engine.disk import service_time_ns
from cluster_abm.engine.random_numbers import GAP, HIT, SEEK, SIZE, Word, exponential, gamma, task_key, uniform
from cluster_abm.engine.tables import DEMAND, NS_PER_MS, Row, Table
from cluster_abm.jit import inlined, kernel


@inlined
def sift_down(heap: Floats, count: int) -> None:
    """Put the first of `count` numbers at its place in a heap, the least on top."""
    position = 0
    while True:
        child = 2 * position + 1
        if child >= count:
            break
        if child + 1 < count and heap[child + 1] < heap[child]:
            child += 1
        if heap[position] <= heap[child]:
            break
        heap[position], heap[child] = heap[child], heap[position]
        position = child


@inlined
def sift_up(heap: Floats, count: int) -> None:
    """Put the last of `count` numbers at its place in a heap, the least on top."""
    position = count - 1
    while position > 0 and heap[position] < heap[(position - 1) // 2]:
        heap[position], heap[(position - 1) // 2] = heap[(position - 1) // 2], heap[position]
        position = (position - 1) // 2


@kernel
def srpt_responses_ns(arrival_ns: Integers, work_ns: Floats, heap: Floats) -> float:
    """Sum of the responses on one server under shortest remaining processing time first [ns].

    The sum is the integral of the number of jobs present: no large times are subtracted from each other.

    Args:
        arrival_ns: of each job, ascending, shape (jobs,).
        work_ns: time that each takes of the whole server, shape (jobs,).
        heap: room for what is left of the jobs present, shape (jobs,).
    """
    total, count = 0.0, 0
    for job in range(arrival_ns.shape[0]):
        left_ns = float(arrival_ns[job] - arrival_ns[job - 1]) if job > 0 else 0.0
        while count > 0 and left_ns > 0.0:
            served_ns = min(left_ns, heap[0])
            total += count * served_ns
            left_ns -= served_ns
            heap[0] -= served_ns
            if heap[0] <= 0.0:
                count -= 1
                heap[0] = heap[count]
                sift_down(heap, count)
        heap[count] = work_ns[job]
        count += 1
        sift_up(heap, count)
    while count > 0:
        total += count * heap[0]
        count -= 1
        heap[0] = heap[count]
        sift_down(heap, count)
    return total


@inlined
def least_seek_ns(disk: Row, key: Word, access: int) -> int:
    """The least seek and rotation that an access can have on any node, with the task's own draw [ns]."""
    if disk.draws_seeks == 0:
        return int(disk.seek_ns)
    drawn_ns = disk.seek_ns * exponential(key, SEEK, access)
    if disk.draws_seeks == 1:
        return int(math.floor(min(drawn_ns, disk.seek_ns)))
    return int(math.floor(drawn_ns))


@inlined
def surely_at_disk_ns(job: Row, cpu_ms: float, disk: Row, key: Word, rounding_ms: float) -> int:
    """Device time of the accesses of a task that miss whatever the buffer: in it for the fastest disk [ns].

    Args:
        job: of which it is a task.
        cpu_ms: its CPU demand [ms].
        disk: one row: what the fastest disk is (`fastest_disk`), and its largest buffer.
        key: of the task's streams.
        rounding_ms: how much a gap may be shorter in whole ns [ms of CPU at speed 1].
    """
    total_ns = 0
    most_hits = 0.0
    if disk.buffer_kb > 0.0:
        most_hits = job.reaccess_rate / (job.reaccess_rate + 1.0)
    at_ms = rounding_ms * (2 + barriers_of(job))
    access = 0
    while True:
        at_ms += exponential(key, GAP, access) / job.io_per_ms + rounding_ms
        if at_ms >= cpu_ms:
            break
        if most_hits == 0.0 or uniform(key, HIT, access, 0) >= most_hits:
            size_kb = job.request_kb
            if job.request_shape > 0.0:
                size_kb *= gamma(key, SIZE, access, job.request_shape)
            total_ns += service_time_ns(least_seek_ns(disk, key, access), disk.ns_per_kb, size_kb)
        access += 1
    return total_ns


@kernel
def least_times_ns(
    jobs: Table, demands: Table, disks: Table, run_key: Word, fastest: float, alone_ns: Floats, computing_ns: Floats,
    at_disk_ns: Floats,
) -> None:  # fmt: skip
    """What each job needs for sure [ns]: alone on the fastest node, of a core at speed 1, and of the fastest disk.

    No device time is counted of a program with an activity profile. Times are whole nanoseconds in a run: a task may
    get half of one less than it asks for.

    Args:
        jobs: the job table, shape (jobs,).
        demands: of each task, fields.DEMAND_FIELDS; no rows: the job's.
        disks: shape (1,): `fastest_disk`.
        run_key: key of the service-time streams of the run.
        fastest: speed of the fastest core.
        alone_ns, computing_ns, at_disk_ns: shape (jobs,), written.
    """
    rounding_ms = fastest / NS_PER_MS
    for number in range(jobs.shape[0]):
        job = jobs[number]
        alone_ns[number] = 0.0
        computing_ns[number] = max(0.0, job.cpu_ms * NS_PER_MS - 0.5 * fastest) * job.tasks
        if demands.shape[0] > 0:
            computing_ns[number] = 0.0
        at_disk_ns[number] = 0.0
        for rank in range(job.tasks):
            cpu_ms = job.cpu_ms
            if demands.shape[0] > 0:
                cpu_ms = demands[job.first_task + rank].cpu_ms
                computing_ns[number] += max(0.0, cpu_ms * NS_PER_MS - 0.5 * fastest)
            one_ns = 0.0
            if job.io_per_ms > 0.0 and job.phases == 0:
                key = task_key(run_key, job.first_task + rank)
                one_ns = float(surely_at_disk_ns(job, cpu_ms, disks[0], key, rounding_ms))
            at_disk_ns[number] += one_ns
            alone_ns[number] = max(alone_ns[number], math.floor(cpu_ms * NS_PER_MS / fastest) + one_ns)


def fastest_disk(nodes: Table, has_buffers: bool) -> Table:
    """One row of the node table, shape (1,), with the best of each quality that a disk of the cluster has.

    `draws_seeks` is 0 where no disk draws its seeks, 1 where some do, 2 where all do; `buffer_kb` is above 0 where an
    access may be served from a buffer.
    """
    disk: Table = nodes[:1].copy()
    disk["seek_ns"] = nodes["seek_ns"].min()
    disk["ns_per_kb"] = nodes["ns_per_kb"].min()
    drawing = nodes["draws_seeks"] > 0
    disk["draws_seeks"] = 2 if drawing.all() else int(drawing.any())
    disk["buffer_kb"] = float(has_buffers)
    return disk


def srpt_pool_mean_ns(
    jobs: Table, nodes: Table, run_key: int, has_buffers: bool, demands: Table | None = None
) -> float:
    """The lower bound on the mean response of these jobs, arrival to end of the last task, under any policy [ns].

    The largest of three means: of jobs alone on the fastest node, each task on a core of its own; of shortest remaining
    work first on one server as fast as all cores; and of the same on one as fast as all channels of all disks.

    Args:
        jobs: the job table, shape (jobs,), at least one; all arrival times are known.
        nodes: the node table of the idle cluster.
        run_key: key of the service-time streams of the run.
        has_buffers: whether any access may be served from a buffer.
        demands: of each task, fields.DEMAND_FIELDS; None: the job's.
    """
    if (np.diff(jobs["arrival_ns"]) < 0).any():
        jobs = jobs[np.argsort(jobs["arrival_ns"], kind="stable")]
    fastest = float(nodes["speed"].max())
    alone_ns, computing_ns, at_disk_ns = (np.zeros(len(jobs)) for _ in range(3))
    own = np.zeros(0, DEMAND) if demands is None else demands
    disk = fastest_disk(nodes, has_buffers)
    least_times_ns(jobs, own, disk, np.uint64(run_key), fastest, alone_ns, computing_ns, at_disk_ns)
    computing_ns /= float((nodes["speed"] * nodes["cores"]).sum())
    arrival_ns, heap = np.ascontiguousarray(jobs["arrival_ns"]), np.zeros(len(jobs))
    sums = [float(alone_ns.sum()), float(srpt_responses_ns(arrival_ns, computing_ns, heap))]
    sums.append(float(srpt_responses_ns(arrival_ns, at_disk_ns / float(nodes["channels"].sum()), heap)))
    return max(sums) / len(jobs)
