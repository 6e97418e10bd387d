"""Do the tests notice faults? `python tests/mutation.py --sample N --seed S [--under FOLDER] [--json]`.

Draws lines of the package, puts one small fault into each (a comparison, a sign, a factor, a guard, a constant, a
forgotten line), and runs tests on it in a clone of the last commit: first those that carry out the line, then all
others, nearest first, then the slow ones of its folder, until one fails or the time of a fault is up. What survives is
printed with the line before and after. What no test could notice, with the reason, is listed in
tests/mutants/not_observable.toml.

What was judged is kept in `out/mutation`: the same command goes on where it was stopped.
"""

from __future__ import annotations

import fcntl
import importlib
import json
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from mutants.covering import covering
from mutants.faults import Fault, drawn
from mutants.trials import Trials

ROOT = Path(__file__).resolve().parents[1]
LIST = Path(__file__).parent / "mutants" / "not_observable.toml"
FOLDERS = ["cluster_abm", "viz"]
# Imported before the tests of a fault begin in a process forked from this one, which saves seconds each time.
SHARED = (
    "numba", "pandas", "scipy.stats", "scipy.optimize", "networkx", "mesa", "matplotlib.figure", "pydantic",
    "pyarrow.parquet",
)  # fmt: skip


@click.command()
@click.option("--sample", default=60, show_default=True, help="Faults.")
@click.option("--seed", default=1, show_default=True, help="The same seed and commit give the same faults.")
@click.option("--under", multiple=True, help="A folder or file of the checkout; may be repeated.")
@click.option("--minutes", default=10.0, show_default=True, help="Time for each fault.")
@click.option("--workers", default=2, show_default=True, help="Processes that find out which tests carry out a line.")
@click.option("--place", default=ROOT / "out" / "mutation", type=click.Path(path_type=Path), help="Folder of clones.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def main(
    sample: int, seed: int, under: tuple[str, ...], minutes: float, workers: int, place: Path, as_json: bool
) -> None:
    """Put faults into a clone of the last commit, and count those that the tests notice."""
    commit = _git("rev-parse", "HEAD").strip()
    folder = place.resolve() / commit[:12]
    folder.mkdir(parents=True, exist_ok=True)
    with _own_clone(folder) as clone:
        faults = drawn(clone, list(under) or FOLDERS, sample, seed)
        with _locked(folder / "covering.lock", wait=True):
            covered = covering(clone, folder / "covering.json", workers)
        for module in SHARED:
            importlib.import_module(module)
        trials = Trials(clone, covered, minutes)
        kept = folder / f"sample-{seed}-{'-'.join(under).replace('/', '.') or 'all'}.jsonl"
        rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
        known = {(row["path"], row["line"], row["after"]): row for row in rows}
        judged = [_judged(fault, clone, trials, known, kept, as_json) for fault in faults]
    _report(judged, as_json)


def _judged(
    fault: Fault, clone: Path, trials: Trials, known: dict[Any, dict[str, Any]], kept: Path, as_json: bool
) -> dict[str, Any]:
    """What became of a fault: known from before, or found out now and kept."""
    text = (clone / fault.path).read_text(encoding="utf-8")
    row = known.get((fault.path, fault.line, fault.shown(text)[1]))
    if row is None:
        row = trials.judged(fault).row(fault, text)
        with kept.open("a") as file:
            file.write(json.dumps(row) + "\n")
    click.echo(f"{'noticed ' if row['noticed'] else 'SURVIVED'} {row['seconds']:6.1f} s  {_place(row)}", err=as_json)
    click.echo(f"    {row['by'] or row['before'] + '  ->  ' + row['after']}", err=as_json)
    return row


def _report(judged: list[dict[str, Any]], as_json: bool) -> None:
    listed = tomllib.loads(LIST.read_text(encoding="utf-8")).get("fault", [])
    reasons = {(one["path"], one["before"], one["after"]): one["why"] for one in listed}
    survived, unseen = [], []
    for row in judged:
        if not row["noticed"]:
            why = reasons.get((row["path"], row["before"], row["after"]))
            (unseen.append(row | {"why": why}) if why else survived.append(row))
    noticed, observable = sum(row["noticed"] for row in judged), len(judged) - len(unseen)
    if as_json:
        result = {"judged": observable, "noticed": noticed, "survived": survived, "not_observable": unseen}
        click.echo(json.dumps(result, indent=2))
        return
    for title, rows in ("Survived", survived), ("Not observable", unseen):
        click.echo(f"\n{title}: {len(rows)}")
        for row in rows:
            click.echo(f"  {_place(row)}\n    - {row['before']}\n    + {row['after']}")
            click.echo(f"    {row['why']}" if "why" in row else f"    {row['tests']} tests ran")
    click.echo(f"\n{noticed} of {observable} observable faults were noticed ({noticed / max(observable, 1):.0%})")


def _place(row: dict[str, Any]) -> str:
    return f"{row['path']}:{row['line']} ({row['kind']})"


@contextmanager
def _own_clone(folder: Path) -> Iterator[Path]:
    """A clone of the last commit that no other process uses; it is kept, with its kernels."""
    for number in range(1, 100):
        with _locked(folder / f"clone-{number}.lock") as is_free:
            if is_free:
                clone = folder / f"clone-{number}"
                # A process that was killed may have left its fault in it.
                if not clone.exists() or _git("status", "--porcelain", at=clone):
                    shutil.rmtree(clone, ignore_errors=True)
                    _git("clone", "--quiet", str(ROOT), str(clone))
                yield clone
                return


@contextmanager
def _locked(path: Path, wait: bool = False) -> Iterator[bool]:
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def _git(*words: str, at: Path = ROOT) -> str:
    return subprocess.run(["git", *words], cwd=at, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
