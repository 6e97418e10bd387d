"""What SWF logs say of requests, of jobs that failed, and of weeks: the numbers of docs/concepts/logs.md.

    python scenarios/log_facts.py SDSC-SP2-1998-4.2-cln.swf.xz HPC2N-2002-2.2-cln.swf.xz LANL-CM5-1994-4.1-cln.swf.xz

Prints, of each log: the share of the requested times that are one of the ten most common values; how the jobs ended, by
the log's status; and how much load the whole weeks had: mean, deviation between weeks, least and largest.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np
import pandas as pd

WEEK_S = 7 * 24 * 3600
SUBMIT, RUN, PROCESSORS, REQUESTED, STATUS = 1, 3, 4, 8, 10
"""fields of an SWF line, from 0"""
STATUSES = {0: "failed", 1: "completed", 5: "cancelled"}
COMMON = 10


def processors_of(path: Path) -> int:
    """MaxProcs of a log's header."""
    head = pd.read_csv(path, sep="\x01", header=None, nrows=200, encoding="latin-1", engine="python")[0]
    return int(head[head.str.startswith("; MaxProcs:")].iloc[0].split(":")[1])


def facts(path: Path) -> list[str]:
    """What a log says, a line each."""
    log = pd.read_csv(path, sep=r"\s+", comment=";", header=None)
    requests = log.loc[log[REQUESTED] > 0, REQUESTED]
    counts = requests.value_counts()
    ended = log[STATUS].map(STATUSES).fillna("not said").value_counts(normalize=True)
    ran = log[(log[RUN] > 0) & (log[PROCESSORS] > 0)]
    weeks = int(ran[SUBMIT].max() // WEEK_S)
    work = np.bincount((ran[SUBMIT] // WEEK_S).astype(int), ran[RUN] * ran[PROCESSORS])[:weeks]
    load = work / (processors_of(path) * WEEK_S)
    with_both = log[(log[REQUESTED] > 0) & (log[RUN] > 0)]
    used = (with_both[RUN] / with_both[REQUESTED]).median()
    return [
        f"{path.name}: {len(log):,} jobs",
        f"  requested times: {len(counts):,} different ones in {len(requests):,} jobs; the {COMMON} most common are "
        f"{counts.head(COMMON).sum() / max(len(requests), 1):.0%}; run over requested time, median {used:.2f}",
        "  ended: " + ", ".join(f"{name} {share:.1%}" for name, share in ended.items()),
        f"  load of {weeks} weeks: mean {load.mean():.3f}, deviation {load.std(ddof=1):.3f}, least {load.min():.2f}, "
        f"largest {load.max():.2f}",
    ]


@click.command()
@click.argument("logs", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
def main(logs: tuple[Path, ...]) -> None:
    """Print what SWF logs say of requests, of jobs that failed, and of weeks."""
    for path in logs:
        click.echo("\n".join(facts(path)))


if __name__ == "__main__":
    main()
