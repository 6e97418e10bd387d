"""The disk: one first-come first-served queue for explicit requests and page faults, and a device with channels.

As many requests as there are channels are in the device at once. A request takes a channel, spends its seek there, then
needs the device's one bus for its transfer, first come, first served; it frees both at its end. In the queue's list the
requests in the device come first, in the order in which they get the bus: that in which their seeks end. So the first
of them is the next to end, and its end is known as soon as the bus is free of the one before.
"""

from __future__ import annotations

import math

from cluster_abm.engine.random_numbers import FAULT_SEEK, SEEK, SIZE, Word, exponential, gamma
from cluster_abm.engine.rows import plan_next_event, row_at, take_slot
from cluster_abm.engine.tables import AT_DISK, EXPLICIT, LEFT_BEHIND, NEVER, NONE, REQUEST_ONLY, Row, Table, Tables
from cluster_abm.jit import called, inlined


@inlined
def request_kb(task: Row, access: int) -> float:
    """Size of one of the task's accesses, counted from 0 [KB]."""
    if task.request_shape == 0.0:
        return task.request_kb
    return task.request_kb * gamma(task.key, SIZE, access, task.request_shape)


@inlined
def service_time_ns(seek_ns: int, ns_per_kb: float, size_kb: float) -> int:
    """Service of a request in whole ns (formulas.service_ms in the engine's unit)."""
    return int(math.floor(seek_ns + size_kb * ns_per_kb + 0.5))


@inlined
def drawn_seek_ns(mean_ns: int, draws: int, key: Word, purpose: int, number: int) -> int:
    """Seek and rotation of a request, the `number`-th of a task for that purpose [ns]."""
    if draws == 0:
        return mean_ns
    return int(math.floor(min(mean_ns * exponential(key, purpose, number) + 0.5, NEVER)))


@inlined
def seek_of_access_ns(node: Row, task: Row, access: int) -> int:
    """Seek and rotation on a node of one of the task's accesses, counted from 0 [ns]."""
    return drawn_seek_ns(node.seek_ns, node.draws_seeks, task.key, SEEK, access)


@inlined
def service_of_fault_ns(node: Row, task: Row, fault: int) -> tuple[int, int]:
    """Seek and whole service on a node of one of the task's page faults, counted from 1 [ns]."""
    seek_ns = drawn_seek_ns(node.fault_seek_ns, node.draws_seeks, task.key, FAULT_SEEK, fault)
    transfer_ns = node.fault_ns - node.fault_seek_ns
    service_ns = transfer_ns + seek_ns
    if node.fault_saved_ns:
        # What is saved is a mean: where the own disk draws a longer seek, a fault served elsewhere spares that, too.
        drawn_ns = node.faults_elsewhere * (seek_ns - node.fault_seek_ns)
        service_ns -= node.fault_saved_ns + int(math.floor(drawn_ns + 0.5))
        # Remote memory spares the seek first.
        seek_ns = max(0, service_ns - transfer_ns)
    return seek_ns, max(1, service_ns)


@inlined
def block(task: Row, kind: int, seek_ns: int, service_ns: int, now_ns: int) -> None:
    """The task blocks on a request."""
    task.state = AT_DISK
    task.request_kind = kind
    task.seek_ns = seek_ns
    task.service_ns = service_ns
    task.since_ns = now_ns


@inlined
def count_device(node: Row, now_ns: int) -> None:
    """Book the time that requests were in the device; a request is about to enter or to leave it."""
    node.in_device_ns += node.in_device * (now_ns - node.device_mark_ns)
    node.device_mark_ns = now_ns


@inlined
def plan_disk_end(node: Row, tasks: Table) -> None:
    """When the first request in the device ends: the bus is free of the one before, and its own seek is over."""
    head = node.disk_head
    if node.in_device == 0:
        node.disk_end_ns = NEVER
    else:
        task = tasks[head]
        node.disk_end_ns = max(task.found_ns, node.bus_free_ns) + task.service_ns - task.seek_ns


@inlined
def overtaken(node: Row, tasks: Table, slot: int) -> int:
    """The last request in the device that a request entering it does not overtake; NONE: it overtakes all.

    It overtakes those whose seeks end later, but none that a task has left behind: when that ends has been told.
    """
    before = NONE
    other = node.disk_head
    for _ in range(node.in_device):
        if tasks[other].found_ns <= tasks[slot].found_ns or tasks[other].request_kind == LEFT_BEHIND:
            before = other
        other = tasks[other].next
    return int(before)


@inlined
def enter_device(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """A request, the one that follows those in the device in the queue's list, takes a channel."""
    count_device(node, now_ns)
    if node.in_device == 0:
        node.device_since_ns = now_ns
    begin_seek(node, tasks, slot, now_ns)


@inlined
def begin_seek(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """A request's seek begins, by the end of which it has its place in the order in which requests get the bus."""
    task = tasks[slot]
    task.found_ns = now_ns + task.seek_ns
    tail = node.device_tail
    if tail == NONE or tasks[tail].found_ns <= task.found_ns:
        node.device_tail = slot
    else:
        overtake(node, tasks, slot)
    node.in_device += 1


@called
def overtake(node: Row, tasks: Table, slot: int) -> None:
    """Put a request that enters the device before those in it that it overtakes."""
    before = overtaken(node, tasks, slot)
    tail = node.device_tail
    if before == tail:
        node.device_tail = slot
        return
    tasks[tail].next = tasks[slot].next
    if node.disk_tail == slot:
        node.disk_tail = tail
    if before == NONE:
        tasks[slot].next = node.disk_head
        node.disk_head = slot
    else:
        tasks[slot].next = tasks[before].next
        tasks[before].next = slot


@inlined
def wait_for_channel(node: Row, tasks: Table, slot: int) -> None:
    """Put a request at the end of the disk's queue."""
    task = row_at(tasks, slot)
    task.next = NONE
    task.found_ns = NEVER
    if node.disk_tail == NONE:
        node.disk_head = slot
    else:
        row_at(tasks, node.disk_tail).next = slot
    node.disk_tail = slot


@inlined
def first_waiting(node: Row, tasks: Table) -> int:
    """The first request that waits for a channel; NONE if there is none."""
    return int(node.disk_head if node.device_tail == NONE else tasks[node.device_tail].next)


@inlined
def join_disk_queue(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """A request joins the disk's queue; if there is a free channel it takes it at once."""
    wait_for_channel(node, tasks, slot)
    if node.in_device < node.channels:
        if node.channels == 1:
            node.in_device = 1
            have_device(node, tasks, slot, now_ns)
        else:
            enter_device(node, tasks, slot, now_ns)
            plan_disk_end(node, tasks)


@inlined
def have_device(node: Row, tasks: Table, slot: int, now_ns: int) -> None:
    """A request has a device of one channel to itself."""
    task = row_at(tasks, slot)
    task.found_ns = now_ns + task.seek_ns
    node.device_tail = slot
    node.bus_free_ns = now_ns
    node.disk_end_ns = now_ns + task.service_ns


@inlined
def ask_disk(node: Row, tasks: Table, slot: int, kind: int, seek_ns: int, service_ns: int, now_ns: int) -> None:
    """The task blocks on a request, which joins the disk's queue."""
    block(row_at(tasks, slot), kind, seek_ns, service_ns, now_ns)
    join_disk_queue(node, tasks, slot, now_ns)


@inlined
def book_request(task: Row, end_ns: int) -> None:
    """Book the wait for a request and its service, which ends at `end_ns`."""
    if task.request_kind == EXPLICIT:
        task.io_ns += task.service_ns
        task.io_queue_ns += end_ns - task.since_ns - task.service_ns
    else:
        task.paging_ns += end_ns - task.since_ns


@inlined
def leave_device(node: Row, tasks: Table) -> int:
    """Take the first request in the device out of the queue's list; its row."""
    slot = node.disk_head
    node.in_device -= 1
    node.disk_head = tasks[slot].next
    if node.disk_head == NONE:
        node.disk_tail = NONE
    if node.in_device == 0:
        node.device_tail = NONE
    return int(slot)


@inlined
def next_alone(node: Row, tasks: Table, now_ns: int) -> int:
    """`next_in_service` of a device of one channel, whose requests have it one after the other."""
    slot = node.disk_head
    task = row_at(tasks, slot)
    following = task.next
    node.disk_busy_ns += task.service_ns
    node.disk_head = following
    if following == NONE:
        node.disk_tail = NONE
        node.device_tail = NONE
        node.in_device = 0
        node.disk_end_ns = NEVER
    else:
        have_device(node, tasks, following, now_ns)
    return int(slot)


@inlined
def next_in_service(node: Row, tasks: Table, now_ns: int) -> int:
    """The first request in the device ends, and the first that waits takes its channel; the row that it was of."""
    if node.channels == 1:
        return next_alone(node, tasks, now_ns)
    count_device(node, now_ns)
    slot = leave_device(node, tasks)
    node.bus_free_ns = now_ns
    if node.in_device == 0:
        node.disk_busy_ns += now_ns - node.device_since_ns
    following = first_waiting(node, tasks)
    if following != NONE:
        enter_device(node, tasks, following, now_ns)
    plan_disk_end(node, tasks)
    return int(slot)


@inlined
def served_of_request_ns(node: Row, task: Row, is_head: bool, now_ns: int) -> int:
    """How much of a request in the device has been served until now: seek, and transfer of the first [ns]."""
    served_ns = min(now_ns, task.found_ns) - (task.found_ns - task.seek_ns)
    if is_head:
        served_ns += max(0, now_ns - max(task.found_ns, node.bus_free_ns))
    return int(served_ns)


@inlined
def busy_since_booked_ns(node: Row, now_ns: int) -> int:
    """Time with a request in the device that `disk_busy_ns` does not have yet [ns]: with one channel it is booked at
    the end of each request, else when the device is empty."""
    if node.in_device == 0:
        return 0
    return int(now_ns - (node.bus_free_ns if node.channels == 1 else node.device_since_ns))


@inlined
def empty_device(node: Row, now_ns: int) -> None:
    """All requests are gone: those in the device, and those that waited."""
    node.disk_busy_ns += busy_since_booked_ns(node, now_ns)
    count_device(node, now_ns)
    node.in_device = 0
    node.bus_free_ns = now_ns
    node.disk_head = NONE
    node.device_tail = NONE
    node.disk_tail = NONE
    node.disk_end_ns = NEVER


@inlined
def plan_entry(node: Row, tasks: Table, head: int, slot: int, at_ns: int) -> int:
    """In a plan of what the device will do: a request takes a channel; the row that is then first in the device."""
    found_ns = at_ns + tasks[slot].seek_ns
    tasks[slot].plan_found_ns = found_ns
    before, other = NONE, head
    while other != NONE:
        if tasks[other].plan_found_ns <= found_ns or tasks[other].request_kind == LEFT_BEHIND:
            before = other
        other = tasks[other].plan_next
    if before == NONE:
        tasks[slot].plan_next = head
        return slot
    tasks[slot].plan_next = tasks[before].plan_next
    tasks[before].plan_next = slot
    return head


@called
def request_ends_ns(node: Row, tasks: Table, asked: int) -> int:
    """When a request that a task has left behind, or that no task waits for, will end, as things are [ns].

    Requests that come later do not overtake it (`overtaken`); so it ends then, unless one before it is withdrawn.
    """
    head, ends_ns = node.disk_head, node.bus_free_ns
    other = head
    is_in_device = False
    for _ in range(node.in_device):
        row = tasks[other]
        is_in_device = is_in_device or other == asked
        row.plan_found_ns = row.found_ns
        row.plan_next = NONE if other == node.device_tail else row.next
        other = row.next
    while not is_in_device:
        # The first in the device ends, and the first that waits takes its channel.
        ends_ns = max(ends_ns, tasks[head].plan_found_ns) + tasks[head].service_ns - tasks[head].seek_ns
        head = plan_entry(node, tasks, tasks[head].plan_next, other, ends_ns)
        is_in_device = other == asked
        other = tasks[other].next
    while True:
        ends_ns = max(ends_ns, tasks[head].plan_found_ns) + tasks[head].service_ns - tasks[head].seek_ns
        if head == asked:
            return int(ends_ns)
        head = tasks[head].plan_next


@inlined
def request_without_task(tables: Tables, seek_ns: int, service_ns: int) -> int:
    """Take a row for a request without a task; no task waits for it, and no queue holds it yet."""
    slot = take_slot(tables)
    row = tables.tasks[slot]
    row.state = REQUEST_ONLY
    row.task = NONE
    row.job = NONE
    row.request_kind = LEFT_BEHIND
    row.seek_ns = seek_ns
    row.service_ns = service_ns
    row.next = NONE
    return int(slot)


@called
def read_for_transfer(node: Row, tables: Tables, service_ns: int, now_ns: int) -> int:
    """The disk is to read data that will be sent elsewhere: a request without a task; when it will be done [ns]."""
    slot = request_without_task(tables, 0, service_ns)
    join_disk_queue(node, tables.tasks, slot, now_ns)
    # It may have got the bus before a request that would have ended earlier.
    plan_next_event(node, tables)
    return request_ends_ns(node, tables.tasks, slot)
