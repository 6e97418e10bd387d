"""Keys of work in sessions of users: what is refused, and what has no effect."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario, scenario_from
from cluster_abm.scenario.unused import keys_without_effect
from cluster_abm.workload import work_of
from cluster_abm.workload.sessions.content import drawn_content

GROUP: dict[str, Any] = {"jobs": {"mean": 3.0}, "work_s": {"mean": 6.0}, "gap_s": {"mean": 5.0}, "after_end": 0.5}
PLAIN: dict[str, Any] = {
    "cluster.nodes": 4, "workload.kind": "sessions", "workload.jobs_per_s": 0.5, "workload.duration_s": 100.0,
}  # fmt: skip


def made(*groups: dict[str, Any], **more: Any) -> Scenario:
    keys = {f"workload.{key.replace('__', '.')}": value for key, value in more.items()}
    given = PLAIN | {"workload.sessions.group": list(groups)} | keys
    return scenario_from({}, "test", {key: value for key, value in given.items() if value is not None})


@pytest.mark.parametrize(("groups", "more", "said"), [
    ([], {}, 'kind "sessions": needs one or more [[workload.sessions.group]]'),
    ([GROUP], {"arrivals__kind": "closed"}, "arrivals.kind 'closed': sessions begin at a rate: allowed with"),
    ([GROUP], {"arrivals__kind": "lognormal-window"}, "'poisson', 'bursty', 'multiscale'"),
    ([GROUP], {"arrivals__batch_mean": 2.0}, 'arrivals.batch_mean: is not allowed with kind "sessions"'),
    ([GROUP], {"jobs": 3}, 'jobs: is not allowed with kind "sessions"'),
    ([GROUP], {"dependence": {"cpu_ms,tasks": 0.5}}, 'dependence: is not allowed with kind "sessions"'),
    ([GROUP], {"repeats__share": 0.5}, 'repeats.share: is not allowed with kind "sessions"'),
    ([GROUP], {"programs__mix": {"bit-r": 1.0}}, 'programs.mix: is not allowed with kind "sessions"'),
    ([GROUP], {"application__name": "lu"}, 'application.name: is not allowed with kind "sessions"'),
    ([GROUP], {"task_cpu": "each"}, 'task_cpu: is not allowed with kind "sessions"'),
    ([GROUP], {"jobs_per_s": None}, "takes exactly one; found none of them"),
    ([GROUP | {"daily": [1.0] * 7}], {}, "daily: 7 weights: allowed are as many as divide 1440"),
    ([GROUP | {"daily": [0.0] * 24}], {}, "must hold at least one number above 0"),
    ([GROUP | {"widths": {"0": 1.0}}], {}, "widths '0': allowed are whole numbers of tasks from 1 to"),
    ([GROUP | {"widths": {"2147483648": 1.0}}], {}, "widths '2147483648': allowed"),
    ([GROUP | {"widths": {"9" * 5000: 1.0}}], {}, f"widths '{'9' * 40}': allowed"),
    ([GROUP | {"widths": {"2": 0.0}}], {}, "widths: must hold at least one weight above 0"),
    ([GROUP | {"users": {"1": 1.0}}], {}, """group.0.users '1': allowed are 0..0 and "other\""""),
    ([GROUP | {"users": {"9" * 5000: 1.0}}], {}, "group.0.users '999"),
    ([GROUP | {"users": {"0": 0.0}}], {}, "users: must hold at least one weight above 0"),
    ([GROUP], {"sessions__users": [0.0]}, "users: must hold at least one weight above 0"),
    ([GROUP | {"work_s": {"mean": 0.0}}], {}, "work_s from 0 on: must be above 0"),
    ([GROUP | {"spread": {"kind": "quantiles", "values": [0.0, 1.0]}}], {}, "spread from 0 on: must be above 0"),
])  # fmt: skip
def test_what_cannot_be_is_refused(groups, more, said):
    with pytest.raises(InputError, match=re.escape(said)):
        made(*groups, **more)


@pytest.mark.parametrize(("groups", "more", "said"), [
    ([GROUP], {"jobs_per_s": 1e12}, "allowed are 100,000,000"),
    ([GROUP | {"work_s": {"mean": 1e12}, "longest_s": 1e12}], {}, "work_s reaches"),
    ([GROUP | {"gap_s": {"mean": 1e11}}], {}, "gap_s, think_s or wait_s reaches"),
    ([GROUP], {"duration_s": 1e12, "jobs_per_s": 1e-9, "sessions__hold_back_s": 60.0}, "hours take about"),
])  # fmt: skip
def test_what_no_machine_holds_is_refused_before_it_is_made(groups, more, said, monkeypatch):
    monkeypatch.setattr("cluster_abm.limits.memory_bytes", lambda: 1e8)
    with pytest.raises(InputError, match=said):
        work_of(made(*groups, **more), 1)


def test_a_session_of_more_jobs_than_fit_is_refused(monkeypatch):
    monkeypatch.setattr("cluster_abm.limits.memory_bytes", lambda: 1e8)
    sessions = made(GROUP | {"jobs": {"mean": 1e9}}).workload.sessions
    with pytest.raises(InputError, match="jobs of the sessions: 1,000,000,000 jobs take about"):
        drawn_content(sessions, np.zeros(1, np.int64), np.random.default_rng(1))


def test_two_rates_are_refused():
    workload = {"kind": "sessions", "jobs_per_s": 1.0, "utilisation": 0.5, "sessions": {"group": [GROUP]}}
    with pytest.raises(InputError, match=r"takes exactly one; found workload\.jobs_per_s, workload\.utilisation"):
        scenario_from({"workload": workload})


def test_keys_of_cpu_times_that_are_not_used_are_not_checked():
    made(GROUP, cpu_ms={"kind": "quantiles", "values": [0.0, 1.0]})


def test_a_policy_that_needs_requests_names_the_key_of_groups():
    with pytest.raises(InputError, match=r"set requested_over_longest of each \[\[workload.sessions.group\]\]"):
        ClusterModel(
            made(GROUP).model_copy(
                update={"policy": scenario_from({"policy": {"name": "easy"}, "workload": {"jobs": 1}}).policy}
            )
        )


MEMORY = {"memory_mb": {"mean": 5.0}}
WIDE = {"widths": {"1": 1.0, "4": 1.0}}
INITIAL = {"node": 1, "cpu_ms": 40.0}


@pytest.mark.parametrize(("groups", "more", "without", "with_effect"), [
    ([GROUP], {}, ["cpu_ms", "requested_over_actual", "tasks.widths", "tasks.parallel_share", "tasks.barrier_ms",
                   "sessions.reference_load", "sessions.group.0.share", "trace",
                   "sessions.group.0.users", "sessions.group.0.same_width", "arrivals.starts_h", "repeats"],
     ["memory_mb", "users", "sessions", "sessions.think_s", "sessions.gap_spread", "sessions.wait_s",
      "sessions.longest_gap_s", "sessions.group.0.spread", "sessions.group.0.daily"]),
    ([GROUP | WIDE | {"one_width": 0.5}], {}, ["tasks.communication_ms"],
     ["tasks.barrier_ms", "sessions.group.0.same_width"]),
    ([GROUP | MEMORY, GROUP | {"daily": [1.0, 2.0]}], {}, [],
     ["memory_mb", "memory_of", "sessions.group.0.share", "sessions.group.1.daily", "arrivals.starts_h"]),
    ([GROUP | MEMORY], {"initial": [INITIAL]}, ["cpu_ms"],
     ["memory_mb", "requested_over_actual", "tasks.widths", "tasks.barrier_ms"]),
    ([GROUP | MEMORY], {"initial": [INITIAL | {"memory_mb": 1.0, "requested_ms": 90.0, "tasks": 2}]},
     ["memory_mb", "memory_of", "requested_over_actual", "tasks.widths"], ["tasks.barrier_ms"]),
    ([GROUP | {"after_end": 0.0}], {"users": "react"},
     ["users", "sessions.think_s", "sessions.wait_s", "sessions.longest_gap_s"], ["sessions.gap_spread"]),
    ([GROUP | {"gap_s": {"mean": 0.0}}], {}, ["sessions.gap_spread"], ["sessions.think_s"]),
    ([GROUP | {"jobs": {"kind": "uniform", "mean": 0.5}}], {}, ["sessions.gap_spread", "users",
     *(f"sessions.group.0.{name}" for name in ("spread", "one_width", "same_width", "gap_s", "after_end"))], []),
    ([GROUP], {"sessions__hold_back_s": 60.0, "duration_s": 90_000.0}, [],
     ["sessions.reference_load", "sessions.hold_back_s"]),
    ([GROUP], {"sessions__hold_back_s": 60.0}, ["sessions.reference_load", "sessions.hold_back_s"], []),
    ([GROUP], {"sessions__hold_back_s": 0.0}, ["sessions.reference_load"], ["sessions.hold_back_s"]),
    ([GROUP | {"daily": [1.0, 2.0]}], {"arrivals__daily": [1.0, 2.0]}, ["arrivals.daily"],
     ["arrivals.starts_h", "sessions.group.0.daily"]),
    ([GROUP], {"sessions__users": [1.0, 1.0]}, [], ["sessions.group.0.users"]),
    ([GROUP], {"kind": "synthetic", "users": "react"}, ["sessions", "users"], ["cpu_ms", "memory_mb"]),
])  # fmt: skip
def test_keys_without_effect_are_named(groups, more, without, with_effect):
    unused = keys_without_effect(made(*groups, **more))
    assert [key for key in without if f"workload.{key}" not in unused] == []
    assert [key for key in with_effect if f"workload.{key}" in unused] == []


@pytest.mark.parametrize(("key", "value"), [
    ("share", 7.0), ("users", {"0": 5.0}), ("spread", {"mean": 3.0}), ("one_width", 0.2),
    ("same_width", 0.5), ("gap_s", {"mean": 30.0}), ("after_end", 0.9),
])  # fmt: skip
def test_what_a_group_is_said_not_to_use_changes_no_job(key, value):
    group = GROUP | WIDE | {"jobs": {"mean": 1.0}}
    before, after = made(group), made(group | {key: value})
    assert f"workload.sessions.group.0.{key}" in keys_without_effect(before)
    assert (work_of(before, 1).jobs == work_of(after, 1).jobs).all()
