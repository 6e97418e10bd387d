"""Fixtures of several tests of traces."""

from __future__ import annotations

import pytest

from cluster_abm.workload.traces import read_trace


@pytest.fixture
def trace_of(tmp_path):
    """The trace in a file with this content, whose map must be found without help."""

    def read(text, name):
        path = tmp_path / "log"
        path.write_text(text)
        trace = read_trace(path)
        assert trace.format == name
        assert trace.rows == trace.used + sum(trace.skipped.values())
        return trace

    return read
