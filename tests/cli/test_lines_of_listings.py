"""Every line of what `policies NAME`, `scenarios NAME`, `scenarios --keys` and `hardware` print, blank ones too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster_abm.cli.listing.lines import echo_entries, echo_text
from cluster_abm.policies import BOUNDS, available
from cluster_abm.scenario.hardware import preset_names


@pytest.fixture(autouse=True)
def terminal(monkeypatch):
    """Lines of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")


MINE = '''"""Every job waits for node 0."""
from typing import Literal

from pydantic import Field

from cluster_abm.policies import Holding, Policy


class Base(Holding):
    required_demands = ("requested_ms", "memory")

    def next_job(self, queue, view):
        """Not one of the class itself."""


class Mine(Base):
    """As bad as it gets: "tasks" in a docstring is no code."""

    name = "mine"
    source = "a test"
    summary = "every task to node 0"
    rules = (("first", "it came first", "line 3"), ("alone", "it is alone"))

    class Parameters(Policy.Parameters):
        most: int = Field(3, ge=1, lt=10, description="jobs that wait")
        kind: Literal["a", "b"] | None = Field(None, description="a kind")

    def holds(self, task, view):
        """Unless its CPU has nothing to do."""
        return view.load.cpu_ms > 0
'''
WHOLE = """\
mine
  every task to node 0

  source   a test
  kind     jobs wait before they start
  knows    its own node as it is, the others as they last reported (cluster.exchange_period_ms)
  needs    requested_ms, memory of every job
  decides  in Python: it holds jobs in queues of nodes, and has no period

  rule
    Every job waits for node 0.
    As bad as it gets: "tasks" in a docstring is no code.
    holds: Unless its CPU has nothing to do.

  parameters (--set policy.NAME=VALUE)
    heterogeneous = false  loads of unlike nodes are compared per unit of their CPU speed, memory
                           and disk rate
    information = not set  fresh: decides by the state of all nodes at the decision, at no cost;
                           reported: by load reports. Not set: as negotiation.mode says [fresh |
                           reported]
    most = 3               jobs that wait [from 1, below 10]
    kind = not set         a kind [a | b]

  rules that its decisions name (the page tells why in these words)
    first  it came first (line 3)
    alone  it is alone

  what it reads of nodes
    cpu_ms  remaining CPU, per core, L_CPU [ms]
"""


def test_all_that_there_is_to_say_of_a_policy(cli, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    assert cli("policies", "mine.py:Mine") == (0, WHOLE, "")
    # The same again is printed once; a blank line is between two.
    code, out, _ = cli("policies", "mine.py:Mine", "pooled", "mine.py:Mine")
    assert (code, out.startswith(f"{WHOLE}\npooled\n"), out.count("\nmine\n")) == (0, True, 0)


PLAIN = """from cluster_abm.policies import Decision, Policy

class Plain(Policy):
    name, source, summary = "plain", "a test", "home"
    uses_reports = False

    def place(self, task, view):
        return Decision(task.home, "home")
"""


def test_a_policy_without_needs_rules_or_docstrings_has_no_lines_of_them(cli, tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN)
    assert (
        cli("policies", "plain.py:Plain")[1]
        == """\
plain
  home

  source   a test
  kind     each task is placed when it arrives, and stays there
  knows    its own node alone: no load is reported
  decides  in compiled code, as far as its methods keep to what compiles (else a run says why:
           docs/speed.md)

  parameters (--set policy.NAME=VALUE)
    heterogeneous = false  loads of unlike nodes are compared per unit of their CPU speed, memory
                           and disk rate
    information = not set  fresh: decides by the state of all nodes at the decision, at no cost;
                           reported: by load reports. Not set: as negotiation.mode says [fresh |
                           reported]
"""
    )


@pytest.mark.parametrize(("name", "decides"), [
    ("none", "nothing about arriving tasks"), ("pooled", "nothing about arriving tasks"),
    ("easy", "in compiled code, as far as its methods keep to what compiles (else a run says why:"),
    ("age", "in compiled code, as far as its methods keep to what compiles (else a run says why:"),
    ("hawk", "in Python: managers hold tasks, and talk by messages"),
    ("jsq", "in compiled code, as far as its methods keep to what compiles (else a run says why:"),
])  # fmt: skip
def test_where_a_policy_decides(cli, name, decides):
    assert f"\n  decides  {decides}\n" in cli("policies", name)[1]


def test_policies_stand_below_what_they_do(cli):
    lines = cli("policies")[1].splitlines()
    heads = [line for line in lines if line and not line.startswith(" ")]
    assert heads == [
        "tasks run where they are submitted:", "each task is placed when it arrives, and stays there:",
        "running tasks migrate:", "jobs wait before they start:",
        "load managers talk by messages, and may hold tasks:", "a pooled reference, no policy:",
        "a lower bound, no policy (`compare` alone):",
        "cluster-abm policies NAME explains one: its rule, its parameters, its source.",
    ]  # fmt: skip
    # One blank line, above the last one.
    assert [place for place, line in enumerate(lines) if not line] == [len(lines) - 2]
    # All summaries begin in one column, two blanks behind the longest name.
    indent = 2 + max(map(len, available())) + 2
    firsts = [line for line in lines if line.startswith("  ") and line[2] != " "]
    assert {line[:indent].split()[0] for line in firsts} == {*available(), *BOUNDS}
    assert {(line[indent - 2 : indent], line[indent] != " ") for line in firsts} == {("  ", True)}
    # The bound is of the last kind.
    assert lines.index(heads[6]) < next(place for place, line in enumerate(lines) if line.startswith("  srpt-pool"))


SMALL = """# A first remark,
# and a second one.
name = "small"
summary = "two nodes"
# Not at the head.
[cluster]
nodes = 2
[workload]
jobs_per_s = 0.5
cpu_ms.mean = 500.0
"""


def test_a_scenario_of_a_file_whole(cli, tmp_path):
    (tmp_path / "my own.toml").write_text(SMALL)
    assert cli("scenarios", "my own.toml") == (0, """\
small
  two nodes

  A first remark, and a second one.

  my own.toml

  what it sets (all else: cluster-abm scenarios --keys)
    cluster.nodes = 2
    workload.jobs_per_s = 0.5
    workload.cpu_ms.mean = 500.0

  cluster-abm compare 'my own.toml'
""", "")  # fmt: skip
    # Without remarks there is no paragraph of them; a blank line is between two.
    (tmp_path / "b.toml").write_text('name = "b"\nsummary = "no remark"\nworkload.jobs = 3\n')
    assert cli("scenarios", "b.toml", "quickstart")[1].startswith("""\
b
  no remark

  b.toml

  what it sets (all else: cluster-abm scenarios --keys)
    workload.jobs = 3

  cluster-abm compare b.toml

quickstart
""")  # fmt: skip


def test_the_command_of_a_shipped_scenario_and_the_last_line_of_the_list(cli):
    assert cli("scenarios", "quickstart")[1].splitlines()[-2:] == ["", "  cluster-abm compare quickstart"]
    assert cli("scenarios")[1].splitlines()[-2:] == [
        "", "cluster-abm scenarios NAME shows what one says; --keys [TEXT] lists what a scenario can say.",
    ]  # fmt: skip


def test_lines_of_keys(cli):
    assert cli("scenarios", "--keys", "quantum") == (0, """\
[cluster]
  cluster.quantum_ms = 10.0
      round-robin quantum of a core [ms]; "inf": a task runs until it blocks or ends

""", "")  # fmt: skip
    # Two sections, and the parameters of policies below the section of the policy.
    assert (
        cli("scenarios", "--keys", "policy (cluster-abm policies)")[1]
        == """\
[policy]
  policy.name = "none"
      the policy (cluster-abm policies), or NAME[PARAMETER=VALUE,...]; further keys are its
      parameters
  policy.PARAMETER
      parameters of the policy: cluster-abm policies NAME

"""
    )
    assert (
        cli("scenarios", "--keys", "seeds")[1].count("\n\n") == cli("scenarios", "--keys", "seeds")[1].count("\n[") + 1
    )


def test_lines_about_distributions(cli):
    out = cli("scenarios", "--keys", "request_kb")[1]
    _, found, after = out.partition("\n\ndistributions: KEY.kind is one of these, and KEY.PARAMETER its parameters, in "
                                    "the unit of the key\n")  # fmt: skip
    assert found
    assert after.splitlines()[-1] == (
        "  e.g. --set workload.cpu_ms.kind=gamma --set workload.cpu_ms.mean=500 --set workload.cpu_ms.sd=900"
    )
    assert all(line.startswith("  ") for line in after.splitlines())


def test_lines_of_hardware(cli):
    code, out, err = cli("hardware")
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert [line for line in lines if not line.startswith(" ")] == [
        "nodes (cluster.hardware = NAME):", "networks (interconnect.hardware = NAME):",
        "cluster-abm hardware NAME prints one, each number with its source; keys that a scenario itself sets win.",
    ]  # fmt: skip
    assert sorted(line.split()[0] for line in lines if line.startswith(" ")) == sorted(preset_names())
    assert "  ssd-2015       Server of about 2015: 8 cores, 32 GB, a SATA solid-state disk" in lines[: lines.index(
        "networks (interconnect.hardware = NAME):")]  # fmt: skip
    assert "  ethernet-10g   Ethernet, 10 Gb/s, kernel TCP" in lines


@pytest.mark.parametrize(("entries", "indent", "lines"), [
    ([("a", "x"), ("long", "y")], 2, ["  a     x", "  long  y"]), ([("a", "x")], 0, ["a  x"]),
    ([("a", "")], 4, ["    a"]), ([], 2, []),
])  # fmt: skip
def test_entries_stand_in_columns(capsys, entries, indent, lines):
    echo_entries(entries, indent)
    assert capsys.readouterr().out.splitlines() == lines


def test_a_paragraph_with_an_indented_line_keeps_its_lines(capsys):
    echo_text("one\ntwo\n\none\n  two", 3)
    assert capsys.readouterr().out.splitlines() == ["   one two", "   one", "     two"]


def test_a_preset_is_printed_as_its_file_is(cli):
    code, out, err = cli("hardware", "ssd-2015")
    (found,) = json.loads(cli("hardware", "ssd-2015", "--json")[1])
    assert (code, out, err) == (0, Path(found["path"]).read_text(), "")


def test_documents_end_with_one_line_end(cli):
    for words in (["policies", "jsq"], ["scenarios", "quickstart"], ["scenarios", "--keys", "seek"], ["hardware"]):
        out = cli(*words, "--json")[1]
        assert out.endswith("]\n")
        assert not out.endswith("\n\n")


def test_parameters_of_distributions_are_explained(cli):
    out = cli("scenarios", "--keys", "request_kb")[1]
    lines = [line for line in out.splitlines() if line.startswith("  ") and line[2] != " "]
    assert {"mean", "sd", "shape"} <= {line.split()[0] for line in lines}
