"""One visitor's tab: what is set, what is computed for it, and what it shows meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from cluster_abm import InputError, Scenario
from viz import controls, heard
from viz.acts import MOST_ACTS, acts_of, tables_of_acts
from viz.address import query_of, texts_of
from viz.server.files import KINDS, WITH_DETAIL
from viz.server.runs import Asked, Runs
from viz.server.said import Made, Stage, Task
from viz.settings import Settings, check_acts, scenario_with, script_of
from viz.tasks import policies_of, tasks_of, without_policies

# Progress is shown so often at most [s].
BETWEEN_S = 0.1
Event = Callable[[], None]
Span = tuple[float, float] | None


class Visit:
    """A tab. All that happens goes through a thread of its own, one thing after another: a slow browser holds up none.

    Args:
        scenario: the page's.
        first: the settings at first.
        runs: computes runs.
        whose: names the tab.
        show: called with what the page shows anew, by name (widget.PageWidget).
        send: called with a message for the page, and with bytes.
    """

    def __init__(
        self,
        scenario: Scenario,
        first: Settings,
        runs: Runs,
        whose: str,
        show: Callable[[Mapping[str, Any]], None],
        send: Callable[[Mapping[str, Any], bytes], None],
    ) -> None:
        self._scenario, self._first, self._runs, self._whose = scenario, first, runs, whose
        self._show, self._send = show, send
        self._offered = controls.offered_by(controls.lists())
        # What is computed or shown; and of which settings the page's recordings are.
        self._settings, self._seen = first, first
        # The same of the window with detail [s].
        self._span_s: Span = None
        self._seen_span_s: Span = None
        self._typed: dict[str, str] = {}
        self._unread: dict[str, str] = {}
        self._refused: dict[str, str] = {}
        self._scripts = 0  # how many scripts the browser has sent
        self._asked: dict[str, Asked] = {}
        self._stages: dict[str, Stage] = {}
        self._made: dict[str, Made] = {}
        self._shown: list[Made] = []
        self._error = self._note = ""
        self._files: dict[str, Asked] = {}
        self._events: SimpleQueue[Event] = SimpleQueue()
        self._told_s, self._is_due, self._over = 0.0, False, False
        Thread(target=self._live, name="cluster-abm visit", daemon=True).start()

    def hear(self, sent: object) -> None:
        """Something that the browser has sent: {"event": name, "data": of any kind}."""
        if isinstance(sent, Mapping) and isinstance(sent.get("event"), str):
            answer = self._answers().get(sent["event"])
            if answer is not None:
                self._events.put(partial(answer, sent.get("data")))

    def close(self) -> None:
        """The tab is gone."""
        self._events.put(self._close)

    # ---- in the thread ---------------------------------------------------------------------------------------

    def _live(self) -> None:
        while not self._over:
            left_s = self._told_s + BETWEEN_S - time.monotonic() if self._is_due else None
            try:
                self._events.get(timeout=None if left_s is None else max(0.0, left_s))()
            except Empty:
                self._tell_status()

    def _answers(self) -> dict[str, Callable[[object], None]]:
        return {
            "begin": self._begin, "choose": self._choose, "enter": self._enter, "reset": self._reset,
            "stop": self._stop, "file": self._file, "detail": self._detail, "script": self._act,
        }  # fmt: skip

    def _close(self) -> None:
        self._over = True
        for asked in [*self._asked.values(), *self._files.values()]:
            self._runs.stop(asked)

    def _begin(self, query: object) -> None:
        """The page is there, or has gone to another address: what that says is what is set."""
        choices, numbers = texts_of(query, self._offered)
        self._typed, self._unread, self._refused = {}, {}, {}
        chosen: dict[str, Any] = dict(choices)
        wanted = replace(self._first, **chosen)
        for name, text in numbers.items():
            wanted = self._read(name, text, wanted)
        self._change(wanted)

    def _choose(self, sent: object) -> None:
        chosen = heard.choice(sent, self._offered)
        if chosen is not None:
            changed: dict[str, Any] = {chosen[0]: controls.chosen(*chosen)}
            self._change(replace(self._settings, **changed))

    def _enter(self, sent: object) -> None:
        entered = heard.entry(sent, controls.FIELDS)
        if entered is not None:
            self._change(self._read(*entered, self._settings))

    def _act(self, sent: object) -> None:
        """Another script: the whole of it, as tables."""
        self._scripts += 1
        most = max(MOST_ACTS, len(self._scenario.script))
        try:
            script = script_of(self._scenario, tables_of_acts(sent, most))
        except InputError as problem:
            self._refused["script"] = _words(problem)
            self._tell_settings()
            return
        self._refused.pop("script", None)
        self._change(replace(self._settings, script=script))

    def _reset(self, _: object) -> None:
        """As the scenario says."""
        self._typed, self._unread, self._refused = {}, {}, {}
        self._change(self._first)

    def _read(self, name: str, text: str, settings: Settings) -> Settings:
        """The settings with what was typed into a field, as far as it is a number."""
        self._typed[name] = text
        self._unread.pop(name, None)
        try:
            kind = int if isinstance(getattr(settings, name), int) else float
            changed: dict[str, Any] = {name: controls.parsed(text, kind)}
            return replace(settings, **changed)
        except ValueError as problem:
            self._unread[name] = str(problem)
            return settings

    def _change(self, wanted: Settings) -> None:
        """Compute what is wanted, as far as it can be; what cannot be is said, and nothing else changes."""
        differ = [name for name, value in asdict(wanted).items() if value != getattr(self._settings, name)]
        self._refused = {name: words for name, words in self._refused.items() if name not in differ and differ}
        before, self._settings = self._settings, self._allowed(wanted, differ)
        if self._settings != before:
            self._take_span(None)
        for name in [*self._typed]:
            if name not in self._refused and name not in self._unread:
                del self._typed[name]
        self._error = self._note = ""
        self._compute()

    def _allowed(self, wanted: Settings, differ: list[str]) -> Settings:
        """The settings as far as they can be; what is wrong with the others is noted, by name."""
        if not self._problem_of(wanted):
            return wanted
        allowed = self._settings
        for name in differ:
            further = replace(allowed, **{name: getattr(wanted, name)})
            words = self._problem_of(further)
            if words:
                self._refused[name] = words
            else:
                allowed = further
        return allowed

    def _problem_of(self, settings: Settings) -> str:
        try:
            check_acts(settings)
            scenario_with(self._scenario, settings, settings.policy)
        except InputError as problem:
            return _words(problem)
        return ""

    def _compute(self) -> None:
        """Ask for the runs of the settings, and for none of others."""
        tasks = tasks_of(self._settings, self._span_s)
        for name, asked in list(self._asked.items()):
            if name not in tasks or asked.task != tasks[name]:
                self._runs.stop(asked)
                del self._asked[name]
        self._made = {name: made for name, made in self._made.items() if name in self._asked}
        self._stages = {name: stage for name, stage in self._stages.items() if name in self._asked}
        for name, task in tasks.items():
            if name not in self._asked:
                self._ask(name, task)
        self._tell_settings()
        self._tell_status()
        self._show_if_whole()

    def _ask(self, name: str, task: Task) -> None:
        def seen(what: Stage | Made) -> None:
            self._events.put(lambda: self._look(name, asked, what))

        asked = self._runs.ask(self._whose, task, seen)
        self._asked[name] = asked

    def _look(self, name: str, asked: Asked, what: Stage | Made) -> None:
        """What the runs say of a task."""
        if self._asked.get(name) is not asked:
            return
        if isinstance(what, Stage):
            self._stages[name] = what
            self._is_due = True
            if time.monotonic() - self._told_s >= BETWEEN_S:
                self._tell_status()
            return
        self._stages.pop(name, None)
        self._made[name] = what
        if not what.data:
            self._fail(what)
        else:
            self._show_if_whole()

    def _show_if_whole(self) -> None:
        """Show the runs of the settings, once all of them are there."""
        if not self._made or len(self._made) < len(self._asked):
            return
        self._shown = [self._made[one] for one in sorted(self._made)]
        self._seen, self._seen_span_s = self._settings, self._span_s
        self._error = "\n".join(one.error for one in self._shown if one.error)
        self._show({"recordings": [one.data for one in self._shown]})
        self._tell_settings()
        self._tell_status()

    def _fail(self, made: Made) -> None:
        """A run cannot be: what was shown stays."""
        if self._span_s != self._seen_span_s:
            self._end(made.error)
            return
        differ = [name for name, value in asdict(self._settings).items() if value != getattr(self._seen, name)]
        if made.refused and differ and self._shown:
            self._refused[differ[-1]] = made.error
            self._typed = {name: text for name, text in self._typed.items() if name in self._refused}
        else:
            self._error = made.error
        self._end()

    def _stop(self, _: object) -> None:
        """The visitor does not want what is computed."""
        if self._stages or len(self._made) < len(self._asked):
            self._note = "Stopped. The picture is the one from before." if self._shown else "Stopped."
            self._end()

    def _end(self, why: str = "") -> None:
        """Nothing is computed any more; the settings are again those of the picture, if there is one.

        Args:
            why: there is no detail of the window that was wanted.
        """
        self._take_span(self._seen_span_s, why)
        for asked in self._asked.values():
            self._runs.stop(asked)
        self._asked, self._stages, self._made = {}, {}, {}
        if self._shown:
            self._settings = self._seen
        self._tell_settings()
        self._tell_status()

    def _detail(self, sent: object) -> None:
        """What tasks do in a window is wanted, of the runs that are shown."""
        span_s = heard.window(sent)
        if span_s is None or not self._shown or self._settings != self._seen:
            self._send({"detail": ""}, b"")
            return
        self._error = self._note = ""
        self._span_s = span_s
        self._compute()

    def _take_span(self, span_s: Span, why: str = "") -> None:
        """Another window; one that is still computed is not wanted any more, or cannot be had."""
        if self._span_s != self._seen_span_s:
            self._send({"detail": why}, b"")
        self._span_s = span_s

    # ---- files -----------------------------------------------------------------------------------------------

    def _file(self, sent: object) -> None:
        """A file is wanted; it is computed from the settings of the picture."""
        if not isinstance(sent, str) or sent not in KINDS or not self._shown or sent in self._files:
            return
        span_s = self._seen_span_s if sent in WITH_DETAIL else None
        task = Task(without_policies(self._seen), policies_of(self._seen), sent, span_s)

        def seen(what: Stage | Made) -> None:
            if isinstance(what, Made):
                self._events.put(lambda: self._deliver(sent, what))

        self._files[sent] = self._runs.ask(self._whose, task, seen)

    def _deliver(self, kind: str, made: Made) -> None:
        self._files.pop(kind, None)
        message = {"file": kind, "name": f"{self._stem}.{KINDS[kind].ending}", "mime": KINDS[kind].mime}
        self._send({**message, "error": made.error}, made.data)

    @property
    def _stem(self) -> str:
        """How files are named: scenario, policies, seed."""
        policies = "-".join(policies_of(self._seen))
        stem = f"{self._scenario.name}-{policies}-seed-{self._seen.seed}"
        return "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in stem)

    # ---- what the page shows ---------------------------------------------------------------------------------

    def _tell_settings(self) -> None:
        self._show({
            "fields": controls.fields(self._settings, self._typed, self._refused | self._unread),
            "script": {
                "acts": acts_of(self._settings.script), "error": self._refused.get("script", ""),
                "heard": self._scripts,
            },
            "query": query_of(self._settings, self._first),
            "stem": self._stem,
        })  # fmt: skip

    def _tell_status(self) -> None:
        self._told_s, self._is_due = time.monotonic(), False
        facts = self._shown[0].facts if self._shown else {}
        self._show({
            "status": {
                "runs": [self._stage(name) for name in sorted(self._asked) if name not in self._made],
                "error": self._error, "note": self._note, "offered": facts.get("offered", []),
                "warnings": facts.get("warnings", []),
            }
        })  # fmt: skip

    def _stage(self, name: str) -> dict[str, Any]:
        """How far a run is, with the times since its phase began and since it was heard of [s]."""
        asked = self._asked[name]
        stage = self._stages.get(name) or asked.first
        return {
            "policy": asked.task.policies[0], "phase": stage.phase, "what": stage.what, "share": stage.share,
            "now_ms": stage.now_ms, "for_s": max(0.0, self._told_s - stage.since),
            "silent_s": max(0.0, self._told_s - (stage.heard or stage.since)),
        }  # fmt: skip


def _words(problem: InputError) -> str:
    return "; ".join(line.removeprefix("override: ") for line in problem.problems)
