"""The reference: nothing that there is lacks its entry, and what a run writes is described."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support import scenario

from cluster_abm import ClusterModel
from cluster_abm.cli import BAD_INPUT, INTERRUPTED, OUR_FAULT, TERMINATED, cluster_abm
from cluster_abm.engine.fields import LOAD_FIELDS
from cluster_abm.policies import available
from cluster_abm.results.columns import SUMMARY, described
from cluster_abm.results.metrics import METRICS
from cluster_abm.scenario import scenario_keys, scenario_names
from docs._extensions.generated_pages import MARK, PARTS, filled
from docs._extensions.generated_pages.keys import effect, parts
from docs._extensions.generated_pages.markdown import anchor, docstring
from docs._extensions.glossary_terms import terms_of

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "docs" / "reference"


def page(name):
    return filled((REFERENCE / name).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def policy_pages():
    return "\n".join(page(f"policies/{one.name}") for one in sorted((REFERENCE / "policies").glob("*.md")))


def test_every_part_is_on_a_page():
    named = {mark["part"] for one in REFERENCE.rglob("*.md") for mark in MARK.finditer(one.read_text(encoding="utf-8"))}
    assert named == set(PARTS)


def test_every_key_is_on_its_page():
    text = page("keys.md")
    of_distributions = {key.name for part in parts() for key in part.keys if key.is_distribution}
    for key in (one["key"] for one in scenario_keys()):
        whole = next((one for one in of_distributions if key.startswith(f"{one}.")), key)
        of_tables = f"({anchor('section', key)})=" in text
        assert of_tables or f"{{#{anchor('key', whole)}}}" in text, key
    # Of lists of tables, too.
    for key in ("cluster.group.count", "workload.background.cpu_share", "failures.event.at_s"):
        assert f"{{#{anchor('key', key)}}}" in text, key


def test_no_anchor_is_there_twice(policy_pages):
    for text in (page("keys.md"), page("commands.md"), page("metrics.md"), policy_pages):
        anchors = re.findall(r"\{#([\w-]+)\}", text)
        assert len(anchors) == len(set(anchors))


def test_when_a_key_has_an_effect():
    assert effect("cluster.nodes") == ""
    assert effect("cluster.fault_evenness") == '*Only if* `cluster.paging` is `"oversize"`.'
    assert "`workload.tasks.barrier_ms` is 0" in effect("workload.tasks.communication_ms")
    assert '`"tree"`' in effect("interconnect.trunk_latency_ms")


def test_every_metric_and_load_index_is_on_its_page():
    metrics, loads = page("metrics.md"), page("load-indices.md")
    for metric in METRICS:
        assert f"{{#{anchor('metric', metric.name)}}}" in metrics, metric.name
    for name, *_ in LOAD_FIELDS:
        assert f"{{#{anchor('load', name)}}}" in loads, name


def test_every_policy_is_on_one_page_with_its_parameters(policy_pages):
    for name, policy in available().items():
        if policy.__module__.startswith("cluster_abm."):
            assert policy_pages.count(f"({anchor('policy', name)})=") == 1, name
            for key in policy.Parameters.model_fields:
                assert f"[`policy.{key}`]" in policy_pages, f"{name}: {key}"


def test_every_policy_says_its_rule_in_words():
    for name, policy in available().items():
        if policy.__module__.startswith("cluster_abm."):
            # Not inherited: a rule of its own. A line of a summary is not enough.
            assert len(docstring(policy)) > 100, name


def test_every_command_and_option_is_on_its_page():
    text = page("commands.md")

    def check(group, path):
        for name, command in group.commands.items():
            assert f"({anchor('command', path + name)})=" in text, path + name
            for option in (one for one in command.params if one.param_type_name == "option" and not one.hidden):
                longest = max(option.opts, key=len).lstrip("-")
                assert f"{{#{anchor('option', f'{path}{name} {longest}')}}}" in text, f"{path}{name} {longest}"
            if hasattr(command, "commands"):
                check(command, f"{path}{name} ")

    check(cluster_abm, "")


def test_exit_codes_and_environment_variables_are_said():
    text = page("commands.md")
    for code in (0, OUR_FAULT, BAD_INPUT, INTERRUPTED, TERMINATED):
        assert re.search(rf"^\| {code} \|", text, re.MULTILINE), code
    read = {
        name for file in (ROOT / "cluster_abm").rglob("*.py")
        for name in re.findall(r'environ\.get\("(CLUSTER_ABM_\w+)"', file.read_text(encoding="utf-8"))
    }  # fmt: skip
    assert "CLUSTER_ABM_CACHE_DIR" in read
    for name in read:
        assert name in text, name


def test_every_shipped_scenario_is_on_its_page():
    text = page("scenarios.md")
    for name in scenario_names():
        assert f"({anchor('scenario', name)})=" in text, name


@pytest.mark.slow
@pytest.mark.parametrize("table", ["jobs", "nodes", "decisions"])
def test_every_column_that_a_run_writes_is_described(table):
    model = ClusterModel(scenario(**{"policy.name": "iolb"}))
    model.run()
    frame = getattr(model, f"{table}_frame")()
    assert set(frame.columns) <= set(described(table))
    # Those that only some runs have.
    assert all(described(table)[name].when for name in set(described(table)) - set(frame.columns))


@pytest.mark.slow
def test_every_number_of_a_summary_is_described():
    model = ClusterModel(scenario())
    model.run()
    names = {one.name.partition(".")[0] for one in SUMMARY}
    summary = model.summary()
    assert set(summary) <= names
    assert set(summary["jobs"]) == {one.name.partition(".")[2] for one in SUMMARY if one.name.startswith("jobs.")}


def test_terms_of_the_glossary():
    assert terms_of("parent (of a job)") == ["parent"]
    assert terms_of("`cpu_ms`, `page_ms`, `io_ms`") == ["cpu_ms", "page_ms", "io_ms"]
    assert terms_of("mode `papers`") == ["mode papers"]
    assert terms_of(" ") == []
