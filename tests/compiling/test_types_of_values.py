"""Types of values are made anew in each process; kept code of one process means those of another by the same names."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest
from numba import types
from numba.core.serialize import dumps

from cluster_abm.compiling import tables
from cluster_abm.compiling.values import value_type
from cluster_abm.jit import kept

NAMES = ("LOADS", "TASK", "VIEW", "UNLIKE_VIEW")


@pytest.mark.slow
def test_a_type_of_another_process_is_this_ones():
    program = (
        "import sys; from numba.core.serialize import dumps; from cluster_abm.compiling import tables;"
        f"sys.stdout.buffer.write(dumps([getattr(tables, name) for name in {NAMES!r}]))"
    )
    written = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout
    read = pickle.loads(written)
    for name, kind in zip(NAMES, read, strict=True):
        assert kind is getattr(tables, name), name


def test_of_two_types_of_one_name_neither_is_meant():
    first, _ = value_type("OfTwo", {"at": types.int64})
    written = dumps(first)
    assert pickle.loads(written) is first
    value_type("OfTwo", {"at": types.float64})
    with pytest.raises(LookupError):
        pickle.loads(written)


def test_kept_code_for_a_value_counts_what_its_methods_come_from(monkeypatch):
    """A kernel with such an argument names no method: numba finds them by the type."""
    start = "cluster_abm.compiling.values:ValueType"
    reached = kept.sources().reached([start])
    assert {"cluster_abm.compiling.operations", "cluster_abm.policy.view"} <= {line.split()[0] for line in reached}
    monkeypatch.setattr(kept, "stamp_of", lambda *starts: f"<{' '.join(starts)}>")
    array = types.Array(types.float64, 1, "C")
    assert f"<{start}>" in kept.described(tables.LOADS)
    assert f"<{start}>" in kept.described(types.Tuple([array, tables.TASK]))
    assert "<" not in kept.described(array)
