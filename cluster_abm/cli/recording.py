"""`--record` and `--animate`, of `run` and `compare`: a run as a file that can be looked at, or sent to somebody."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click

from cluster_abm.cli.log_options import FilePath
from cluster_abm.cli.options import Interrupted, interruptible
from cluster_abm.cli.output import tell
from cluster_abm.errors import InputError

if TYPE_CHECKING:
    from cluster_abm.model import ClusterModel
    from cluster_abm.recording import Recording
    from cluster_abm.recording.films import Animation
    from cluster_abm.scenario import Scenario

Span = tuple[int, int]
Function = TypeVar("Function", bound=Callable[..., Any])
NS_PER_S = 1e9
# Runs that are looked at side by side.
MOST_RECORDINGS = 2
# Of --from and --to.
TIME_S = click.FloatRange(0, 4e9)
# Of a film [pixels].
LEAST_SIDE, LARGEST_SIDE = 320, 3840


class Size(click.ParamType):
    """Width and height of a film, as 1280x720."""

    name = "WIDTHxHEIGHT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Raises click.BadParameter: no such size, or one that films cannot have."""
        found = re.fullmatch(r"(\d{1,5})x(\d{1,5})", str(value))
        size = tuple(map(int, found.groups())) if found else ()
        if not size or any(side % 2 or not LEAST_SIDE <= side <= LARGEST_SIDE for side in size):
            words = f"two even numbers of {LEAST_SIDE} to {LARGEST_SIDE} pixels are needed, as 1280x720"
            self.fail(f"{value!r}: {words}", param, ctx)
        return size


class LookOptions(NamedTuple):
    """How a command's runs are to be looked at."""

    record: Path | None
    """The file of the recording; None: none is written."""
    span: Span | None
    """The window in detail [ns]; None: there is none."""
    animation: Animation | None
    """The HTML file or the film; None: neither is written."""

    @property
    def are_wanted(self) -> bool:
        """Whether a run has to be recorded."""
        return self.record is not None or self.animation is not None

    def driver_of(self, model: ClusterModel) -> Any:
        """What runs a model: itself, or (model.detailing.DetailedRun) what notes a window on the way."""
        if self.span is None:
            return model
        from cluster_abm.model.detailing import DetailedRun

        return DetailedRun(model, self.span)

    def write(self, runs: Sequence[tuple[ClusterModel, Any]], changed: str, left: str) -> int:
        """Write the files of these runs; return the command's exit code.

        Args:
            runs: one, or two that are looked at side by side, each with its driver (`driver_of`).
            changed: what was changed in the scenario, in words.
            left: what an interrupt leaves, in words.
        """
        try:
            whole: list[Recording] = []
            if self.record is not None:
                from cluster_abm.recording import save_recordings

                with interruptible(f"the recording {self.record} was not written{left}"):
                    whole = [self._recording(*run) for run in runs]
                    save_recordings(self.record, whole)
                _tell(self.record, whole)
            if self.animation is not None:
                what = "HTML file" if self.animation.is_html else "film"
                with interruptible(f"no {what} was written{left}"):
                    self._animate(runs, whole, changed, self.animation)
        except InputError as problem:
            for line in problem.problems:
                tell(f"error: {line}")
            return 2
        except Interrupted as problem:
            tell(f"interrupted: {problem}")
            return 130
        return 0

    def _animate(
        self, runs: Sequence[tuple[ClusterModel, Any]], whole: list[Recording], changed: str, animation: Animation
    ) -> None:
        from cluster_abm.progress import Progress
        from cluster_abm.recording import Recording

        window = (animation.from_s, animation.to_s) if animation.is_html else (None, None)
        if window != (None, None) or not whole:
            whole = [self._recording(*run, *window) for run in runs]
        titled = [Recording({**one.meta, "changed": changed}, one.tables) for one in whole]
        with Progress(100, "film", "%") as bar:
            tell(animation.write(titled, lambda share: bar.reach(int(100 * share))))

    def _recording(
        self, model: ClusterModel, driver: Any, from_s: float | None = None, to_s: float | None = None
    ) -> Recording:
        recording = model.recording(from_s=from_s, to_s=to_s)
        if self.span is None:
            return recording
        from cluster_abm.recording.details import with_detail

        return with_detail(recording, driver.notes(), *self.span)


def look_options(of_what: str) -> Callable[[Function], Function]:
    """The options by which runs are looked at, given on as `looks`: it takes the folder of the results, and makes sure
    that all can be written.

    Args:
        of_what: the run, or the runs, in words.
    """

    def with_options(function: Function) -> Function:
        @wraps(function)
        def command(**given: Any) -> Any:
            record, detail, animate = (given.pop(name) for name in ("record", "detail", "animate"))
            shown = {name: given.pop(name) for name in ("speed", "size", "from_s", "to_s")}
            return function(looks=lambda out: checked(record, detail, animate, out=out, **shown), **given)

        options = [
            click.option("--record", type=FilePath(), help=f"Write a recording of {of_what} to this file."),
            click.option(
                "--detail", metavar="FROM:TO",
                help="Of --record and an HTML file: also what each task does at each moment from FROM to TO [s].",
            ),
            click.option(
                "--animate", type=FilePath(),
                help=f"Write {of_what} as an HTML file that plays it (.html), or as a film (.gif, .mp4, .webm).",
            ),
            click.option(
                "--speed", type=click.FloatRange(min=1e-6, max=1e9), help="Of --animate: simulated seconds in a second."
            ),
            click.option("--size", type=Size(), help="Of a film: width and height [pixels]; 1280x720, a GIF 960x540."),
            click.option(
                "--from", "from_s", type=TIME_S, help="Of --animate: begin at this time [s]."
            ),
            click.option("--to", "to_s", type=TIME_S, help="Of --animate: end at this time [s]."),
        ]  # fmt: skip
        made: Any = command
        for option in reversed(options):
            made = option(made)
        return cast(Function, made)

    return with_options


def checked(
    record: Path | None, detail: str | None, animate: Path | None, *, speed: float | None,
    size: tuple[int, int] | None, from_s: float | None, to_s: float | None, out: Path | None,
) -> LookOptions:  # fmt: skip
    """The options, checked before the run.

    Args:
        record, detail, animate, speed, size, from_s, to_s: the options.
        out: the folder of the results, which will be made before; None: there is none.

    Raises InputError: they do not fit each other, or a file cannot be written.
    """
    from cluster_abm.whole_files import check_can_be_written

    for option, number in {"--speed": speed, "--from": from_s, "--to": to_s}.items():
        if number is not None and math.isnan(number):
            raise InputError(f"{option} nan: a number is needed")
    animation = None
    if animate is not None:
        from cluster_abm.recording.films import Animation

        animation = Animation(animate, speed, size, from_s, to_s)
        animation.check(out)
    given = {"--speed": speed, "--size": size, "--from": from_s, "--to": to_s}
    for option, value in given.items():
        if animation is None and value is not None:
            raise InputError(f"{option} needs --animate FILE")
    if record is not None:
        check_can_be_written(record, f"--record {str(record)!r}", out)
        if animate is not None and animate.resolve() == record.resolve():
            raise InputError(f"--record {str(record)!r}: --animate writes this file, too: take another name")
    if detail is not None and record is None and not (animation is not None and animation.is_html):
        raise InputError(f"--detail {detail!r}: it is kept in a recording: --record FILE is needed, too")
    return LookOptions(record, None if detail is None else _span_of(detail), animation)


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


def first_runs(scenario: Scenario, policies: Sequence[str], looks: LookOptions) -> list[Scenario]:
    """The scenario under the first two policies, whose runs are looked at side by side.

    Raises InputError: one of them is a pooled reference, and a window of detail is asked for.
    """
    from cluster_abm.model.detailing import check_has_detail
    from cluster_abm.policies import create
    from cluster_abm.study.design.policies import variants_of

    found = list(variants_of(scenario, policies[:MOST_RECORDINGS]).values())
    for one in found if looks.span is not None else []:
        check_has_detail(create(one.policy))
    return found


def write_first_runs(looks: LookOptions, scenarios: Sequence[Scenario], changed: str, left: str) -> int:
    """Carry out these runs, each from its first seed, and write what is to be looked at; return the exit code."""
    from cluster_abm.model import ClusterModel

    runs = []
    with redirect_stdout(sys.stderr):
        for one in scenarios:
            model = ClusterModel(one, record=True)
            runs.append((model, looks.driver_of(model)))
            runs[-1][1].run()
    return looks.write(runs, changed, left)


def _tell(path: Path, recordings: Sequence[Recording]) -> None:
    words = " and ".join(one.meta["policy"]["name"] for one in recordings)
    kept = "".join(f"; {one.meta['kept']['why']}" for one in recordings[:1] if one.meta["kept"]["why"])
    tell(f"recording of {words} in {path}{kept}")
