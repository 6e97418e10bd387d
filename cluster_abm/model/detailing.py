"""A run in which, for a while, what each task does is noted at each moment."""

from __future__ import annotations

import tomllib
from collections.abc import Callable

import numpy as np

from cluster_abm.arguments import check_arguments, of_class, shortened
from cluster_abm.arrays import Array
from cluster_abm.clock import NS_PER_MS
from cluster_abm.engine.detail.looking import NOTE
from cluster_abm.engine.tables import RECORD
from cluster_abm.errors import InputError
from cluster_abm.model.model import ClusterModel
from cluster_abm.policies import AnyPolicy, Policy, available
from cluster_abm.recording import Recording, on_demand
from cluster_abm.recording.details import with_detail
from cluster_abm.recording.keeping import SECONDS, span_ns
from cluster_abm.scenario import scenario_from

Progress = Callable[[float], None]


def detail_of(
    recording: Recording,
    from_s: float,
    to_s: float,
    *,
    policy: AnyPolicy | None = None,
    progress: Progress | None = None,
) -> Recording:
    """The same recording with what each task does at each moment from `from_s` to `to_s`: its table `detail`.

    The run is carried out again up to `to_s`, from the scenario that the recording holds. Files that the scenario
    names, such as traces, have to be where they were.

    Args:
        recording: of a run.
        from_s, to_s: the window [s].
        policy: that of the run, where it was handed over as a class, an object or a file.
        progress: called now and then with the fraction done, 0..1.

    Returns:
        the recording with that table: `detail_frame()`.

    Raises:
        InputError: the window is none, the policy is a pooled reference or none that is installed, or the run is not
            the same again.
    """
    check_arguments(recording=(recording, of_class(Recording)))
    span = window_of((from_s, to_s))
    meta = recording.meta
    named = _policy_of(recording) if policy is None else policy
    scenario = scenario_from(tomllib.loads(meta["toml"]), f"scenario of {recording.title}")
    model = ClusterModel(scenario, meta["seed"], policy=named)
    again = DetailedRun(model, span)
    again.run(progress, span[1] / NS_PER_MS)
    _check_same(model, recording)
    return with_detail(recording, again.notes(), *span)


# A notebook that shows a recording asks for it, too.
on_demand.computers.append(detail_of)


def _policy_of(recording: Recording) -> str:
    """The policy's name. Raises InputError: it is none of those that are installed."""
    name = str(recording.meta["policy"]["name"])
    # A recording is data: a file of Python that it names is not imported.
    if name not in available():
        raise InputError(
            f"detail_of(): policy {shortened(name)}, which the recording names, is unknown here: give `policy`, the "
            "class, object or file of the run"
        )
    return name


def window_of(detail: object) -> tuple[int, int]:
    """A detailed window (from, to) [s] in ns. Raises InputError: it is none."""
    if not isinstance(detail, tuple | list) or len(detail) != 2:
        raise InputError(f"detail = {detail!r}: two times in s, (from, to), are needed")
    check_arguments(from_s=(detail[0], SECONDS), to_s=(detail[1], SECONDS))
    from_ns, to_ns = (span_ns(float(time_s)) for time_s in detail)
    if from_ns >= to_ns:
        raise InputError(f"detail: from {detail[0]:g} to {detail[1]:g} s: the end has to be after the beginning")
    return from_ns, to_ns


def check_has_detail(policy: Policy) -> None:
    """Raise InputError if what tasks do cannot be noted: a pooled reference has no nodes of its own."""
    if policy.pooled:
        raise InputError(
            f"detail: policy {policy.name!r} pools all nodes: its tasks share them at every moment, and there is "
            "no detail; take another policy, or no detail"
        )


class DetailedRun:
    """Runs a model, with the same results, and notes what each task does at each moment of a window.

    Args:
        model: at its start, with agents of the package's own.
        span: from when to when [ns].

    Raises InputError: its policy is a pooled reference.
    """

    def __init__(self, model: ClusterModel, span: tuple[int, int]) -> None:
        check_has_detail(model.policy)
        self._model, self._slice_ns = model, model.parts.clock.slice_ns
        from_ns, self._to_ns = span
        self._begin_ns = from_ns // self._slice_ns * self._slice_ns
        self._is_on, self._notes = False, np.zeros(0, NOTE)

    def run(self, progress: Progress | None = None, until_ms: float | None = None) -> None:
        """As ClusterModel.run."""
        model, clock = self._model, self._model.parts.clock
        while model.running and (until_ms is None or model.now_ms < until_ms):
            now_ns, until = clock.now_ns, until_ms
            if now_ns < self._begin_ns:
                begin_ms = self._before(self._begin_ns)
                until = begin_ms if until is None else min(until, begin_ms)
            elif now_ns < self._to_ns:
                if not self._is_on:
                    model.engine.look_closer(now_ns)
                    self._is_on = True
                until = self._before(now_ns + self._slice_ns)
            else:
                self._end()
            model.run(progress, until)

    def notes(self) -> Array:
        """What has been noted (engine.detail.looking.NOTE)."""
        self._end()
        return self._notes

    def _end(self) -> None:
        if self._is_on:
            found = self._model.engine.look_closer(None)
            self._is_on, self._notes = False, self._notes if found is None else found

    def _before(self, boundary_ns: int) -> float:
        """A time after which this slice boundary is the next one, however it is rounded [ms]."""
        return (boundary_ns - self._slice_ns / 2) / NS_PER_MS


def _check_same(model: ClusterModel, recording: Recording) -> None:
    """Raise InputError if tasks did not end in this run as they did in the recorded one."""
    ended = recording.tables["tasks"]
    again = model.engine.sorted_records()
    finish_ns, task = ended["finish_ns"].to_numpy(), ended["task"].to_numpy()
    is_over = ~ended["is_open"].to_numpy() & (finish_ns < min(model.parts.clock.now_ns, recording.meta["end_ns"]))
    again = again[np.isin(again["task"], task[is_over])]
    for name in RECORD.names or ():
        if not np.array_equal(ended[name].to_numpy()[is_over], again[name]):
            raise InputError(
                f"detail_of(): the run is not the recorded one: another policy or file, or another version of "
                f"the package (recorded: {recording.meta['version']})"
            )
