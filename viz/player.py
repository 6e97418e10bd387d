"""Advances the runs of one page and hands out what it is to show. Knows nothing of Solara."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd

from cluster_abm import InputError, Scenario
from cluster_abm.model.watching import picture_of
from cluster_abm.results.film import Scene, png
from viz.colours import INDICES, film_scale
from viz.panels import ALONE, BESIDE, NAMES, panels
from viz.run import Run
from viz.settings import Settings, scenario_with

# A page that has not painted for so long is gone, or hidden: no need to go on for it.
PATIENCE_S = 1.0
MOST_UNSEEN = 5
SHORTEST_FRAME_S = 0.04


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
    """

    number: int
    panels: list[list[str]]
    playing: bool
    now_ms: float
    over: bool
    error: str


class Player:
    """The runs of one page, which is theirs alone.

    The stepping thread waits until the browser has painted what it was given: it never runs ahead of the eye.

    Args:
        scenario: what to run.
        settings: what the controls say.
        show: called with each new Shot, from whatever thread made it.
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
        self._error = ""
        self._clock_ms = 0.0
        self._lock = threading.RLock()
        self._painted = threading.Event()
        self._playing = threading.Event()
        self._thread: threading.Thread | None = None
        self._build()

    # ---- what the buttons do ---------------------------------------------------------------------------------

    def play(self) -> None:
        """Go on frame by frame until paused, or over."""
        with self._lock:
            if self._playing.is_set() or self._is_over:
                return
            self._playing.set()
            self._publish()
            self._thread = threading.Thread(target=self._go_on, name="cluster-abm player", daemon=True)
            self._thread.start()

    def pause(self) -> None:
        """Stop after the frame that is being made."""
        with self._lock:
            if self._playing.is_set():
                self._playing.clear()
                self._publish()

    def step(self) -> None:
        """One frame, and stop."""
        with self._lock:
            self._playing.clear()
            self._advance()

    def reset(self) -> None:
        """From the beginning, stopped."""
        with self._lock:
            self._playing.clear()
            self._build()

    def change(self, settings: Settings) -> None:
        """From the beginning with other settings; goes on playing if it was."""
        with self._lock:
            # What was refused meanwhile is put right.
            if settings == self._settings and not self._error:
                return
            self._settings = settings
            self._build()

    def refuse(self, words: str) -> None:
        """Stop, and say what is wrong with what somebody entered, until it is put right."""
        with self._lock:
            self._playing.clear()
            self._error = words
            self._publish()

    def colour_by(self, index: str) -> None:
        """Nodes are coloured by this load index from now on."""
        with self._lock:
            self._index = index
            self._publish()

    def pick(self, job: int | None) -> None:
        """Tell the life of this job from now on."""
        with self._lock:
            self._job = job
            for run in self._runs:
                run.pick(job)
            self._publish()

    def painted(self, number: int) -> None:
        """The browser has painted a Shot."""
        if number >= self._number:
            self._painted.set()

    def picture(self) -> bytes:
        """What the maps show now, of both runs if there are two, as a PNG; nothing if there is no run."""
        with self._lock:
            if not self._runs:
                return b""
            kind = INDICES[self._index]
            shown = []
            for run in self._runs:
                model, at = run.model, run.map.places
                title = f"{model.setup.name}: policy {model.policy.name}, seed {model.run_seed}"
                scene = Scene(title, [at[node] for node in range(model.network.nodes)], run.map.wires)
                shown.append((scene, picture_of(run.frame, kind.name, model.network, at)))
            return png(shown, film_scale(kind, max(run.largest(kind.name) for run in self._runs)))

    def jobs(self) -> bytes:
        """The finished tasks so far, as `run --out` writes them, as Parquet; nothing if there is no run.

        Of two runs both, one after the other; `run` (A, B) and `policy` come first and tell them apart.
        """
        with self._lock:
            if not self._runs:
                return b""
            frames = [run.model.jobs_frame() for run in self._runs]
            if len(frames) > 1:
                for name, run, frame in zip(NAMES, self._runs, frames, strict=True):
                    frame.insert(0, "run", name)
                    frame.insert(1, "policy", run.model.policy.name)
            file = io.BytesIO()
            pd.concat(frames).to_parquet(file, engine="pyarrow", index=False, compression="zstd")
            return file.getvalue()

    def close(self) -> None:
        """The page is gone."""
        self._playing.clear()

    # ---- how it goes on --------------------------------------------------------------------------------------

    @property
    def _is_over(self) -> bool:
        return bool(self._error) or not any(run.frame.running for run in self._runs)

    def _build(self) -> None:
        self._error, self._clock_ms, self._job, self._runs = "", 0.0, None, []
        settings = self._settings
        size = BESIDE if settings.other else ALONE
        # Whatever a policy of one's own does wrong belongs on the page, which goes on living.
        try:
            chosen = [name for name in (settings.policy, settings.other) if name]
            self._runs = [Run(scenario_with(self._scenario, settings, name), *size) for name in chosen]
        except Exception as problem:
            self._error = _words(problem)
        if self._is_over:
            self._playing.clear()
        self._publish()

    def _advance(self) -> None:
        if not self._is_over:
            self._clock_ms += self.frame_ms
            try:
                for run in self._runs:
                    run.advance(self._clock_ms, self._job)
            except Exception as problem:
                self._error = _words(problem)
            self._clock_ms = min(self._clock_ms, max(run.frame.now_ms for run in self._runs))
        if self._is_over:
            self._playing.clear()
        self._publish()

    def _publish(self) -> None:
        self._number += 1
        self._painted.clear()
        drawn = panels(self._runs, self._index, self._error)
        self._show(Shot(self._number, drawn, self._playing.is_set(), self._clock_ms, self._is_over, self._error))

    def _go_on(self) -> None:
        unseen = 0
        while self._playing.is_set():
            begun_s = time.monotonic()
            with self._lock:
                # Paused, and perhaps played again by another thread, since we looked.
                if not self._playing.is_set() or threading.current_thread() is not self._thread:
                    return
                self._advance()
            unseen = 0 if self._painted.wait(PATIENCE_S) else unseen + 1
            if unseen >= MOST_UNSEEN:
                self.pause()
            time.sleep(max(0.0, SHORTEST_FRAME_S - (time.monotonic() - begun_s)))


def _words(problem: Exception) -> str:
    if isinstance(problem, InputError):
        return "; ".join(problem.problems)
    return f"{type(problem).__name__}: {problem}"
