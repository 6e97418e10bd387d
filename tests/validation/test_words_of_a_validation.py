"""Text and page of a validation: rows, reasons and facts, from documents made by hand."""

from __future__ import annotations

import pytest
from stubbed import machine_of

from cluster_abm.validation.report import HEADINGS, disk_line, machine_line, page, reasons_of, rows_of, text

CONDITIONS = {"others": 0.011, "steal": 0.002, "delivered": 0.987, "drift": 0.014}


def part(cores, median, verdict="within the goal", **more):
    return {
        "cores": cores, "responses": 80, "sets": 20, "median_error": median, "ci95": [0.011, 0.022],
        "p90_error": 0.055, "p90_ci95": [0.044, 0.066], "bias": -0.0123, "noise_floor": {"median": 0.004, "p90": 0.013},
        "goal": {"median": 0.03, "p90": 0.08}, "verdict": verdict, "reasons": [], "conditions": CONDITIONS,
        "demand_error": 0.031, "sharing_error": {"median": 0.003, "p90": 0.018}, "uncorrected_median_error": 0.25,
        "no_contention_median_error": 0.75,
    } | more  # fmt: skip


MEMORY = {
    "demand_mb": 96, "median_error": 0.015, "largest_error": 0.037, "noise_floor": 0.001, "goal": 0.05,
    "verdict": "within the goal", "reasons": [],
    "limits": [{"limit_mb": 57.6, "measured": (0.41234, 0.40004), "predicted": 0.4, "error": 0.0155}] * 3,
}  # fmt: skip
DISK = {
    "latency_ms": 0.12345, "mb_per_s": 1234.5, "median_error": 0.051, "p90_error": 0.222, "second_pass": 1.26,
    "spread": 2.04, "kind": "flash", "unstable": False, "reads": 800, "direct": True,
}  # fmt: skip
MACHINE = machine_of(7, 3).as_json() | {
    "usable": 6, "idle": {}, "slower_together": None, "slices_ms": [2.345, 3.0], "quantum_ms": 2.6725,
}  # fmt: skip
EMPTY = {
    "machine": MACHINE, "parts": ["cpu", "mixed"], "seed": 6, "seconds": 300.0, "took_s": 285.5, "cpu": None,
    "mixed": None, "disk": None, "memory": None, "warnings": [],
}  # fmt: skip
NOTHING = {"cores": [], "median_error": None, "verdict": "inconclusive", "reasons": ["no set could be carried out"]}


def with_machine(**more):
    return EMPTY | {"machine": MACHINE | more}


def test_rows_of_parts_and_of_numbers_of_cores():
    cpu = part([1, 2], 0.0151, "inconclusive", by_cores=[part([1], 0.01, noise_floor=None), part([2], 0.02)])
    rows = rows_of(EMPTY | {"cpu": cpu, "mixed": NOTHING, "memory": MEMORY})
    ends = ("5.5% [4.4%, 6.6%]", "0.4% / 1.3%", "3% / 8%", "within the goal")
    assert rows == [
        ("CPU sharing", "1 + 2", "20", "80", "1.5% [1.1%, 2.2%]", *ends[:3], "inconclusive"),
        ("  of these", "1", "20", "80", "1.0% [1.1%, 2.2%]", ends[0], "not known", *ends[2:]),
        ("  of these", "2", "20", "80", "2.0% [1.1%, 2.2%]", *ends),
        ("compute and read", "", "0", "0", "", "", "", "", "inconclusive"),
        # Three limits, measured twice each, are 6 responses.
        ("memory faults", "1", "3", "6", "1.5%", "3.7% at most", "0.1%", "5%", "within the goal"),
    ]  # fmt: skip
    assert {len(row) for row in rows} == {len(HEADINGS)}
    assert rows_of(EMPTY) == []


def test_a_reason_of_several_parts_is_listed_once():
    document = EMPTY | {
        "cpu": part([1], 0.01, reasons=["loud", "late"]), "mixed": part([1], 0.01, reasons=["late"]),
        "memory": MEMORY | {"reasons": ["late", "odd"]},
    }  # fmt: skip
    assert reasons_of(document) == [
        "CPU sharing: loud", "CPU sharing, compute and read, memory faults: late", "memory faults: odd",
    ]  # fmt: skip
    assert reasons_of(EMPTY) == []


@pytest.mark.parametrize(("change", "words"), [
    ({}, "0.123 ms + size / 1,234 MB/s, off by 5.1% / 22.2% on reads that it was not fitted to; a second pass is 1.3 "
         "times as fast; flash"),
    ({"mb_per_s": None}, "0.123 ms + size / no bandwidth that can be told, off by 5.1% / 22.2% on reads that it was "
                         "not fitted to; a second pass is 1.3 times as fast; flash"),
    ({"unstable": True}, "0.123 ms + size / 1,234 MB/s, off by 5.1% / 22.2% on reads that it was not fitted to; a "
                         "second pass is 1.3 times as fast; flash; unstable: equal reads differ 2.0-fold"),
])  # fmt: skip
def test_the_real_disk_in_a_sentence(change, words):
    assert disk_line(EMPTY | {"disk": DISK | change}) == f"real disk, for information: {words}"
    assert disk_line(EMPTY) is None


@pytest.mark.parametrize(("change", "name"), [
    ({}, "Some CPU, virtual"), ({"virtual": False}, "Some CPU"), ({"virtual": None, "cpu": ""}, "CPU not named"),
])  # fmt: skip
def test_the_machine_in_a_line(change, name):
    assert machine_line(with_machine(**change)) == f"{name}, 8 processors, Linux 1.2, slice 2.67 ms"


def test_the_printed_table():
    document = EMPTY | {"cpu": part([1], 0.01, reasons=["loud"]), "mixed": NOTHING, "disk": DISK}
    lines = text(document).splitlines()
    assert lines[0].startswith("Some CPU, virtual")
    assert lines[1] == ""
    heading, first, second = lines[2:5]
    assert [heading.index(name) for name in ("part", "cores")] == [0, len("compute and read") + 2]
    assert heading.index("median error") == first.index("1.0% [")
    assert heading.index("verdict") == first.index("within the goal") == second.index("inconclusive")
    assert lines[5:] == [
        "", "inconclusive, because", "  CPU sharing: loud", "  compute and read: no set could be carried out", "",
        disk_line(document),
    ]  # fmt: skip


def facts_of(document):
    """The first table of the page."""
    rows = [line.strip("| ").split(" | ") for line in page(document).split("## Result")[0].splitlines() if "|" in line]
    return dict(row for row in rows[2:])


def test_the_facts_of_a_machine():
    idle = {"before": {"others": 0.012, "steal": 0.0}, "after": {"others": 0.1, "steal": 0.034}}
    assert facts_of(with_machine(idle=idle, slower_together=0.975)) == {
        "processor": "Some CPU (virtual)",
        "processors": "8, of which 6 may be used; measured on number 7, 3",
        "system": "Linux 1.2, Python 3.11.0",
        "limit of a control group": "none",
        "autogroup": "on",
        "load average at the beginning": "0.5",
        "effective slice [ms]": "2.35, 3.00 (before, after); the simulator's quantum 2.67",
        "CPU of the same work while all of these are busy": "-2.5%",
        "others and stolen, before": "1.2%, 0.0%",
        "others and stolen, after": "10.0%, 3.4%",
    }


def test_unknown_facts_of_a_machine():
    facts = facts_of(with_machine(virtual=None, cpu="", quota=1.5, autogroup=None, load=None, slices_ms=[]))
    assert facts["processor"] == "not named"
    assert facts["limit of a control group"] == "1.5 cores"
    assert facts["autogroup"] == facts["load average at the beginning"] == "not said"
    assert facts["effective slice [ms]"].startswith("not measured (before, after)")
    assert len(facts) == 7
    assert facts_of(with_machine(autogroup=False, virtual=False))["autogroup"] == "off"
    assert facts_of(with_machine(virtual=False))["processor"] == "Some CPU"


def test_the_head_of_a_page():
    head = page(EMPTY).splitlines()
    assert head[0] == "# Some CPU, 8 processors"
    assert head[4] == "`cluster-abm validate --seconds 300 --seed 6 --parts cpu,mixed` (286 s)"
    assert page(with_machine(cpu="")).startswith("# A machine, 8 processors\n")


def test_a_page_has_only_the_sections_of_its_parts():
    empty = page(EMPTY)
    for words in ("Conditions", "![", "Inconclusive", "## Disk", "## Memory", "## Not done"):
        assert words not in empty
    assert "## Conditions" not in page(EMPTY | {"cpu": NOTHING})
    assert "![" not in page(EMPTY | {"cpu": NOTHING})
    whole = page(EMPTY | {"mixed": part([1], 0.01, reasons=["loud"]), "disk": DISK, "memory": MEMORY,
                          "warnings": ["late"]})  # fmt: skip
    assert "![measured against predicted](validation.png)" in whole
    assert "Inconclusive, because:\n\n* compute and read: loud\n" in whole
    assert "## Disk\n\nReal disk, for information: 0.123 ms" in whole
    assert "## Not done\n\n* late\n" in whole
    assert "Random touches of 96 MB: share that faults." in whole
    assert "| limit [MB] | measured, each time | predicted | error |\n|---|---|---|---|\n" in whole
    assert whole.count("| 58 | 0.4123, 0.4000 | 0.4000 | 1.6% |") == 3
    assert whole.endswith("\n")
    assert not whole.endswith("\n\n")


def test_conditions_of_each_number_of_cores():
    cpu = part([1, 2], 0.01, by_cores=[part([1], 0.01), part([2], 0.02, bias=0.02)])
    rows = [line for line in page(EMPTY | {"cpu": cpu}).splitlines() if "98.7%" in line]
    seen = "98.7% | 1.1% | 0.2% | 1.4% | 3.1% | 0.3% / 1.8%"
    assert rows == [
        f"| CPU sharing | 1 | {seen} | -1.2% | 25.0% | 75.0% |",
        f"| CPU sharing | 2 | {seen} | +2.0% | 25.0% | 75.0% |",
    ]
    assert "Limits: got at least 95%, others 5%, stolen 2%, drift 3%." in page(EMPTY | {"cpu": cpu})
