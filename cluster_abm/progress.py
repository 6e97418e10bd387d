"""Progress on stderr: a bar on a terminal; where there is none, a line now and then, at intervals that grow."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tqdm import tqdm

# Time before the first line, and from it to the second; then each gap is half of the time so far [s].
FIRST_S = 10.0
# The longest gap [s].
LONGEST_GAP_S = 600.0
# What may have to be compiled before the first is done.
MAY_COMPILE = ("run", "%")
# "lines": lines even on a terminal; "none": nothing; else as the terminal has it.
VARIABLE = "CLUSTER_ABM_PROGRESS"


class LineSchedule:
    """When a line is due."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open = 0
        self._begun = self._due = self._last = 0.0
        # Of larger works, by label: from when on, and how much was done then.
        self.measured_from: dict[str, tuple[float, float]] = {}

    def now_s(self) -> float:
        """The time since the work began [s]."""
        return self._clock() - self._begun

    def enter(self) -> None:
        """A piece of work begins. One that follows another within ten seconds goes on with its times."""
        now = self._clock()
        if not self._open and (not self._begun or now - self._last > FIRST_S):
            self._begun, self._due = now, now + FIRST_S
            self.measured_from.clear()
        self._open += 1

    def leave(self) -> None:
        """A piece of work has ended."""
        self._open -= 1
        self._last = self._clock()

    def due_after(self) -> float | None:
        """The time since the work began [s] if a line is due now, which is then taken for written; else None."""
        now = self._clock()
        if now < self._due:
            return None
        elapsed_s = now - self._begun
        self._due = now + min(max(FIRST_S, elapsed_s / 2), LONGEST_GAP_S)
        return elapsed_s


SCHEDULE = LineSchedule()


class Progress(tqdm):
    """A bar on stderr; without a terminal, lines.

    Args:
        total: how much there is to do; None: not known yet.
        unit: what is counted, in the singular; "%" for a share.
        whole: of work that is a part of a larger one: its label, how much was done before, and how much there is.
        schedule: when a line is due.
    """

    def __init__(
        self,
        total: float | None,
        label: str,
        unit: str,
        *,
        quiet: bool = False,
        whole: tuple[str, int, int] | None = None,
        schedule: LineSchedule | None = None,
    ) -> None:
        self._schedule = schedule or SCHEDULE
        self._label, self._unit, self._whole = label, unit, whole
        wanted = os.environ.get(VARIABLE, "")
        no_bar = quiet or wanted in ("lines", "none") or not _is_terminal()
        self._writes_lines = no_bar and not quiet and wanted != "none"
        self.is_quiet = quiet
        self._is_silent = quiet or wanted == "none"
        self._done, self._made_any = 0.0, False
        super().__init__(total=total, desc=label, unit=unit, disable=no_bar, leave=False, file=sys.stderr)
        self._entered = self._writes_lines
        if self._entered:
            self._schedule.enter()
        self._has_begun = time.monotonic()
        # From when on pieces tell how long the rest takes, and how much was done then. What compiles does not: of such
        # work the first piece is left out.
        self._from: tuple[float, float] | None = None
        self._is_held = False
        if unit not in MAY_COMPILE:
            self.measure()

    def begin_at(self, done: float) -> None:
        """Take what was there before the work began as done."""
        self.initial = self.n = done
        self._done = done
        if self._from is not None:
            self.measure()

    def hold(self) -> None:
        """No estimate of the time left before `measure` is called."""
        self._is_held = True

    def measure(self) -> None:
        """From now on pieces tell how long the rest takes: all that had to be compiled is."""
        self._from = self._now_s(), self._done
        if self._whole is not None:
            self._schedule.measured_from.setdefault(self._whole[0], (self._from[0], self._whole[1] + self._done))

    @property
    def format_dict(self) -> dict[str, Any]:
        """What tqdm draws its bar from: with the rate since `measure`, 0 while none is known."""
        return {**super().format_dict, "rate": self._rate() if hasattr(self, "_from") else 0.0}

    def _now_s(self) -> float:
        # Without lines no schedule has been entered.
        return self._schedule.now_s() if self._entered else time.monotonic() - self._has_begun

    def _rate(self) -> float:
        """Pieces in a second; 0 while it is not known."""
        begun, done = self._from, self._done
        if self._whole is not None:
            begun, done = self._schedule.measured_from.get(self._whole[0]), done + self._whole[1]
        passed_s = 0.0 if begun is None else self._now_s() - begun[0]
        return (done - begun[1]) / passed_s if begun is not None and passed_s > 0 else 0.0

    def update(self, n: float | None = 1) -> bool | None:
        """Count `n` more as done."""
        self._done += n or 0
        self._made_any |= bool(n)
        if self._from is None and n and not self._is_held:
            self.measure()
        if not self.disable:
            return super().update(n)
        self.look()
        return None

    def reach(self, done: float) -> None:
        """Count up to `done` as done by now."""
        self.update(done - self._done)

    def look(self) -> None:
        """Write a line if one is due."""
        if self._writes_lines:
            elapsed_s = self._schedule.due_after()
            if elapsed_s is not None:
                self.say(self._line(elapsed_s))

    def say(self, text: str) -> None:
        """Write a remark, above the bar if there is one."""
        if self._is_silent:
            return
        with suppress(OSError):
            if self.disable:
                print(text, file=sys.stderr, flush=True)
            else:
                self.write(text, file=sys.stderr)

    def set_postfix(self, *arguments: Any, **named: Any) -> None:
        """What is shown beside the bar."""
        if not self.disable:
            super().set_postfix(*arguments, **named)
        self.look()

    def close(self) -> None:
        """The work has ended."""
        if getattr(self, "_entered", False):
            self._entered = False
            self._schedule.leave()
        super().close()

    def _line(self, elapsed_s: float) -> str:
        label, before, total = (self._label, 0, self.total) if self._whole is None else self._whole
        done = self._done + before
        after = f"after {duration_in_words(elapsed_s)}"
        if self._unit == "%":
            text = f"{label}: {done:.0f} % {after}"
        elif total is None:
            text = f"{label}: {done:,.0f} {self._unit}s {after}"
        else:
            text = f"{label}: {done:,.0f} of {total:,.0f} {self._unit}s {after}"
        rate = self._rate()
        if total and total > done and rate > 0:
            text += f", about {duration_in_words((total - done) / rate)} left"
        if not self._made_any and self._unit in MAY_COMPILE:
            text += " (the first run of a kind compiles)"
        return text


def duration_in_words(seconds: float) -> str:
    """A length of time as one says it: 8 s, 4 min, 2 h 5 min.

    >>> [duration_in_words(seconds) for seconds in (8.2, 250.0, 7490.0, 200_000.0)]
    ['8 s', '4 min', '2 h 5 min', '2 days 8 h']
    """
    if seconds < 119.5:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h" + (f" {minutes} min" if minutes else "")
    days, hours = divmod(hours, 24)
    return f"{days} days" + (f" {hours} h" if hours else "")


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()
