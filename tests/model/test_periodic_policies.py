"""Policies with a period: when they act, and what is said of a period or a decision that cannot be."""

from __future__ import annotations

import re
import sys

import pytest
from support import busy, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import PolicyFault
from cluster_abm.old_names import note_again
from cluster_abm.policies import Decision, Policy


class Home(Policy):
    """Asked when there is time, it does nothing."""

    acts_every_ms = 500.0

    def place(self, task, view):
        return Decision(view.me, "home")

    def relieve(self, view):
        return None


class Hasty(Home):
    def relieve(self, view):
        longest = int(view.candidate_rows["disk_wait_ms"].argmax())
        return Decision(view.next_node, "longest", task=view.candidate(longest))


@pytest.mark.slow
def test_what_compiled_code_raises_is_said_once(monkeypatch):
    """Of an empty table there is no largest entry. Python would print what compiled code raises, with its own lines."""
    printed = []
    monkeypatch.setattr(sys, "unraisablehook", printed.append)
    model = ClusterModel(scenario(**busy(policy__name="none")), seed=1, policy=Hasty())
    assert model.decides_in_python == ""
    with pytest.raises(PolicyFault, match=r"relieve raised ValueError: .*empty sequence .*line \d+: longest = "):
        model.run()
    assert printed == []
    assert sys.unraisablehook == printed.append


@pytest.mark.parametrize(
    ("period_ms", "slice_ms", "said"),
    [(1.0, 10.0, "= 1 .*= 10.*every 10 ms"), (15.0, 10.0, "= 15 .*every 20 ms"), (50.0, 20.0, "= 50 .*every 60 ms"),
     (30.0, 10.0, ""), (10.0, 10.0, "")],
)  # fmt: skip
def test_a_period_is_rounded_up_to_whole_slices_and_that_is_said(capsys, period_ms, slice_ms, said):
    note_again()
    policy = type("Often", (Home,), {"acts_every_ms": period_ms, "name": "often"})()
    ClusterModel(scenario(cluster__slice_ms=slice_ms, workload__duration_s=1.0), policy=policy, compile_decisions=False)
    note = capsys.readouterr().err
    assert bool(said) is ("note: policy 'often': acts_every_ms" in note)
    assert re.search(said, note)
