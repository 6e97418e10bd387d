"""Help without arguments, and hints that lead from another word for a thing to ours."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import click
import pytest

from cluster_abm.cli import cluster_abm as root
from cluster_abm.cli.shell.sections import HelpfulGroup
from cluster_abm.policies import available
from cluster_abm.policy.finding.other_names import OTHER_NAMES, policy_hint
from cluster_abm.scenario import scenario_keys
from cluster_abm.scenario.wording.other_names import OTHER_NAMES as KEY_NAMES
from cluster_abm.study.design.metrics import nearest_metric


@pytest.mark.parametrize("words", [(), ("trace",), ("batch",)])
def test_without_arguments_a_group_prints_its_help(cli, words):
    bare = cli(*words)
    assert bare == cli(*words, "--help")
    assert bare[0] == 0
    assert bare[1].startswith("Usage: cluster-abm")
    assert " ... " not in bare[1]
    assert bare[2] == ""


def test_click_never_makes_an_error_of_the_help():
    group = HelpfulGroup("g", commands=[click.Command("one")])
    assert group.main([], "g", standalone_mode=False) == 0


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["run", "quickstart", "--set", "utilisation=.9"], "'utilisation'; did you mean 'workload.utilisation'?"),
        (["run", "quickstart", "--set", "rho=.9"], "did you mean 'workload.utilisation'?"),
        (["run", "quickstart", "--set", "cluster.rho=.9"], "did you mean 'workload.utilisation'?"),
        (["run", "quickstart", "--set", "nodes=9"], "did you mean 'cluster.nodes'?"),
        (["run", "quickstart", "--set", "cluster.nods=9"], "did you mean 'cluster.nodes'?"),
        (["run", "quickstart", "--set", "duration_s=9"], "'workload.duration_s' or 'workload.trace.duration_s'?"),
        (["run", "quickstart", "--set", "policy=jsq"], "'jsq': is a section with keys of its own, as policy.name"),
        (["compare", "quickstart", "--policies", "jsq(2)"], "'jsq(2)': no such policy; did you mean 'power-of-d'?"),
        (["compare", "quickstart", "--policies", "jsq2"], "did you mean 'power-of-d'?"),
        (["compare", "quickstart", "--policies", "po2"], "did you mean 'power-of-d'?"),
        (["compare", "quickstart", "--policies", "sq(2)"], "did you mean 'power-of-d'?"),
        (["compare", "quickstart", "--policies", "sq(3)"], "did you mean 'power-of-d' with policy.d=3?"),
        (["compare", "quickstart", "--policies", "rr"], "did you mean 'round-robin'?"),
        (["run", "quickstart", "--policy", "rr"], "did you mean 'round-robin'?"),
        (["policies", "sq"], "did you mean 'jsq'?"),
        (["plan", "quickstart", "--over", "cluster.nodes", "--need", "slowness<3"], "mean_slowdown' or 'p95_slowdown'"),
        (["plan", "quickstart", "--over", "cluster.nodes", "--need", "latency<3"], "did you mean 'mean_response_ms'?"),
    ],
)  # fmt: skip
def test_a_hint_leads_to_our_word(cli, arguments, hint):
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert hint in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("given", ["zzzzz", ""])
def test_no_error_lists_all_policies(cli, given):
    code, _, err = cli("compare", "quickstart", "--policies", given)
    assert code == 2
    assert f"`cluster-abm policies` lists all {len(available())}" in err
    assert sum(name in err for name in available()) < 5


def test_a_word_of_the_field_finds_the_key(cli):
    code, out, _ = cli("scenarios", "--keys", "rho")
    assert code == 0
    assert "workload.utilisation = " in out


def test_other_names_lead_to_what_there_is():
    assert set(OTHER_NAMES) <= set(available())
    assert set(KEY_NAMES) <= {entry["key"] for entry in scenario_keys()}
    for name in available():
        # No policy's own name is taken for another one's.
        assert f"'{name}'" in policy_hint(name, available())


def test_the_usual_metrics_come_first():
    there = ["mean_slowdown_cpu", "p95_slowdown", "mean_slowdown", "makespan_ms"]
    assert nearest_metric("slowness", there) == "did you mean 'mean_slowdown' or 'p95_slowdown'?"
    assert nearest_metric("makespam_ms", there) == "did you mean 'makespan_ms'?"


@pytest.mark.slow
def test_a_file_called_viz_does_not_stand_in_for_the_page(tmp_path, monkeypatch):
    if importlib.util.find_spec("solara") is None:
        pytest.skip("needs the extra viz")
    import subprocess
    import sys
    from pathlib import Path

    import cluster_abm

    (tmp_path / "viz.py").write_text("MINE = 1\n")
    code = (
        "import viz, cluster_abm.components as components\n"
        "assert callable(components._components().Network)\n"
        "import viz as again\n"
        "assert again is viz and again.MINE == 1\n"
        "import sys\n"
        "assert not [name for name in sys.modules if name.startswith('viz.')]\n"
        "print('fine')"
    )
    root = str(Path(cluster_abm.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": root}
    )
    assert done.stdout == "fine\n", done.stderr[-2000:]


def options_of(command: click.Command, words: str) -> Iterator[tuple[str, click.Option]]:
    """All options of a command and of those below it, each with the words that lead to it."""
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            yield from options_of(below, f"{words} {name}")
    yield from ((f"{words} --{one.name}", one) for one in command.params if isinstance(one, click.Option))


def test_help_shows_every_default():
    """A flag is off unless it is given, and of what has no default the words say what holds."""
    context = click.Context(root)
    found = [
        (name, one)
        for name, one in options_of(root, "cluster-abm")
        if not one.is_flag and isinstance(one.get_default(context), str | int | float)
    ]
    assert len(found) > 10
    assert [name for name, one in found if not one.show_default] == []
