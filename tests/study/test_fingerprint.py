"""What a result depends on: the sources that make numbers, those of policies from elsewhere, and nothing that shows."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path

import pytest
from studies import study
from support import scenario

import cluster_abm
from cluster_abm.errors import InputError
from cluster_abm.policies import available
from cluster_abm.study.batch import run_batch
from cluster_abm.study.design import fingerprint
from cluster_abm.study.design.expansion import expand
from cluster_abm.study.design.fingerprint import cell_key, code_of, result_version
from cluster_abm.study.design.policy_sources import policy_version, version_of
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.runner.code_version import check_policy
from cluster_abm.study.runner.one_run import Assignment, carry_out
from cluster_abm.study.status import status_of

POLICY = """
from cluster_abm.policies import Decision, Policy
from mine.rules import target


class Mine(Policy):
    name = "mine"
    source = summary = "a test"

    def place(self, task, view):
        return Decision(target(task), rule="mine")
"""


def forget():
    for cached in (available, version_of, result_version):
        cached.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]
    importlib.invalidate_caches()


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Another package with a policy, installed; edit its files and call `forget`."""
    site = tmp_path / "site"
    (site / "mine").mkdir(parents=True)
    (site / "mine" / "__init__.py").touch()
    (site / "mine" / "policy.py").write_text(POLICY)
    (site / "mine" / "rules.py").write_text("def target(task):\n    return task.home\n")
    (site / "mine-1.dist-info").mkdir()
    (site / "mine-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1\n")
    (site / "mine-1.dist-info" / "entry_points.txt").write_text("[cluster_abm.policies]\nmine = mine.policy:Mine\n")
    monkeypatch.syspath_prepend(site)
    forget()
    yield site / "mine"
    monkeypatch.undo()
    forget()


@pytest.mark.slow
def test_an_edited_policy_of_ones_own_is_run_anew(package, tmp_path):
    def run():
        return run_batch(study(tmp_path, policies=["none", "mine"]), tmp_path / "out", "inline", quiet=True)

    assert run().made == 12
    assert run().made == 0
    # Not the policy's own file: what it imports.
    (package / "rules.py").write_text("def target(task):\n    return 0\n")
    forget()
    status = status_of(tmp_path / "out")
    assert status.code != status.code_now
    assert run().made == 6
    status = status_of(tmp_path / "out")
    assert status.code == status.code_now
    assert (status.finished, status.others) == (12, 6)


def test_the_code_of_a_study_names_the_policies_that_are_not_ours(package):
    assert policy_version("none") == ""
    assert code_of(["none", "jsq"]) == result_version()
    before = code_of(["none", "mine"])
    assert before == f"{result_version()}+mine-{policy_version('mine')[:8]}"
    (package / "unheard_of.py").touch()
    forget()
    assert code_of(["none", "mine"]) != before
    shutil.rmtree(package)
    shutil.rmtree(package.with_name("mine-1.dist-info"))
    forget()
    assert "not ins" in code_of(["mine"])


def test_a_policy_that_is_a_single_file_counts_by_it(package):
    single = package.with_name("mine_alone.py")
    single.write_text("from mine.policy import Mine\n\n\nclass Alone(Mine):\n    name = 'alone'\n")
    entries = package.with_name("mine-1.dist-info") / "entry_points.txt"
    entries.write_text(entries.read_text() + "alone = mine_alone:Alone\n")
    found = []
    for path, text in ((single, ""), (single, "# edited\n"), (package / "rules.py", "# edited\n")):
        path.write_text(path.read_text() + text)
        forget()
        sys.modules.pop("mine_alone", None)
        found.append(policy_version("alone"))
    # Its own file, and the package of the class that it inherits from.
    assert len(set(found)) == 3
    single.unlink()
    version_of.cache_clear()
    with pytest.raises(InputError, match=r"policy 'alone': .*mine_alone\.py: cannot be read"):
        policy_version("alone")
    del sys.modules["mine_alone"]


def test_a_worker_whose_policy_has_other_sources_carries_nothing_out(package, tmp_path):
    expansion = expand(study(tmp_path, policies=["mine"]))
    cell = expansion.cells[0]
    version = policy_version("mine")
    carried = Assignment(expansion.scenario(cell), cell.key, 1, version, "none", False)
    assert not carry_out(carried).failed
    (package / "rules.py").write_text("def target(task):\n    return 0\n")
    forget()
    with pytest.raises(InputError, match=rf"the policy 'mine' is of other sources \(.*\({version}\): install the same"):
        carry_out(carried)
    with pytest.raises(InputError, match="the policy 'gone' is not installed, but in the process"):
        check_policy("gone", version)


# Of each module of results/: whether a run's numbers come from it. An edit of one that only shows voids no results.
MAKES_NUMBERS = {
    "__init__": False, "arena_pictures": False, "asked": True, "by_member": True, "by_node_group": True,
    "calibration_picture": False, "colours": False, "columns": False, "comparison_picture": False, "data": False,
    "fitting": False, "latex": False, "options": False, "stamps": False,
    "files": False, "film": False, "film_files": False, "fitting_picture": False, "frames": True, "lanes": False,
    "load_scale": False, "looks": False, "metrics": True, "node_sizes": False, "picture": False, "pictures": False,
    "outcomes": True, "plain": False, "planning_picture": False, "sensitivity_picture": False, "stacked": False,
    "study_axes": False, "study_grid": False, "study_pictures": False, "style": False, "summary": True, "sums": True,
    "ticks": False, "totals": True,
    "tuning_picture": False, "validation_picture": False, "vertices": True, "words": False,
}  # fmt: skip


def test_every_module_of_results_is_known_to_make_numbers_or_not():
    folder = Path(cluster_abm.__file__).parent / "results"
    assert sorted({path.stem for path in folder.rglob("*.py")}) == sorted(MAKES_NUMBERS)
    counted = {name for name, _ in fingerprint._sources()}
    assert {Path(name).stem for name in counted if name.startswith("results/")} == {
        name for name, makes in MAKES_NUMBERS.items() if makes
    }
    assert {"study/runner/measuring.py", "model/observing/warmup.py", "model/model.py", "engine/slice.py"} <= counted
    assert not {"study/batch.py", "cli/batch.py", "model/observing/watching.py", "model/run_display.py"} & counted


def test_no_module_that_makes_numbers_is_left_out():
    """All that the model and the measuring import of results counts, or what they import from there is typing only."""
    import grimp

    graph = grimp.build_graph("cluster_abm", cache_dir=None)
    makers = {"cluster_abm.study.runner.measuring", *graph.find_descendants("cluster_abm.model")}
    makers -= {"cluster_abm.model.observing.watching", "cluster_abm.model.run_display"}
    used = set().union(*(graph.find_modules_directly_imported_by(name) for name in makers))
    of_results = {name for name in used if name.startswith("cluster_abm.results.")}
    while True:
        more = {
            name
            for one in of_results
            for name in graph.find_modules_directly_imported_by(one)
            if name.startswith("cluster_abm.results.")
        }
        if more <= of_results:
            break
        of_results |= more
    assert {name.rpartition(".")[2] for name in of_results} == {name for name, makes in MAKES_NUMBERS.items() if makes}


def test_how_much_a_file_may_hold_names_no_other_run(tmp_path):
    trace = tmp_path / "a.csv"
    trace.write_text("arrival_ms,cpu_ms\n0,5\n")
    given = {"workload__kind": "trace", "workload__trace__file": str(trace)}
    keys = {
        cell_key(scenario(**given, **{key: value}))
        for key in ("workload__trace__max_mb", "workload__programs__max_mb", "interconnect__max_mb")
        for value in (1, 1000)
    }
    assert keys == {cell_key(scenario(**given))}
    assert keys != {cell_key(scenario(**given, workload__trace__cpu_scale=2.0))}


def test_a_shipped_network_is_part_of_the_code_version():
    # By its name alone: there is no such file to take a digest of.
    assert cell_key(scenario(interconnect__file="two-pairs")) != cell_key(scenario())


@pytest.mark.parametrize("name", ["/dev/zero", "/", "x" * 5000])
def test_only_files_have_a_digest(name):
    with pytest.raises(InputError, match="cannot be read"):
        cell_key(scenario(workload__kind="trace", workload__trace__file=name))
    with pytest.raises(InputError, match="cannot be read"):
        cell_key(scenario(interconnect__file=name))
    # It may be the name of a shipped one, and is refused where it is read.
    assert cell_key(scenario(workload__programs__file=name, workload__programs__mix={"a": 1.0}))


def test_parameters_that_a_policy_does_not_know_name_no_run(tmp_path):
    (tmp_path / "s.toml").write_text(
        'scenario = "quickstart"\npolicies = ["none", "jsq", "power-of-d"]\n[grid]\n"policy.d" = [2, 3, 4]\n'
    )
    cells = expand(load_study(tmp_path / "s.toml")).cells
    assert len(cells) == 9
    assert len({cell.key for cell in cells}) == 5


def test_a_folder_of_machines_counts_by_its_files_wherever_it_lies(tmp_path):
    (tmp_path / "vms").mkdir()
    (tmp_path / "vms" / "1.csv").write_text("a")

    def key(folder):
        return cell_key(scenario(workload__kind="trace", workload__trace__file=str(tmp_path / folder)))

    before = key("vms")
    shutil.copytree(tmp_path / "vms", tmp_path / "elsewhere" / "vms")
    assert key("elsewhere/vms") == before
    (tmp_path / "vms" / "1.csv").write_text("ab")
    changed = key("vms")
    (tmp_path / "vms" / "1.csv").rename(tmp_path / "vms" / "2.csv")
    assert len({before, changed, key("vms")}) == 3
