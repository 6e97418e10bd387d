"""What can be wrong with a scene: one line for each mistake, which names file and entry."""

import pytest
from small_scene import TEXT, write_scene

from cluster_abm.errors import InputError
from cluster_abm.scenes import load_scene, make_scene, scene_names

# What is changed in the scene's file, and what is said. Without a run.
WRONG_KEYS = [
    ('title = "A small scene <b>"\n', "", "small.toml: title: is missing"),
    ('summary = "Two', 'sumary = "Two', "small.toml: unknown key 'sumary'; did you mean 'summary'?"),
    ('policies = ["none", "wal-pm"]', "policies = []", "small.toml: policies = []"),
    ('["none", "wal-pm"]', '["none", "none"]', "small.toml: policies none, none: two different ones"),
    ("speed = 10.0", "speed = 0.0", "small.toml: step.2.speed = 0.0"),
    ("plays_to_s = 32.0", "plays_to_s = 3.0", "small.toml: step.2.plays_to_s 3: must be after at_s, 30"),
    ("zoom_s = [10.0, 40.0]", "zoom_s = [40.0, 10.0]", "small.toml: step.1.zoom_s [40.0, 10.0]: the second time"),
    ('question = "Why?"\n', "", "small.toml: step.1.question: is missing"),
    ("at_s = 30.0", "at = 30.0", "small.toml: step.2.at_s: is missing"),
    ("at_s = 30.0", "at_s = -1.0", "small.toml: step.2.at_s = -1.0"),
    ('run = "wal-pm"', 'run = "jsq"', "small.toml: step.1.run = 'jsq': must be one of none, wal-pm"),
    ("[set]", '[[script]]\nat_s = 1.0\nact = "fall"\n\n[set]', "small.toml: script.0.act"),
    ("[set]", '[[script]]\nat_s = 1.0\nact = "fail"\n\n[set]', "small.toml: script.0.node: act"),
]
# Of the scenario, before a run.
WRONG_SCENARIOS = [
    ('scenario = "quickstart"', 'scenario = "quick"', "small.toml: scenario: scenario "),
    ("cluster.nodes = 12", "cluster.nodes = 0", "small.toml: set.cluster.nodes = 0"),
    ("cluster.nodes = 12", "cluster.noodles = 12", "small.toml: unknown key set.'cluster.noodles'"),
    ("cluster.nodes = 12", "run.seed = 12", "small.toml: set.run.seed: is what `seed` says"),
    ('["none", "wal-pm"]', '["wall", "wal-pm"]', "small.toml: policies"),
    ("[set]", '[[script]]\nat_s = 1.0\nact = "fail"\nnode = 99\n\n[set]', "small.toml: script.0.node"),
    (
        '["none", "wal-pm"]\n\n[set]',
        '["pooled", "wal-pm"]\n\n[[script]]\nat_s = 1.0\nact = "fail"\nnode = 1\n\n[set]',
        "small.toml: script: policy 'pooled' pools all nodes",
    ),
]
# Of what the run has.
WRONG_STEPS = [
    ('select = "node 3"', 'select = "node 12"', "step.2.select = 'node 12': there is no node 12: nodes are 0 to 11"),
    ('select = "node 3"', 'select = "job 9999"', "step.2.select = 'job 9999': there is no job 9999 in the run"),
    ('select = "node 3"', 'select = "the node"', "step.2.select = 'the node': allowed: \"node 3\""),
    ('select = "node 3"', 'select = "first refused"', "step.2.select = 'first refused': there is none in the run"),
    ('select = "node 3"', 'select = "first lost to node 3"', "step.2.select = 'first lost to node 3'"),
    ("at_s = 30.0\nselect", "at_s = 31.0\nzoom_s = [1.0, 2.0]\nselect", "step.2.zoom_s = [1.0, 2.0]: the step is at"),
    ("plays_to_s = 32.0", "plays_to_s = 5000.0", "step.2.plays_to_s = 5000: the run ends at"),
    ("[set]", '[[script]]\nat_s = 9e3\nact = "fail"\nnode = 1\n\n[set]', "script.0.at_s = 9000: the run ends at"),
    (
        "[set]",
        '[[script]]\nat_s = 1.0\nact = "kill"\njob = 999\n\n[set]',
        "script.0: was not done: job 999: kill: there",
    ),
    ("{none.tasks[3]}", "{none.favourite}", "step.0.text: placeholder {none.favourite}: there are no remote starts"),
    ("{none.tasks[3]}", "{none.breakdown_ms}", "step.0.text: placeholder {none.breakdown_ms}: breakdown_ms: "),
    ("{none.tasks[3]}", "{jsq.tasks[3]}", "step.0.text: placeholder {jsq.tasks[3]}: jsq: allowed: none, wal-pm"),
    ("{none.tasks[3]}", "{none.tasks[12]}", "step.0.text: placeholder {none.tasks[12]}: there is no node 12"),
    ("{none.tasks[3]}", "{none.slowdown}", "step.0.text: placeholder {none.slowdown}: slowdown: did you mean"),
    ("{none.tasks[3]}", "{move.saves}", "step.0.text: placeholder {move.saves}: the step selects no move"),
    ("{none.tasks[3]}", "{task.cpu}", "step.0.text: placeholder {task.cpu}: the step selects no task"),
    ("{none.tasks[3]}", "{__import__('os')}", "step.0.text: placeholder {__import__('os')}: is written"),
    ("{none.tasks[3]}", "{none.__class__}", "step.0.text: placeholder {none.__class__}"),
    ("{none.tasks[3]}", "{scenario.cluster.model_fields}", "is no key of the scenario that is a number"),
    ("{none.tasks[3]}", "{none.migrations / none.migrations}", "the second must not be 0"),
    ("{none.tasks[3]}", "{none.tasks[3]", "step.0.text: a brace stands alone"),
]


def problems(tmp_path, old, new, how):
    assert TEXT.count(old) >= 1
    with pytest.raises(InputError) as wrong:
        how(write_scene(tmp_path, TEXT.replace(old, new, 1)))
    return wrong.value.problems


@pytest.mark.parametrize(("old", "new", "said"), WRONG_KEYS)
def test_a_wrong_key_is_named_with_file_and_entry(tmp_path, old, new, said):
    found = problems(tmp_path, old, new, load_scene)
    assert any(said in line for line in found), found
    assert all(line.startswith("small.toml: ") for line in found)


@pytest.mark.parametrize(("old", "new", "said"), WRONG_SCENARIOS)
def test_what_is_wrong_with_the_scenario_is_said_by_the_scenes_entry(tmp_path, old, new, said):
    assert any(line.startswith(said) for line in problems(tmp_path, old, new, make_scene))


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "said"), WRONG_STEPS)
def test_what_is_not_in_the_run_is_said_by_its_step(tmp_path, old, new, said):
    if "first refused" in new:
        old, new = 'select = "node 3"\nplays_to_s = 32.0\n', f"{new}\n"
    (line,) = problems(tmp_path, old, new, make_scene)
    assert line.startswith(("small.toml: step.", "small.toml: script."))
    assert said in line


def test_one_mistake_in_the_only_step_is_one_line(tmp_path):
    text = (
        'title = "a"\nsummary = "b"\nscenario = "quickstart"\npolicies = ["none"]\n\n[[step]]\nat_s = nan\ntext = "a"\n'
    )
    with pytest.raises(InputError) as caught:
        load_scene(write_scene(tmp_path, text))
    (line,) = caught.value.problems
    assert line.startswith("small.toml: step.0.at_s = nan")


def test_all_wrong_steps_are_said_at_once(tmp_path):
    path = write_scene(tmp_path, TEXT.replace("node 3", "node 99").replace("{move.age}", "{move.ages}"))
    with pytest.raises(InputError) as wrong:
        make_scene(path)
    assert [line.split(" ")[1].split(".")[:2] for line in wrong.value.problems] == [["step", "1"], ["step", "2"]]


def test_a_scene_that_is_not_there_is_said_with_the_nearest_name():
    with pytest.raises(InputError, match="did you mean 'hot-spot'"):
        load_scene("hotspot")


def test_a_scenario_beside_the_scene_is_taken(tmp_path):
    (tmp_path / "own.toml").write_text("[workload]\njobs_per_s = 1.0\nduration_s = 5.0\n", encoding="utf-8")
    text = 'title = "t"\nsummary = "s"\nscenario = "own.toml"\npolicies = ["none"]\n[[step]]\nat_s = 1.0\ntext = "t"\n'
    made = make_scene(write_scene(tmp_path, text))
    assert made.recordings[0].meta["scenario"] == "own"


def test_five_scenes_ship():
    assert set(scene_names()) == {"hot-spot", "unpaid-move", "herding", "paging", "dying-node"}
