"""Mutated inputs: `python tests/fuzz/run.py [--cases 1000] [--seed 1] [--workers 2] [--only KIND] [--keep DIR]`.

No command may end with a fault (exit code 1), print a traceback, take more than 40 s or 2 GB, or leave an empty folder
behind where it fails; what is wrong is said in lines that begin with "error:". A case follows from the seed and its
number alone, so one that fails is repeated, and kept with all that it read and printed, by

    python tests/fuzz/run.py --seed 1 --case 417 --keep out/fuzz

(with the same `--only`, if there was one), and `cd out/fuzz/1-417/case` is where its command can be given by hand.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty, Queue
from typing import Any

import click
from making import KINDS

HERE = Path(__file__).resolve().parent


def run_cases(
    numbers: Sequence[int], workers: int, request: dict[str, Any], script: str = "nursery.py"
) -> Iterator[dict[str, Any]]:
    """The verdicts of these cases, as they come.

    Args:
        numbers: of the cases.
        workers: how many at a time.
        request: what a nursery is told beside the number; a path as `keep` is made a full one.
        script: the nursery.
    """
    waiting: Queue[int] = Queue()
    for number in numbers:
        waiting.put(number)
    verdicts: Queue[dict[str, Any]] = Queue()
    keep = request["keep"]
    given = waiting, verdicts, request | {"keep": None if keep is None else str(keep.resolve())}, script
    threads = [threading.Thread(target=_feed, args=given, daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    for _ in numbers:
        yield verdicts.get()


def _feed(waiting: Queue[int], verdicts: Queue[dict[str, Any]], request: dict[str, Any], script: str) -> None:
    """Have one nursery at a time work on what waits; one that dies is replaced, and its case is a failure."""
    nursery = None
    while True:
        try:
            number = waiting.get_nowait()
        except Empty:
            break
        try:
            nursery = nursery or _new_nursery(script)
            print(json.dumps(request | {"number": number}), file=nursery.stdin, flush=True)
            answer = json.loads(nursery.stdout.readline())
        except (OSError, ValueError) as problem:
            if nursery is not None:
                nursery.kill()
            nursery = None
            answer = {"number": number, "kind": "?", "command": "?", "problems": [f"the nursery died: {problem!r}"]}
        verdicts.put(answer)
    if nursery is not None:
        nursery.stdin.close()
        nursery.wait()


def _new_nursery(script: str) -> subprocess.Popen[str]:
    root = HERE.parent.parent
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (root, HERE, HERE.parent)))}
    # What the order of a set of texts is differs from process to process otherwise.
    environment["PYTHONHASHSEED"] = "0"
    # No threads that a fork would leave without their locks.
    environment |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    nursery = subprocess.Popen(
        [sys.executable, str(HERE / script)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, cwd=root,
    )  # fmt: skip
    nursery.stdout.readline()
    return nursery


def told(verdict: dict[str, Any], seed: int) -> str:
    """A failure in a few lines."""
    lines = [f"--seed {seed} --case {verdict['number']} ({verdict['kind']}): {verdict['command']}"]
    lines += [f"    {problem}" for problem in verdict["problems"]]
    lines += [f"    changed: {change}" for change in verdict.get("changes", [])]
    return "\n".join(lines)


@click.command()
@click.option("--cases", default=1000, show_default=True, help="How many.")
@click.option("--seed", default=1, show_default=True, help="From which they follow, with their numbers.")
@click.option("--workers", default=min(4, os.cpu_count() or 1), show_default=True, help="How many at a time.")
@click.option("--only", type=click.Choice(list(KINDS)), help="One kind only.")
@click.option("--case", "chosen", type=int, multiple=True, help="This case only; may be given several times.")
@click.option("--first", default=0, help="Number of the first case.")
@click.option("--keep", type=click.Path(path_type=Path), help="Folder that keeps the cases that fail.")
@click.option("--log", type=click.File("w"), help="Every verdict, a line of JSON each.")
def main(
    cases: int,
    seed: int,
    workers: int,
    only: str | None,
    chosen: tuple[int, ...],
    first: int,
    keep: Path | None,
    log: Any,
) -> None:
    """Carry out mutated inputs, and tell which of them the program does not bear."""
    begun = time.monotonic()
    numbers = chosen or range(first, first + cases)
    failures: dict[str, list[dict[str, Any]]] = {}
    codes: dict[int, int] = {}
    for done, verdict in enumerate(run_cases(numbers, workers, {"seed": seed, "only": only, "keep": keep}), 1):
        codes[verdict.get("code", 99)] = codes.get(verdict.get("code", 99), 0) + 1
        if log is not None:
            print(json.dumps(verdict), file=log, flush=True)
        for problem in verdict["problems"]:
            failures.setdefault(problem, []).append(verdict)
        if verdict["problems"]:
            click.echo(f"[{done}/{len(numbers)}] {told(verdict, seed)}")
    click.echo(f"\n{len(numbers)} cases in {time.monotonic() - begun:.0f} s; exit codes {dict(sorted(codes.items()))}")
    for problem, verdicts in sorted(failures.items(), key=lambda item: -len(item[1])):
        click.echo(f"{len(verdicts):4} x {problem}\n       e.g. --case {verdicts[0]['number']}")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
