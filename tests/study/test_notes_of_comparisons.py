"""A comparison says where jobs are submitted at other times under other policies, and nowhere else."""

from __future__ import annotations

import pytest

from cluster_abm import compare
from cluster_abm.scenario import scenario_from
from cluster_abm.study.comparison_words import notes_of

PAIR = {"jobs": {"mean": 2.0}, "work_s": {"mean": 0.4}, "after_end": 1.0}
DIFFER = "submission times differ between policies"
REACT = f'workload.users = "react": users submit after the ends in the run: {DIFFER}'


def of(workload):
    return scenario_from({"cluster": {"nodes": 2}, "workload": workload})


def sessions(group, **more):
    return of({"kind": "sessions", "jobs_per_s": 3.0, "duration_s": 9.0, "sessions": {"group": [group]}, **more})


@pytest.mark.parametrize(("scenario", "notes"), [
    (sessions(PAIR, users="react"), [REACT]),
    (sessions(PAIR), []),
    (sessions(PAIR | {"after_end": 0.0}, users="react"), []),
    (of({"jobs": 3}), []),
    (of({"arrivals": {"kind": "closed"}}),
     [f'workload.arrivals.kind = "closed": users submit after the ends in the run: {DIFFER}']),
    (of({"kind": "trace", "trace": {"file": "gone.csv"}}), []),
])  # fmt: skip
def test_notes(scenario, notes):
    assert notes_of(scenario) == notes


def test_jobs_that_wait_for_others(tmp_path):
    (tmp_path / "a.csv").write_text("job,after,arrival_ms,cpu_ms\none,,0,20\ntwo,one,0,90\n")
    (tmp_path / "b.csv").write_text("arrival_ms,cpu_ms\n0,20\n5,90\n")
    waiting, free = (of({"kind": "trace", "trace": {"file": str(tmp_path / name)}}) for name in ("a.csv", "b.csv"))
    assert notes_of(waiting) == [f"jobs of the trace are submitted after others have ended in the run: {DIFFER}"]
    assert notes_of(free) == []


@pytest.mark.slow
def test_the_document_holds_them_and_no_bound_where_they_are():
    found = compare(sessions(PAIR, users="react"), ["none", "jsq"], 2, workers=1, quiet=True)
    assert found.as_json()["notes"] == [REACT]
    assert compare(sessions(PAIR), ["none", "jsq"], 2, workers=1, quiet=True).as_json()["notes"] == []
