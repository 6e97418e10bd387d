"""What the player reads is the recording, rounded as the header says."""

import numpy as np
import pyarrow as pa
import pytest
from recorded import calm, eventful

import cluster_abm as ca
from cluster_abm import InputError
from cluster_abm.recording import Recording
from cluster_abm.recording.columns_of_player import columns_of
from cluster_abm.recording.payload import ENVELOPE, MAGIC, payload_of


def changed(**meta):
    return Recording(eventful().meta | meta, eventful().tables)


def test_the_same_recording_gives_the_same_bytes():
    assert payload_of(eventful()) == payload_of(changed())


def test_the_envelope_has_the_length():
    payload = payload_of(eventful())
    magic, _, length, _, _ = ENVELOPE.unpack_from(payload)
    assert (magic, length) == (MAGIC, len(payload) - ENVELOPE.size)


def test_times_that_are_too_long_are_refused():
    with pytest.raises(InputError, match="too long for the player"):
        payload_of(changed(end_ns=10**18))


def test_the_player_has_each_segment_to_a_microsecond(show, files):
    tab = show(files / "one.html")
    segments = eventful().tables["segments"].to_pandas()
    tasks = eventful().tables["tasks"].sort_by("task")["task"].to_numpy()
    of = "p.view.recordings[0].segments"
    for name, unit in (("from", 1e6), ("to", 1e6)):
        got = np.array(tab.run(f"Array.from({of}.{name})"))
        np.testing.assert_allclose(got, segments[f"{name}_ns"] / unit, atol=0.00051, rtol=0)
    for name in ("node", "origin", "what", "decision"):
        np.testing.assert_array_equal(tab.run(f"Array.from({of}.{name})"), segments[name])
    np.testing.assert_array_equal(tasks[tab.run(f"Array.from({of}.task)")], segments["task"])
    parts = np.array(tab.run(f"Array.from({of}.from, (_, row) => p.view.recordings[0].parts(row))"))
    np.testing.assert_allclose(parts[:, 0], segments["cpu_ns"] / 1e6, atol=0.0501)
    np.testing.assert_allclose(parts[:, 5], segments["migration_ns"] / 1e6, atol=0.0501)


def test_the_player_has_each_decision(show, files):
    tab = show(files / "one.html")
    decisions = eventful().tables["decisions"].to_pandas()
    of = "p.view.recordings[0]"
    np.testing.assert_allclose(tab.run(f"Array.from({of}.decisions.time)"), decisions["time_ns"] / 1e6, atol=0.00051)
    for name in ("task", "source", "target", "kind"):
        np.testing.assert_array_equal(tab.run(f"Array.from({of}.decisions.{name})"), decisions[name])
    rules = tab.run(f"Array.from({of}.decisions.time, (_, row) => {of}.text('decisions', 'rule', row))")
    assert rules == decisions["rule"].tolist()
    for name in ("load_here", "response_here_ms", "true_there_io_ms"):
        got = np.array(tab.run(f"Array.from({of}.tables.decisions.columns.{name})"), dtype=float)
        np.testing.assert_allclose(got, decisions[name], rtol=1e-4)


@pytest.mark.parametrize("time_s", [3.0, 21.5, 40.0, 88.8])
def test_the_tasks_on_each_node_are_those_whose_visits_are_not_over(show, files, time_s):
    tab = show(files / "one.html")
    for at_s in (60.0, time_s):
        tab.run(f"p.seek({at_s * 1000})")
        tab.frame()
    segments = eventful().segments_frame()
    there = segments[
        (segments["what"] == "runs") & (segments["from_ms"] <= time_s * 1000) & (segments["to_ms"] > time_s * 1000)
    ]
    expected = there.groupby("node").size().reindex(range(12), fill_value=0)
    assert tab.run("Array.from(p.screen.stages[0].state.tasks)") == expected.tolist()


def test_totals_are_those_of_the_summary(show, files):
    tab = show(files / "one.html")
    metrics = eventful().meta["summary"]["metrics"]
    totals = tab.run("p.screen.totals[0].at(p.view.end)")
    assert totals["migrations"] == metrics["migrations"]
    assert totals["starts"] == metrics["remote_executions"]
    assert totals["refused"] == metrics["refused_offers"]


def test_texts_of_a_recording_stay_texts(show, tmp_path):
    from cluster_abm.recording.html import html_of

    evil = "<img src=x onerror=alert(1)><script>document.title='run'</script>"
    decisions = eventful().tables["decisions"]
    rules = pa.array([evil] * decisions.num_rows).dictionary_encode()
    place = decisions.column_names.index("rule")
    tables = eventful().tables | {"decisions": decisions.set_column(place, "rule", rules)}
    recording = Recording(eventful().meta | {"scenario": evil, "caption": evil, "rules": {evil: [evil, evil]}}, tables)
    (tmp_path / "evil.html").write_text(html_of([recording]), encoding="utf-8")
    tab = show(tmp_path / "evil.html")
    tab.page.keyboard.press("n")
    assert evil in tab.why
    assert evil in tab.page.locator("h1").inner_text()
    assert tab.run("document.getElementById('player').shadowRoot.querySelectorAll('img, script').length") == 0
    assert tab.page.title() != "run"


def test_slowdowns_of_the_shortest_tasks_are_not_rounded():
    # Some of a microsecond, which wait for tasks of half a second.
    short = ca.record(
        "cpu-bound", "none", seed=1, workload__duration_s=20, workload__utilisation=0.9,
        workload__cpu_ms={"kind": "gamma", "mean": 500.0, "sd": 2500.0},
    )  # fmt: skip
    frame = short.jobs_frame().sort_values("task")
    (column,) = [one for one in columns_of(short, 1000)["tasks"] if one.name == "slowdown"]
    assert (frame["dedicated_ms"] < 0.01).any()
    np.testing.assert_allclose(column.values, frame["slowdown"], rtol=1e-12)


def test_slowdowns_are_those_of_the_frame(show, files):
    tab = show(files / "two.html")
    for run, recording in enumerate((calm(), eventful())):
        frame = recording.jobs_frame().set_index("task")["slowdown"].dropna()
        of = f"p.view.recordings[{run}]"
        rows = f"Array.from({{length: {of}.tasks}}, (_, row) => {of}.taskOf(row))"
        got = tab.run(f"Object.fromEntries({rows}.map(one => [one.task, one.slowdown]))")
        np.testing.assert_allclose([got[str(task)] for task in frame.index], frame, rtol=1e-4)
    mean = tab.run("p.screen.totals[0].at(p.view.end).slowdown")
    assert mean == pytest.approx(calm().meta["summary"]["metrics"]["mean_slowdown"], rel=1e-4)
