"""What is printed in the place of a value that there is not."""

from __future__ import annotations

import pytest


def test_a_run_to_which_no_job_comes_says_so(cli):
    code, out, _ = cli("run", "quickstart", "--set", "workload.duration_s=0.01")
    assert code == 0
    lines = {
        line[: line.index("  ", 2)].strip(): line.rsplit("  ", 1)[1] for line in out.splitlines()[1:] if "   " in line
    }
    assert lines["messages per job"] == "no job was submitted"
    assert lines["mean response of a job"] == "no job finished"


@pytest.mark.parametrize(("name", "words"), [
    ("energy_kwh", "energy_kwh exists where every node's idle_watts is set"),
    ("fetched_mb", "fetched_mb exists where jobs need files (data)"),
    ("restarts", "restarts exists where something can fail (failures)"),
    ("makespan_spread_ms", "makespan_spread_ms exists where users submit (workload.arrivals.kind is closed)"),
])  # fmt: skip
def test_a_metric_that_the_scenario_has_not_says_what_it_needs(cli, tmp_path, name, words):
    code, _, err = cli("plan", "quickstart", "--need", f"{name}<3", "--over", "cluster.nodes")
    assert code == 2
    assert words in " ".join(err.split())
    # Of the others neither side is better.
    if name in ("energy_kwh", "makespan_spread_ms"):
        code, _, err = cli(
            "tune", "quickstart", "--policy", "jsq", "--over", "policy.d=1:3", "--metric", name, "--out", tmp_path / "t"
        )
        assert code == 2
        assert words in " ".join(err.split())
    study = tmp_path / "s.toml"
    study.write_text(f'scenario = "quickstart"\npolicies = ["none"]\nmeasure = ["{name}"]\n')
    code, _, err = cli("batch", "run", study, "--out", tmp_path / "out")
    assert code == 2
    assert words in " ".join(err.split())
