"""The package from a script or a notebook: what is offered, what it shows, and policies of one's own."""

from __future__ import annotations

import base64
import doctest
import html
import importlib
import inspect
import operator
import os
import pydoc
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from studies import study_path
from support import busy, scenario

import cluster_abm as ca
from cluster_abm import displays
from cluster_abm.scenario import scenario_from
from cluster_abm.study.comparison import Comparison
from cluster_abm.study.papers.plan import load_plan
from cluster_abm.study.papers.points import Point
from cluster_abm.study.papers.reproduction import Reproduction
from cluster_abm.study.runner.tasks import RunsOutcome

SHORT = busy(workload__duration_s=3.0)
ROOT = Path(ca.__file__).parents[1]
PNG = b"\x89PNG\r\n\x1a\n"
IMAGE = re.compile(r"src='data:image/png;base64,([^']+)'")


class HomeFirst(ca.Policy):
    """Every task at home."""

    class Parameters(ca.Policy.Parameters):
        shift: int = 0

    def place(self, task: ca.ArrivingTask, view: ca.View) -> ca.Decision:
        return ca.Decision((view.me + self.parameters.shift) % view.nodes, "own")


class Failing(ca.Policy):
    """Chooses a node that there is not."""

    def place(self, task: ca.ArrivingTask, view: ca.View) -> ca.Decision:
        return ca.Decision(view.nodes, "wrong")


def run(code: str, folder: Path, *arguments: str, text: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *(arguments or ("-c", code))], cwd=folder, capture_output=True, text=True, input=text,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip


@pytest.fixture(scope="module")
def compared() -> ca.Comparison:
    return ca.compare(
        scenario(**SHORT), ["none", HomeFirst(shift=1), "pooled", "srpt-pool"], seeds=3, workers=1, quiet=True
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> ca.Results:
    folder = tmp_path_factory.mktemp("batch")
    return ca.run_batch(study_path(folder / "study"), folder / "out", workers=1, quiet=True)


def pictures_in(shown: str) -> list[bytes]:
    return [base64.b64decode(data) for data in IMAGE.findall(shown)]


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(PNG)
    return struct.unpack(">II", png[16:24])


# ---- what is offered ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_tab_offers_the_public_names_and_nothing_heavy_is_imported_before_one_is_used(tmp_path):
    code = """
import sys, cluster_abm as ca
names = dir(ca)
print([name for name in ("mesa", "numba", "pandas", "numpy", "matplotlib", "pydantic") if name in sys.modules])
for name in names: getattr(ca, name)
print(sorted(names) == dir(ca) == sorted(ca.__all__), "study" in names)
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["[]", "True False"]


@pytest.mark.parametrize("name", sorted(set(ca.__all__) - {"__version__"}))
def test_help_says_what_a_name_is_for_and_what_it_takes(name):
    value = getattr(ca, name)
    text = inspect.getdoc(value) or ""
    assert len(text) > 60 or name == "InputError", name
    if inspect.isfunction(value):
        signature = inspect.signature(value)
        assert "Returns:" in text
        for parameter in signature.parameters.values():
            assert parameter.annotation is not inspect.Parameter.empty
            # Keys of a scenario alone have no names of their own.
            assert parameter.kind is not inspect.Parameter.VAR_KEYWORD or parameter.name == "keywords"
            if len(signature.parameters) > 1:
                assert re.search(rf"\b{parameter.name}\b.*:", text), parameter.name


# What a caller gets who does not say it, as the reference has it: bars are shown, nothing is kept, all processors work.
DEFAULTS = {
    "ClusterModel": {
        "scenario": "quickstart", "seed": None, "rng": None, "policy": None, "keep_decisions": True,
        "compile_decisions": True, "agents_step": True, "record": False, "overrides": None, "network": None,
    },
    "ClusterModel.run": {"progress": None, "until_ms": None},
    "Comparison.plot": {"metric": None},
    "Reproduction.plot": {"metric": "", "picture": ""},
    "Results.plot": {"metric": ""},
    "Planned.plot": {"metric": None},
    "Results.report": {"out": None},
    "compare": {
        "policies": None, "seeds": None, "workers": None, "quiet": False, "where": None, "overrides": None, "out": None,
        "network": None, "baseline": None, "all_pairs": False, "reference_seeds": None,
    },
    "list_keys": {"containing": ""},
    "load_scenario": {"overrides": None, "policy_files": None, "network": None},
    "load_study": {"policy_files": None},
    "plan": {
        "policies": None, "low": None, "high": None, "seeds": 8, "workers": None, "quiet": False, "where": None,
        "overrides": None, "out": None,
    },
    "record": {
        "scenario": "quickstart", "policy": None, "seed": None, "every": None, "from_s": None, "to_s": None,
        "detail": None, "overrides": None, "network": None, "progress": None,
    },
    "load_recording": {"policy": None},
    "detail_of": {"policy": None, "progress": None},
    "reproduce": {
        "seeds": None, "quick": False, "overrides": None, "workers": None, "quiet": False, "where": None, "out": None,
    },
    "run_batch": {
        "workers": None, "executor": "process", "dask": None, "slurm": None, "policy_files": False,
        "keep_failed": False, "quiet": False,
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DEFAULTS)
def test_what_need_not_be_said(name):
    parameters = inspect.signature(operator.attrgetter(name)(ca)).parameters.values()
    assert {one.name: one.default for one in parameters if one.default is not one.empty} == DEFAULTS[name]


def test_no_other_name_is_there():
    with pytest.raises(AttributeError, match="'nothing'"):
        ca.nothing  # noqa: B018


@pytest.mark.slow
def test_help_of_results_is_of_what_they_have_besides_pandas():
    text = pydoc.plain(pydoc.render_doc(ca.Results))
    assert "estimates(self, metric" in text
    assert "groupby" not in text
    assert "groupby" in dir(ca.Results())


@pytest.mark.slow
@pytest.mark.parametrize(
    "module",
    [
        "cluster_abm", "cluster_abm.study.comparison", "cluster_abm.study.compare", "cluster_abm.study.results",
        "cluster_abm.study.design.study_file", "cluster_abm.model.model", "cluster_abm.results.words",
        "cluster_abm.scenario.load",
        # These compile a policy, and reproduce a table.
        pytest.param("cluster_abm.policy.finding.registry", marks=pytest.mark.slow),
        pytest.param("cluster_abm.study.papers.reproduction", marks=pytest.mark.slow),
        pytest.param("cluster_abm.study.papers.reproduce", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_examples_in_help_are_true(module):
    outcome = doctest.testmod(importlib.import_module(module))
    assert outcome.failed == 0
    assert outcome.attempted > 0


@pytest.mark.slow
def test_a_type_checker_sees_the_public_names(tmp_path):
    (tmp_path / "user.py").write_text(
        """
from pathlib import Path

import cluster_abm as ca


class Mine(ca.Policy):
    def place(self, task: ca.ArrivingTask, view: ca.View) -> ca.Decision:
        return ca.Decision(view.me, "own")


found: ca.Comparison = ca.compare("quickstart", [Mine, Mine(), "jsq"], seeds=2, overrides={"cluster.nodes": 8})
best: tuple[str, ...] = found.best()
found.plot().savefig("a.png")
study = ca.Study(name="mine", scenario="quickstart", policies=("none",), grid={"cluster.nodes": [8, 16]})
results: ca.Results = ca.run_batch(study, Path("out"), workers=1)
again: ca.Reproduction = ca.reproduce("iolb-table-1", quick=True)
model = ca.ClusterModel("quickstart", policy=Mine(), cluster__nodes=8)
wrong: int = ca.compare("quickstart", seeds="four")
reveal_type(model.summary())
"""
    )
    done = run("", tmp_path, "-m", "mypy", "--strict", "--python-executable", sys.executable, "user.py")
    wrong = next(n for n, line in enumerate((tmp_path / "user.py").read_text().splitlines(), 1) if "wrong" in line)
    errors = [line for line in done.stdout.splitlines() if "error:" in line and line.startswith("user.py")]
    assert len(errors) == 2, done.stdout
    assert all(line.startswith(f"user.py:{wrong}:") for line in errors), errors
    assert 'Revealed type is "dict[' in done.stdout or 'Revealed type is "builtins.dict[' in done.stdout


# ---- comparisons --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_comparison_as_tables_is_that_of_its_values(compared):
    table = compared.estimates("p95_slowdown")
    assert list(table.index) == ["none", "home-first", "pooled"]
    own = compared.runs[compared.runs["policy"] == "home-first"]["p95_slowdown"]
    assert table.loc["home-first", "mean"] == pytest.approx(own.mean())
    none = compared.runs[compared.runs["policy"] == "none"]["p95_slowdown"]
    assert table.loc["home-first", "ratio"] == pytest.approx(np.exp(np.log(own).mean() - np.log(none).mean()))
    assert (table["low"] < table["mean"]).all()
    pairs = compared.differences()
    assert list(pairs.index) == [("home-first", "none"), ("pooled", "none")]
    means = compared.estimates()["mean"]
    assert pairs.loc[("pooled", "none"), "difference"] == pytest.approx(means["pooled"] - means["none"])


@pytest.mark.slow
def test_a_comparison_shows_its_policies_its_pairs_and_its_picture(compared):
    shown = compared._repr_html_()
    for words in ("none", "home-first", "pooled", "of the gap", "2 pairs, seed by seed"):
        assert words in shown
    (png,) = pictures_in(shown)
    assert size(png)[0] > 1000
    assert "home-first" in repr(compared)
    assert "3 seeds" in repr(compared)
    assert len(repr(compared)) < 400
    axes = compared.plot().axes
    assert all(panel.get_xlabel() and panel.get_title(loc="left") for panel in axes)


@pytest.mark.slow
def test_what_cannot_be_compared_says_so_and_does_not_fail_a_display(compared):
    for metric in ("nothing", "policy"):
        with pytest.raises(ca.InputError, match=rf"metric '{metric}': no run has it; allowed: .*mean_slowdown"):
            compared.estimates(metric)
    interrupted = RunsOutcome([None, None], interrupted=True)
    nothing = Comparison(scenario(), ("none", "jsq"), (), pd.DataFrame(), interrupted)
    assert "interrupted: 0 of 2 runs are kept" in nothing._repr_html_()
    assert "none, jsq" in repr(nothing)
    with pytest.raises(ca.InputError, match="no seed has finished for all policies\ninterrupted: 0 of 2"):
        nothing.plot()


@pytest.mark.slow
def test_a_policy_that_fails_is_named_where_the_others_are_shown():
    found = ca.compare(scenario(**SHORT), ["none", Failing], seeds=1, workers=1, quiet=True)
    assert found.seeds == ()
    assert "failing" in found.outcome.problems[0]
    assert html.escape("it chose node 4") in found._repr_html_()
    # A script prints it, and asks for numbers.
    assert "it chose node 4" in repr(found)
    for ask in (found.plot, lambda: found.estimate("none", "mean_slowdown")):
        with pytest.raises(ca.InputError, match="it chose node 4"):
            ask()


def test_one_policy_may_stand_alone_and_keys_be_laid_over(tmp_path):
    given = {"overrides": {"cluster.nodes": 2}, "seeds": 1, "workers": 1, "quiet": True, "out": tmp_path}
    for policy in ("jsq", HomeFirst, HomeFirst(shift=1)):
        found = ca.compare(scenario(**SHORT), policy, **given)
        assert found.scenario.cluster.nodes == 2
        assert found.outcome.made == 1
    again = ca.compare(scenario(**SHORT), HomeFirst(shift=1), **given)
    assert again.outcome.made == 0
    pd.testing.assert_frame_equal(again.runs, found.runs, check_like=True)
    with pytest.raises(ca.InputError, match=r"unknown key 'cluster.noodles'"):
        ca.compare("quickstart", overrides={"cluster.noodles": 2})
    for seeds in (0, 2.5, [1, 2]):
        with pytest.raises(ca.InputError, match=r"seeds = .*: a whole number from 1 on"):
            ca.compare("quickstart", ["none"], seeds=seeds)


# ---- studies ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_results_are_a_table_that_knows_its_study(results):
    again = ca.load_results(results.folder)
    pd.testing.assert_frame_equal(again.runs, results.runs)
    assert (again.study.name, len(again)) == ("tiny", 12)
    assert type(results[results["policy"] == "jsq"]) is pd.DataFrame
    assert (again.progress.finished, again.progress.missing) == (12, 0)
    table = results.estimates("p95_slowdown")
    rows = results[(results["point"] == 1) & (results["policy"] == "jsq")]
    found = table[(table["point"] == 1) & (table["policy"] == "jsq")]
    assert found["mean"].item() == pytest.approx(rows["p95_slowdown"].mean())
    assert list(results.differences()["point"]) == [0, 1]
    shown = results._repr_html_()
    assert "12 runs finished (2 points, 2 policies)" in shown
    # The key that the points differ in has a column before the policy's.
    assert re.findall(r"<th style[^>]*>(.*?)</th>", shown)[:2] == ["utilisation", "policy"]
    assert len(pictures_in(shown)) == 1
    assert "utilisation" in results.plot("p95_slowdown").axes[0].get_xlabel()
    with pytest.raises(ca.InputError, match="metric 'nothing': no run has it; allowed: "):
        results.plot("nothing")


@pytest.mark.slow
def test_a_report_of_results_is_that_of_the_command(results, tmp_path):
    written = results.report(tmp_path / "report")
    assert tmp_path / "report" / "report.md" in written


def test_a_study_made_in_python_takes_classes_and_is_resumed(tmp_path):
    path = study_path(tmp_path)
    made = ca.Study(
        name="mine", scenario=str(path.parent / "tiny-cluster.toml"), policies=(HomeFirst, "none"), replications=2
    )
    assert made.policies == ("home-first", "none")
    assert repr(made).endswith("1 points x 2 policies x 2 seeds>")
    first = ca.run_batch(made, tmp_path / "out", workers=1, quiet=True)
    longer = made.model_copy(update={"replications": 3})
    second = ca.run_batch(longer, tmp_path / "out", workers=1, quiet=True)
    assert (len(first), len(second)) == (4, 6)
    kept = second[second["seed"] < 3].reset_index(drop=True)
    pd.testing.assert_frame_equal(kept, first.runs)


def test_everything_wrong_with_a_study_is_said_at_once():
    with pytest.raises(ca.InputError) as raised:
        ca.Study(scenario="quickstart", policies=(HomeFirst(shift=2),), grid={"nodes": [1]}, replication=3)
    text = str(raised.value)
    assert 'overrides={"policy.shift": 2}' in text
    assert "'nodes': keys are dotted" in text
    assert "did you mean 'replications'" in text


@pytest.mark.slow
def test_results_of_a_study_that_failed_name_the_fault(tmp_path):
    path = study_path(tmp_path / "study")
    made = ca.Study(scenario=str(path.parent / "tiny-cluster.toml"), policies=(Failing,), replications=7)
    found = ca.run_batch(made, tmp_path / "out", workers=1, quiet=True)
    shown = found._repr_html_()
    assert "7 failed" in shown
    assert html.escape("it chose node 2") in shown
    assert "2 more: see column error" in shown
    assert pictures_in(shown) == []
    with pytest.raises(ca.InputError, match="no run has finished\nfailed: point 0, policy failing, seed 1"):
        found.plot()


# ---- reproductions ------------------------------------------------------------------------------------------------


def reproduction(*points: Point, interrupted: bool = False) -> Reproduction:
    outcome = RunsOutcome([{} for _ in points], interrupted=interrupted)
    return Reproduction(load_plan("iolb-table-1"), 2, points, outcome, quick=True, axis_points=9)


@pytest.mark.slow
def test_a_reproduction_has_its_numbers_as_a_table():
    found = reproduction(Point(0.8, "clb", 62.0, (60.0, 66.0)), Point(0.8, "iolb", None, (47.0, 47.0)))
    rows = found.rows
    assert list(rows["series"][:2]) == ["clb", "iolb"]
    assert rows["measured"][0] == 63.0
    assert rows["low"][0] < 63.0 < rows["high"][0]
    assert rows["published"].isna().tolist()[:2] == [False, True]
    shown = found._repr_html_()
    assert "62 | 63" in shown
    assert "smoke run: no verdict" in shown
    assert len(pictures_in(shown)) == 1
    assert "iolb-table-1" in repr(found)
    with pytest.raises(ca.InputError, match="picture = 'paging': no such picture of iolb-table-1; allowed: ''"):
        found.plot("paging")


def test_a_reproduction_without_a_run_shows_that():
    nothing = reproduction(interrupted=True)
    assert "no run has finished" in nothing._repr_html_()
    with pytest.raises(ca.InputError, match="no run has finished"):
        nothing.plot()


@pytest.mark.slow
def test_every_picture_of_a_figure_with_several_can_be_drawn():
    plan = load_plan("memory-centric-fig1")
    x = plan.axis.points[0] if plan.axis.points else 1.0
    points = [Point(x, series.name, None, (2.0, 3.0)) for series in plan.series]
    points += [
        Point(x, f"{series.name}: {also.name}", None, (2.0, 3.0)) for also in plan.also for series in plan.series
    ]
    found = Reproduction(plan, 2, tuple(points), RunsOutcome([{}]), quick=True)
    for name in found.pictures:
        assert any(axes.get_xlabel() for axes in found.plot(name).axes)


# ---- models and scenarios -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_model_shows_how_far_it_is_before_in_and_after_its_run():
    model = ca.ClusterModel(scenario(**SHORT | {"measure__period_ms": 500.0}), policy=HomeFirst(), seed=7)
    assert "not run yet" in repr(model)
    assert "not run yet" in model._repr_html_()
    with pytest.raises(ca.InputError, match=r"nothing has been measured at 0 s: .*measure\.period_ms = 500 ms"):
        model.plot()
    model.run(until_ms=1000.0)
    assert "at 1 s of simulated time, not at its end" in repr(model)
    assert len(pictures_in(model._repr_html_())) == 1
    model.run()
    assert "policy home-first, seed 7: at its end" in repr(model)
    shown = model._repr_html_()
    assert f"{model.submitted_jobs:,} submitted" in shown
    assert not re.search(r"\b0 (killed|lost|blocked|running)", shown)
    assert "95th percentile of slowdown" in shown
    assert len(model.plot().axes) >= 4


def test_a_model_without_jobs_shows_itself():
    model = ca.ClusterModel(scenario(workload__utilisation=0.0001, workload__duration_s=0.01))
    model.run()
    assert "<div>" in model._repr_html_()
    assert "no more can be shown" not in model._repr_html_()


def test_a_scenario_shows_what_differs_from_the_defaults():
    found = scenario_from(
        {
            "name": "<mine>", "summary": "{cluster.nodes} nodes", "cluster": {"nodes": 12, "group": [{"count": 3}]},
            "policy": {"name": "power-of-d", "d": 3}, "workload": {"jobs_per_s": 0.5, "cpu_ms": {"mean": 70.0}},
        }
    )  # fmt: skip
    shown = found._repr_html_()
    assert "&lt;mine&gt;" in shown
    assert "<mine>" not in shown
    rows = dict(re.findall(r"<tr><td[^>]*>([^<]+)</td><td[^>]*>([^<]*)</td>", shown))
    assert rows["cluster.nodes"] == "12"
    assert rows["cluster.group.0"] == "count = 3"
    assert rows["policy.d"] == "3"
    assert rows["workload.cpu_ms.mean"] == "70"
    assert rows["workload.utilisation"] == "not set"
    assert "cluster.memory_mb" not in rows
    assert "12 nodes" in repr(found)
    # Each key that is one value can be given back.
    keys = {key: value for key, value in rows.items() if key in ("cluster.nodes", "policy.name")}
    assert ca.load_scenario("quickstart", {"cluster.nodes": int(keys["cluster.nodes"])}).cluster.nodes == 12


# ---- lists --------------------------------------------------------------------------------------------------------


def test_lists_have_what_there_is():
    assert ca.list_scenarios().loc["quickstart", "nodes"] == 32
    assert "d = 2" in ca.list_policies().loc["power-of-d", "parameters"]
    assert ca.list_keys("swap").index.tolist()[0] == "cluster.swap_mb"
    assert len(ca.list_keys("no such key")) == 0
    assert ca.list_reproductions().loc["iolb-table-1", "paper"] == "IOLB, Table 1"
    assert "quick-study" in ca.list_studies().index
    shown = ca.list_scenarios()._repr_html_()
    assert all(html.escape(words) in shown for words in ca.list_scenarios()["summary"])


# ---- displays -----------------------------------------------------------------------------------------------------


def test_a_display_never_raises_and_keeps_what_it_has():
    class Broken(displays.Displayed):
        def _parts(self):
            yield displays.paragraph("first")
            raise ValueError("<b>no</b>")

    shown = Broken()._repr_html_()
    assert "first" in shown
    assert "ValueError: &lt;b&gt;no&lt;/b&gt;" in shown


def test_a_long_table_says_that_it_is_cut():
    shown = displays.table([{"n": str(number)} for number in range(50)], most=3)
    assert shown.count("<tr>") == 4
    assert "the first 3 of 50 rows" in shown


@pytest.mark.slow
def test_a_figure_shows_itself_with_the_texts_of_users_as_they_are(compared):
    figure = compared.plot()
    figure.suptitle("costs $5 and $6")
    png = figure._repr_png_()
    assert size(png)[0] == figure.get_size_inches()[0] * 100
    assert "costs $5" in repr(figure)


# ---- policies of one's own ----------------------------------------------------------------------------------------

MINE = """
import cluster_abm as ca

class Mine(ca.Policy):
    def place(self, task: ca.ArrivingTask, view: ca.View) -> ca.Decision:
        return ca.Decision(view.next_node, "next")
"""


@pytest.mark.slow
def test_a_script_without_the_main_guard_is_told_once_what_to_do(tmp_path):
    (tmp_path / "script.py").write_text(f"{MINE}\nca.compare('cpu-bound', [Mine, 'none'], seeds=2, workers=2)\n")
    done = run("", tmp_path, "script.py")
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1
    assert re.search(r'script\.py: starts runs .* under `if __name__ == "__main__":`.*workers=1', done.stderr)


@pytest.mark.slow
def test_a_script_with_it_and_one_in_one_process_run(tmp_path):
    use = "print(ca.compare('cpu-bound', [Mine, 'none'], seeds=2, workers={}, quiet=True).policies)\n"
    (tmp_path / "guarded.py").write_text(f"{MINE}\nif __name__ == '__main__':\n    {use.format(2)}")
    (tmp_path / "alone.py").write_text(f"{MINE}\n{use.format(1)}")
    for script in ("guarded.py", "alone.py"):
        done = run("", tmp_path, script)
        assert done.stdout == "('mine', 'none')\n", done.stderr


@pytest.mark.slow
def test_a_script_from_standard_input_may_use_processes_for_what_they_can_have(tmp_path):
    use = "print(ca.compare('cpu-bound', {}, seeds=2, workers=2, quiet=True).policies)\n"
    done = run("", tmp_path, "-", text=f"{MINE}\n{use.format(['jsq', 'none'])}{use.format('Mine')}")
    assert done.stdout.startswith("('jsq', 'none')\n"), done.stderr
    # Since Python 3.13 the source of what stands in standard input can be had.
    if sys.version_info < (3, 13):
        assert "the source of 'Mine' cannot be had here: put the policy into a file" in done.stderr
    assert done.stderr.count("Traceback") <= 1


def test_a_file_of_a_policy_that_starts_runs_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text(f"{MINE}\nca.compare('cpu-bound', [Mine], seeds=1, workers=1, quiet=True)\n")
    with pytest.raises(ca.InputError, match=r"mine\.py: starts runs when it is imported, .*if __name__"):
        ca.compare("cpu-bound", [f"{tmp_path / 'mine.py'}:Mine"], seeds=1, workers=1, quiet=True)


@pytest.mark.slow
def test_cells_of_a_notebook_in_processes(tmp_path):
    """IPython's own cells and displays, without a notebook around them."""
    pytest.importorskip("IPython")
    code = f"""
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
def cell(text):
    done = shell.run_cell(text, store_history=True)
    done.raise_error()
    return shell.display_formatter.format(done.result)[0]
cell({MINE!r})
shown = cell("ca.compare('cpu-bound', [Mine, Mine(heterogeneous=True), 'jsq'], seeds=2, workers=2, quiet=True)")
print(sorted(shown), "mine[heterogeneous=true]" in shown["text/html"])
print(sorted(cell("_.plot()")))
made = "ca.Study(scenario='cpu-bound', policies=(Mine, 'none'), replications=2)"
print(sorted(cell(f"ca.run_batch({{made}}, 'out', workers=2, quiet=True)")))
"""
    done = run(code, tmp_path)
    assert done.returncode == 0, done.stderr
    printed = [line for line in done.stdout.splitlines() if line.startswith("['")]
    assert printed == ["['text/html', 'text/plain'] True", "['image/png', 'text/plain']", "['text/html', 'text/plain']"]


def test_a_name_misspelt_is_told_with_the_one_that_was_meant(tmp_path):
    said = run("import cluster_abm as ca; ca.comparee", tmp_path).stderr
    assert said.rstrip().endswith("has no attribute 'comparee'. Did you mean: 'compare'?")
