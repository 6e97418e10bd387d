"""Advances the runs of one page and hands out what it is to show. Knows nothing of Solara."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from cluster_abm import InputError, Scenario
from viz import keep
from viz.panels import ALONE, BESIDE, panels
from viz.run import Run
from viz.settings import Settings, scenario_with
from viz.worker import GRACE_S, GivenUp, Task, Worker, words_of

# A page that has not painted for so long is gone, or hidden: no need to go on for it.
PATIENCE_S = 1.0
MOST_UNSEEN = 5
SHORTEST_FRAME_S = 0.04
# A file that the page is asked for is made once the frame in hand is ready.
MOST_WAIT_S = 60.0
Result = TypeVar("Result")


@dataclass(frozen=True)
class Shot:
    """What the page shows.

    Attributes:
        number: counts what has been shown; the page answers with it when it has painted.
        panels: [name, HTML] each.
        playing: whether it goes on by itself.
        now_ms: simulated time [ms].
        over: whether all runs have ended, or none can go on.
        error: what went wrong; "" if nothing did.
        offered: the load that the jobs offer, in words; "" where none is known.
        warnings: what is to be said of it.
    """

    number: int
    panels: list[list[str]]
    playing: bool
    now_ms: float
    over: bool
    error: str
    offered: str = ""
    warnings: Sequence[str] = ()


class Player:
    """The runs of one page, which is theirs alone.

    All that takes time, building and stepping, is done by a thread of its own, one task after another: what the buttons
    call returns at once. Playing waits until the browser has painted what it was given: it never runs ahead of the eye.

    Args:
        scenario: what to run.
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
        self._runs: list[Run] = []
        self._error = self._note = ""
        # What is wrong with what was entered, by field.
        self._refused: dict[str, str] = {}
        self._clock_ms = 0.0
        self._playing = False
        self._wanted = settings
        # Steps that were asked for before the last pause, reset or change are not made.
        self._epoch = 0
        self._seen = self._unseen = 0
        self._shown_s = self._begun_s = 0.0
        self._worker = Worker(self._unasked, self._given_up)

    def begin(self) -> None:
        """Build the runs and show them."""
        self._worker.do(self._build)

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
        """From the beginning with other settings; goes on playing if it was."""
        self._wanted = settings
        self._drop()
        self._worker.do(self._change)

    def refuse(self, field: str, words: str) -> None:
        """Stop, and say what is wrong with what was entered in a field of the page, until it is put right."""
        self._drop()
        self._worker.do(lambda: self._refuse(field, words))

    def accept(self, field: str) -> None:
        """What is entered in a field is right now; the run can go on."""
        self._worker.do(lambda: self._accept(field))

    def colour_by(self, index: str) -> None:
        """Nodes are coloured by this load index from now on."""
        self._worker.do(lambda: self._colour_by(index))

    def pick(self, job: int | None) -> None:
        """Show the life of this job from now on."""
        self._worker.do(lambda: self._pick(job))

    def painted(self, number: int) -> None:
        """The browser has painted a Shot."""
        self._seen = max(self._seen, number)
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
        return bool(self._error or self._refused) or not any(run.frame.running for run in self._runs)

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
        self._build()

    def _change(self) -> None:
        if self._wanted != self._settings or self._error:
            self._settings = self._wanted
            self._build()

    def _refuse(self, field: str, words: str) -> None:
        self._playing, self._refused[field] = False, words
        self._publish()

    def _accept(self, field: str) -> None:
        if self._refused.pop(field, None) is not None:
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

        def say() -> None:
            # Beside the run that comes after it the same is a note.
            self._error = self._note = words
            self._playing = False
            self._publish()

        return say

    def _build(self) -> None:
        self._error, self._clock_ms, self._job, self._runs = "", 0.0, None, []
        settings = self._settings
        size = BESIDE if settings.other else ALONE
        runs, error = [], ""
        # Whatever a policy of one's own does wrong belongs on the page, which goes on living.
        try:
            chosen = [name for name in (settings.policy, settings.other) if name]
            runs = [Run(scenario_with(self._scenario, settings, name), *size) for name in chosen]
        except GivenUp:
            raise
        except BaseException as problem:
            runs, error = [], _words(problem)
        self._worker.goes_on()
        self._runs, self._error = runs, error
        self._publish()

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
        error = "; ".join([*self._refused.values(), *([self._error] if self._error else [])])
        drawn = panels(self._runs, self._index, error, self._note)
        self._shown_s = time.monotonic()
        # Two runs have the same jobs and nodes.
        offered, warnings = (self._runs[0].offered, self._runs[0].warnings) if self._runs else ("", [])
        self._show(Shot(self._number, drawn, self._playing, self._clock_ms, self._is_over, error, offered, warnings))


def _words(problem: BaseException) -> str:
    return "; ".join(problem.problems) if isinstance(problem, InputError) else words_of(problem)
