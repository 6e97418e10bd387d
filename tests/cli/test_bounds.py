"""The pooled reference and the lower bound, as the commands name and refuse them."""

from __future__ import annotations

import json

import pytest

from cluster_abm.policies import available

SMALL = ("compare", "cpu-bound", "--set", "workload.duration_s=20", "--seeds", 2, "--workers", 1)


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "quickstart", "--policy", "srpt-pool"],
        ["run", "quickstart", "--set", "policy.name=srpt-pool"],
        ["plan", "cpu-bound", "--need", "p95_slowdown<=3", "--over", "cluster.nodes", "--policies", "none,srpt-pool"],
        ["compare", "cpu-bound", "--policies", "srpt-pool"],
        ["policies", "srpt-pool"],
    ],
)
def test_nothing_runs_under_a_bound(cli, arguments):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert len([line for line in err.splitlines() if "srpt-pool" in line]) == 1
    assert "lower bound" in err
    assert "Traceback" not in err


@pytest.mark.slow
def test_a_comparison_prints_it_and_says_what_the_gap_is(cli):
    code, out, err = cli(*SMALL, "--policies", "none,jsq,ideal,srpt-pool", "--json")
    assert code == 0
    assert list(json.loads(out)["policies"]) == ["none", "jsq", "pooled", "srpt-pool"]
    assert err.count("note: policy 'ideal' is called 'pooled' now") == 1
    code, out, err = cli(*SMALL, "--policies", "none,jsq,pooled,srpt-pool")
    assert code == 0
    assert "is called" not in err
    assert "srpt-pool: a lower bound on mean response under any policy" in out
    assert "of mean response: 0 % as none, 100 % as srpt-pool" in out
    assert "pooled (a reference, no policy)" in out


@pytest.mark.slow
def test_why_there_is_no_bound_is_said(cli):
    code, out, _ = cli(*SMALL, "--set", "run.until=5000", "--policies", "none,srpt-pool")
    assert code == 0
    words = "no lower bound (srpt-pool), and no gap to close: jobs were killed, lost, not finished or left out"
    assert words in " ".join(out.split())


@pytest.mark.slow
def test_the_old_name_of_the_reference_works(cli):
    code, out, err = cli("policies", "ideal")
    assert code == 0
    assert out.startswith("pooled\n")
    assert err == "note: policy 'ideal' is called 'pooled' now\n"
    code, out, err = cli("run", "cpu-bound", "--set", "workload.duration_s=5", "--policy", "ideal", "--json")
    assert (code, json.loads(out)["policy"]) == (0, "pooled")
    assert "is called 'pooled' now" in err


def test_policies_are_listed_with_the_bound_apart(cli):
    _, out, _ = cli("policies")
    assert "a lower bound, no policy (`compare` alone):\n  srpt-pool" in out
    assert "srpt-pool" not in available()
