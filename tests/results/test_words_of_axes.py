"""Labels of keys, metrics and values in pictures, and numbers at axes."""

from __future__ import annotations

import pandas as pd
import pytest

from cluster_abm.results.of_studies.study_axes import (
    distinct_texts,
    is_numeric,
    key_texts,
    label_of,
    point_text,
    scaled_label_of,
    value_text,
)
from cluster_abm.results.plain import plain, time_unit
from cluster_abm.results.style import new_figure


@pytest.mark.parametrize(("name", "label"), [
    # The label of a key is its last part, with the unit at its end.
    ("cluster.nodes", "nodes"), ("cluster.exchange_period_ms", "exchange period [ms]"),
    ("cluster.disk_mb_per_s", "disk [MB/s]"), ("interconnect.bandwidth_mbps", "bandwidth [Mbit/s]"),
    ("cluster.memory_mb", "memory [MB]"), ("cluster.page_kb", "page [KB]"), ("workload.duration_s", "duration [s]"),
    ("workload.jobs_per_s", "jobs [1/s]"), ("workload.rate_per_ms", "rate [1/ms]"),
    # A key of a distribution is named after its section.
    ("workload.cpu_ms.mean", "mean cpu [ms]"), ("workload.io_per_ms.maximum", "maximum io [1/ms]"),
    ("workload.tasks.minimum", "minimum tasks"), ("mean", "mean"),
    ("workload.cpu_ms.kind", "cpu"), ("workload.memory_mb.kind", "memory"), ("policy.name", "policy"), ("kind", "kind"),
    # Metrics have their own words. A count has no unit, and a rate has its unit in the words.
    ("mean_slowdown", "mean slowdown (wall / isolated time)"), ("energy_kwh", "energy of all nodes [kWh]"),
    ("page_faults_per_cpu_s", "page faults per second of CPU"), ("jobs.finished", "jobs finished"),
    ("mean_response_ms", "mean response [ms]"), ("fetched_mb", "fetched [MB]"),
    ("breakdown_ms.cpu_queue", "cpu queue, mean of a task [ms]"),
])  # fmt: skip
def test_a_key_or_metric_has_words_and_its_unit(name, label):
    assert label_of(name) == label


@pytest.mark.parametrize(("name", "longest", "divisor", "label"), [
    ("mean_response_ms", 20_000.0, 1, "mean response [ms]"), ("mean_response_ms", 60_000.0, 1000, "mean response [s]"),
    ("mean_response_ms", 36e6, 3.6e6, "mean response [h]"), ("cluster.nodes", 60_000.0, 1, "nodes"),
    ("fetched_mb", 60_000.0, 1, "fetched [MB]"),
])  # fmt: skip
def test_long_times_have_a_larger_unit_in_their_label(name, longest, divisor, label):
    assert scaled_label_of(name, longest) == (divisor, label)


@pytest.mark.parametrize(("value", "text"), [
    (0.25, "0.25"), (1234, "1,234"), (12_345.678, "12,346"), (True, "True"), ("cpu", "cpu"), (None, "None"),
    ([], "none"), ([1, 2.5], "1 + 2.5"), (("a",), "a"),
    ({"count": 8, "memory_mb": 512_000.0, "disk_kind": "ssd"}, "count 8; memory 512,000 MB; disk kind ssd"),
    ([{"count": 8}, {"count": 4}], "count 8 + count 4"),
])  # fmt: skip
def test_the_text_of_a_value(value, text):
    assert value_text(value) == text


@pytest.mark.parametrize(("values", "texts"), [
    ([0.5, 0.25], ["0.5", "0.25"]), ([1.2351, 1.2354], ["1.2351", "1.2354"]), ([1.2341, 1.2346], ["1.234", "1.235"]),
    # Equal values have the same text.
    ([1.0, 1], ["1", "1"]), ([True, "x"], ["True", "x"]), ([1.23456, 1.23456], ["1.23", "1.23"]),
])  # fmt: skip
def test_values_have_enough_digits_to_differ(values, texts):
    assert distinct_texts(values) == texts
    assert key_texts(pd.DataFrame({"key": values}, index=[5, 7], dtype=object))["key"].to_dict() == dict(
        zip([5, 7], texts, strict=True)
    )


def test_the_name_of_a_point_has_keys_values_and_units():
    keys = pd.Series({"workload.utilisation": 0.7, "cluster.exchange_period_ms": 100.0, "policy.index": "cpu"})
    assert point_text(keys) == "utilisation = 0.7, exchange period = 100 ms, index = cpu"


@pytest.mark.parametrize(("values", "answer"), [
    ([1, 2.5], True), ([], True), ([1, "x"], False), ([True, False], False), ([1.0, float("inf")], False),
    ([1.0, float("nan")], False), ([1, None], False),
])  # fmt: skip
def test_only_finite_numbers_are_numeric(values, answer):
    assert is_numeric(values) == answer


@pytest.mark.parametrize(("value", "digits", "text"), [
    # `digits` digits, or all of the integer part.
    (1.23456, 4, "1.235"), (12_345.6, 4, "12,346"), (0.000_123_45, 3, "0.000123"), (1e-6, 4, "0.000001"),
    # Numbers from 1e-6 to below 1e12 have no exponent.
    (9.9e-7, 4, "9.900e-07"), (999_999_999_999.0, 4, "999,999,999,999"), (1e12, 3, "1.00e+12"), (-1500.0, 2, "-1,500"),
    (100.0, 3, "100"), (0.10, 3, "0.1"), (float("-inf"), 3, "-inf"), (0.0, 3, "0"),
])  # fmt: skip
def test_digits_and_exponents_of_numbers(value, digits, text):
    assert plain(value, digits) == text


@pytest.mark.parametrize(("longest_s", "unit"), [
    (0.0, "s"), (1e-6, "ms"), (0.499, "ms"), (0.5, "s"), (7200.0, "s"), (7201.0, "h"), (4 * 86_400.0, "h"),
    (4 * 86_400.0 + 1, "days"),
])  # fmt: skip
def test_the_unit_of_times_follows_from_the_longest(longest_s, unit):
    assert time_unit(longest_s) == unit


@pytest.mark.parametrize(("width", "lines"), [(6.0, 2), (3.0, 4), (12.0, 1)])
def test_a_title_has_lines_of_nine_letters_an_inch(width, lines):
    # 20 words of 4 letters and 19 blanks are 99 letters.
    figure = new_figure(width, 4.0, " ".join(["word"] * 20))
    found = figure.get_suptitle().split("\n")
    assert len(found) == lines
    assert max(map(len, found)) <= 9 * width
    # Lines have similar lengths: they differ by a word and a blank at most.
    assert max(map(len, found)) - min(map(len, found)) <= 5
    assert figure.get_size_inches().tolist() == [width, 4.0]
