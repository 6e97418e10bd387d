"""Draws `pods-2023-like.csv`: pods of our own making in the schema of Alibaba's GPU trace of 2023, not its data.

    python scenarios/logs/pods_2023_like.py > scenarios/logs/pods-2023-like.csv

The laws are those of README.md in this folder. The seed is fixed: each run prints the same file.
"""

from __future__ import annotations

import heapq
import random

SEED, PODS = 2023, 1000
HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time"
BURST_GAP_S, BURST_PODS, POD_GAP_S = 120.0, 3.0, 2.0  # on average, in an exponential and a geometric distribution
SHAPE, SHORTEST_S, LONGEST_S = 1.1, 60.0, 14_400.0  # of run times
GPUS = 12  # in the cluster that recorded the waits
CPU_MILLI = {2000: 10, 4000: 35, 6000: 25, 8000: 20, 12_000: 10}  # value -> weight
NUM_GPU = {0: 10, 1: 90}
QOS = {"LS": 40, "BE": 50, "Burstable": 10}
PHASES = {"Succeeded": 88, "Failed": 8, "Running": 2, "Pending": 2}


def creation_times(draw: random.Random) -> list[int]:
    """When pods are created [s]: bursts that come at random, each of some pods close together."""
    found: list[int] = []
    burst_s = 0.0
    while len(found) < PODS:
        burst_s += draw.expovariate(1 / BURST_GAP_S)
        at_s = burst_s
        while True:
            found.append(round(at_s))
            at_s += draw.expovariate(1 / POD_GAP_S)
            if draw.random() < 1 / BURST_PODS:
                break
    return sorted(found)[:PODS]


def run_time_s(draw: random.Random) -> int:
    """A run time [s] of a bounded Pareto distribution."""
    share = draw.random() * (1 - (SHORTEST_S / LONGEST_S) ** SHAPE)
    return round(SHORTEST_S * (1 - share) ** (-1 / SHAPE))


def one_of(draw: random.Random, weights: dict[int, int] | dict[str, int]) -> int | str:
    """A value by its weight."""
    return draw.choices(list(weights), list(weights.values()))[0]


def rows(draw: random.Random) -> list[str]:
    """The pods, a line each. One queue before all GPUs, first come first served, gives the waits."""
    free_s = [0] * GPUS
    found = []
    for number, created in enumerate(creation_times(draw), 1):
        cpu, gpus, qos = (one_of(draw, weights) for weights in (CPU_MILLI, NUM_GPU, QOS))
        phase, run = one_of(draw, PHASES), run_time_s(draw)
        began: int | str = created
        ended: int | str = created + run
        if phase == "Pending":
            began = ended = ""
        elif gpus:
            began = max(created, heapq.heappop(free_s))
            ended = began + run
            heapq.heappush(free_s, ended)
        cells = (f"pod-{number:04}", cpu, 2 * cpu, gpus, 1000 * gpus, "", qos, phase, created, ended, began)
        found.append(",".join(map(str, cells)))
    return found


if __name__ == "__main__":
    print(HEADER, *rows(random.Random(SEED)), sep="\n")
