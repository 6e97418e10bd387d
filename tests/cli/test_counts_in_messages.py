"""Messages of commands that name no thing, one, several, or the first few of many."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cluster_abm import load_scenario, save_scenario
from cluster_abm.cli import trace
from cluster_abm.cli.batch import _lines_of_problems, _print_status
from cluster_abm.cli.effects import _reason, _remark_on_file
from cluster_abm.cli.listing.hardware import hardware_command
from cluster_abm.cli.listing.policies import _list, _rule
from cluster_abm.cli.reproduce import _exit_code
from cluster_abm.policies import Policy, available
from cluster_abm.study.status import Status


def status(**changes):
    given = {
        "study": "mine", "folder": "out", "code": "c1", "code_now": "c1", "expected": 9, "finished": 9, "failed": 0,
        "missing": 0, "others": 0, "processes": 0, "damaged": [], "set_aside": 0, "failures": [],
    }  # fmt: skip
    return Status(**given | changes)


@pytest.mark.parametrize(("changes", "said"), [
    ({}, ["mine: 9 of 9 runs finished"]), ({"finished": 6, "missing": 3}, ["mine: 6 of 9 runs finished, 3 missing"]),
    ({"finished": 6, "missing": 1, "failed": 2}, ["mine: 6 of 9 runs finished, 2 failed, 1 missing"]),
    ({"processes": 1}, ["mine: 9 of 9 runs finished", "1 process at work on it"]),
    ({"processes": 2}, ["mine: 9 of 9 runs finished", "2 processes at work on it"]),
    ({"code_now": "c2"}, ["mine: 9 of 9 runs finished",
                          "the code has changed since (c2 now): the next `batch run` starts anew"]),
    ({"others": 4}, ["mine: 9 of 9 runs finished",
                     "4 runs of other points, or of other code (c1 counts): kept, not counted"]),
])  # fmt: skip
def test_the_state_of_a_study(capsys, changes, said):
    _print_status(status(**changes))
    assert capsys.readouterr().out.splitlines() == said


def failures(count):
    return [{"point": n, "policy": "jsq", "seed": n, "error": "E: no"} for n in range(count)]


@pytest.mark.parametrize(("changes", "said"), [
    ({}, []), ({"damaged": ["a.run: cut"]}, ["damaged: a.run: cut"]),
    ({"set_aside": 1}, ["set aside as damaged, in out/damaged: 1 file"]),
    ({"set_aside": 2}, ["set aside as damaged, in out/damaged: 2 files"]),
])  # fmt: skip
def test_damaged_files_of_a_study_are_named(changes, said):
    assert list(_lines_of_problems(status(**changes))) == said


@pytest.mark.parametrize(("count", "named", "more"), [
    (1, 1, None), (5, 5, None), (6, 5, "failed: 1 more: --json has them all, with tracebacks"),
    (9, 5, "failed: 4 more: --json has them all, with tracebacks"),
])  # fmt: skip
def test_the_first_five_failures_are_named(count, named, more):
    said = list(_lines_of_problems(status(failures=failures(count))))
    expected = [f"failed: point {n}, policy jsq, seed {n}: E: no" for n in range(named)]
    assert said == expected + ([] if more is None else [more])


@pytest.mark.parametrize(("count", "more"), [(0, None), (1, ""), (3, ""), (4, "; and 1 more"), (6, "; and 3 more")])
def test_three_keys_of_a_file_without_effect_are_named(capsys, tmp_path, count, more):
    path = tmp_path / "mine.toml"
    known = known_parameters("none", count)
    path.write_text("[workload]\nutilisation = 0.3\n[compare]\npolicies = ['none']\n[policy]\nname = 'none'\n"
                    + "".join(f"{name} = 1.0\n" for name in known))  # fmt: skip
    _remark_on_file(str(path), {})
    said = capsys.readouterr().err
    assert said.count("policy.") == min(count, 3)
    if more is None:
        assert said == ""
    else:
        assert said.startswith(f"note: {path}: without effect: policy.")
        assert said.rstrip("\n").endswith(f"){more}")


def test_keys_with_their_default_are_not_remarked(capsys, tmp_path):
    path = save_scenario(load_scenario("cpu-bound"), tmp_path / "mine.toml")
    _remark_on_file(str(path), {})
    assert capsys.readouterr().err == ""
    save_scenario(load_scenario("cpu-bound", cluster__buffer_control__gain=0.123), path)
    _remark_on_file(str(path), {})
    assert "without effect: cluster.buffer_control.gain (" in capsys.readouterr().err


def known_parameters(policy, count):
    """The first `count` parameters that other policies have and this policy has not."""
    own = available()[policy].Parameters.model_fields
    others = {name for one in available().values() for name in one.Parameters.model_fields}
    return sorted(others - set(own))[:count]


def test_three_policies_that_know_a_parameter_are_named(monkeypatch):
    def knowing(*names):
        return {name: SimpleNamespace(Parameters=SimpleNamespace(model_fields={"d": 1})) for name in names}

    none = {"none": SimpleNamespace(Parameters=SimpleNamespace(model_fields={}))}
    for names, words in (("a", "a"), ("abc", "a, b, c"), ("abcd", "a, b, c ...")):
        monkeypatch.setattr("cluster_abm.policies.available", lambda names=names: none | knowing(*names))
        assert _reason("policy.d", {}, ["none"]) == f"policy none does not know it; known by {words}"
        assert _reason("policy.d", {}, ["none", "x"]) == f"policies none and x do not know it; known by {words}"
        # No reason is given if a policy of the comparison knows the key. If no policy knows it, another check says so.
        assert _reason("policy.d", {}, ["none", "a"]) is None
        assert _reason("policy.e", {}, ["none"]) is None


@pytest.mark.parametrize(("ends", "code"), [
    # Code 1, a fault of this program, outranks code 2, wrong input. An interrupt of the last table outranks both.
    ([(0, False)], 0), ([(2, False), (0, False)], 2), ([(2, False), (1, False), (0, False)], 1),
    ([(1, False), (0, True)], 130), ([(0, True), (2, False)], 2),
])  # fmt: skip
def test_the_exit_code_of_several_tables(ends, code):
    outcomes = [SimpleNamespace(exit_code=one, interrupted=interrupted) for one, interrupted in ends]
    assert _exit_code([SimpleNamespace(outcome=outcome) for outcome in outcomes]) == code


def test_kinds_of_policies_without_any_are_left_out(capsys):
    _list({name: available()[name] for name in ("jsq", "none")})
    heads = [line for line in capsys.readouterr().out.splitlines() if line.endswith(":")]
    # `none` works at home, jsq places tasks. The lower bounds are always listed, as the third kind.
    assert len(heads) == 3
    assert heads[-1] == "a lower bound, no policy (`compare` alone):"


class Bare(Policy):
    # This class has no docstring.
    def place(self, job, node):
        """To the left."""


class Silent(Policy):
    def place(self, job, node):
        pass


def test_a_rule_without_a_docstring_has_no_line():
    assert _rule(Bare) == f"{__doc__}\n\nplace: To the left."
    assert _rule(Silent) == __doc__


def test_presets_are_listed_under_nodes_or_networks(capsys):
    hardware_command.callback(None, False)
    nodes, _, networks = capsys.readouterr().out.partition("networks (interconnect.hardware = NAME):\n")
    assert nodes.startswith("nodes (cluster.hardware = NAME):\n")
    assert ("  ssd-2015 " in nodes, "  ethernet-10g " in nodes) == (True, False)
    assert ("  ssd-2015 " in networks, "  ethernet-10g " in networks) == (False, True)


def test_options_of_trace_info_are_keys_of_its_scenario(monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(trace, "_load_on", lambda scenario, overrides: given.append(dict(overrides)) or {})
    (tmp_path / "jobs.csv").write_text("arrival_ms,cpu_ms\n0,1\n5,1\n")

    def ask(form, *settings):
        trace.info_command.callback(
            file=tmp_path / "jobs.csv", run=None, format=form, map_name=None, fields=None, sample=None, max_mb=7,
            scenario="replay", settings=settings, as_json=True, guess=False, out=None,
        )  # fmt: skip
        return given.pop()

    there = {"workload.kind": "trace", "workload.trace.file": str(tmp_path / "jobs.csv"), "workload.trace.max_mb": 7}
    assert ask(None) == there
    assert ask("csv") == there | {"workload.trace.map": "csv"}
    # --set outranks the option.
    assert ask("csv", "workload.trace.max_mb=9")["workload.trace.max_mb"] == 9
