"""Parts of a store: read without a trace of the reading left behind."""

from __future__ import annotations

import hashlib
import sys

import pytest

from cluster_abm.study.store import segments


@pytest.fixture
def slow_switches():
    """Threads of Python give way to each other so seldom that what Arrow's threads still hold is seen."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(5.0)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
@pytest.mark.usefixtures("slow_switches")
@pytest.mark.parametrize("run", [None, ("k", 3)])
def test_arrow_holds_no_python_object_once_a_part_is_read(tmp_path, monkeypatch, run):
    """A thread that lets go of one while the interpreter ends aborts the process. That this is so is not shown here."""
    records = [{"key": "k", "seed": seed, "load": None, "metrics": {"a": 0.5, "b": seed}} for seed in range(1000)]
    data = segments.to_bytes(segments.table_of(records))
    path = tmp_path / f"{hashlib.sha256(data).hexdigest()}.parquet"
    path.write_bytes(data)
    monkeypatch.setattr(segments, "read_bytes", lambda _: data)
    before = sys.getrefcount(data)
    held = 0
    for _ in range(100):
        table = segments.read_segment(path, run=run)
        held += sys.getrefcount(data) > before
        assert table.num_rows == (1000 if run is None else 1)
    assert held == 0
