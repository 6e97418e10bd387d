"""`policies` and `scenarios`: lists that fit a terminal, and what there is to say of one."""

from __future__ import annotations

import json

import pytest
from own_policy import MINE

from cluster_abm.cli.listing import policies as listing
from cluster_abm.policies import BOUNDS, available
from cluster_abm.scenario import scenario_keys, scenario_names
from cluster_abm.scenario.distributions import Distribution
from cluster_abm.scenario.wording.keys import distributions


def test_each_policy_is_listed_once_with_its_summary(cli):
    code, out, err = cli("policies")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 100
    firsts = [line.split()[0] for line in out.splitlines() if line.startswith("  ") and line[2] != " "]
    assert sorted(firsts) == sorted([*available(), *BOUNDS])
    flat = " ".join(out.split())
    assert all(policy.summary in flat for policy in available().values())
    assert out.splitlines()[-1].startswith("cluster-abm policies NAME ")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("none", listing.AT_HOME), ("no-ls", listing.AT_HOME), ("jsq", listing.PLACED), ("wal-pm", listing.MIGRATE),
     ("easy", listing.WAIT), ("hawk", listing.TALK), ("pooled", listing.REFERENCE)],
)  # fmt: skip
def test_kinds(name, kind):
    assert listing.kind_of(available()[name]) == kind


def test_one_policy_is_explained_whole(cli):
    code, out, err = cli("policies", "prequal", "iolb")
    assert (code, err) == (0, "")
    first, second = out.split("\n\niolb\n")
    assert first.startswith("prequal\n")
    for words in ("Wydrowski", "hot_quantile = 0.84", "[from 0, up to 1]", "in Python: ", "nodes drawn at random"):
        assert words in first
    for words in ("IOLB, Fig. 1", "lines 2-20", "remaining | queue", "compiled code", "page-fault processing ahead",
                  "home's disk is busiest (IOLB Fig. 1, lines 3-8)"):  # fmt: skip
        assert words in second


def test_one_of_a_file_of_ones_own(cli, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    code, out, err = cli("policies", "mine.py:Mine")
    assert (code, err) == (0, "")
    for words in ("every task to node 0", "As bad as it gets.", "place: Node 0, whatever it has to do.", "a test"):
        assert words in out


def test_an_unknown_policy(cli):
    assert cli("policies", "jsq", "iobl") == (
        2, "", "error: policy 'iobl': no such policy; did you mean 'iolb'?\n"
    )  # fmt: skip


@pytest.mark.parametrize(("given", "meant"), [("mine", "mine.py:CLASS"), ("mine:Mine", "mine.py:Mine"),
                                              ("yours:Mine", "FILE.py:CLASS")])  # fmt: skip
def test_a_file_whose_ending_is_left_out_is_named(cli, tmp_path, given, meant):
    (tmp_path / "mine.py").write_text(MINE.replace('name = "mine"', 'name = "of-a-test"'))
    (tmp_path / "jsq.py").write_text(MINE)
    said = f"error: policy '{given}': no such policy; one in a file is named {meant}\n"
    for command in (["policies", given], ["run", "quickstart", "--policy", given],
                    ["compare", "quickstart", "--policies", f"jsq,{given}"]):  # fmt: skip
        assert cli(*command) == (2, "", said)


def test_json_of_policies_keeps_its_form(cli):
    found = json.loads(cli("policies", "jsq", "--json")[1])
    assert [list(one) for one in found] == [["name", "source", "summary", "parameters"]]


def test_keys_by_section_and_distributions_once(cli):
    code, out, err = cli("scenarios", "--keys")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= 100
    sections = [line for line in out.splitlines() if line.startswith("[")]
    assert sections == [f"[{name}]" for name in ("cluster", "workload", "data", "policy", "negotiation",
                                                  "interconnect", "failures", "measure", "run", "compare")]  # fmt: skip
    drawn = distributions()
    of_drawn = {f"{key}.{name}" for key in drawn for name in ("kind", *Distribution.PARAMETERS)}
    for entry in scenario_keys():
        key = entry["key"].rpartition(".")[0] if entry["key"] in of_drawn else entry["key"]
        assert out.count(f"\n  {key} = ") == 1, key
    assert out.count("P(L > x)") == 1
    after = out[out.index("\ndistributions:") :]
    assert all(f"\n  {kind} (" in after for kind in Distribution.USES)


def test_keys_with_a_filter(cli):
    _, out, _ = cli("scenarios", "--keys", "Seek")
    assert "  cluster.disk_seek_rotation_ms = 8.0\n" in out
    assert "cluster.nodes" not in out
    assert "distributions:" not in out
    _, out, _ = cli("scenarios", "--keys", "request_kb")
    assert "  workload.request_kb = gamma, mean 100.0, sd 50.0\n" in out
    assert "distributions:" in out
    found = json.loads(cli("scenarios", "--keys", "seek", "--json")[1])
    assert [list(one) for one in found[:1]] == [["key", "default", "meaning", "allowed"]]
    assert all("seek" in f"{one['key']} {one['meaning']}".lower() for one in found)
    assert json.loads(cli("scenarios", "--keys", "--json")[1]) == scenario_keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--keys", "clustr"], "error: --keys 'clustr': no key has this in its name or meaning; did you mean "
                               "'cluster'?"),
        (["--keys", "xyzzy"], "error: --keys 'xyzzy': no key has this in its name or meaning; --keys without a text "
                              "lists all"),
        (["quikstart"], "error: scenario 'quikstart': no such file or shipped scenario; did you mean 'quickstart'?"),
        (["quickstart", "--keys", "disk"], "error: scenarios: give names ('quickstart') or --keys, not both"),
    ],
)  # fmt: skip
def test_what_is_not_there(cli, arguments, message):
    assert cli("scenarios", *arguments) == (2, "", message + "\n")


def test_one_scenario(cli):
    code, out, err = cli("scenarios", "quickstart")
    assert (code, err) == (0, "")
    assert out.startswith("quickstart\n")
    assert "scenarios/quickstart.toml" in out
    assert "    cluster.nodes = 32\n" in out
    (found,) = json.loads(cli("scenarios", "quickstart", "--json")[1])
    assert found["keys"]["cluster.nodes"] == 32


def test_scenarios_are_listed_with_their_summaries(cli):
    _, out, _ = cli("scenarios")
    assert max(map(len, out.splitlines())) <= 100
    assert {line.split()[0] for line in out.splitlines() if line[:1].isalpha()} >= set(scenario_names())


def test_no_sentence_of_the_help_is_cut(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    for command in ([], ["batch"], ["trace"]):
        code, out, _ = cli(*command, "--help")
        assert code == 0
        assert "..." not in out.replace("[ARGS]...", "")
        assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "quickstart", "--seeds", "0"], "Error: Invalid value for '--seeds': 0 must be at least 1."),
        (["run", "quickstart", "--seed", "x"], "Error: Invalid value for '--seed': 'x' is no whole number."),
        (["view", "--port", "0"], "Error: Invalid value for '--port': 0 must be from 1 to 65535."),
        (["run", "nofile.toml"],
         "error: scenario 'nofile.toml': no such file; `cluster-abm scenarios` lists shipped ones"),
        (["run", "quickstart", "--set", "cluster.memory_mb=640MB"],
         "error: override: cluster.memory_mb = '640MB': is in MB: write 640"),
    ],
)  # fmt: skip
def test_common_mistakes(cli, arguments, message):
    code, out, err = cli(*arguments)
    assert (code, out, err.splitlines()[-1]) == (2, "", message)
