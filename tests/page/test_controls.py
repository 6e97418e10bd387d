"""The controls of the page, and the numbers that their fields accept."""

from __future__ import annotations

import pytest

from cluster_abm.policies import available
from viz.acts import WITHOUT
from viz.controls import AS_GIVEN, CHOICES, OFF, chosen, fields, lists, offered_by, parsed, plain
from viz.settings import KEYS, LABELS, Settings

SETTINGS = Settings("jsq", "", "", 1.5, 0.25, 0.5, 32, 1024.0, 1000.0, 10.0, 7)


def drawn(settings=SETTINGS, typed=None, wrong=None):
    """The controls by name."""
    return {one["name"]: one for one in fields(settings, typed or {}, wrong or {})}


def test_there_is_a_control_for_each_setting():
    found = drawn()
    # Acts have a list of their own.
    assert [*found, "script"] == list(Settings.__dataclass_fields__)
    assert {name: one["label"] for name, one in found.items()} | {"script": "Acts"} == LABELS
    assert LABELS["other"] == "Compare with"
    assert {name for name, one in found.items() if one["kind"] == "choice"} == {*CHOICES}


def test_a_field_shows_its_value_or_the_typed_text_with_its_error():
    found = drawn()
    assert {name: one["text"] for name, one in found.items()} == {
        "policy": "jsq", "other": OFF, "hardware": AS_GIVEN, "intensity": "1.5", "io_per_ms": "0.25",
        "page_fault_rate_per_ms": "0.5", "nodes": "32", "bandwidth_mbps": "1024", "exchange_period_ms": "1000",
        "slice_ms": "10", "seed": "7",
    }  # fmt: skip
    assert {one["error"] for one in found.values()} == {""}
    changed = drawn(typed={"nodes": "3x"}, wrong={"nodes": "no number", "other": "no"})
    assert {name: one for name, one in changed.items() if one != found[name]} == {
        "nodes": found["nodes"] | {"text": "3x", "error": "no number"}, "other": found["other"] | {"error": "no"},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("number", "text"), [(1000.0, "1000"), (0.1, "0.1"), (32, "32"), (1e300, "1e+300"), (2.5e-7, "2.5e-07")]
)
def test_a_number_is_shown_as_it_is_read(number, text):
    assert plain(number) == text
    assert parsed(text, type(number)) == number


def test_lists_offer_all_policies_and_presets_and_no_choice():
    offered = offered_by(lists())
    assert offered["policy"] == [*available()]
    assert offered["other"] == [OFF, WITHOUT, *available()]
    assert (offered["hardware"][0], "ssd-2015" in offered["hardware"]) == (AS_GIVEN, True)
    assert {*offered} == {*CHOICES}
    assert [chosen("other", OFF), chosen("hardware", AS_GIVEN), chosen("policy", "jsq")] == ["", "", "jsq"]


def test_a_policy_is_found_by_name_summary_and_class_name():
    found = {one["value"]: one for one in lists()["policy"]}
    jsq = available()["jsq"]
    assert found["jsq"]["summary"] == jsq.summary
    assert found["jsq"]["also"].replace(" ", "") == jsq.__name__
    assert found["jsq"]["also"] == "Join Shortest Queue"


@pytest.mark.parametrize(("name", "tip"), [
    ("nodes", "Number of nodes; at least 1 and at most "), ("seed", "Every random number of the run follows from it; "
     "at least 0. Key: run.seed. Less than 2^63."),
    ("slice_ms", "Time slice: what one step() of the model advances [ms]; "),
    ("exchange_period_ms", "Time from one load report of a manager to the next [ms]; "),
    ("page_fault_rate_per_ms", "Page-fault rate mu [faults per ms of CPU]; at least 0 and at most "),
    # The tip of a mean has its own words. A field without a key has no text from the scenario.
    ("io_per_ms", "Key: workload.io_per_ms.mean. Mean number of accesses of a task per ms of its CPU; 0 or more."),
    ("intensity", "The work as a multiple of what the scenario says; above 0 and at most 1e+09."),
])  # fmt: skip
def test_the_tip_of_a_field_has_meaning_bounds_and_key(name, tip):
    found = drawn()[name]["tip"]
    assert found.startswith(tip)
    assert (f"Key: {KEYS[name]}." in found) if name in KEYS else "Key" not in found


@pytest.mark.parametrize(("text", "kind", "number"), [
    ("12", int, 12), (" 12 ", int, 12), ("-3", int, -3), ("1.5", float, 1.5), ("1,5", float, 1.5), ("1e3", float, 1e3),
    (str(2**63 - 1), int, 2**63 - 1), (str(1 - 2**63), int, 1 - 2**63), ("1e300", float, 1e300),
])  # fmt: skip
def test_a_number_is_read(text, kind, number):
    found = parsed(text, kind)
    assert (found, type(found)) == (number, kind)


TOO_LARGE = "the number is too large; allowed is less than 2^63"


@pytest.mark.parametrize(("text", "kind", "words"), [
    ("", float, "'': a number is needed"), ("x", float, "'x': a number is needed"),
    ("1.5", int, "'1.5': a whole number is needed"), ("x", int, "'x': a whole number is needed"),
    # Thousands separators are not accepted.
    ("1,000", int, "'1,000': a whole number is needed"),
    ("nan", float, "'nan': a finite number is needed"), ("-inf", float, "'-inf': a finite number is needed"),
    (str(2**63), int, f"'{2**63}': {TOO_LARGE}"), (str(-(2**63)), int, f"'{-(2**63)}': {TOO_LARGE}"),
    # Python refuses to read this many digits. The message shortens the text.
    ("9" * 5000, int, f"'{'9' * 40}… (5,000 characters)': {TOO_LARGE}"),
    ("-" + "9" * 5000, int, f"'-{'9' * 39}… (5,001 characters)': {TOO_LARGE}"),
    ("x" * 41, float, f"'{'x' * 40}… (41 characters)': a number is needed"),
    ("x" * 40, float, f"'{'x' * 40}': a number is needed"),
])  # fmt: skip
def test_the_message_about_a_text_that_is_no_number(text, kind, words):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        parsed(text, kind)
    assert str(caught.value) == words
