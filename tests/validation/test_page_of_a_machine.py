"""What a validation says: the document, the table, the page and the picture, from a table made by hand."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from cluster_abm.results.of_studies.validation_picture import draw_validation
from cluster_abm.validation.blocks import Block, noise_floor
from cluster_abm.validation.judging import Conditions, Goal
from cluster_abm.validation.machine import MeasuredMachine
from cluster_abm.validation.report import page, text
from cluster_abm.validation.validate import Validation

MACHINE = MeasuredMachine("Linux 1.2", "Some CPU", True, 2, (0, 1), (1, 0), None, True, 0.5, "3.11.0")
QUIET = Conditions(0.01, 0.0, 0.99, 0.01)


def block(part, cores, error, conditions=QUIET, sets=20, spread=0.0):
    """Two processes a set, each measured twice, all off by `error`; repeats lie `spread` apart."""
    rows = [
        (part, cores, number, repeat, process, 0.0, 50.0, 60.0, 51.0, 130.0,
         100.0 * (1 + error) * (1 + spread * repeat), 100.0, 80.0)
        for number in range(sets) for repeat in range(2) for process in range(2)
    ]  # fmt: skip
    names = "part,cores,set,repeat,process,start_ms,demand_ms,alone_ms,cpu_ms,wall_ms,measured_ms,predicted_ms"
    names += ",predicted_by_use_ms"
    table = pd.DataFrame(rows, columns=names.split(","))
    return Block(part, cores, table.assign(error=table["measured_ms"] / table["predicted_ms"] - 1), conditions)


def found(*blocks, idle=(0.0, 0.0), **more):
    seen = {"before": (0.0, 0.0), "after": idle}
    return Validation(MACHINE, ("cpu", "mixed"), 1, 300.0, seen, 1.02, [3.0, 3.2], 3.1, list(blocks), **more)


@pytest.mark.slow
def test_the_document():
    document = found(block("cpu", 1, 0.01), block("cpu", 2, -0.02)).document()
    json.dumps(document, allow_nan=False)
    assert [*document["machine"]][-3:] == ["slower_together", "slices_ms", "quantum_ms"]
    cpu = document["cpu"]
    assert cpu["responses"] == 2 * 80
    assert cpu["sets"] == 40
    assert cpu["cores"] == [1, 2]
    assert cpu["verdict"] == "within the goal"
    assert [one["median_error"] for one in cpu["by_cores"]] == pytest.approx([0.01, 0.02])
    assert [one["bias"] for one in cpu["by_cores"]] == pytest.approx([0.01, -0.02])
    assert cpu["by_cores"][0]["ci95"] == pytest.approx([0.01, 0.01])
    assert cpu["by_cores"][0]["uncorrected_median_error"] == pytest.approx(0.3)
    assert cpu["by_cores"][0]["no_contention_median_error"] == pytest.approx(1 - 60 / 101)
    assert cpu["by_cores"][0]["sharing_error"]["p90"] == pytest.approx(101 / 80 - 1)
    assert cpu["by_cores"][0]["demand_error"] == pytest.approx(0.02)
    # Asked for, and no set was carried out.
    assert document["mixed"]["median_error"] is None
    assert document["mixed"]["verdict"] == "inconclusive"
    assert document["disk"] is document["memory"] is None


@pytest.mark.slow
@pytest.mark.parametrize(("noisy", "reason"), [
    (found(block("cpu", 1, 0.0), idle=(0.3, 0.0)), "after the measurements others used 30.0%"),
    (found(block("cpu", 1, 0.0), block("cpu", 2, 0.0, Conditions(0.4, 0.0, 0.99, 0.01))), "others used 40.0%"),
    (found(block("cpu", 1, 0.0, spread=0.2)), "repeats of the same set differ"),
    (found(block("cpu", 1, 0.5, Conditions(0.0, 0.0, 0.5, 0.0))), "the processes got 50.0%"),
])  # fmt: skip
def test_a_noisy_machine_is_neither_praised_nor_blamed(noisy, reason):
    cpu = noisy.document()["cpu"]
    assert cpu["verdict"] == "inconclusive"
    assert any(reason in one for one in cpu["reasons"])
    assert f"CPU sharing: {cpu['reasons'][0]}" in text(noisy.document())


@pytest.mark.slow
def test_the_part_that_was_quiet_keeps_its_verdict():
    document = found(block("cpu", 1, 0.01), block("cpu", 2, 0.0, Conditions(0.4, 0.0, 0.9, 0.0))).document()
    assert document["cpu"]["verdict"] == "inconclusive"
    assert [one["verdict"] for one in document["cpu"]["by_cores"]] == ["within the goal", "inconclusive"]


def test_the_floor_by_hand():
    table = block("cpu", 1, 0.0, spread=0.1).table
    # 100 and 110: 10 of 105, over the square root of 2.
    assert noise_floor(table) == Goal(pytest.approx(0.067344, abs=1e-6), pytest.approx(0.067344, abs=1e-6))
    assert noise_floor(table[table["repeat"] == 0]) is None


@pytest.mark.slow
def test_page_and_table_and_picture(tmp_path):
    one = found(block("cpu", 1, 0.01), block("mixed", 1, 0.2), warnings=["disk: not measured: no room"])
    document = one.document()
    shown, kept = text(document), page(document)
    assert "outside the goal" in shown
    assert "| CPU sharing | 1 | 20 | 80 | 1.0% [1.0%, 1.0%] |" in kept
    assert "* disk: not measured: no room" in kept
    assert max(map(len, (line for line in kept.splitlines() if not line.startswith("|")))) <= 100
    assert draw_validation(tmp_path / "a.png", "x", one.table(), {}).read_bytes().startswith(b"\x89PNG")
    # Without a part, too.
    draw_validation(tmp_path / "b.png", "x", found(block("cpu", 1, 0.01)).table(), {"cpu": "y"})


def test_a_machine_on_which_nothing_can_be_measured():
    one = Validation(MACHINE, ("disk",), 1, 300.0, warnings=["disk: not measured: no room"])
    document = one.document()
    assert document["cpu"] is document["mixed"] is None
    assert text(document).strip() == "Some CPU, virtual, 2 processors, Linux 1.2, slice 3.00 ms"
    assert "## Not done" in page(document)
    assert one.table().empty
