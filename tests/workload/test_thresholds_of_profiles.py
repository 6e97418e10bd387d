"""Activity profiles: numbers at their bounds and just beyond, messages about rows, and phases by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario.distributions import Programs
from cluster_abm.workload import profiles
from cluster_abm.workload.profiles import read_profiles
from cluster_abm.workload.programs import library

HEAD = "program,cpu_ms,memory_mb,accesses,turnover_mb_per_s,pause_ms"


def put(folder: Path, *rows: str) -> str:
    path = folder / "p.csv"
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize(("row", "said"), [
    ("a,1,0,0,0,0", ""), ("a,1e9,1e9,1e6,1e6,1e9", ""),
    ("a,0,0,0,0,0", "cpu_ms = 0: allowed is above 0 and up to 1e+09"),
    ("a,1.1e9,0,0,0,0", "cpu_ms = 1.1e9: allowed is above 0 and up to 1e+09"),
    ("a,,0,0,0,0", "cpu_ms = : allowed is above 0"), ("a,1,,0,0,0", "memory_mb = : allowed is 0..1e+09"),
    ("a,1,-0.1,0,0,0", "memory_mb = -0.1: allowed is 0..1e+09"), ("a,1,1.1e9,0,0,0", "memory_mb = 1.1e9"),
    ("a,1,0,1.5,0,0", "accesses = 1.5: allowed is 0..1e+06, a whole number"), ("a,1,0,1000001,0,0", "accesses = "),
    ("a,1,0,0,1000001,0", "turnover_mb_per_s = 1000001: allowed is 0..1e+06"), ("a,1,0,0,-1,0", "turnover_mb_per_s"),
    ("a,1,0,0,0,1.1e9", "pause_ms = 1.1e9: allowed is 0..1e+09"), ("a,1,0,0,0,", "pause_ms = : allowed is 0..1e+09"),
    (",1,0,0,0,0", "program: a name is needed"), (" ,1,0,0,0,0", "program: a name is needed"),
])  # fmt: skip
def test_a_number_of_an_interval(tmp_path, row, said):
    path = put(tmp_path, "z,1,0,0,0,0", row)
    if not said:
        assert len(read_profiles(path, 1)) == 2
        return
    with pytest.raises(InputError) as caught:
        read_profiles(path, 1)
    assert caught.value.problems[0].startswith(f"{path}: row 2: {said}")


def test_rows_of_a_program_are_together_and_each_problem_is_named_once(tmp_path):
    path = put(tmp_path, "a,1,0,0,0,0", "b,0,0,0,0,0", "a,0,0,0,0,x", "a,1,0,0,0,y")
    with pytest.raises(InputError) as caught:
        read_profiles(path, 1)
    assert caught.value.problems == [
        f"{path}: row 2: cpu_ms = 0: allowed is above 0 and up to 1e+09",
        f"{path}: row 3: pause_ms = x: allowed is 0..1e+09",
        f"{path}: row 3: program 'a': its rows must stand together",
    ]


@pytest.mark.parametrize("most", [2, 3])
def test_the_largest_number_of_programs(tmp_path, monkeypatch, most):
    monkeypatch.setattr(profiles, "MOST_PROGRAMS", most)
    path = put(tmp_path, "a,1,0,0,0,0", "a,2,0,0,0,0", "b,1,0,0,0,0", "c,1,0,0,0,0")
    if most == 3:
        assert read_profiles(path, 1)["program"].tolist() == ["a", "a", "b", "c"]
        return
    with pytest.raises(InputError, match="more than 2 programs: allowed up to 2"):
        read_profiles(path, 1)


def test_phases_by_hand(tmp_path):
    """Program a first grows by 10 MB within 2 s, 5 MB/s, and turns over 1 MB/s. Its two equal rows are one phase.

    Program b begins with 0 MB: it grows by 4 MB within 1 s. A pause ends a phase, even before an equal row.
    """
    rows = ["a,2000,10,5,1,0", "a,500,4,7,0,0", "a,500,4,7,0,0", "b,1000,4,0,0,3", "b,1000,4,0,0,3", "b,1000,4,0,0,0"]
    found = library(Programs(file=put(tmp_path, *rows)))
    assert found.names == ("a", "b")
    assert (found.first.tolist(), found.count.tolist()) == ([0, 2], [2, 3])
    phases = found.phases
    assert phases["cpu_ms"].tolist() == [2000, 1000, 1000, 1000, 1000]
    assert phases["memory_kb"].tolist() == [10_000, 4_000, 4_000, 4_000, 4_000]
    assert phases["accesses"].tolist() == [5, 14, 0, 0, 0]
    assert phases["allocated_kb_per_s"].tolist() == [6_000, 0, 4_000, 0, 0]
    assert phases["pause_ns"].tolist() == [0, 0, 3_000_000, 3_000_000, 0]
    assert found.over("cpu_ms", "sum").tolist() == [3000, 3000]
    assert found.over("memory_kb", "max").tolist() == [10_000, 4_000]
    assert [found.number(name, "here") for name in "ab"] == [0, 1]
    with pytest.raises(InputError, match=r"^here: no program 'c'"):
        found.number("c", "here")
