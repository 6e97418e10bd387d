"""Starts a batch and kills it (-9) at a random moment, again and again: `kill_batches.py STUDY OUT TIMES SEED`.

Each batch is a fork of this process, which has imported and compiled everything, so a kill takes a part of a second.
Prints, as JSON, what was found after each kill: runs kept before and after it, and files in `tmp`.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

from tqdm import tqdm

from cluster_abm.study.batch import run_batch
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.store.store import Store


def main(study_file: str, out: str, times: int, seed: int) -> None:
    """Kill so many batches, or until most of the study is done; the last one is left alone."""
    # Its own lock is shared by all forks: one that is killed while it holds it would lock the others for ever.
    tqdm.set_lock(threading.RLock())
    tqdm.monitor_interval = 0
    # Parts of a few runs, so that kills meet compaction too.
    Store.runs_a_segment = 7
    study = load_study(study_file)
    chance = random.Random(seed)
    found = []
    for name in ("warm-up", "measured"):
        begun = time.monotonic()
        run_batch(study.model_copy(update={"replications": 5}), f"{out}-{name}", "inline", quiet=True)
        a_run_s = (time.monotonic() - begun) / (5 * len(study.policies))
    # Else the first full collection of each fork copies this whole process, and takes longer than a batch may live.
    gc.freeze()
    kept = 0
    for _ in range(times):
        # What is left takes no batch to its end before it is killed, however much faster it is than those measured.
        if kept > 0.8 * len(study.policies) * study.replications:
            break
        child = os.fork()
        if child == 0:
            run_batch(study, out, "inline", quiet=True)
            os._exit(0)
        time.sleep(chance.uniform(0, 12 * a_run_s))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        before, kept = kept, len(Store(out).contents().finished) if Path(out).exists() else 0
        found.append({"killed": os.WIFSIGNALED(status), "before": before, "kept": kept})
    outcome = run_batch(study, out, "inline", quiet=True)
    print(json.dumps({"kills": found, "made": outcome.made, "damaged": outcome.damaged}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
