"""Advances the runs of one page and hands out what it is to show. Knows nothing of Solara."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field, replace
from typing import TypeVar

from cluster_abm import InputError, Scenario
from cluster_abm.errors import PolicyFault
from viz import heard, keep
from viz.heard import Size
from viz.panels import panels, room
from viz.run import WatchedRun
from viz.settings import LABELS, Settings, scenario_with
from viz.worker import GRACE_S, GivenUp, PageWorker, Task, words_of

# A page that has not painted for this time is gone, or hidden: runs need not go on for it.
PATIENCE_S = 1.0
MOST_UNSEEN = 5
SHORTEST_FRAME_S = 0.04
# A file that the page is asked for is made once the frame in hand is ready.
MOST_WAIT_S = 60.0
Result = TypeVar("Result")


@dataclass(frozen=True)
class Shot:
    """What the page shows."""

    number: int  # counts what has been shown; the page answers with it when it has painted
    panels: list[list[str]]  # [name, HTML] each
    playing: bool  # whether it goes on by itself
    now_ms: float  # simulated time [ms]
    over: bool  # whether all runs have ended, or none can go on
    error: str  # what went wrong; "" if nothing did
    offered: str = ""  # the load that the jobs offer, in words; "" where none is known
    warnings: Sequence[str] = ()  # about that load, a line each
    settings: Settings | None = None  # those of the runs; what was refused has not changed them
    # What is wrong with settings that were asked for, by their names in Settings.
    refused: Mapping[str, str] = field(default_factory=dict)
    notice: str = ""  # why the run has started again; "" if it has not
    starts: int = 0  # how often it has


class Player:
    """The runs of one page, which is theirs alone.

    All that takes time, building and stepping, is done by a thread of its own, one task after another: what the buttons
    call returns at once. Playing waits until the browser has painted what it was given: it never runs ahead of the eye.

    Args:
        settings: what the controls say.
        show: called with each new Shot, from the player's thread.
        index: by which load nodes are coloured at first.
    """

    def __init__(
        self, scenario: Scenario, settings: Settings, show: Callable[[Shot], None], index: str = "cpu"
    ) -> None:
        self.frame_ms = 1000.0
        self._scenario, self._settings, self._show = scenario, settings, show
        self._index, self._number = index, 0
        self._job: int | None = None
        self._runs: list[WatchedRun] = []
        self._error = self._note = ""
        # What is wrong with what was asked for, by the name of the setting.
        self._refused: dict[str, str] = {}
        self._sizes: dict[str, Size] = {}
        self._notice, self._starts, self._is_building = "", 0, False
        self._clock_ms = 0.0
        self._playing = False
        self._wanted = settings
        # Steps that were asked for before the last pause, reset or change are not made.
        self._epoch = 0
        self._seen = self._unseen = 0
        self._shown_s = self._begun_s = 0.0
        self._worker = PageWorker(self._unasked, self._given_up, self._failed)

    def begin(self) -> None:
        """Build the runs and show them."""
        self._worker.do(self._begin)

    # ---- what the buttons do ---------------------------------------------------------------------------------

    def play(self) -> None:
        """Go on frame by frame until paused, or over."""
        self._worker.do(self._play)

    def pause(self) -> None:
        """Stop after the frame that is being made, or within it if that takes long."""
        self._epoch += 1
        self._worker.hurry(GRACE_S)
        self._worker.do(self._pause)

    def step(self) -> None:
        """One frame, and stop."""
        epoch = self._epoch
        self._worker.do(lambda: self._step(epoch))

    def reset(self) -> None:
        """From the beginning, stopped."""
        self._drop()
        self._worker.do(self._reset)

    def change(self, settings: Settings) -> None:
        """From the beginning with other settings; goes on playing if it was.

        What cannot be run is refused, by the setting that is wrong, and the run goes on as it is.
        """
        self._wanted = settings
        self._drop()
        self._worker.do(self._change)

    def resize(self, sizes: object) -> None:
        """The room in panels, as the browser has measured it (heard.sizes)."""
        right = heard.sizes(sizes)
        self._worker.do(lambda: self._resize(right))

    def colour_by(self, index: str) -> None:
        """Nodes are coloured by this load index from now on."""
        self._worker.do(lambda: self._colour_by(index))

    def pick(self, job: object) -> None:
        """Show the life of this job from now on; of what is no job's number, none."""
        number = heard.whole(job)
        self._worker.do(lambda: self._pick(number))

    def painted(self, number: object) -> None:
        """The browser has painted the Shot of this number."""
        # It cannot have seen what has not been shown yet.
        self._seen = max(self._seen, min(heard.whole(number) or 0, self._number))
        self._worker.nudge()

    def picture(self) -> bytes:
        """What the maps show now (keep.picture). Raises TimeoutError if it is not to be had in good time."""
        return self._made(lambda: keep.picture(self._runs, self._index))

    def jobs(self) -> bytes:
        """The finished tasks so far (keep.jobs). Raises TimeoutError if they are not to be had in good time."""
        return self._made(lambda: keep.jobs(self._runs))

    def wait(self) -> None:
        """Until all that was asked for has been done."""
        self._made(lambda: None)

    def close(self) -> None:
        """The page is gone."""
        self._worker.close()

    def _drop(self) -> None:
        """What is being done is not wanted any more."""
        self._epoch += 1
        self._worker.hurry()

    def _made(self, make: Callable[[], Result]) -> Result:
        """What the player's thread makes, at its turn. Raises TimeoutError if that does not come."""
        future: Future[Result] = Future()

        def task() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(make())
            except Exception as problem:
                future.set_exception(problem)

        self._worker.do(task)
        try:
            return future.result(MOST_WAIT_S)
        finally:
            future.cancel()

    # ---- in the player's thread ------------------------------------------------------------------------------

    @property
    def _is_over(self) -> bool:
        return bool(self._error) or not any(run.frame.running for run in self._runs)

    def _unasked(self) -> tuple[Task | None, float | None]:
        """The next frame, if it plays and the last one has been seen; else for how long to wait."""
        if not self._playing:
            return None, None
        now_s = time.monotonic()
        due_s = self._begun_s + SHORTEST_FRAME_S
        if self._seen < self._number:
            due_s = max(due_s, self._shown_s + PATIENCE_S)
        return (self._next_frame, None) if now_s >= due_s else (None, due_s - now_s)

    def _next_frame(self) -> None:
        self._unseen = 0 if self._seen >= self._number else self._unseen + 1
        if self._unseen >= MOST_UNSEEN:
            self._pause()
            return
        self._begun_s = time.monotonic()
        self._advance()

    def _begin(self) -> None:
        self._build()

    def _play(self) -> None:
        if not self._playing and not self._is_over:
            self._playing, self._unseen = True, 0
            self._publish()
            # The first frame need not wait until that has been painted.
            self._seen = self._number

    def _pause(self) -> None:
        if self._playing:
            self._playing = False
            self._publish()

    def _step(self, epoch: int) -> None:
        if epoch == self._epoch:
            self._playing = False
            self._advance()

    def _reset(self) -> None:
        self._playing = False
        self._refused.clear()
        self._wanted = self._settings
        self._notice = "Started again from 0 s."
        self._build()

    def _change(self) -> None:
        if self._wanted == self._settings and not self._error:
            self._refused.clear()
            self._publish()
            return
        wanted = self._wanted
        differ = [name for name, value in asdict(wanted).items() if value != getattr(self._settings, name)]
        allowed, self._refused = self._allowed(wanted, differ)
        if self._refused and allowed == self._settings and self._runs:
            self._publish()
            return
        self._notice = in_words(self._settings, allowed)
        before = self._settings, self._runs, self._clock_ms, self._error
        self._settings = allowed
        # What only the building of a run finds wrong, such as a job without what a policy needs to know of it.
        problem = self._build(is_change=bool(self._runs))
        if problem is not None:
            self._settings, self._runs, self._clock_ms, self._error = before
            self._refused = {name: _words(problem) for name in differ[-1:]}
            self._publish()

    def _allowed(self, wanted: Settings, differ: Sequence[str]) -> tuple[Settings, dict[str, str]]:
        """The settings as far as they can be, and what is wrong with the others, by name."""
        if not self._runs:
            return wanted, {}
        if not self._problem_of(wanted):
            return wanted, {}
        allowed, refused = self._settings, {}
        for name in differ:
            further = replace(allowed, **{name: getattr(wanted, name)})
            words = self._problem_of(further)
            if words:
                refused[name] = words
            else:
                allowed = further
        return allowed, refused

    def _problem_of(self, settings: Settings) -> str:
        """What is wrong with the scenario that settings make; "" if nothing is."""
        try:
            scenario_with(self._scenario, settings, settings.policy)
        except InputError as problem:
            return _words(problem)
        return ""

    def _resize(self, sizes: dict[str, Size]) -> None:
        if sizes != self._sizes:
            self._sizes = sizes
            self._publish()

    def _colour_by(self, index: str) -> None:
        self._index = index
        self._publish()

    def _pick(self, job: int | None) -> None:
        self._job = job
        for run in self._runs:
            run.pick(job)
        self._publish()

    def _given_up(self, policy: str, late_s: float) -> Task:
        words = f"policy {policy!r} had not returned for {late_s:.0f} s when it was stopped"

        was_building = self._is_building

        def say() -> None:
            if was_building:
                self._runs = []
            # Beside the run that comes after it the same is a note.
            self._error = self._note = words
            self._playing = self._is_building = False
            self._publish()

        return say

    def _failed(self, problem: BaseException) -> None:
        """A task has raised: the page says so, and goes on."""
        self._note = words_of(problem)
        self._playing = False
        self._publish()

    def _build(self, is_change: bool = False) -> InputError | None:
        """Build the runs by the settings, and show them; what is wrong with them is shown too.

        Args:
            is_change: whether there are runs that can go on if these cannot be: then nothing is shown, and what is
                wrong is returned.
        """
        settings = self._settings
        two = bool(settings.other)
        runs, error = [], ""
        self._is_building = True
        # Whatever a policy of one's own does wrong belongs on the page, which goes on living.
        try:
            for number, name in enumerate(name for name in (settings.policy, settings.other) if name):
                scenario = scenario_with(self._scenario, settings, name)
                runs.append(WatchedRun(scenario, *room(self._sizes, two, f"map{number}")))
        except GivenUp:
            raise
        except InputError as problem:
            if is_change and not isinstance(problem, PolicyFault):
                self._is_building = False
                return problem
            runs, error = [], _words(problem)
        except BaseException as problem:
            runs, error = [], _words(problem)
        self._worker.goes_on()
        self._is_building = False
        self._clock_ms, self._job, self._runs, self._error = 0.0, None, runs, error
        self._starts += bool(self._notice)
        self._publish()
        return None

    def _advance(self) -> None:
        if self._is_over:
            self._publish()
            return
        clock_ms, error = self._clock_ms + self.frame_ms, ""
        try:
            for run in self._runs:
                run.advance(clock_ms, self._job, self._worker.goes_on)
        except GivenUp:
            raise
        except BaseException as problem:
            error = _words(problem)
        # A thread that was left behind stops here, whatever its policy has made of that.
        self._worker.goes_on()
        self._error, self._note = error, ""
        self._clock_ms = min(clock_ms, max(run.frame.now_ms for run in self._runs))
        self._publish()

    def _publish(self) -> None:
        if self._is_over:
            self._playing = False
        self._number += 1
        drawn = panels(self._runs, self._index, self._error, self._note, self._sizes)
        self._shown_s = time.monotonic()
        # Two runs have the same jobs and nodes.
        offered, warnings = (self._runs[0].offered, self._runs[0].warnings) if self._runs else ("", [])
        shot = Shot(
            self._number, drawn, self._playing, self._clock_ms, self._is_over, self._error, offered, warnings,
            self._settings, dict(self._refused), self._notice, self._starts,
        )  # fmt: skip
        self._show(shot)


def in_words(before: Settings, after: Settings) -> str:
    """Why a run starts again: what has been changed."""
    changed = {name: value for name, value in asdict(after).items() if value != getattr(before, name)}
    if changed.keys() <= {"policy", "other"} and after.other:
        return f"Started again from 0 s: A {after.policy} and B {after.other} beside it, on the same jobs."
    said = [f"{LABELS[name]} {value if value != '' else 'as before'}" for name, value in changed.items()]
    return f"Started again from 0 s: {', '.join(said)}." if said else "Started again from 0 s."


def _words(problem: BaseException) -> str:
    if not isinstance(problem, InputError):
        return words_of(problem)
    # What the controls say comes to the scenario as overrides; the page calls it none.
    return "; ".join(line.removeprefix("override: ") for line in problem.problems)
