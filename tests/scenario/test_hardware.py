"""Hardware presets: what they say, what wins, and what is wrong with one."""

from __future__ import annotations

import tomllib

import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_from
from cluster_abm.scenario.hardware import hardware_named, own_keys_that_win, preset_names, read_preset
from cluster_abm.scenario.load import scenario_to_toml, tables_of

NODES = ["hdd-2015", "nvme-2024", "qin-2003", "ssd-2015"]
NETWORKS = ["ethernet-100g", "ethernet-10g", "ethernet-1g"]


def test_the_shipped_presets():
    assert preset_names("cluster") == NODES
    assert preset_names("interconnect") == NETWORKS
    assert preset_names() == sorted(NODES + NETWORKS)


@pytest.mark.parametrize("name", NODES + NETWORKS)
def test_every_number_of_a_preset_has_a_source(name):
    """A comment, in the lines right above it or above those that follow each other."""
    preset = read_preset(name)
    assert preset.title
    commented = False
    for line in preset.path.read_text().splitlines()[2:]:
        if "=" in line and not line.startswith(("#", "title")):
            assert commented, line
        commented = line.startswith("#") or (commented and bool(line) and not line.startswith("["))


@pytest.mark.parametrize("name", NODES + NETWORKS)
def test_its_numbers_are_the_scenarios(name):
    preset = read_preset(name)
    section = getattr(scenario_from({preset.section: {"hardware": name}}), preset.section)
    assert {key: getattr(section, key) for key in preset.keys} == dict(preset.keys)


def test_the_papers_node_is_the_default():
    named = scenario_from({"cluster": {"hardware": "qin-2003"}}).cluster
    assert named.model_dump(exclude={"hardware"}) == scenario_from({}).cluster.model_dump(exclude={"hardware"})


def test_what_the_papers_and_the_issue_say_of_them():
    """hdd-2015: 12.7 ms, 180 MB/s, one channel; ssd-2015: 90,000 requests/s; nvme-2024: 800,000."""
    disk = {name: read_preset(name).keys for name in NODES}
    assert (disk["hdd-2015"]["disk_seek_rotation_ms"], disk["hdd-2015"]["disk_mb_per_s"]) == (12.7, 180.0)
    assert disk["hdd-2015"]["disk_channels"] == 1
    for name, per_s in (("ssd-2015", 90_000.0), ("nvme-2024", 800_000.0)):
        channels, seek_ms = disk[name]["disk_channels"], disk[name]["disk_seek_rotation_ms"]
        assert channels / seek_ms * 1000.0 == pytest.approx(per_s)
    assert [disk[name]["cores"] for name in NODES] == [8, 64, 1, 8]


def test_keys_of_the_scenario_itself_win_and_are_named():
    own = {"cluster": {"hardware": "ssd-2015", "cores": 4, "disk_channels": 9}}
    cluster = scenario_from(own).cluster
    assert (cluster.cores, cluster.disk_mb_per_s) == (4, 550.0)
    assert own_keys_that_win(cluster) == {"cores": 4}


def test_a_group_has_a_preset_of_its_own():
    given = {
        "cluster": {"nodes": 5, "hardware": "hdd-2015", "group": [{"count": 2, "hardware": "nvme-2024", "cores": 32}]}
    }
    cluster = scenario_from(given).cluster
    (fast, two), (slow, three) = cluster.kinds
    assert (two, three, fast.cores, slow.cores) == (2, 3, 32, 8)
    assert (fast.disk_mb_per_s, slow.disk_mb_per_s) == (6500.0, 180.0)
    assert hardware_named(cluster, scenario_from({}).interconnect) == "2 nodes nvme-2024, other nodes hdd-2015"


def test_another_preset_replaces_the_first_in_a_scenario_that_is_loaded():
    first = scenario_from({"cluster": {"hardware": "hdd-2015", "system_mb": 100.0}})
    second = scenario_from(tables_of(first), "again", {"cluster.hardware": "nvme-2024"}).cluster
    assert (second.cores, second.memory_mb, second.system_mb) == (64, 256_000.0, 100.0)


def test_a_saved_scenario_is_read_back_the_same():
    saved = scenario_from({"cluster": {"hardware": "nvme-2024"}, "interconnect": {"hardware": "ethernet-10g"}})
    assert scenario_from(tomllib.loads(scenario_to_toml(saved))) == saved


def test_a_preset_of_ones_own(tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text('title = "Ours"\n[cluster]\ncores = 12\n')
    assert load_scenario("cpu-bound", {"cluster.hardware": str(path)}).cluster.cores == 12


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cluster": {"hardware": "ssd-2051"}}, "cluster.hardware = 'ssd-2051': no such preset.*'ssd-2015'"),
        ({"cluster": {"hardware": "ethernet-1g"}}, "describes a network; allowed: hdd-2015"),
        ({"interconnect": {"hardware": "ssd-2015"}}, "describes a node; allowed: ethernet-100g"),
        ({"cluster": {"group": [{"count": 1, "hardware": "x"}]}}, "cluster.group.0.hardware"),
        ({"cluster": {"hardware": 3}}, "cluster.hardware = 3"),
        ({"cluster": {"cores": 0}}, "cluster.cores = 0: .*greater than or equal to 1"),
        ({"cluster": {"cores": 1.5}}, "cluster.cores = 1.5"),
        ({"cluster": {"cores": 1025}}, "cluster.cores = 1025: .*less than or equal to 1024"),
        ({"cluster": {"disk_channels": 0}}, "cluster.disk_channels = 0"),
        ({"cluster": {"disk_channels": 2.5}}, "cluster.disk_channels = 2.5"),
        ({"cluster": {"disk_channels": 1025}}, "cluster.disk_channels = 1025"),
        ({"cluster": {"disk_latency": "uniform"}}, "cluster.disk_latency"),
        ({"cluster": {"idle_watts": -1.0}}, "cluster.idle_watts = -1.0"),
        ({"cluster": {"cpu_watts": -1.0}}, "cluster.cpu_watts = -1.0"),
        ({"cluster": {"disk_watts": "many"}}, "cluster.disk_watts = 'many'"),
        ({"cluster": {"quantum_ms": 0.0}}, "cluster.quantum_ms = 0.0"),
        # What a preset says, and what the scenario says, contradict.
        ({"cluster": {"hardware": "nvme-2024", "memory_mb": 900.0}}, "cluster.hardware = 'nvme-2024'"),
        (
            {"cluster": {"hardware": "ssd-2015", "memory_mb": 900.0}},
            "memory_mb is the scenario's own.*cluster.memory_mb = 32000.0",
        ),
    ],
)
def test_what_is_wrong_is_named(given, said):
    with pytest.raises(InputError, match=said):
        scenario_from(given)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[cluster]\nnodes = 4\n", "cluster.nodes: is no hardware"),
        ("[cluster]\nmemory_mb = 100.0\nbuffer_mb = 200.0\n", "buffer_mb"),
        ("[cluster]\ncores = 0\n", "cluster.cores = 0: input should be greater"),
        ("[workload]\njobs = 4\n", r"a preset is one section, \[cluster\]"),
        ("title = 3\n[cluster]\ncores = 2\n", "title"),
        ("cores = 2\n", r"a preset is one section"),
        ("[cluster\n", "not a TOML file"),
    ],
)
def test_what_is_wrong_in_a_preset_of_ones_own_is_named_with_its_file(tmp_path, text, said):
    path = tmp_path / "ours.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=said) as problem:
        scenario_from({"cluster": {"hardware": str(path)}})
    assert str(path) in str(problem.value)


def test_the_watts_of_other_nodes_are_not_those_of_a_groups_preset():
    """Of the papers' node no power is known."""
    group = {"count": 1, "hardware": "qin-2003"}
    cluster = scenario_from({"cluster": {"nodes": 2, "hardware": "hdd-2015", "group": [group]}}).cluster
    assert [kind.idle_watts for kind, _ in cluster.kinds] == [None, 58.0]
    group["idle_watts"] = 40.0
    cluster = scenario_from({"cluster": {"nodes": 2, "hardware": "hdd-2015", "group": [group]}}).cluster
    assert [kind.idle_watts for kind, _ in cluster.kinds] == [40.0, 58.0]


def test_background_that_would_keep_all_cores_is_refused():
    program = {"node": 0, "cpu_share": 1.0, "memory_mb": 1.0}
    given = {"cluster": {"nodes": 2, "quantum_ms": "inf", "cores": 2}, "workload": {"jobs": 4, "background": [program]}}
    assert scenario_from(given).cluster.cores == 2
    with pytest.raises(InputError, match="never leave the 2 cores of node 0"):
        scenario_from(given | {"workload": {"jobs": 4, "background": [program, program]}})
