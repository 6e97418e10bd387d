"""`run --record`, `compare --record`: a run as a file that can be looked at."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster_abm.cli.options import FilePath
from cluster_abm.cli.output import tell
from cluster_abm.errors import InputError, reason_of

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel
    from cluster_abm.recording import Recording
    from cluster_abm.scenario import Scenario

Span = tuple[int, int]
NS_PER_S = 1e9
# Runs that are looked at side by side.
MOST_RECORDINGS = 2
detail_option = click.option(
    "--detail", metavar="FROM:TO", help="With --record: also what each task does at each moment from FROM to TO [s]."
)


def record_option(of_what: str) -> Callable[[Any], Any]:
    """The option --record FILE."""
    return click.option("--record", type=FilePath(), help=f"Write a recording of {of_what} to this file.")


def checked(record: Path | None, detail: str | None, others: Sequence[Path | None] = ()) -> Span | None:
    """Make sure, before the run, that a recording can be written; the window of --detail [ns], None: there is none.

    Args:
        record, detail: the options.
        others: files that the same command writes.

    Raises InputError: there is no such folder, it cannot be written to, or the options do not fit each other.
    """
    if record is None:
        if detail is not None:
            raise InputError(f"--detail {detail!r}: it is kept in a recording: --record FILE is needed, too")
        return None
    what = f"--record {str(record)!r}"
    if not record.parent.is_dir():
        raise InputError(f"{what}: there is no folder {str(record.parent)!r}")
    if record.is_dir():
        raise InputError(f"{what}: is a folder; the name of a file is needed")
    if any(other is not None and other.resolve() == record.resolve() for other in others):
        raise InputError(f"{what}: another option writes this file, too: take another name")
    from cluster_abm.results.files import try_to_write

    try:
        try_to_write(record.parent)
    except OSError as problem:
        raise InputError(f"{what}: cannot be written ({reason_of(problem)}); a writable folder is needed") from None
    return None if detail is None else _span_of(detail)


def _span_of(text: str) -> Span:
    from cluster_abm.model.detailing import window_of

    begin, _, end = text.partition(":")
    try:
        window = float(begin), float(end)
    except ValueError:
        raise InputError(f"--detail {text!r}: FROM:TO is needed, two times in s, as 10:12.5") from None
    try:
        return window_of(window)
    except InputError as problem:
        raise InputError(f"--detail {text!r}: {'; '.join(problem.problems)}") from None


def driver_of(model: ClusterModel, span: Span | None) -> Any:
    """What runs a model: itself, or (model.detailing.DetailedRun) what notes a window on the way."""
    if span is None:
        return model
    from cluster_abm.model.detailing import DetailedRun

    return DetailedRun(model, span)


def save_run(path: Path, model: ClusterModel, driver: Any, span: Span | None) -> None:
    """Write the recording of a run that `driver_of` has carried out."""
    recording = model.recording()
    if span is not None:
        from cluster_abm.recording.details import with_detail

        recording = with_detail(recording, driver.notes(), *span)
    recording.save(path)
    _tell(path, [recording])


def first_runs(scenario: Scenario, policies: Sequence[str], span: Span | None) -> list[Scenario]:
    """The scenario under the first two policies, whose runs are recorded side by side.

    Raises InputError: one of them is a pooled reference, and a window of detail is asked for.
    """
    from cluster_abm.model.detailing import check_has_detail
    from cluster_abm.policies import create
    from cluster_abm.study.design.policies import variants_of

    found = list(variants_of(scenario, policies[:MOST_RECORDINGS]).values())
    for one in found if span is not None else []:
        check_has_detail(create(one.policy))
    return found


def save_first_runs(path: Path, scenarios: Sequence[Scenario], span: Span | None) -> None:
    """Carry out these runs, each from its first seed, and write their recordings into one file."""
    from cluster_abm.model import record
    from cluster_abm.recording import save_recordings

    detail = None if span is None else (span[0] / NS_PER_S, span[1] / NS_PER_S)
    with redirect_stdout(sys.stderr):
        recordings = [record(one, detail=detail) for one in scenarios]
    save_recordings(path, recordings)
    _tell(path, recordings)


def _tell(path: Path, recordings: Sequence[Recording]) -> None:
    words = " and ".join(one.meta["policy"]["name"] for one in recordings)
    kept = "".join(f"; {one.meta['kept']['why']}" for one in recordings[:1] if one.meta["kept"]["why"])
    tell(f"recording of {words} in {path}{kept}")
