"""Times on other machines: planted tasks come back as worked out by hand, files that lie are named or counted."""

from __future__ import annotations

import io
import json
import lzma
import math
import os
import runpy
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from machines.errors import chosen_elsewhere, error_of, median_difference, with_fitted_factors
from machines.lone_runs import times_on
from machines.parts import PARTS, Division, parts_of
from machines.records import pairs_of, read_records, read_scores, same_times

from cluster_abm.errors import InputError

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / "scenarios" / "predict_machines.py"))
DATA = Path(os.environ.get("CLUSTER_ABM_DATA", Path(__file__).parents[2].parent / "shared" / "data")) / "lotaru"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="Lotaru's files are not here; CLUSTER_ABM_DATA says where")
HEADER = (
    "Label,Machine,Workflow,NumberSequences,Task,WorkflowInputSize,Realtime,%cpu,rss,rchar,wchar,cpus,read_bytes,"
    "write_bytes,vmem,memory,peak_rss,TaskInputSize,TaskInputSizeUncompressed,WorkflowInputUncompressed"
)


def row(machine, task, realtime, percent=100.0, read=0, written=0, size=1000, label="test"):
    rest = f"{read},{written},4,5,6,{size},{size},{size}"
    return f"{label},{machine},own,7,{task},{size},{realtime},{percent},1,2,3,2,{rest}"


def write(folder, machine, *rows, workflow="own", header=HEADER):
    path = folder / f"lotaru-{machine}-{workflow}.csv.xz"
    path.write_bytes(lzma.compress("\n".join([header, *rows, ""]).encode()))
    return path


class Outcome(NamedTuple):
    exit_code: int
    stdout: str
    stderr: str

    @property
    def output(self):
        return self.stdout + self.stderr


def run(folder, *options):
    # click's own runner keeps stdout and stderr apart from its version 8.2 on.
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as left:
        SCRIPT["main"](["--data", str(folder), *options])
    return Outcome(left.value.code, out.getvalue(), err.getvalue())


def runs(*rows):
    return pd.DataFrame(rows, columns=["wall_ms", "cpu_percent", "disk_mb"])


# Where a run's time goes, worked out by hand for a disk of 100 MB/s: 10 ms a megabyte.
DIVIDED = {
    "a core all the time": (Division(), (1000, 100, 0), (1000, 0, 0, 0)),
    "several cores, their bytes beside them": (Division(), (1000, 350, 50), (1000, 0, 0, 0)),
    "the disk all the time": (Division(), (1000, 0, 100), (0, 0, 1000, 0)),
    "a core, the disk, and neither": (Division(), (1000, 40, 25), (400, 0, 250, 350)),
    "more bytes than there was time for": (Division(), (1000, 40, 90), (400, 0, 600, 0)),
    "half of the computing stalls": (Division(stalled_share=0.5), (1000, 40, 25), (200, 200, 250, 350)),
    "no disk": (Division(disk=False), (1000, 40, 25), (400, 0, 0, 600)),
    "no waits": (Division(waits=False), (1000, 40, 25), (750, 0, 250, 0)),
    "cores alone": (Division(waits=False, disk=False), (1000, 40, 25), (1000, 0, 0, 0)),
}


@pytest.mark.parametrize("case", DIVIDED)
def test_a_runs_time_is_divided(case):
    division, given, expected = DIVIDED[case]
    found = parts_of(runs(given), division, 100.0)
    assert found.loc[0, list(PARTS)].tolist() == pytest.approx(expected)


def test_parts_add_up_to_the_run():
    rng = np.random.default_rng(3)
    given = runs(*zip(rng.lognormal(8, 3, 200), rng.uniform(0, 800, 200), rng.lognormal(2, 3, 200), strict=True))
    for division in SCRIPT["DIVISIONS"].values():
        found = parts_of(given, division, 118.0)
        assert (found >= 0).all(axis=None)
        np.testing.assert_allclose(found.sum(axis=1), given["wall_ms"], rtol=1e-12)


def test_lone_runs_take_what_the_speeds_say():
    """A machine with a core twice as fast and half the disk; one as the first; one with a slow core, a fast disk."""
    parts = pd.DataFrame(
        [(4000.0, 0, 0, 0), (0, 0, 500.0, 0), (0, 300.0, 0, 700.0), (800.0, 100.0, 640.5, 60.0), (12.0, 0, 0.25, 0)],
        columns=PARTS,
        index=[3, 1, 4, 0, 9],
    )
    machines = pd.DataFrame(
        {"cpu_speed": [2.0, 1.0, 0.5], "disk_speed": [0.5, 1.0, 4.0]}, index=["quick", "same", "slow"]
    )
    found = times_on(parts, machines, 100.0)
    expected = {
        "quick": [2000.0, 1000.0, 1000.0, 400.0 + 1281.0 + 160.0, 6.5],
        "same": [4000.0, 500.0, 1000.0, 1600.5, 12.25],
        "slow": [8000.0, 125.0, 1000.0, 1600.0 + 160.125 + 160.0, 24.0625],
    }
    assert found.index.tolist() == parts.index.tolist()
    for machine, times_ms in expected.items():
        # A part of none still takes some tenths of a microsecond of CPU.
        assert found[machine].tolist() == pytest.approx(times_ms, rel=1e-6, abs=1e-3)


def test_more_runs_than_a_file_of_profiles_holds(monkeypatch):
    monkeypatch.setattr("machines.lone_runs.MOST_PROGRAMS", 2)
    parts = pd.DataFrame([(10.0 * number, 0, 0, 5.0) for number in range(1, 6)], columns=PARTS)
    found = times_on(parts, pd.DataFrame({"cpu_speed": [2.0], "disk_speed": [1.0]}, index=["quick"]), 100.0)
    assert found["quick"].tolist() == pytest.approx([10.0, 15.0, 20.0, 25.0, 30.0])


def test_pairs_are_the_same_task_label_and_sizes(tmp_path):
    own = row("local", "a", 100), row("local", "a", 200, size=2), row("local", "b", 300)
    write(tmp_path, "local", *own)
    write(tmp_path, "n1", row("n1", "a", 110), row("n1", "a", 220, size=3), row("n1", "b", 330, label="train-1"))
    write(tmp_path, "c2", row("c2", "b", 90), row("c2", "a", 80, size=2))
    write(tmp_path, "c2", row("c2", "a", 7), workflow="of-others")
    for name in ("lotaru-n2-own.csv", "notes.txt", "lotaru-n2-own.csv.xz.part", "lotaru-n2.csv.xz"):
        (tmp_path / name).write_text("not ours")
    (tmp_path / "lotaru").mkdir()
    records = read_records(tmp_path)
    pairs = pairs_of(records, "local", ["n1", "c2"])
    found = sorted(pairs[["task", "machine", "wall_ms", "measured_ms"]].itertuples(index=False, name=None))
    assert found == [("a", "c2", 200, 80), ("a", "n1", 100, 110), ("b", "c2", 300, 90)]
    assert (records.files, records.rows, records.skipped) == (4, 9, {})


def test_rows_that_cannot_be_used_are_counted_by_reason(tmp_path):
    write(tmp_path, "local", row("local", "a", 100))
    write(
        tmp_path, "n1",
        row("n1", "a", 110), row("n1", "a", 120), row("n1", "b", -5), row("n1", "c", 0), row("n2", "d", 10),
        row("n1", "e", 10, percent="-"), row("n1", "f", 10, read=-1), row("n1", "g", 2e9), row("n1", "h", 10, size="-"),
        row("n1", "i", 10, percent=-3), row("n1", "j", 10, read=10**20), row("n1", "", 10),
    )  # fmt: skip
    records = read_records(tmp_path)
    assert len(records.runs) == 2
    assert records.rows == len(records.runs) + sum(records.skipped.values()) == 13
    counted = {reason: count for reason, count in records.skipped.items() if count != 1}
    assert not counted
    for words in ("negative run time", "another machine", "input sizes again", "no %cpu", "beyond 2^63"):
        assert any(words in reason for reason in records.skipped), words


@pytest.mark.slow
def test_planted_machines_are_predicted_through_the_command(tmp_path):
    """`c2` as if its scores were all there is to say, but for the stalls: half of what a core computes."""
    scores = read_scores()
    cpu, io = scores.loc["local"] / scores.loc["c2"]
    mb = 118 * 10**6
    # Pure CPU, pure disk for 2 s, waiting alone (next to no CPU), and 40 % CPU with 3 s of disk of 10 s.
    write(
        tmp_path, "local", row("local", "cpu", 5000), row("local", "disk", 2000, 1e-9, read=2 * mb),
        row("local", "wait", 1000, 1e-9), row("local", "mixed", 10_000, 40, read=2 * mb, written=mb),
    )  # fmt: skip
    expected = {
        "cpu": 5000 * (1 + cpu) / 2,
        "disk": 2000 * io,
        "wait": 1000,
        "mixed": 2000 + 2000 * cpu + 3000 * io + 3000,
    }
    write(tmp_path, "c2", *(row("c2", task, f"{time:.6f}") for task, time in expected.items()))
    write(tmp_path, "wallyRedCpu", *(row("wallyRedCpu", task, 1) for task in expected))
    write(tmp_path, "mine", row("mine", "cpu", 1))
    outcome = run(tmp_path, "--json")
    assert outcome.exit_code == 0, outcome.output
    document = json.loads(outcome.stdout)
    assert '["mine", "wallyRedCpu"]' in outcome.stderr
    assert document["pairs"] == 4
    assert document["machines_without_scores"] == ["mine", "wallyRedCpu"]
    assert document["median_error"]["model"] < 1e-6
    assert document["median_error"]["none"] > 0.01
    assert document["with_wallyRedCpu"]["pairs"] == 8
    by_hand = [5000 * cpu / expected["cpu"], 2000 * cpu / expected["disk"], cpu, 10_000 * cpu / expected["mixed"]]
    cores = document["divisions"]["cores"]["median_error"]
    assert cores == pytest.approx(document["median_error"]["cpu_score"], abs=1e-6)
    assert cores == pytest.approx(np.median(np.abs(np.array(by_hand) - 1.0)), abs=1e-6)
    assert document["fitted_to_targets"]["one factor a machine, from other workflows"] is None


@pytest.mark.slow
def test_a_table_and_a_picture_are_written(tmp_path):
    write(tmp_path, "local", row("local", "a", 1000), row("local", "b", 2000), row("local", "b", 3000, size=2))
    for machine in ("n1", "c2"):
        write(tmp_path, machine, row(machine, "a", 1000), row(machine, "b", 2000), row(machine, "b", 3000, size=2))
    outcome = run(tmp_path, "--out", str(tmp_path / "out"))
    assert outcome.exit_code == 0, outcome.output
    assert "6 pairs" in outcome.stdout
    table = pd.read_csv(tmp_path / "out" / "other-machines.csv")
    assert table[["task", "machine", "pairs"]].to_numpy().tolist() == [
        ["a", "c2", 1], ["a", "n1", 1], ["b", "c2", 2], ["b", "n1", 2],
    ]  # fmt: skip
    assert (table["none"] == 0).all()
    assert (tmp_path / "out" / "other-machines.png").stat().st_size > 10_000


def test_the_difference_of_the_median_errors_resamples_whole_tasks():
    """By hand: the model is wrong by 0.1 in task a and 0.3 in b, the mean of the scores by 0.2 in both.

    Pairs of a task are alike, so resamples differ by their tasks: -0.1, 0 and 0.1 with chances 1/4, 1/2 and 1/4.
    """
    pairs = pd.DataFrame({"workflow": "w", "task": ["a"] * 4 + ["b"] * 4, "machine": ["n1", "c2"] * 4})
    errors = pd.DataFrame({"model": [0.1] * 4 + [0.3] * 4, "mean_score": 0.2})
    found = SCRIPT["difference"](errors, pairs, "model", "mean_score")
    assert found == {
        "median": pytest.approx(0.0), "tasks": 2, "ci95": pytest.approx([-0.1, 0.1]), "workflows": 1,
        "ci95_by_workflow": None,
    }  # fmt: skip


@pytest.mark.parametrize(("ci95", "said"), [
    ([-0.04, -0.01], "-4.0 to -1.0 (resampling 9 tasks): significant"),
    ([-0.04, 0.01], "-4.0 to +1.0 (resampling 9 tasks): not significant"),
    ([0.001, 0.01], "+0.1 to +1.0 (resampling 9 tasks): significant"),
    (None, "difference -2.0 points; one task gives no interval"),
])  # fmt: skip
def test_the_difference_in_words(ci95, said):
    document = {
        "median_error": {"model": 0.15, "mean_score": 0.17},
        "difference": {"model_minus_mean_score": {"median": -0.02, "tasks": 9, "ci95": ci95}},
    }
    assert SCRIPT["in_words"](document).startswith("model 15.0%, mean of the scores 17.0%: difference -2.0 points")
    assert SCRIPT["in_words"](document).endswith(said)


def test_bad_folders_end_with_exit_code_2_and_the_reason(tmp_path):
    assert run(tmp_path / "nowhere").exit_code == 2
    empty = run(tmp_path)
    assert (empty.exit_code, "no file lotaru-MACHINE-WORKFLOW.csv.xz" in empty.stderr) == (2, True)
    path = write(tmp_path, "n1", row("n1", "a", 10), row("n1", "b", 10))
    missing = run(tmp_path, "--json")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "no run on 'local'" in missing.stderr
    write(tmp_path, "local", row("local", "z", 10))
    assert "no run on 'local' has one of the same" in run(tmp_path).stderr
    path.write_bytes(path.read_bytes()[:-20])
    write(tmp_path, "n2", "1,2,3", workflow="other")
    cut = run(tmp_path)
    assert cut.exit_code == 2
    assert "lotaru-n1-own.csv.xz" in cut.stderr
    assert "lotaru-n2-other.csv.xz" in cut.stderr
    assert "Traceback" not in cut.output


def test_where_all_rows_are_skipped_the_reasons_are_named(tmp_path):
    write(tmp_path, "local", row("local", "a", -10), row("local", "b", 0))
    write(tmp_path, "n1", row("n1", "a", 10))
    outcome = run(tmp_path)
    assert outcome.exit_code == 2
    assert "1 negative run time, 1 zero run time" in outcome.stderr


def test_a_machine_without_a_score_alone_is_not_enough(tmp_path):
    write(tmp_path, "local", row("local", "a", 10))
    write(tmp_path, "wallyRedCpu", row("wallyRedCpu", "a", 10))
    outcome = run(tmp_path)
    assert outcome.exit_code == 2
    assert "wallyRedCpu" in outcome.stderr


def test_a_difference_of_medians_and_its_interval():
    rng = np.random.default_rng(5)
    errors, clusters = rng.lognormal(size=60), np.repeat(np.arange(20), 3)
    assert median_difference(errors, errors, clusters) == (0.0, 0.0, 0.0)
    shifted = median_difference(errors + 0.25, errors, clusters)
    assert shifted == pytest.approx((0.25, 0.25, 0.25))
    other = rng.lognormal(size=60)
    once = median_difference(errors, other, clusters)
    assert once.value == np.median(errors) - np.median(other)
    assert once.low < once.value < once.high
    # Pairs that say the same again tell nothing new.
    again = median_difference(np.tile(errors, 7), np.tile(other, 7), np.tile(clusters, 7))
    assert again == pytest.approx(once)
    assert median_difference(errors, other, clusters, seed=2) == pytest.approx(once, abs=0.2)
    alone = median_difference(errors, other, np.zeros(60))
    assert alone.value == once.value
    assert math.isnan(alone.low)


@pytest.mark.slow
def test_intervals_of_differences_cover():
    """Ten pairs each of 40 tasks, which share most of what makes them hard: the true difference is 0.5."""
    covered = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        task = np.repeat(np.arange(40), 10)
        shared, own = rng.normal(0, 1, (40, 2))[task], rng.normal(0, 0.3, (400, 2))
        first, second = (5.0 + shared + own).T
        found = median_difference(first + 0.5, second, task, seed)
        covered += found.low <= 0.5 <= found.high
    # 95 % of 60 are 57; a binomial of 60 at 95 % is below 52 once in a hundred times, and percentile intervals of 40
    # clusters fall somewhat short.
    assert covered >= 50


def test_fitted_factors_come_back():
    pairs = pd.DataFrame(
        {"machine": ["x", "y"] * 6, "workflow": ["one"] * 6 + ["two"] * 6, "wall_ms": np.arange(12) + 10.0}
    )
    factor = pairs["machine"].map({"x": 2.0, "y": 0.5})
    pairs["measured_ms"] = 3.0 + (pairs["wall_ms"] - 3.0) * factor
    fixed = pd.Series(3.0, index=pairs.index)
    for elsewhere in (False, True):
        np.testing.assert_allclose(with_fitted_factors(pairs, elsewhere, fixed), pairs["measured_ms"])
    # Its own workflow does not count: only what the other has.
    pairs.loc[pairs["workflow"] == "one", "measured_ms"] *= 10.0
    ratio = with_fitted_factors(pairs, True, fixed)[:6] - 3.0
    np.testing.assert_allclose(ratio, (pairs["wall_ms"][:6] - 3.0) * factor[:6])
    assert with_fitted_factors(pairs[:6], True).isna().all()


def test_a_way_is_chosen_without_the_workflow_it_is_judged_on():
    errors = pd.DataFrame({"good": [0.1, 0.1, 0.9, 0.9], "bad": [0.5, 0.5, 0.2, 0.2]})
    workflow = pd.Series(["one", "one", "two", "two"])
    # `good` is best on one and so chosen for two, where it is worst; and the other way round.
    assert chosen_elsewhere(errors, workflow).tolist() == [0.5, 0.5, 0.9, 0.9]
    assert chosen_elsewhere(errors[:2], workflow[:2]).isna().all()


def test_machines_with_the_same_times_are_named():
    pairs = pd.DataFrame(
        {
            "workflow": "own", "machine": ["a", "b", "c"] * 4, "run": np.repeat(range(4), 3),
            "measured_ms": [1.0, 1, 2, 5, 5, 6, 8, 8, 8, 9, 7, 4],
        }
    )  # fmt: skip
    found = same_times(pairs).to_dict("records")
    assert found == [{"workflow": "own", "a": "a", "b": "b", "share": 0.75, "pairs": 4}]


def test_an_error_is_a_share_of_what_was_measured():
    assert error_of(pd.Series([1.5, 0.5]), pd.Series([1.0, 2.0])).tolist() == [0.5, 0.75]


def test_unreadable_folder_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        read_records(tmp_path / "nowhere")


@pytest.fixture(scope="module")
def real():
    records, scores = read_records(DATA), read_scores()
    return SCRIPT["report"](records, scores)[0], records, scores


@needs_data
@pytest.mark.slow
def test_real_pairs_and_their_published_errors(real):
    """The errors known of these pairs count wallyRedCpu under the scores of wally: 22.7, 18.5, 17.1, 13.5 %."""
    document, _, _ = real
    found = document["with_wallyRedCpu"]
    shown = [round(100 * found["median_error"][name], 1) for name in ("none", "cpu_score", "mean_score")]
    assert [*shown, round(100 * found["fitted"], 1)] == [22.7, 18.5, 17.1, 13.5]
    # Without it, by pandas alone.
    frames = [pd.read_csv(path) for path in DATA.glob("*.xz") if "RedCpu" not in path.name]
    runs = pd.concat(frames).rename(columns={"Realtime": "t"})
    keys = ["Workflow", "Task", "Label", "WorkflowInputSize", "TaskInputSize"]
    local = runs[runs["Machine"] == "local"]
    pairs = runs[runs["Machine"] != "local"].merge(local[[*keys, "t"]], on=keys)
    assert document["pairs"] == len(pairs)
    assert document["median_error"]["none"] == pytest.approx((pairs["t_y"] / pairs["t_x"] - 1).abs().median())


@needs_data
@pytest.mark.slow
def test_real_predictions_are_those_of_the_formula(real):
    document, records, scores = real
    pairs = pairs_of(records, "local", list(scores.index.drop("local")))
    predicted = SCRIPT["predict"](pairs, scores, ["model"])["model"]
    cpu, io = (
        scores.loc["local", name] / scores[name].loc[pairs["machine"]].to_numpy() for name in ("cpu_score", "io_score")
    )
    wall_ms = pairs["wall_ms"]
    busy_ms = wall_ms * np.minimum(1.0, pairs["cpu_percent"] / 100.0)
    disk_ms = np.minimum(wall_ms - busy_ms, pairs["disk_mb"] / 0.118)
    by_hand = busy_ms * (1.0 + cpu) / 2.0 + disk_ms * io + wall_ms - busy_ms - disk_ms
    np.testing.assert_allclose(predicted, by_hand, rtol=1e-4)
    assert math.isfinite(document["fitted_to_targets"]["one factor a machine"])
