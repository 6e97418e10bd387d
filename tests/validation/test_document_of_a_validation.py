"""The document of a validation, key by key, from results made by hand."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest
from stubbed import machine_of

from cluster_abm.validation import validate as module
from cluster_abm.validation.validate import Validation

QUOTA = "a control group limits this process to 1.5 cores, which stops it at times"


@pytest.fixture
def concluding(monkeypatch):
    """Conclusions are replaced by their arguments: the names of the blocks, and the idle reasons."""
    monkeypatch.setattr(
        module, "concluded", lambda blocks, idle: {"blocks": [block.name for block in blocks], "idle": [*idle]}
    )
    monkeypatch.setattr(module, "nothing_concluded", lambda part: f"nothing of {part}")


def block(part, name, rows=()):
    return SimpleNamespace(part=part, name=name, table=pd.DataFrame({"row": rows}))


def test_every_key(concluding):
    idle = {"before": (0.01, 0.02), "after": (0.03, 0.015)}
    found = Validation(
        machine_of(7, 3), ("cpu", "disk"), 6, 300.0, idle, 1.25, [2.0, 5.0], 3.5, [block("cpu", "one")],
        SimpleNamespace(as_json=lambda: "a fit"), {"judged": "so"}, ["a warning"], 123.456,
    )  # fmt: skip
    assert found.document() == {
        "machine": {
            "system": "Linux 1.2", "cpu": "Some CPU", "virtual": True, "processors": 8, "usable": 8, "cores": [7, 3],
            "quota": None, "autogroup": True, "load": 0.5, "python": "3.11.0",
            "idle": {"before": {"others": 0.01, "steal": 0.02}, "after": {"others": 0.03, "steal": 0.015}},
            "slower_together": 1.25, "slices_ms": [2.0, 5.0], "quantum_ms": 3.5,
        },
        "parts": ["cpu", "disk"], "seed": 6, "seconds": 300.0, "took_s": 123.5,
        "cpu": {"blocks": ["one"], "idle": []}, "mixed": None, "disk": "a fit", "memory": {"judged": "so"},
        "warnings": ["a warning"],
    }  # fmt: skip


def test_the_document_before_any_measurement(concluding):
    document = Validation(machine_of(7), ("mixed",), 1, 60.0).document()
    assert {key: document[key] for key in ("cpu", "mixed", "disk", "memory", "warnings", "took_s")} == {
        "cpu": None, "mixed": "nothing of mixed", "disk": None, "memory": None, "warnings": [], "took_s": 0.0,
    }  # fmt: skip
    assert {key: document["machine"][key] for key in ("idle", "slower_together", "slices_ms", "quantum_ms")} == {
        "idle": {}, "slower_together": None, "slices_ms": [], "quantum_ms": 3.0,
    }  # fmt: skip


def test_several_blocks_of_a_part_are_judged_together_and_each_alone(concluding):
    blocks = [block("cpu", "one"), block("mixed", "reading"), block("cpu", "all")]
    found = Validation(machine_of(7, 3), ("cpu", "mixed"), 6, 300.0, blocks=blocks).document()
    alone = [{"blocks": ["one"], "idle": []}, {"blocks": ["all"], "idle": []}]
    assert found["cpu"] == {"blocks": ["one", "all"], "idle": [], "by_cores": alone}
    assert found["mixed"] == {"blocks": ["reading"], "idle": []}


@pytest.mark.parametrize(("idle", "quota", "reasons"), [
    # Others used 20 % before; the hypervisor stole 10 % after.
    ({"before": (0.2, 0.0), "after": (0.0, 0.1)}, None, ["before", "after"]),
    ({"before": (0.0, 0.1), "after": (0.2, 0.0)}, 1.5, [QUOTA, "before", "after"]),
    ({"before": (0.0, 0.0), "after": (0.2, 0.1)}, None, ["after", "after"]),
    ({}, 1.5, [QUOTA]),
    # Reasons need both looks; a validation that ended early has only the first.
    ({"before": (0.2, 0.0)}, None, []),
])  # fmt: skip
def test_reasons_why_nothing_can_be_concluded(concluding, idle, quota, reasons):
    blocks = [block("cpu", "one"), block("mixed", "reading"), block("cpu", "all")]
    found = Validation(machine_of(7, quota=quota), ("cpu", "mixed"), 6, 300.0, idle, blocks=blocks).document()
    said = found["cpu"]["idle"]
    assert len(said) == len(reasons)
    assert all(one.startswith(reason) for one, reason in zip(said, reasons, strict=True))
    assert found["mixed"]["idle"] == said
    assert [one["idle"] for one in found["cpu"]["by_cores"]] == [said, said]


def test_the_table_has_the_rows_of_all_blocks():
    blocks = [block("cpu", "one", [1, 2]), block("mixed", "reading", [3])]
    table = Validation(machine_of(7), ("cpu", "mixed"), 6, 300.0, blocks=blocks).table()
    assert table["row"].tolist() == [1, 2, 3]
    assert table.index.tolist() == [0, 1, 2]
