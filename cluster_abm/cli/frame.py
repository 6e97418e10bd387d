"""The frame of a study's command: what it is called with, and how it is carried out, saved, shown and ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar, cast

from cluster_abm.cli.figures import figures_option
from cluster_abm.cli.log_options import NO_LOG, FromLog
from cluster_abm.cli.options import (
    Executor,
    Function,
    Overrides,
    as_given,
    executor_options,
    interruptible,
    json_option,
    overrides_of,
    work_options,
)
from cluster_abm.cli.output import echo, ending_with, tell
from cluster_abm.interrupts import interrupt_held_back

if TYPE_CHECKING:
    from cluster_abm.scenario import Scenario
    from cluster_abm.study.asking import Question
    from cluster_abm.study.runner.tasks import RunsOutcome

Result = TypeVar("Result")


class StudyCall(NamedTuple):
    """What the command of a study is called with; without the argument or option: "", or None."""

    scenario: str
    settings: tuple[str, ...]
    trace: FromLog
    executor: Executor
    out: Path | None
    as_json: bool

    def loaded(self, policy: str | None = None) -> tuple[Scenario, Overrides]:
        """The scenario with the options laid over it, and these. Raises InputError."""
        from cluster_abm.scenario import load_scenario

        overrides = overrides_of(self.settings, self.trace, policy)
        return load_scenario(self.scenario, overrides), overrides

    def as_given(self) -> str:
        """Scenario and options as a shell takes them."""
        return as_given(self.scenario, self.settings, self.trace)


def study_options(
    out: Callable[[Function], Function], work: Callable[[Function], Function] = work_options
) -> Callable[[Function], Function]:
    """The options that these commands share, given on as `call`, with the argument `scenario` where there is one.

    Args:
        out: the option `--out`.
        work: the options that change the scenario.
    """

    def with_options(function: Function) -> Function:
        @wraps(function)
        def command(**given: Any) -> Any:
            absent = {"scenario": "", "trace": NO_LOG}
            call = StudyCall(**{name: given.pop(name, absent.get(name)) for name in StudyCall._fields})
            return function(call=call, **given)

        return work(executor_options(out(figures_option()(json_option(cast(Function, command))))))

    return with_options


class StudyFrame(Generic[Result]):
    """Carries a study out for a command, from its first run to its exit code.

    Args:
        call: what the command is called with.
        overrides: what is laid over the scenario, for captions.

    Attributes:
        document: the file of the document, NAME.json; "": `save` writes all files.
        kept: what Ctrl-C leaves, in words, where the study raises it.
        wall_s: how long the runs took [s].
    """

    document: ClassVar[str] = ""
    kept: str | None = None

    def __init__(self, call: StudyCall, overrides: Overrides | None = None) -> None:
        self.call, self.overrides = call, overrides or Overrides({}, {})
        self.wall_s = 0.0

    @property
    def out(self) -> Path:
        """The folder of the results, where there is one."""
        return self.call.out or Path()

    def _run(self, folder: Path | None) -> Result:
        """Carry out the runs; `folder` keeps the results."""
        raise NotImplementedError

    def _scenario_of(self, found: Any) -> Scenario:
        """The scenario that is written beside the document."""
        scenario: Scenario = found.scenario
        return scenario

    def _has_results(self, found: Result) -> bool:
        """Whether anything came of it that can be kept and shown."""
        return True

    def _save(self, folder: Path, found: Result) -> None:
        """Write tables and pictures."""

    def _as_document(self, found: Any) -> object:
        """What --json prints; None: nothing."""
        return found.as_json()

    def _show(self, found: Result) -> None:
        """Print what came of it."""
        raise NotImplementedError

    def _files(self, found: Result) -> str:
        """Say which files there are; "": none."""
        return ""

    def _hints(self, found: Result) -> None:
        """Print what may be done next."""

    def _exit_code(self, found: Any) -> int:
        """The command's exit code."""
        return 130 if found.outcome.interrupted else int(found.outcome.exit_code)

    def _afterwards(self, found: Result) -> int:
        """Do what comes after the results are on the disk; returns an exit code."""
        return 0

    def _last_lines(self, found: Result) -> Iterable[str]:
        """What is told on stderr at the end."""
        raise NotImplementedError

    def carry_out(self) -> int:
        """Carry out the runs, write the files before anything is said of them, and end; returns the exit code."""
        from cluster_abm.results.files import out_folder

        out, begun = self.call.out, time.perf_counter()
        with (
            nullcontext() if self.kept is None else interruptible(self.kept),
            nullcontext() if out is None else out_folder(out) as folder,
        ):
            found = self._run(folder)
            self.wall_s = time.perf_counter() - begun
            if folder is not None and self._has_results(found):
                # Runs may have taken hours: whole before a signal takes effect.
                with interrupt_held_back():
                    self.write(folder, found)
        code = max(self._exit_code(found), self._afterwards(found))
        return ended(code, lambda: self._print(found), self._last_lines(found))

    def write(self, folder: Path, found: Result) -> None:
        """Write the scenario, the document, tables and pictures, and how long it took."""
        from cluster_abm.results.files import write_json, write_text
        from cluster_abm.scenario import scenario_files

        if self.document:
            for name, text in scenario_files(self._scenario_of(found)).items():
                write_text(folder, name, text)
            write_json(folder, self.document, self._as_document(found))
            write_json(folder, "timing.json", {"wall_s": self.wall_s})
        self._save(folder, found)

    def _print(self, found: Result) -> None:
        document = self._as_document(found) if self.call.as_json else None
        if document is not None:
            print_json(document)
        elif not self.call.as_json:
            self._show(found)
        files = self._files(found) if self.call.out is not None and self._has_results(found) else ""
        if files:
            (tell if self.call.as_json else echo)(files)
        if not self.call.as_json:
            self._hints(found)


class QuestionFrame(StudyFrame[Result]):
    """The frame of a study that answers a question (study.asking), and that Ctrl-C ends by an exception.

    Attributes:
        picture, table: the files that are named at the end.
    """

    picture: ClassVar[str]
    table: ClassVar[str]

    def __init__(self, call: StudyCall, overrides: Overrides, question: Question) -> None:
        super().__init__(call, overrides)
        # Each frame asks its own kind of question.
        self.question: Any = question
        self.where = call.executor.where(call.out)
        self.kept = f"what is finished is kept in {call.out}; the same command goes on"

    def _scenario_of(self, found: Any) -> Scenario:
        """The scenario as it stands."""
        return self.question.scenario

    def _files(self, found: Result) -> str:
        """The picture and the table."""
        from cluster_abm.results.figures.files import first_file

        return f"\npicture and tables: {first_file(self.out / self.picture)}, {self.out / self.table}"

    def _exit_code(self, found: Any) -> int:
        """1 after a fault of this program."""
        return 1 if found.faults else 0

    def _last_lines(self, found: Any) -> Iterable[str]:
        """What went wrong in the runs, how many there were, and how long they took."""
        yield from lines_of_problems(found.policy_faults, found.faults)
        yield f"{found.runs} runs in {self.wall_s:.1f} s{carried_out_before(found.runs - found.made)}"


def ended(exit_code: int, show: Callable[[], None], last_lines: Iterable[str]) -> int:
    """Print what came of a command, and tell the last lines whatever becomes of that; returns the exit code."""
    try:
        with ending_with(exit_code):
            show()
    finally:
        for line in last_lines:
            tell(line)
    return exit_code


def print_json(document: object) -> None:
    """Print one JSON document."""
    from cluster_abm.json_text import to_json

    echo(to_json(document), nl=False)


def carried_out_before(runs: int) -> str:
    """How many runs were there already, in words; "": none."""
    return f", {runs} of them carried out before" if runs > 0 else ""


def lines_of_problems(policy_faults: Mapping[str, int], faults: Iterable[str]) -> Iterator[str]:
    """Faults of policies, each once with the number of runs that it ended, and of this program."""
    for line, runs in policy_faults.items():
        yield f"error: {line}" + (f" (ended {runs} runs)" if runs > 1 else "")
    yield from (f"error: {fault}" for fault in faults)


def lines_of_outcome(outcome: RunsOutcome) -> Iterator[str]:
    """What ended runs before their end: faults, and an interrupt."""
    yield from lines_of_problems(outcome.policy_faults, outcome.errors)
    yield from (f"under way when it was interrupted: {run}" for run in outcome.under_way)
