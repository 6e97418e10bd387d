"""Recorded work: windows, nodes for a load, workflows put together, and what a verdict says; the script end to end."""

from __future__ import annotations

import math
import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from reality.judging import Claim, beyond_all, verdict
from reality.machines import span_of, write_window
from reality.sizing import offered, windows
from reality.workflows import composed, write_composed
from reality.workloads import scenario_of

from cluster_abm.workload.traces import Trace, read_trace
from cluster_abm.workload.traces.table import job_frame

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scenarios" / "real_work.py"))


@pytest.mark.parametrize(("span", "length", "count"), [(100.0, 10.0, 8), (80.0, 10.0, 8), (1e6, 3.0, 2)])
def test_windows_are_disjoint_and_inside(span, length, count):
    begins = windows(span, length, count)
    assert len(begins) == count
    assert begins[0] >= 0
    assert begins[-1] + length <= span
    assert (np.diff(begins) >= length).all()


def test_windows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        windows(10.0, 2.0, 6)


def test_load_is_offered_over_the_window_and_not_from_first_to_last_arrival(tmp_path):
    """Two jobs of 5 s at once, on two nodes in 10 s: half of what there is. 100 accesses of 8 + 2.5 ms are 1.05 s."""
    path = tmp_path / "jobs.csv"
    path.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,request_kb\n"
                    "1000,0,5000,0.02,0,100\n1000,1,5000,0,0,100\n")  # fmt: skip
    found = offered(scenario_of({"workload.trace.file": str(path), "cluster.nodes": 2}), 1, 10.0)
    assert found.cpu == pytest.approx(0.5)
    assert found.disk == pytest.approx(1.05 / 20.0)
    assert found.memory == 0.0


def chain(name: str, length: int) -> Trace:
    """A workflow of so many tasks, one after the other."""
    table = {
        "arrival_ms": np.zeros(length), "cpu_ms": np.full(length, 10.0 * length),
        "job": [f"{name}{place}" for place in range(length)],
        "after": ["" if not place else f"{name}{place - 1}" for place in range(length)],
    }  # fmt: skip
    return Trace(name, "csv", length, job_frame({key: np.array(value) for key, value in table.items()}))


def test_workflows_put_together_keep_their_dependencies_and_have_one_home_each(tmp_path):
    path = write_composed(tmp_path / "all.csv", [chain("a", 2), chain("b", 3)], 20, 50.0, 4, 7)
    trace = read_trace(path)
    jobs = trace.table
    workflow = jobs["job"].str.split(".").str[0]
    assert workflow.nunique() == 20
    assert set(jobs.groupby(workflow)["home"].nunique()) == {1}
    assert jobs["home"].between(0, 3).all()
    assert jobs["arrival_ms"].between(0, 50_000).all()
    assert trace.parents is not None
    for row in range(len(jobs)):
        for parent in trace.parents.parent[trace.parents.first[row] : trace.parents.first[row + 1]]:
            assert workflow[row] == workflow[parent]
            assert int(jobs["job"][row][-1]) == int(jobs["job"][parent][-1]) + 1
    waiting = (np.diff(trace.parents.first) > 0).sum()
    assert waiting == len(jobs) - 20
    same = composed([chain("a", 2), chain("b", 3)], 20, 50.0, 4, 7).table
    pd.testing.assert_frame_equal(
        same[["arrival_ms", "home", "job", "after"]], jobs[["arrival_ms", "home", "job", "after"]]
    )


def test_windows_of_machines_split_their_samples(tmp_path):
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "1.csv").write_text("head\n" + "".join(f"{second};1\n" for second in range(100, 200, 10)))
    assert span_of(folder) == (100.0, 190.0)
    parts = [write_window(folder, begin, begin + 50, tmp_path / str(begin)) for begin in (100, 150)]
    found = [(part / "1.csv").read_text().splitlines() for part in parts]
    assert [lines[0] for lines in found] == ["head", "head"]
    assert found[0][1:] + found[1][1:] == [f"{second};1" for second in range(100, 200, 10)]


def runs(a, b):
    """Both policies' runs, a seed each."""
    rows = [("a", seed, value) for seed, value in enumerate(a)] + [("b", seed, value) for seed, value in enumerate(b)]
    return pd.DataFrame(rows, columns=["policy", "seed", "mean_slowdown"])


BETTER = Claim(paper="p", says="s", better="a", worse="b")
LOAD = {"cpu": 0.7, "disk": 0.04, "memory": 0.05}


def test_verdicts_in_words():
    base = np.array([1.0, 2.0, 3.0, 4.0])
    noise = np.array([1.0, 1.01, 0.99, 1.0])
    assert verdict(BETTER, runs(0.5 * base * noise, base), LOAD).word == "holds"
    assert verdict(BETTER, runs(2.0 * base * noise, base), LOAD).word == "the reverse"
    assert verdict(BETTER, runs(base * noise, base), LOAD).word == "not told apart"
    equal = verdict(BETTER, runs(base, base), LOAD)
    assert (equal.word, equal.p_value) == ("not told apart", 1.0)


def test_the_p_value_is_that_of_the_paired_t_test_of_logarithms():
    """Logarithms 1 and 3: mean 2, standard error 1, t = 2 with one degree of freedom: p = 1 - 2 atan(2)/pi."""
    found = verdict(BETTER, runs(np.exp([1.0, 3.0]), [1.0, 1.0]), LOAD)
    assert found.p_value == pytest.approx(1.0 - 2.0 * math.atan(2.0) / math.pi)


def test_a_claim_applies_where_its_resource_is_asked_for():
    assert BETTER.applies(LOAD)
    assert not BETTER.model_copy(update={"about": ("disk",)}).applies(LOAD)
    assert BETTER.model_copy(update={"about": ("disk", "memory")}).applies(LOAD)
    assert not BETTER.model_copy(update={"but_not": ("memory",)}).applies(LOAD)
    needs = BETTER.model_copy(update={"needs": ("memory",)})
    assert needs.applies(LOAD)
    assert not needs.applies({**LOAD, "memory": 0.0})
    found = verdict(BETTER.model_copy(update={"about": ("disk",)}), runs([1.0], [1.0]), LOAD)
    assert found.word == "does not apply"
    assert math.isnan(found.p_value)


def test_holm_counts_only_tests_that_were_made():
    """Of three 0.01 < 0.05/3 and 0.02 < 0.05/2 survive; of four 0.01 < 0.05/4 does, and 0.02 > 0.05/3 does not."""
    assert beyond_all([0.01, math.nan, 0.02, 0.9]) == [True, False, True, False]
    assert beyond_all([0.01, 0.5, 0.02, 0.9]) == [True, False, False, False]


@pytest.mark.slow
def test_the_script_end_to_end(tmp_path):
    """Two formats: what was run is said, what is absent is named, I/O claims do not apply without I/O."""
    data = tmp_path / "data"
    (data / "swim").mkdir(parents=True)
    rng = np.random.default_rng(3)
    lines = [
        f"{run},{rng.integers(3)},{second},{0.2 + rng.exponential(0.5):.3f},p\n"
        for run in (0, 1)
        for second in np.sort(rng.integers(0, 1800, 120))
    ]
    (data / "hbd97.csv").write_text("run,host,submit_s,cpu_s,prog\n" + "".join(lines))
    rows = [f"job{n}\t{30 * n}\t30\t{rng.integers(10**6, 10**9)}\t0\t{rng.integers(10**6, 10**8)}\n" for n in range(60)]
    (data / "swim" / "FB-2009.tsv").write_text("".join(rows))
    arguments = ["--data", str(data), "--out", str(tmp_path / "out"), "--replications", "2", "--workers", "1"]
    done = CliRunner().invoke(SCRIPT["main"], arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "Bitbrains: left out" in done.output
    table = pd.read_csv(tmp_path / "out" / "real-work.csv")
    assert set(table["workload"]) == {"HBD + I/O", "HBD", "FB-2009 disk", "FB-2009 both", "FB-2009 CPU"}
    assert len(table) == 5 * len(SCRIPT["load_claims"]())
    about_disks = (table["workload"] == "HBD") & (table["better"] == "iolb") & (table["worse"] == "mlb")
    assert table[about_disks]["verdict"].tolist() == ["does not apply"]
    assert (tmp_path / "out" / "real-work.png").stat().st_size > 10_000
    loads = pd.read_csv(tmp_path / "out" / "real-work-policies.csv").drop_duplicates("workload").set_index("workload")
    assert loads.loc["HBD + I/O", "offered_disk"] == pytest.approx(0.7)
    assert loads.loc["HBD", "offered_cpu"] == pytest.approx(0.7)
    assert loads.filter(like="offered_").to_numpy().max() <= 0.7 + 1e-4


def test_a_folder_without_any_log_is_said(tmp_path):
    done = CliRunner().invoke(SCRIPT["main"], ["--data", str(tmp_path), "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "holds none of the logs" in done.output
