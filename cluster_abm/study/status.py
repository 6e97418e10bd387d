"""How far a study in a folder is."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cluster_abm.study.design.fingerprint import code_of
from cluster_abm.study.results_folder import read_plan
from cluster_abm.study.runner.wanted import wanted_counts
from cluster_abm.study.store.leases import processes_at_work
from cluster_abm.study.store.store import Store


@dataclass(frozen=True)
class Status:
    """A study's state."""

    study: str  # its name
    folder: str  # where its results are
    # the code version that counts; `code_now` is that of this program, and the next `batch run` starts again if they
    # differ
    code: str
    code_now: str
    expected: int  # runs asked for, as far as is known (with `precision` it may grow)
    # finished, failed, missing: of these
    finished: int
    failed: int
    missing: int
    others: int  # finished runs of other points, seeds or code versions: kept, not counted
    processes: int  # how many work on the folder now
    damaged: list[str]  # files that are not as they were written, which the next `batch run` sets aside
    set_aside: int  # how many such files lie in the folder's `damaged`
    failures: list[dict[str, Any]]  # point, policy, seed, error and traceback of every failed run

    def as_json(self) -> dict[str, Any]:
        """The document that `cluster-abm batch status --json` prints."""
        return asdict(self)


def status_of(folder: str | Path) -> Status:
    """How far the study in a folder is. Raises InputError if the folder holds none."""
    plan = read_plan(folder)
    study = plan.study
    store = Store(folder)
    contents = store.contents([study.precision_metric])
    cells = {cell.key: cell for cell in reversed(plan.cells)}
    counts = wanted_counts(study, cells, contents, contents.failed)
    wanted = {(key, seed) for key in cells for seed in range(study.first_seed, study.first_seed + counts[key])}
    finished = contents.finished & wanted
    failures = [
        {
            "point": cells[record.key].point,
            "policy": cells[record.key].policy,
            "seed": record.seed,
            "error": record.error,
            "traceback": record.traceback,
        }
        for name, record in contents.failed.items()
        if name in wanted
    ]
    return Status(
        study=study.name,
        folder=str(folder),
        code=plan.code,
        code_now=code_of(study.policies, plan.policy_files),
        expected=len(wanted),
        finished=len(finished),
        failed=len(failures),
        missing=len(wanted) - len(finished) - len(failures),
        others=len(contents.finished - wanted),
        processes=processes_at_work(store.folder),
        damaged=[f"{path}: {problem}" for path, problem in contents.damaged.items()],
        set_aside=sum(1 for _ in (store.folder / "damaged").glob("*")),
        failures=sorted(failures, key=lambda one: (one["point"], one["policy"], one["seed"])),
    )
