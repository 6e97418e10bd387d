"""A process that computes and waits as it is told, and logs by its own clocks what it got.

It is run as a file, by itself: it imports the standard library only, so that it is ready within milliseconds. Commands
come on stdin, a JSON list a line; answers go to stdout, a line each.

    ["unit", iterations]              a unit of computing has this many iterations from now on
    ["alone", warm, units]            compute; answer: the median CPU time of the units after the first `warm` ones, of
                                      which there is at least one [ns]
    ["run", start_ns, rows, file]     at that instant (monotonic clock) begin; each row is [units, service_ns, units],
                                      an access to the virtual disk (descriptor `file`) between units, none where
                                      service_ns is 0; answer: "done"
    ["log"]                           answer: how many rows the log of that run has, then these as raw 64-bit integers
    ["walk", file, bytes, seed, touches, warm]
                                      map the file, touch random pages; answer: major faults of the touches after `warm`

Rows of the log are (kind, wall ns, CPU ns). Nothing is written while others may still be computing.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import mmap
import random
import signal
import sys
import time
from array import array

START, COMPUTED, ASKED, SERVED = 0, 1, 2, 3
LONGEST_S = 3600


def compute(units: int, iterations: int, log: array[int], position: int) -> int:
    """Compute units and log each; return the next free place of the log."""
    clock, cpu_clock, repeat = time.monotonic_ns, time.process_time_ns, range(iterations)
    value = 1
    for _ in range(units):
        for _ in repeat:
            value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        log[position] = COMPUTED
        log[position + 1] = clock()
        log[position + 2] = cpu_clock()
        position += 3
    return position


def sleep_until(instant_ns: int) -> None:
    """Sleep to an instant of the monotonic clock."""
    while (left_ns := instant_ns - time.monotonic_ns()) > 0:
        time.sleep(left_ns / 1e9)


def served_at(shared: mmap.mmap, file: int, service_ns: int) -> tuple[int, int]:
    """When an access is asked for and when it will have been served: first come, first served after all before it."""
    import fcntl

    fcntl.lockf(file, fcntl.LOCK_EX)
    asked_ns = time.monotonic_ns()
    end_ns = max(asked_ns, int.from_bytes(shared[:8], "little")) + service_ns
    shared[:8] = end_ns.to_bytes(8, "little")
    fcntl.lockf(file, fcntl.LOCK_UN)
    return asked_ns, end_ns


def run(start_ns: int, rows: list[list[int]], iterations: int, file: int) -> array[int]:
    """Carry out a program: compute, access and compute, row by row; gives the log."""
    log = array("q", bytes(24 * (1 + sum(before + after + 2 for before, _, after in rows))))
    shared = mmap.mmap(file, 8) if file >= 0 else None
    sleep_until(start_ns)
    log[0], log[1], log[2] = START, start_ns, time.process_time_ns()
    position = 3
    for before, service_ns, after in rows:
        position = compute(before, iterations, log, position)
        if service_ns and shared is not None:
            asked_ns, end_ns = served_at(shared, file, service_ns)
            log[position], log[position + 1], log[position + 2] = ASKED, asked_ns, time.process_time_ns()
            sleep_until(end_ns)
            log[position + 3], log[position + 4], log[position + 5] = SERVED, end_ns, time.process_time_ns()
            position += 6
        position = compute(after, iterations, log, position)
    return log[:position]


def walk(file: int, size: int, seed: int, touches: int, warm: int) -> int:
    """Touch random pages of a file in memory; gives the major faults of the touches after the first `warm`."""
    import resource

    draw = random.Random(seed)
    memory = mmap.mmap(file, size, prot=mmap.PROT_READ)
    # Without it the kernel reads pages around the one that is touched.
    memory.madvise(mmap.MADV_RANDOM)
    pages = size // mmap.PAGESIZE
    before = 0
    for number in range(touches):
        if number == warm:
            before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        memory[draw.randrange(pages) * mmap.PAGESIZE]
    return resource.getrusage(resource.RUSAGE_SELF).ru_majflt - before


def end_with_parent() -> None:
    """Be killed when the parent ends, and sleep as exactly as the system can, where it can be asked for that."""
    with contextlib.suppress(Exception):
        import ctypes

        prctl = ctypes.CDLL(None).prctl
        pr_set_pdeathsig, pr_set_timerslack = 1, 29
        prctl(pr_set_pdeathsig, signal.SIGKILL)
        prctl(pr_set_timerslack, 1)


def main() -> None:
    """Carry out commands until stdin ends."""
    # Ctrl-C is for the parent, which ends its workers by itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    if hasattr(signal, "alarm"):
        signal.alarm(LONGEST_S)
    gc.disable()
    iterations, log, out = 1000, array("q"), sys.stdout.buffer
    for line in sys.stdin.buffer:
        command, *given = json.loads(line)
        raw = b""
        if command == "unit":
            (iterations,) = given
            answer = "ok"
        elif command == "alone":
            warm, units = given
            log = array("q", bytes(24 * (warm + units)))
            compute(warm + units, iterations, log, 0)
            clock_ns = log[3 * warm - 1 :: 3]
            took_ns = sorted(after - before for before, after in itertools.pairwise(clock_ns))
            answer = str(took_ns[len(took_ns) // 2])
        elif command == "run":
            log = run(given[0], given[1], iterations, given[2])
            answer = "done"
        elif command == "log":
            raw = log.tobytes()
            answer = str(len(log) // 3)
        else:
            answer = str(walk(*given))
        out.write(answer.encode() + b"\n" + raw)
        out.flush()


if __name__ == "__main__":
    main()
