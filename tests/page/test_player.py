"""The page's runs without a page."""

import io
import math
import time
from dataclasses import replace

import pandas as pd
import pytest
from PIL import Image
from support import busy, scenario

from cluster_abm import ClusterModel, InputError, load_scenario
from cluster_abm.model.observing.watching import telling_index
from cluster_abm.results.film import png
from cluster_abm.scenario import scenario_names
from cluster_abm.workload.offered import in_words
from viz.colours import INDICES
from viz.player import Player
from viz.run import WatchedRun
from viz.settings import MOST_JOBS, MOST_NODES, scenario_with, settings_of

SCENARIO = scenario(**busy())


def prompt(command):
    def done(player, *given):
        command(player, *given)
        player.wait()

    return done


class Prompt(Player):
    """A player of which each command has been carried out when it returns."""

    begin, play, pause, step = map(prompt, (Player.begin, Player.play, Player.pause, Player.step))
    reset, change, resize = map(prompt, (Player.reset, Player.change, Player.resize))
    colour_by, pick = map(prompt, (Player.colour_by, Player.pick))


@pytest.fixture
def page():
    shots = []
    player = Prompt(SCENARIO, settings_of(SCENARIO), shots.append)
    player.begin()
    yield player, shots
    player.close()


def until(condition, timeout_s=10.0):
    end = time.monotonic() + timeout_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.002)
    assert condition()


def panel(shot, name):
    return dict(shot.panels)[name]


def test_a_step_is_a_frame(page):
    player, shots = page
    player.frame_ms = 70.0
    player.step()
    player.step()
    assert [shot.now_ms for shot in shots] == [0.0, 70.0, 140.0]
    assert [shot.number for shot in shots] == [1, 2, 3]


def test_it_waits_for_the_eye(page, monkeypatch):
    player, shots = page
    monkeypatch.setattr("viz.player.PATIENCE_S", 60.0)
    player.play()
    until(lambda: len(shots) == 3)
    time.sleep(0.15)
    # The first frame has not been painted.
    assert len(shots) == 3
    player.painted(shots[-2].number)
    time.sleep(0.1)
    assert len(shots) == 3
    player.painted(shots[-1].number)
    until(lambda: len(shots) == 4)
    player.pause()
    player.painted(shots[-1].number)


def test_it_stops_by_itself_when_nobody_looks(page, monkeypatch):
    player, shots = page
    monkeypatch.setattr("viz.player.PATIENCE_S", 0.001)
    player.play()
    until(lambda: len(shots) > 2 and not shots[-1].playing)
    assert not shots[-1].over


def test_it_plays_to_the_end_and_what_it_shows_is_the_run(page):
    player, shots = page
    player.frame_ms = 5000.0
    player.play()
    until(lambda: player.painted(shots[-1].number) or shots[-1].over, 30.0)
    assert not shots[-1].playing
    model = ClusterModel(SCENARIO)
    model.run()
    assert shots[-1].now_ms == model.now_ms
    assert f"<td>{model.summary()['jobs']['finished']}</td>" in panel(shots[-1], "numbers")


def test_a_reset_begins_anew_and_stops(page):
    player, shots = page
    first = shots[0].panels
    player.step()
    assert shots[-1].panels != first
    player.reset()
    assert shots[-1].panels == first
    assert not shots[-1].playing


def test_other_settings_begin_anew_at_once(page):
    player, shots = page
    player.step()
    player.change(replace(settings_of(SCENARIO), nodes=7, policy="none", other="jsq"))
    assert shots[-1].now_ms == 0
    assert panel(shots[-1], "map1").count('class="node"') == 7


def test_a_preset_of_hardware_takes_the_place_of_what_the_scenario_says_of_its_nodes():
    settings = replace(settings_of(SCENARIO), hardware="ssd-2015")
    cluster = scenario_with(SCENARIO, settings, "none").cluster
    # The scenario has 30 MB a node, which leaves no room for the preset's operating system.
    assert (cluster.hardware, cluster.cores, cluster.memory_mb, cluster.nodes) == ("ssd-2015", 8, 32000.0, 4)
    # What is no hardware of a node stays.
    assert cluster.page_fault_ratio_cap == SCENARIO.cluster.page_fault_ratio_cap
    again = scenario_with(scenario_with(SCENARIO, settings, "none"), replace(settings, hardware="qin-2003"), "none")
    assert (again.cluster.hardware, again.cluster.cores, again.cluster.disk_channels) == ("qin-2003", 1, 1)
    assert scenario_with(SCENARIO, settings_of(SCENARIO), "iolb") == SCENARIO


def test_the_offered_load_is_shown_before_the_first_step_and_what_is_to_be_said_of_it(page):
    player, shots = page
    load = ClusterModel(SCENARIO).offered_load
    assert shots[0].now_ms == 0
    assert shots[0].offered == in_words(load.as_dict())
    player.change(replace(settings_of(SCENARIO), intensity=4.0))
    assert any("the queue grows" in words for words in shots[-1].warnings)
    # What cannot be leaves the run, and what is said of it, as they are.
    before = shots[-1].offered
    player.change(replace(settings_of(SCENARIO), intensity=4.0, nodes=0))
    assert shots[-1].offered == before


def test_two_runs_have_one_clock_and_the_same_jobs(page):
    player, shots = page
    player.change(replace(settings_of(SCENARIO), other="none"))
    for _ in range(5):
        player.step()
    submitted = panel(shots[-1], "numbers").split("jobs submitted</th>")[1].split("</tr>")[0]
    assert submitted.endswith("<td>0</td>")


def test_what_cannot_be_is_said_by_its_field_and_the_run_goes_on(page):
    player, shots = page
    player.step()
    player.change(replace(settings_of(SCENARIO), nodes=-1))
    assert shots[-1].refused.keys() == {"nodes"}
    assert "cluster.nodes = -1" in shots[-1].refused["nodes"]
    assert shots[-1].error == ""
    assert shots[-1].settings == settings_of(SCENARIO)
    player.step()
    assert shots[-1].now_ms == 2000.0
    # As it was before: nothing is wrong any more, and the run still goes on.
    player.change(settings_of(SCENARIO))
    assert not shots[-1].refused
    player.step()
    assert shots[-1].now_ms == 3000.0


def test_of_several_changes_those_that_can_be_are_made(page):
    player, shots = page
    player.change(replace(settings_of(SCENARIO), nodes=-1, seed=5))
    assert (shots[-1].settings.seed, shots[-1].settings.nodes) == (5, SCENARIO.cluster.nodes)
    assert shots[-1].refused.keys() == {"nodes"}
    # What does not fit alone may fit together with another change.
    player.change(replace(settings_of(SCENARIO), nodes=6, seed=5))
    assert not shots[-1].refused
    assert panel(shots[-1], "map0").count('class="node"') == 6


def test_a_policy_that_the_jobs_do_not_allow_is_refused_where_it_was_chosen(page):
    player, shots = page
    player.step()
    player.change(replace(settings_of(SCENARIO), policy="easy"))
    assert shots[-1].refused.keys() == {"policy"}
    assert shots[-1].settings.policy == SCENARIO.policy.name
    player.step()
    assert (shots[-1].now_ms, shots[-1].error) == (2000.0, "")


def test_a_start_from_the_beginning_is_announced(page):
    player, shots = page
    assert (shots[-1].notice, shots[-1].starts) == ("", 0)
    player.step()
    player.change(replace(settings_of(SCENARIO), other="jsq"))
    assert shots[-1].notice == "Started again from 0 s: A iolb and B jsq beside it, on the same jobs."
    assert shots[-1].starts == 1
    player.change(replace(settings_of(SCENARIO), other="jsq", nodes=7))
    assert (shots[-1].notice, shots[-1].starts) == ("Started again from 0 s: Nodes 7.", 2)
    player.change(replace(settings_of(SCENARIO), other="jsq", nodes=-7))
    assert shots[-1].starts == 2


def test_pictures_are_drawn_for_the_room_that_the_browser_has_measured(page):
    player, shots = page
    player.resize({"map0": [700.5, 300], "heat0": [900, 80], "lines": [float("nan"), 3], "talk": [1e9, 5]})
    assert 'viewBox="0 0 700.5 300"' in panel(shots[-1], "map0")
    assert 'viewBox="0 0 900 80"' in panel(shots[-1], "heat0")
    player.change(replace(settings_of(SCENARIO), nodes=7))
    assert 'viewBox="0 0 700.5 300"' in panel(shots[-1], "map0")


def test_an_exception_in_a_step_ends_the_run_and_not_the_player(page, monkeypatch):
    player, shots = page

    def advance(*_):
        raise ZeroDivisionError("of all things")

    monkeypatch.setattr("viz.run.WatchedRun.advance", advance)
    player.play()
    until(lambda: shots[-1].error)
    assert shots[-1].error == "ZeroDivisionError: of all things"
    assert not shots[-1].playing
    monkeypatch.undo()
    player.reset()
    player.step()
    assert shots[-1].now_ms == 1000.0


def test_a_reset_forgets_what_is_refused(page):
    player, shots = page
    player.change(replace(settings_of(SCENARIO), nodes=-1))
    player.reset()
    assert not shots[-1].refused
    player.step()
    assert (shots[-1].error, shots[-1].now_ms) == ("", 1000.0)


@pytest.mark.parametrize("names", [{"policy": "random"}, {"other": "random"}], ids=["alone", "beside"])
def test_an_exception_while_a_run_is_built_is_said(page, names, monkeypatch):
    player, shots = page

    def built(setup, keep_decisions, agents_step):
        assert not keep_decisions
        assert not agents_step
        if setup.policy.name == "random":
            raise KeyError("what I need")
        return ClusterModel(setup)

    monkeypatch.setattr("viz.run.ClusterModel", built)
    player.change(replace(settings_of(SCENARIO), **names))
    assert shots[-1].error == "KeyError: 'what I need'"
    assert "KeyError" in panel(shots[-1], "error")
    player.play()
    player.reset()
    player.step()
    assert shots[-1].over
    player.change(settings_of(SCENARIO))
    player.step()
    assert (shots[-1].error, shots[-1].now_ms) == ("", 1000.0)


def test_what_is_seen_can_be_kept(page):
    player, _ = page
    player.frame_ms = 5000.0
    player.step()
    assert player.picture().startswith(b"\x89PNG")
    kept = pd.read_parquet(io.BytesIO(player.jobs()))
    model = ClusterModel(SCENARIO)
    while model.now_ms < 5000:
        model.step()
    pd.testing.assert_frame_equal(kept, model.jobs_frame())


def test_without_a_run_there_is_nothing_to_keep(page, monkeypatch):
    player, _ = page
    monkeypatch.setattr("viz.run.ClusterModel", lambda *_, **__: 1 / 0)
    player.change(replace(settings_of(SCENARIO), nodes=7))
    assert player.picture() == player.jobs() == b""


def test_of_two_runs_both_are_kept(page):
    player, _ = page
    player.change(replace(settings_of(SCENARIO), policy="jsq", other="none"))
    assert len(pd.read_parquet(io.BytesIO(player.jobs()))) == 0
    player.frame_ms = 5000.0
    player.step()
    kept = pd.read_parquet(io.BytesIO(player.jobs()))
    assert kept[["run", "policy"]].drop_duplicates().to_numpy().tolist() == [["A", "jsq"], ["B", "none"]]
    for name, own in kept.groupby("policy"):
        model = ClusterModel(scenario_with(SCENARIO, settings_of(SCENARIO), name))
        while model.now_ms < 5000:
            model.step()
        tasks = own.drop(columns=["run", "policy"]).reset_index(drop=True)
        pd.testing.assert_frame_equal(tasks, model.jobs_frame())


@pytest.mark.parametrize("index", INDICES)
def test_a_picture_shows_the_chosen_load_of_both_runs(page, index, monkeypatch):
    player, _ = page
    shown = []
    monkeypatch.setattr("viz.keep.png", lambda runs, scale: shown.append((runs, scale)) or png(runs, scale))
    player.colour_by(index)
    player.frame_ms = 3000.0
    player.step()
    alone = size_of(player.picture())
    player.change(replace(settings_of(SCENARIO), other="none"))
    player.step()
    beside = size_of(player.picture())
    assert beside[0] > 1.5 * alone[0]
    assert beside[1] == alone[1]
    (one, _), (two, scale) = shown
    assert [scene.title.split()[2] for scene, _ in two] == [f"{SCENARIO.policy.name},", "none,"]
    assert one[0][1].loads.tolist() == two[0][1].loads.tolist()
    assert max(picture.loads.max() for _, picture in two) <= scale.loads.full
    assert scale.words == INDICES[index].words
    assert bool(scale.names) == (index == "class")


def size_of(picture):
    with Image.open(io.BytesIO(picture)) as image:
        return image.size


def test_two_players_share_nothing(page):
    player, shots = page
    others = []
    other = Prompt(SCENARIO, settings_of(SCENARIO), others.append)
    other.begin()
    other.step()
    other.change(replace(settings_of(SCENARIO), nodes=2))
    assert len(shots) == 1
    player.step()
    assert shots[-1].now_ms == 1000.0
    assert others[-1].now_ms == 0


@pytest.mark.parametrize("name", [name for name in scenario_names() if not name.startswith(("hbd", "replay"))])
def test_controls_nobody_touched_change_nothing(name):
    shipped = load_scenario(name)
    assert scenario_with(shipped, settings_of(shipped), shipped.policy.name) == shipped


def test_each_control_sets_its_key():
    changed = replace(
        settings_of(SCENARIO), io_per_ms=0.2, page_fault_rate_per_ms=0.7, nodes=9, bandwidth_mbps=100.0,
        exchange_period_ms=500.0, slice_ms=5.0, seed=8, intensity=1.5,
    )  # fmt: skip
    found = scenario_with(SCENARIO, changed, "jsq")
    assert found.workload.io_per_ms.mean == 0.2
    assert found.workload.utilisation == 0.75
    assert found.cluster.page_fault_rate_per_ms == 0.7
    assert (found.cluster.nodes, found.run.seed, found.policy.name) == (9, 8, "jsq")
    assert (found.cluster.exchange_period_ms, found.cluster.slice_ms) == (500.0, 5.0)
    assert found.interconnect.bandwidth_mbps == 100.0


@pytest.mark.parametrize("field", ["intensity", "io_per_ms", "slice_ms", "bandwidth_mbps"])
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_none_is_refused(field, value):
    with pytest.raises(InputError, match=f"{field} = .*{value}: a finite number is needed|{field}.mean = {value}"):
        scenario_with(SCENARIO, replace(settings_of(SCENARIO), **{field: value}), "jsq")


@pytest.mark.parametrize("value", [0.0, -2.0, 1e10, 1e308])
def test_work_is_not_less_than_none_or_beyond_measure(value):
    with pytest.raises(InputError, match=r"intensity = .*: must be above 0 and at most 1e\+09"):
        scenario_with(scenario(workload__jobs=10), replace(settings_of(SCENARIO), intensity=value), "jsq")


@pytest.mark.parametrize("name", ["quickstart", "cpu-bound"])
def test_a_page_begins_with_what_the_scenario_says(name):
    shipped = load_scenario(name)
    assert settings_of(shipped).policy == shipped.policy.name
    assert scenario_with(shipped, settings_of(shipped), settings_of(shipped).policy) == shipped


def test_a_page_runs_so_many_nodes_and_no_more(page):
    player, shots = page
    player.change(replace(settings_of(SCENARIO), nodes=MOST_NODES + 1))
    said = shots[-1].refused["nodes"]
    assert f"cluster.nodes = {MOST_NODES + 1}: the page runs at most {MOST_NODES:,} nodes" in said
    assert scenario_with(SCENARIO, replace(settings_of(SCENARIO), nodes=MOST_NODES), "none").cluster.nodes == MOST_NODES


def test_a_scenario_of_more_nodes_keeps_them():
    large = scenario(cluster__nodes=MOST_NODES + 7)
    assert scenario_with(large, settings_of(large), "none").cluster.nodes == MOST_NODES + 7
    with pytest.raises(InputError, match=f"at most {MOST_NODES + 7:,} nodes"):
        scenario_with(large, replace(settings_of(large), nodes=MOST_NODES + 8), "none")


@pytest.mark.parametrize("work", [
    {"workload__jobs": 1000}, {"workload__jobs_per_s": 10.0}, {"workload__utilisation": 0.5},
    {"workload__arrivals__kind": "closed", "workload__arrivals__users_per_node": MOST_JOBS // 100},
])  # fmt: skip
def test_a_page_runs_so_many_jobs_and_no_more(work):
    some = scenario(**work, workload__duration_s=100.0)
    settings = settings_of(some)
    assert scenario_with(some, settings, "none") == some
    more = replace(settings, nodes=2000) if "workload__arrivals__kind" in work else replace(settings, intensity=1e4)
    with pytest.raises(InputError, match=rf"jobs; the page runs at most {MOST_JOBS:,}"):
        scenario_with(some, more, "none")


@pytest.mark.parametrize("field", ["seed", "nodes"])
@pytest.mark.parametrize("digits", [19, 400, 5000])
def test_whole_numbers_that_are_too_large_are_refused_in_few_words(field, digits):
    with pytest.raises(InputError, match="the number is too large; allowed is less than 2") as refused:
        scenario_with(SCENARIO, replace(settings_of(SCENARIO), **{field: 10**digits}), "jsq")
    assert len(str(refused.value)) < 200


def test_frames_of_many_nodes_are_kept_sparingly():
    run = WatchedRun(scenario(cluster__nodes=3000, workload__jobs=10), 500.0, 400.0)
    for border in range(1, 250):
        run.advance(10.0 * border)
    assert 50 <= len(run.times_s) <= 102
    assert run.times_s[0] == 0


def test_the_load_that_is_shown_first_tells_something():
    assert telling_index(load_scenario("quickstart")) == "io"
    assert telling_index(load_scenario("cpu-bound")) == "cpu"


@pytest.mark.parametrize("sent", [None, True, -1, 1.5, math.nan, math.inf, "3", [], {}, {"map0": 3}, 10**30, 10**6])
def test_what_a_browser_may_send_leaves_the_player_as_it_is(page, sent):
    player, shots = page
    thread = player._worker._thread
    player.pick(sent)
    player.resize(sent)
    player.painted(sent)
    assert player._seen <= shots[-1].number
    player.step()
    assert player._worker._thread is thread
    assert thread.is_alive()
    assert not shots[-1].error
    assert shots[-1].now_ms > 0


def test_a_task_that_fails_is_said_and_the_next_one_done(page):
    player, shots = page
    thread = player._worker._thread

    def task():
        raise ValueError("no such thing")

    player._worker.do(task)
    player.step()
    assert any("no such thing" in html for shot in shots for _, html in shot.panels)
    assert player._worker._thread is thread
    assert shots[-1].now_ms > 0


@pytest.mark.parametrize(("field", "value"), [
    ("hardware", "/etc/other.toml"), ("hardware", "no-such"), ("policy", "mine.py:Mine"), ("other", "no-such"),
    ("policy", ""), ("policy", None), ("hardware", 3), ("nodes", "8"), ("nodes", 8.0), ("nodes", True),
    ("intensity", "1"), ("slice_ms", None), ("seed", []),
])  # fmt: skip
def test_only_what_the_page_offers_is_taken(page, field, value):
    player, shots = page
    before = shots[-1].settings
    player.change(replace(settings_of(SCENARIO), **{field: value}))
    assert shots[-1].settings == before
    assert field in shots[-1].refused
    assert not shots[-1].error
    player.change(replace(settings_of(SCENARIO), hardware="qin-2003"))
    assert shots[-1].settings.hardware == "qin-2003"


def test_a_preset_of_the_host_is_not_read(tmp_path):
    preset = tmp_path / "own.toml"
    preset.write_text('title = "own"\n[cluster]\nmemory_mb = 77.0\n')
    with pytest.raises(InputError, match="the page offers only what its list shows"):
        scenario_with(SCENARIO, replace(settings_of(SCENARIO), hardware=str(preset)), "jsq")
