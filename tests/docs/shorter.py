"""`cluster-abm` for tests of the documentation: the same with fewer seeds; long ones are left out, and said."""

from __future__ import annotations

import sys
from pathlib import Path

# Further options of a command, that make it short.
FEWER = {
    "compare": ["--seeds", "1", "--workers", "1"],
    "plan": ["--seeds", "2", "--workers", "1"],
    "tune": ["--budget", "16", "--workers", "1"],
    "calibrate": ["--seeds", "2", "--budget", "200", "--workers", "1"],
    "trace fit": ["--seeds", "2", "--draws", "2", "--workers", "1"],
    "batch run": ["--workers", "1"],
}
# And those that change jobs that are drawn; a log has its own, and so have scenarios whose jobs are given.
SHORTER = {"compare": ["--set", "workload.duration_s=20"], "plan": ["--set", "workload.duration_s=30"]}
# And those that take less of one scenario, by command and scenario. Its jobs are a number: in fewer seconds all of them
# come at once, and the run is longer. Of a log, the first half hour.
LESS_OF = {
    ("compare", "memory-centric"): ["--set", "workload.jobs=40"],
    ("plan", "replay-hadoop"): ["--set", "workload.trace.duration_s=1800"],
}
# A film is drawn picture by picture: small ones, of the first five seconds.
FILMS = (".gif", ".mp4", ".webm")
FEWER_PICTURES = ["--from", "0", "--to", "5", "--size", "640x360"]
OF_A_TRACE = {"--trace", "lmip-example", "wal-pm-example"}
# Commands that serve until they are stopped, measure this machine, take minutes even when short, or have tests of their
# own that carry out all that ships (tests/study/test_reproduce.py).
LEFT_OUT = {"view", "validate", "arena", "reproduce"}
FILES = (".toml", ".txt", ".csv", ".tsv", ".xz", ".gz", ".parquet", ".json", ".graphml", ".py")
PLACEHOLDERS = {"STUDY", "DIR", "FILE", "LOG", "SCENARIO", "NAME"}


def why_not(words: list[str]) -> str | None:
    """Why a command is left out; None: it is carried out."""
    if words[0] in LEFT_OUT:
        return words[0]
    if set(words) & PLACEHOLDERS or "slurm" in words or "dask" in words:
        return "a placeholder, or other machines"
    outputs = {words[place + 1] for place, word in enumerate(words[:-1]) if word in ("--out", "--animate")}
    if words[:2] == ["trace", "convert"]:
        outputs.add(words[3])
    for word in words:
        name = word.partition("=")[2] or word
        name = name.partition(":")[0]
        if name.endswith(FILES) and word not in outputs and not Path(name).exists():
            return f"{name} is not here"
    if words[0] == "run" and "--trace" not in words and words[1].startswith("replay"):
        return "work comes from a log"
    if words[:2] == ["batch", "run"] and words[2] not in ("quick-study", "my-study.toml"):
        return "minutes"
    return None


def without_lengths(words: list[str]) -> list[str]:
    """A command's words without the settings that say how long jobs arrive, and from when on they count."""
    own = ("workload.duration_s=", "measure.from_s=")
    long = {place for place, word in enumerate(words) if word.startswith(own) and words[place - 1] == "--set"}
    return [word for place, word in enumerate(words) if not {place, place + 1} & long]


if __name__ == "__main__":
    given = sys.argv[1:]
    if reason := why_not(given):
        print(f"left out: {reason}")
    else:
        from cluster_abm.cli import main

        fewer = FEWER.get(given[0], FEWER.get(" ".join(given[:2]), []))
        less = list(LESS_OF.get(tuple(given[:2]), []))
        less += FEWER_PICTURES if any(word.endswith(FILMS) for word in given) else []
        shorter = [] if OF_A_TRACE & set(given) else SHORTER.get(given[0], [])
        sys.argv[1:] = [*(without_lengths(given) if shorter else given), *fewer, *less, *shorter]
        sys.exit(main())
