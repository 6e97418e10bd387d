"""Values as commands print them: shares, entries of a document, lists on a terminal, problems of runs."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from cluster_abm.cli.frame import lines_of_outcome
from cluster_abm.cli.listing import lines
from cluster_abm.cli.listing.keys import _allowed
from cluster_abm.cli.listing.policies import _bounds, _in_toml, _knows
from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.studies.tune import _seeds, overs_of
from cluster_abm.cli.suggestions import Asked, not_compared, suggestions
from cluster_abm.cli.trace import _for_print, _in_per_cent, _print_entry
from cluster_abm.cli.view import _page_address, page_path
from cluster_abm.errors import InputError
from cluster_abm.policies import available
from cluster_abm.study.runner.tasks import RunsOutcome

# ---- trace info ----


@pytest.mark.parametrize(("share", "text"), [
    (1.0, "100 %"), (0.5, "50.0 %"), (0.99999, "99.9 %"), (0.00001, "0.1 %"), (0.999, "99.9 %"), (0.001, "0.1 %"),
    (0.1234, "12.3 %"),
])  # fmt: skip
def test_a_share_below_1_is_never_100_per_cent_and_above_0_never_0(share, text):
    assert _in_per_cent(share) == text


@pytest.mark.parametrize(("name", "value", "said"), [
    ("rows", 12345, "rows: 12,345\n"), ("file", "jobs.csv", "file: jobs.csv\n"),
    ("kept_busy", None, "kept_busy: none\n"),
    ("span_s", 9999.4, "span_s: 9,999\n"), ("span_s", 0.123456, "span_s: 0.1235\n"),
    ("span_s", -12345.6, "span_s: -12,346\n"), ("span_s", 1234567.8, "span_s: 1,234,568\n"),
    ("skipped", {}, "skipped: none\n"), ("skipped", {"late": 2}, "skipped:  # rows left out, by reason\n  late: 2\n"),
    # The comment that explains a group is left out of nested groups.
    ("runs", {"0": {"cpu_s": {"max": 2}}}, "runs:\n  0:\n    cpu_s:\n      max: 2\n"),
])  # fmt: skip
def test_an_entry_of_a_document(name, value, said, capsys):
    _print_entry(name, value)
    assert capsys.readouterr().out == said


def test_the_order_of_entries_of_trace_info():
    found = {
        "file": "a", "format": "csv", "rows": 3, "jobs": 2, "skipped": {}, "span_s": 1.0, "noted": {}, "filled": {},
        "fields": {"cpu_ms": 1.0, "home": 0.0, "name": 0.0}, "used": 2, "sample": None,
        "recorded_wait_s": None,
    }  # fmt: skip
    shown = _for_print(found)
    assert list(shown) == [
        "file",
        "format",
        "rows",
        "used",
        "jobs",
        "skipped",
        "noted",
        "fields",
        "filled",
        "span_s",
        "recorded_wait_s",
    ]
    assert shown["fields"] == {"cpu_ms": "100 %", "in no job": "home, name"}
    assert _for_print(found | {"fields": {"cpu_ms": 1.0}})["fields"] == {"cpu_ms": "100 %"}
    assert list(_for_print(found | {"sample": {"share": 0.5}}))[4:7] == ["jobs", "sample", "skipped"]


# ---- lists ----


@pytest.mark.parametrize(("terminal", "width"), [(20, 60), (60, 60), (61, 61), (99, 99), (100, 100), (250, 100)])
def test_lines_are_as_wide_as_the_terminal_within_bounds(terminal, width, monkeypatch):
    monkeypatch.setattr(shutil, "get_terminal_size", lambda _: SimpleNamespace(columns=terminal))
    assert lines.columns() == width


@pytest.fixture
def narrow(monkeypatch):
    monkeypatch.setattr(lines, "columns", lambda: 20)


@pytest.mark.usefixtures("narrow")
def test_words_go_on_below_themselves(capsys):
    # Two columns of indent, the longest name, two spaces: the words have 20 - 2 - 3 - 2 = 13 columns.
    lines.echo_entries([("a", "one two three four"), ("abc", ""), ("b", "five")])
    assert capsys.readouterr().out.splitlines() == [
        "  a    one two three", "       four", "  abc", "  b    five",
    ]  # fmt: skip
    lines.echo_entries([], 4)
    lines.echo_entries([("a", "one")], 0)
    assert capsys.readouterr().out == "a  one\n"


@pytest.mark.usefixtures("narrow")
def test_paragraphs_are_wrapped_and_indented_lines_are_not(capsys):
    lines.echo_text("one two three four\nfive\n\n  code  here\nno more", 3)
    assert capsys.readouterr().out.splitlines() == [
        "   one two three", "   four five", "     code  here", "   no more",
    ]  # fmt: skip


def test_values_that_a_key_takes():
    assert _allowed([]) == ""
    assert _allowed(["a", 2]) == " [a | 2]"


@pytest.mark.parametrize(("policy", "parameter", "bounds"), [
    # A quantile; a number of probes.
    ("prequal", "hot_quantile", " [from 0, up to 1]"), ("power-of-d", "d", " [from 1]"),
])  # fmt: skip
def test_bounds_of_a_parameter(policy, parameter, bounds):
    assert _bounds(available()[policy].Parameters.model_fields[parameter]) == bounds


def test_values_are_written_in_toml():
    assert (_in_toml(None), _in_toml(True), _in_toml(0.5), _in_toml("a")) == ("not set", "true", "0.5", '"a"')


@pytest.mark.parametrize(("policy", "words"), [
    ("pooled", "nothing: all nodes are one"), ("none", "its own node alone"),
    ("jsq", "the others as they last reported"),
    ("easy", "the true state of all nodes, at the head node"), ("hawk", "what managers tell each other"),
])  # fmt: skip
def test_what_a_policy_knows(policy, words):
    assert words in _knows(available()[policy])


# ---- ends of runs ----


def test_each_problem_of_runs_is_named_once():
    outcome = RunsOutcome([], policy_faults={"policy a": 1, "policy b": 3}, errors=["E: one", "E: two"])
    outcome.under_way = ["seed 3"]
    assert list(lines_of_outcome(outcome)) == [
        "error: policy a", "error: policy b (ended 3 runs)", "error: E: one", "error: E: two",
        "under way when it was interrupted: seed 3",
    ]  # fmt: skip


# ---- ranges of tune and calibrate ----


def test_ranges():
    low_high, log, choices = overs_of(["policy.d = 1 : 3", "a.b=0.1:10:log", "a.c=x|2|true"])
    assert (low_high.key, low_high.low, low_high.high, low_high.log, low_high.choices) == (
        "policy.d",
        1.0,
        3.0,
        False,
        (),
    )
    assert (log.low, log.high, log.log) == (0.1, 10.0, True)
    assert choices.choices == ("x", 2, True)
    with pytest.raises(InputError) as caught:
        overs_of(["a", "b=1:2", "c=1"])
    assert [line.partition(": ")[0] for line in caught.value.problems] == ["--over 'a'", "--over 'c=1'"]


def test_seeds_in_words():
    # range(3, 6) ends before 6.
    assert _seeds(range(3, 6)) == "seeds 3 to 5"


# ---- what to try next ----


def test_a_pooled_reference_or_a_policy_without_a_mean_is_not_suggested():
    means = {"pooled": 1.0, "none": float("nan"), "jsq": 3.0, "random": 2.0}
    found = SimpleNamespace(
        policies=list(means), headline="", estimate=lambda name, _: SimpleNamespace(mean=means[name])
    )
    run, compare, *_ = suggestions(found, Asked("quickstart", [], FromLog(), None))
    # Of the policies with a mean, random has the lowest.
    assert run.startswith("cluster-abm run quickstart --policy random --out out/random ")
    assert compare == "cluster-abm compare quickstart --policies random,jsq,power-of-d --seeds 16"


def test_keys_that_a_comparison_does_not_read():
    keys = {"policy.name", "measure.period_ms"}
    assert set(not_compared(None, None)) == keys
    assert not_compared(["jsq"], None)["compare.policies"] == "--policies says it"
    assert set(not_compared(["jsq"], None)) == keys | {"compare.policies"}
    assert set(not_compared(None, 4)) == keys | {"compare.seeds"}


# ---- view ----


@pytest.mark.parametrize(("address", "page"), [
    ("127.0.0.1", "http://127.0.0.1:80"), ("0.0.0.0", "http://127.0.0.1:80"), ("::", "http://[::1]:80"),
    ("::1", "http://[::1]:80"), ("10.0.0.5", "http://10.0.0.5:80"), ("fd00::7", "http://[fd00::7]:80"),
])  # fmt: skip
def test_the_address_of_the_page_for_a_browser(address, page):
    assert _page_address(address, 80) == page


def test_the_page_is_a_file():
    assert page_path().name == "app.py"
    assert page_path().is_file()
