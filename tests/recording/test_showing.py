"""What a notebook shows of recordings: a widget beside a picture, a picture alone, a frame that plays offline."""

from __future__ import annotations

import base64
import importlib.util
import json
from functools import cache

import numpy as np
import pytest
from support import busy, scenario

import cluster_abm as ca
from cluster_abm.errors import InputError
from cluster_abm.recording.payload import payload_of
from cluster_abm.recording.showing import show
from cluster_abm.recording.still import still_of, tasks_on_nodes

BASE = scenario(**busy(), workload__duration_s=3)


@cache
def recorded(policy="jsq", seed=1):
    return ca.record(BASE, policy, seed=seed)


def test_the_picture_counts_tasks_that_run_or_wait_on_a_node():
    recording = recorded()
    frame = recording.segments_frame()
    here = frame[frame["what"].isin(["waits", "runs"])]
    at_ms = np.array([100.0, 1000.0, 2500.0])
    found = tasks_on_nodes(recording, at_ms * 1e6)
    for node in range(found.shape[0]):
        rows = here[here["node"] == node]
        # By the definition: begun, and not ended.
        counts = [int(((rows["from_ms"] <= time) & (rows["to_ms"] > time)).sum()) for time in at_ms]
        assert found[node].tolist() == counts
    assert found.sum() > 0


def test_two_runs_have_one_scale_and_their_titles():
    figure = still_of([recorded("none"), recorded("jsq")])
    first, second = figure.axes[:2]
    assert [first.get_title(loc="left"), second.get_title(loc="left")] == [
        recorded("none").title, recorded("jsq").title,
    ]  # fmt: skip
    assert first.images[0].get_clim() == second.images[0].get_clim()


def test_outside_a_notebook_it_is_a_picture_and_words():
    bundle = recorded()._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "image/png"}
    assert bundle["text/plain"] == repr(recorded())
    assert bundle["image/png"].startswith(b"\x89PNG")


@pytest.mark.slow
def test_a_frame_runs_its_own_script_only():
    bundle = show([recorded("none"), recorded("jsq")], embed=True)._repr_mimebundle_()
    frame = bundle["text/html"]
    assert 'sandbox="allow-scripts"' in frame
    assert frame.isascii()
    assert frame.count("<") == 2
    assert "default-src &#x27;none&#x27;" in frame


@pytest.mark.parametrize(("given", "words"), [({"height": 5}, "height"), ({"embed": "yes"}, "embed")])
def test_what_cannot_be_shown_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        recorded().show(**given)


def test_a_file_plays_it_and_a_folder_that_is_not_there_is_said(tmp_path):
    recorded().html(tmp_path / "run.html")
    assert "<cluster-player" in (tmp_path / "run.html").read_text()
    with pytest.raises(InputError, match="cannot be written"):
        recorded().html(tmp_path / "none" / "run.html")


@pytest.mark.slow
def test_a_comparison_shows_two_policies_on_the_first_seed():
    found = ca.compare(BASE, ["none", "jsq", "random"], seeds=2, workers=1, quiet=True)
    shown = found.watch("random", "none")
    assert [one.title for one in shown.recordings] == [recorded("random").title, recorded("none").title]
    assert shown.recordings[1].jobs_frame().equals(recorded("none").jobs_frame())
    assert [one.meta["policy"]["name"] for one in found.watch().recordings] == ["none", "jsq"]
    for policies in (("iolb",), ("none", "jsq", "random")):
        with pytest.raises(InputError):
            found.watch(*policies)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("anywidget") is None, reason="needs anywidget")
def test_the_player_of_a_notebook_gets_the_detail_that_it_asks_for(monkeypatch):
    shown = recorded().show()
    widget, said = shown.widget, []
    monkeypatch.setattr(widget, "send", said.append)
    shown._answer(widget, {"event": "detail", "from_s": 1, "to_s": 1.5})
    assert widget.recordings == [payload_of(ca.detail_of(recorded(), 1.0, 1.5))]
    before = widget.recordings
    for message in ({"event": "detail", "from_s": "1", "to_s": None}, {"event": "other"}, "detail", None):
        shown._answer(widget, message)
    assert said == []
    pooled = recorded("pooled").show()
    pooled._answer(widget, {"event": "detail", "from_s": 1, "to_s": 1.5})
    assert "pools all nodes" in said[0]["detail"]
    assert "\n" not in said[0]["detail"]
    assert widget.recordings == before


@pytest.mark.slow
@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in ("anywidget", "nbclient", "ipykernel")),
    reason="needs anywidget, nbclient and ipykernel",
)
@pytest.mark.filterwarnings("ignore")
def test_in_a_notebook_a_picture_stands_beside_the_widget():
    import nbclient
    import nbformat

    cell = "import cluster_abm as ca\nca.record('quickstart', 'none', seed=1, workload__duration_s=5)"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)])
    nbclient.NotebookClient(book, kernel_name="python3", timeout=600).execute()
    [output] = [one for one in book.cells[0].outputs if one.output_type == "execute_result"]
    assert base64.b64decode(output.data["image/png"]).startswith(b"\x89PNG")
    assert output.data["text/plain"].startswith("<Recording quickstart")
    assert "model_id" in json.dumps(output.data["application/vnd.jupyter.widget-view+json"])


def test_a_run_beside_another_one_of_its_policy(tmp_path):
    acts = [{"at_s": 5.0, "act": "fail", "node": 1}]
    scripted = ca.record("quickstart", "jsq", seed=1, workload__duration_s=10, script=acts)
    plain = ca.record("quickstart", "jsq", seed=1, workload__duration_s=10)
    assert scripted.show(beside=plain).recordings == (scripted, plain)
    scripted.html(tmp_path / "two.html", beside=plain)
    assert (tmp_path / "two.html").stat().st_size > 1000
    fewer = ca.record("quickstart", "jsq", seed=1, workload__duration_s=10, cluster__nodes=4)
    with pytest.raises(InputError, match="beside: a recording of 4 nodes: needed is one of 32"):
        scripted.show(beside=fewer)
    with pytest.raises(InputError, match="beside"):
        scripted.show(beside="plain")
