"""JIQ as an event simulation: many servers, first come first served, and some dispatchers."""

from __future__ import annotations

import heapq
from collections import deque

import numpy as np


def jiq_response(servers: int, dispatchers: int, load: float, jobs: int, seed: int) -> float:
    """Mean response of jobs with exponential demands of mean 1 that come in a Poisson stream, from an empty start.

    A job comes to a dispatcher drawn at random. It goes to the first server of the dispatcher's idle queue, else to a
    server drawn at random. A server that falls idle joins the idle queue of a dispatcher drawn at random; one that gets
    a job from elsewhere leaves the queue that it is in (Lu et al. 2011, JIQ-Random, with withdrawals).
    """
    random = np.random.default_rng(seed)
    idle = [deque() for _ in range(dispatchers)]
    joined: list[deque | None] = [None] * servers
    waiting: list[deque[tuple[float, float]]] = [deque() for _ in range(servers)]
    ends: list[tuple[float, int]] = []

    def join(server: int) -> None:
        queue = idle[random.integers(dispatchers)]
        queue.append(server)
        joined[server] = queue

    for server in random.permutation(servers).tolist():
        join(server)
    now, responses = 0.0, []
    for _ in range(jobs):
        now += random.exponential(1.0 / (load * servers))
        while ends and ends[0][0] <= now:
            at, server = heapq.heappop(ends)
            came, _ = waiting[server].popleft()
            responses.append(at - came)
            if waiting[server]:
                heapq.heappush(ends, (at + waiting[server][0][1], server))
            else:
                join(server)
        queue = idle[random.integers(dispatchers)]
        server = queue.popleft() if queue else int(random.integers(servers))
        held = joined[server]
        if held is not None and server in held:
            held.remove(server)
        joined[server] = None
        waiting[server].append((now, random.exponential()))
        if len(waiting[server]) == 1:
            heapq.heappush(ends, (now + waiting[server][0][1], server))
    for server, queue in enumerate(waiting):
        at = next((end for end, one in ends if one == server), 0.0)
        for place, (came, demand) in enumerate(queue):
            at += demand if place else 0.0
            responses.append(at - came)
    return float(np.mean(responses))
