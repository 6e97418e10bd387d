"""What recording costs: CPU time of a run of `cpu-bound` under `jsq`, recorded and not.

    python tests/benchmarks/recording.py [--quick]

Of each part the least of 15 (with --quick two), both in turn; files are not written. Every run is asked for its
summary, which a recording holds too: without a recording that is summary(), with one it is a part of recording().
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise

from measuring import pin_to_one_core


def run_s(is_recorded: bool) -> list[float]:
    """CPU time of building a model, of its run, and of its summary or recording [s]."""
    from cluster_abm import ClusterModel

    times_s = [time.process_time()]
    model = ClusterModel("cpu-bound", policy="jsq", seed=1, record=is_recorded)
    times_s.append(time.process_time())
    model.run()
    times_s.append(time.process_time())
    if is_recorded:
        model.recording()
    else:
        model.summary()
    times_s.append(time.process_time())
    return [end_s - begin_s for begin_s, end_s in pairwise(times_s)]


def main() -> None:
    """Measure, and print the figures."""
    pin_to_one_core()
    repeats = 2 if "--quick" in sys.argv else 15
    for is_recorded in (False, True):
        run_s(is_recorded)
    plain, recorded = [], []
    for _ in range(repeats):
        plain.append(run_s(False))
        recorded.append(run_s(True))
    plain_ms, recorded_ms = ([1000.0 * min(part) for part in zip(*runs, strict=True)] for runs in (plain, recorded))
    for name, results, least_ms in (("not recorded", "summary()", plain_ms), ("recorded", "recording()", recorded_ms)):
        parts = zip(("construction", "run()", results), least_ms, strict=True)
        print(name + ": " + ", ".join(f"{part} {ms:.1f} ms" for part, ms in parts))
    for words, first in (("with construction", 0), ("without construction", 1)):
        before_ms, after_ms = sum(plain_ms[first:]), sum(recorded_ms[first:])
        print(f"{words}: {before_ms:.1f} -> {after_ms:.1f} ms, {after_ms / before_ms - 1:+.1%}")


if __name__ == "__main__":
    main()
