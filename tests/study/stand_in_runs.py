"""Runs of a stand-in: each has the record that a test wants, and no model runs."""

from __future__ import annotations

from support import scenario

from cluster_abm.errors import InputError
from cluster_abm.study.runner import work
from cluster_abm.study.runner.tasks import Task
from cluster_abm.study.store.store import Record


def carrying_out(monkeypatch):
    """Has runs carried out without a model: `seeds` in order; what is in `fates` becomes of one, else it finishes.

    As of a real one, bad input is raised where that is asked for, and else is the record of its run.
    """
    seeds = []

    def carry_out(assignment):
        seeds.append(assignment.seed)
        carry_out.keeps_responses.append(assignment.keeps_responses)
        fate = carry_out.fates.get(assignment.seed)
        if isinstance(fate, InputError) and not assignment.raises_bad_input:
            fate = f"InputError: {fate}"
        if isinstance(fate, BaseException):
            raise fate
        if fate is not None:
            return Record(assignment.key, assignment.seed, error=fate, traceback=f"Traceback (of it):\n  {fate}\n")
        return Record(assignment.key, assignment.seed, {"nodes": assignment.scenario.cluster.nodes, "seed_of": 0.5})

    carry_out.fates = {}
    carry_out.seeds, carry_out.keeps_responses = seeds, []
    monkeypatch.setattr(work, "carry_out", carry_out)
    return carry_out


def of(nodes, *seeds, policy="jsq"):
    setup = scenario(cluster__nodes=nodes, policy__name=policy)
    return [Task(setup, seed) for seed in seeds]


def row(nodes):
    return {"nodes": nodes, "seed_of": 0.5}
