"""What commands say of nothing, of one thing, of several, and of more than they name."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cluster_abm.cli import trace
from cluster_abm.cli.batch import _print_status, _tell_problems
from cluster_abm.cli.effects import _reason, _remark_on_file
from cluster_abm.cli.far_end import FarEnd
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
def test_how_far_a_study_is(capsys, changes, said):
    _print_status(status(**changes))
    assert capsys.readouterr().out.splitlines() == said


def failures(count):
    return [{"point": n, "policy": "jsq", "seed": n, "error": "E: no"} for n in range(count)]


@pytest.mark.parametrize(("changes", "said"), [
    ({}, []), ({"damaged": ["a.run: cut"]}, ["damaged: a.run: cut"]),
    ({"set_aside": 1}, ["set aside as damaged, in out/damaged: 1 file"]),
    ({"set_aside": 2}, ["set aside as damaged, in out/damaged: 2 files"]),
])  # fmt: skip
def test_what_is_wrong_with_a_study(capsys, changes, said):
    _tell_problems(status(**changes))
    assert capsys.readouterr().err.splitlines() == said


@pytest.mark.parametrize(("count", "named", "more"), [
    (1, 1, None), (5, 5, None), (6, 5, "failed: 1 more: --json has them all, with tracebacks"),
    (9, 5, "failed: 4 more: --json has them all, with tracebacks"),
])  # fmt: skip
def test_five_failures_are_named(capsys, count, named, more):
    _tell_problems(status(failures=failures(count)))
    said = capsys.readouterr().err.splitlines()
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


def known_parameters(policy, count):
    """So many parameters that other policies know and this one does not."""
    own = available()[policy].Parameters.model_fields
    others = {name for one in available().values() for name in one.Parameters.model_fields}
    return sorted(others - set(own))[:count]


def test_of_policies_that_know_a_parameter_three_are_named(monkeypatch):
    def knowing(*names):
        return {name: SimpleNamespace(Parameters=SimpleNamespace(model_fields={"d": 1})) for name in names}

    none = {"none": SimpleNamespace(Parameters=SimpleNamespace(model_fields={}))}
    for names, words in (("a", "a"), ("abc", "a, b, c"), ("abcd", "a, b, c ...")):
        monkeypatch.setattr("cluster_abm.policies.available", lambda names=names: none | knowing(*names))
        assert _reason("policy.d", {}, ["none"]) == f"policy none does not know it; known by {words}"
        assert _reason("policy.d", {}, ["none", "x"]) == f"policies none and x do not know it; known by {words}"
        # One policy of the comparison knows the key; no policy knows it, and the policy says so itself.
        assert _reason("policy.d", {}, ["none", "a"]) is None
        assert _reason("policy.e", {}, ["none"]) is None


@pytest.mark.parametrize(("ends", "code"), [
    # A fault of this program outweighs wrong input; what was interrupted last outweighs both.
    ([(0, False)], 0), ([(2, False), (0, False)], 2), ([(2, False), (1, False), (0, False)], 1),
    ([(1, False), (0, True)], 130), ([(0, True), (2, False)], 2),
])  # fmt: skip
def test_the_exit_code_of_several_tables(ends, code):
    outcomes = [SimpleNamespace(exit_code=one, interrupted=interrupted) for one, interrupted in ends]
    assert _exit_code([SimpleNamespace(outcome=outcome) for outcome in outcomes]) == code


def test_kinds_of_policies_without_any_are_left_out(capsys):
    _list({name: available()[name] for name in ("jsq", "none")})
    heads = [line for line in capsys.readouterr().out.splitlines() if line.endswith(":")]
    # None at home, jsq placed; of the lower bounds, which are no policies, there are always some.
    assert len(heads) == 3
    assert heads[-1] == "a lower bound, no policy (`compare` alone):"


class Bare(Policy):
    # No words of its own.
    def place(self, job, node):
        """To the left."""


class Silent(Policy):
    def place(self, job, node):
        pass


def test_of_a_rule_without_words_nothing_is_said():
    assert _rule(Bare) == f"{__doc__}\n\nplace: To the left."
    assert _rule(Silent) == __doc__


def test_presets_stand_under_what_they_are_of(capsys):
    hardware_command.callback(None, False)
    nodes, _, networks = capsys.readouterr().out.partition("networks (interconnect.hardware = NAME):\n")
    assert nodes.startswith("nodes (cluster.hardware = NAME):\n")
    assert ("  ssd-2015 " in nodes, "  ethernet-10g " in nodes) == (True, False)
    assert ("  ssd-2015 " in networks, "  ethernet-10g " in networks) == (False, True)


# ---- a run whose end is far ----


class Model:
    """A run that simulates 100 s in each second, and in which this many jobs are."""

    def __init__(self, until=100_000.0):
        self.now_ms, self.live, self.offered_load = 0.0, 10, None
        self.setup = SimpleNamespace(run=SimpleNamespace(until=until))
        self.engine = SimpleNamespace(live_jobs=lambda: range(self.live))


def watched(shares, jobs=None, seconds=1.0, **more):
    """What is said of a run looked at once in so many seconds, at each of these shares, with these jobs in it."""
    # The clock has no beginning.
    model, now, said = Model(**more), [5000.0], []
    far_end = FarEnd(model, said.append, lambda: now[0])
    for number, share in enumerate(shares):
        model.live = 10 if jobs is None else jobs[number]
        far_end.look(share)
        now[0] += seconds
        model.now_ms += 100_000.0 * seconds
    return said


@pytest.mark.parametrize(("share", "left"), [
    # After 10 s: of a quarter 30 s are left, of 0.26 some 28 s, which is not far.
    (0.25, "about 30 s to go"), (0.26, None), (0.1, "about 90 s to go"), (0.0, "the end is not in sight"), (1.0, None),
])  # fmt: skip
def test_an_end_is_far_from_thirty_seconds_on(share, left):
    said = watched([share] * 11)
    assert len(said) == (0 if left is None else 1)
    if left is not None:
        assert said[0].splitlines()[0] == f"note: 1,000 s simulated in 10 s of the 100 s of run.until: {left}"


def test_it_is_looked_at_once_after_ten_seconds():
    # Ten looks are the first nine seconds.
    assert watched([0.1] * 10) == []
    assert len(watched([0.1] * 11)) == 1
    # It is not said twice, nor later if it was near then.
    assert len(watched([0.1] * 40)) == 1
    assert watched([0.9] * 11 + [0.01] * 20) == []


def test_of_a_run_until_all_is_done_the_share_of_tasks_is_said():
    (said,) = watched([0.12] * 11, until="drained")
    assert ", 12 % of the tasks have ended: about " in said


@pytest.mark.parametrize(("later", "gather"), [(12, False), (13, True), (10, False), (5, False)])
def test_jobs_gather_if_there_are_more_than_a_fifth_more_than_in_the_middle(later, gather):
    # Ten in the first half; the count in the middle of the 1000 s that were simulated is the fifth.
    (said,) = watched([0.01] * 11, jobs=[10] * 6 + [later] * 5)
    line = said.splitlines()[1]
    assert line == f"  {later} jobs are in the system" + (", 10 at 500 s: they gather" if gather else "")


def test_jobs_are_counted_once_a_second_however_often_one_looks():
    counted, model, now = [], Model(), [5000.0]
    model.engine = SimpleNamespace(live_jobs=lambda: counted.append(now[0]) or range(10))
    far_end = FarEnd(model, lambda _: None, lambda: now[0])
    for _ in range(41):
        far_end.look(0.1)
        now[0] += 0.25
    # From one second to ten.
    assert counted == [5000.0 + second for second in range(1, 11)]


def test_the_format_of_a_log_is_that_of_the_run_too(monkeypatch, tmp_path):
    given = []
    monkeypatch.setattr(trace, "_load_on", lambda scenario, overrides: given.append(dict(overrides)) or {})
    (tmp_path / "jobs.csv").write_text("arrival_ms,cpu_ms\n0,1\n5,1\n")

    def ask(form, *settings):
        trace.info_command.callback(tmp_path / "jobs.csv", None, form, 7, "replay", settings, True)
        return given.pop()

    there = {"workload.kind": "trace", "workload.trace.file": str(tmp_path / "jobs.csv"), "workload.trace.max_mb": 7}
    assert ask(None) == there
    assert ask("csv") == there | {"workload.trace.format": "csv"}
    # What is set comes first.
    assert ask("csv", "workload.trace.max_mb=9")["workload.trace.max_mb"] == 9
