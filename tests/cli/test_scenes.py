"""`scene`, and `view --scene` up to where the server takes over."""

import json
import os

import pytest
from small_scene import small, write_scene

from cluster_abm.scenes import load_scene, scene_names


@pytest.fixture
def scene(tmp_path):
    return write_scene(tmp_path)


def test_it_lists_the_scenes_with_their_minutes(cli):
    code, out, err = cli("scene")
    assert (code, err) == (0, "")
    assert all(name in out for name in scene_names())
    assert f"({load_scene('hot-spot').minutes:.0f} min)" in out
    code, out, _ = cli("scene", "--json")
    assert code == 0
    assert [one["name"] for one in json.loads(out)] == scene_names()


@pytest.mark.slow
def test_it_prints_a_scenes_texts_and_writes_its_file(cli, scene, tmp_path):
    code, out, _ = cli("scene", scene)
    assert code == 0
    assert "Step 3, at 30.00 s" in out
    code, out, err = cli("scene", scene, "--out", "small.html", "--json")
    assert code == 0
    assert json.loads(out) == {"name": "small", **small().shown}
    assert "small.html" in err
    text = (tmp_path / "small.html").read_text(encoding="utf-8")
    assert text.count('class="scene"') == 1
    assert text.count('class="recording"') == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hot-spt"], "scene 'hot-spt': no such file or shipped scene; did you mean 'hot-spot'?"),
        (["--out", "x.html"], "of which scene?"),
        (["hot-spot", "--out", "x.gif"], "its name has to end in .html"),
        (["hot-spot", "--out", "nowhere/x.html"], "nowhere"),
    ],
)
def test_bad_input_is_one_line(cli, arguments, said):
    code, out, err = cli("scene", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
def test_a_step_that_names_a_job_that_is_not_there_is_one_line_with_file_and_entry(cli, scene):
    scene.write_text(scene.read_text(encoding="utf-8").replace('"node 3"', '"job 999"'), encoding="utf-8")
    for arguments in (["scene", scene], ["view", "--scene", scene]):
        code, out, err = cli(*arguments)
        assert (code, out) == (2, "")
        assert err.startswith("error: small.toml: step.2.select = 'job 999': there is no job 999 in the run")
        assert len(err.splitlines()) == 1


@pytest.fixture
def served(monkeypatch):
    """Calls of the server."""
    pytest.importorskip("solara")
    calls = []
    monkeypatch.setattr("viz.server.serving.serve", lambda *given: calls.append(given))
    monkeypatch.setattr(os, "environ", os.environ.copy())
    return calls


@pytest.mark.slow
def test_the_page_is_asked_for_the_scenes_runs_and_its_steps(cli, scene, served):
    code, _, err = cli("view", "--scene", scene, "--port", 8931)
    assert code == 0, err
    assert len(served) == 1
    asked = json.loads(os.environ["CLUSTER_ABM_VIEW"])
    assert asked["policies"] == ["none", "wal-pm"]
    assert asked["overrides"] == {"cluster.nodes": 12, "workload.duration_s": 60.0, "run.seed": 1}
    assert asked["scene"] == small().shown


@pytest.mark.slow
@pytest.mark.parametrize("more", [["quickstart"], ["--policy", "jsq"], ["--set", "cluster.nodes=8"]])
def test_a_scene_says_itself_what_it_shows(cli, served, more):
    code, _, err = cli("view", "--scene", "hot-spot", *more)
    assert code == 2
    assert "--scene hot-spot: a scene says itself which runs it shows" in err
