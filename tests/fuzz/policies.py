"""Policies in both forms: `python tests/fuzz/policies.py [--cases 300] [--seed 1] [--what odd] [--keep DIR]`.

Each case is a policy's file that follows from the seed and its number alone. It is run compiled and in Python, in
processes of their own: both end with the same bytes, or are told of the same fault. What does not compile decides in
Python, which is right too. `--what odd` has the oddities of policy_oddities.py one by one; `--what features` combines
features of scenarios with shipped policies, and holds run = step = Python. A case that fails is repeated by

    python tests/fuzz/policies.py --seed 1 --case 417 --keep out/fuzz
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from policy_oddities import ODDITIES
from run import run_cases, told


@click.command()
@click.option("--cases", default=300, show_default=True, help="How many.")
@click.option("--seed", default=1, show_default=True, help="From which they follow, with their numbers.")
@click.option(
    "--what",
    type=click.Choice(["drawn", "odd", "features"]),
    default="drawn",
    help="Policies that are drawn, the oddities alone, or combinations of a scenario's features.",
)
@click.option("--named", multiple=True, type=click.Choice(sorted(ODDITIES)), metavar="TEXT", help="This oddity only.")
@click.option("--every", default=1, help="Only each n-th of the cases.")
@click.option("--workers", default=min(4, os.cpu_count() or 1), show_default=True, help="How many at a time.")
@click.option("--case", "chosen", type=int, multiple=True, help="This case only; may be given several times.")
@click.option("--first", default=0, help="Number of the first case.")
@click.option("--keep", type=click.Path(path_type=Path), help="Folder that keeps the policies on which forms differ.")
@click.option("--log", type=click.File("w"), help="Every verdict, a line of JSON each.")
def main(
    cases: int,
    seed: int,
    what: str,
    named: tuple[str, ...],
    every: int,
    workers: int,
    chosen: tuple[int, ...],
    first: int,
    keep: Path | None,
    log: Any,
) -> None:
    """Run policies, or combinations of features, in all forms, and tell which differ."""
    begun = time.monotonic()
    numbers: Sequence[int] = chosen or range(first, len(ODDITIES) if what == "odd" else first + cases, every)
    if named:
        what, numbers = "odd", [sorted(ODDITIES).index(name) for name in named]
    failed, compiled, endings = 0, 0, dict[str, int]()
    request = {"seed": seed, "what": what, "keep": keep}
    for done, verdict in enumerate(run_cases(numbers, workers, request, "policy_nursery.py"), 1):
        compiled += verdict.get("in_python") == ""
        endings[verdict.get("ending", "?")] = endings.get(verdict.get("ending", "?"), 0) + 1
        if log is not None:
            print(json.dumps(verdict), file=log, flush=True)
        if verdict["problems"]:
            failed += 1
            click.echo(f"[{done}/{len(numbers)}] {told(verdict, seed)}")
    took_s = time.monotonic() - begun
    click.echo(f"\n{len(numbers)} cases in {took_s:.0f} s, {compiled} compiled; {endings}; {failed} differ or fail")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
