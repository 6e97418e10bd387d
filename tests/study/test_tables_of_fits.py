"""`scenarios/fits_by_queueing.py`: the table of logs, shuffled logs and fitted scenarios."""

from __future__ import annotations

import click
import fits_by_queueing as script
import pytest


def queueing(mean, tail):
    waits = [
        {"load": load, "policy": "easy", "measure": measure, "log": 1000.0, "shuffled": 4000.0,
         "fitted": 1000.0 * ratio, "quartiles": [900.0, 2e6], "ratio": ratio}
        for load in (0.5, 0.9) for measure, ratio in (("mean_wait_ms", mean), ("p95_wait_ms", tail))
    ]  # fmt: skip
    return {"verdict": "far", "words": "", "waits": waits}


def test_rows_are_in_seconds_and_earlier_ones_of_other_logs_stay(tmp_path):
    path = tmp_path / "fits.csv"
    first = script.with_earlier(script.rows_of("one", queueing(1.25, 2.0), False), path)
    first.to_csv(path, index=False)
    script.with_earlier(script.rows_of("other", queueing(3.0, 4.0), False), path).to_csv(path, index=False)
    table = script.with_earlier(script.rows_of("one", queueing(1.5, 2.5), False), path)
    assert list(table["log"]) == ["one"] * 4 + ["other"] * 4
    assert table["log_s"].tolist() == [1.0] * 8
    assert script.markdown(table).splitlines()[2:] == [
        "| one | `easy` | 0.5 | 1 | 4 | 1.5 | 1.50 | 2.50 |",
        "| one | `easy` | 0.9 | 1 | 4 | 1.5 | 1.50 | 2.50 |",
        "| other | `easy` | 0.5 | 1 | 4 | 3 | 3.00 | 4.00 |",
        "| other | `easy` | 0.9 | 1 | 4 | 3 | 3.00 | 4.00 |",
    ]
    # A half that was held back is another line.
    both = script.with_earlier(script.rows_of("one", queueing(1.0, 1.0), True), path)
    assert len(both) == 12
    assert "| one, half held back | `easy` | 0.5 |" in script.markdown(both)


def test_one_that_was_not_judged_is_an_error():
    with pytest.raises(click.ClickException, match="one: Not judged"):
        script.rows_of("one", {"verdict": None, "words": "Not judged"}, False)
