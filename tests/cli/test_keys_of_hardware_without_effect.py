"""Keys of nodes, presets and slow devices that are given and have no effect; and such keys in lists of tables."""

from __future__ import annotations

import pytest
from test_keys_without_effect import BASE, outcome

from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.unused import keys_without_effect

ALL_SAID = [
    {"count": 2, "cores": 2, "quantum_ms": 5.0, "context_switch_ms": 0.0, "cpu_speed": 0.7, "memory_mb": 25.0,
     "disk_channels": 2, "disk_seek_rotation_ms": 3.0, "disk_mb_per_s": 30.0, "idle_watts": 1.0, "cpu_watts": 2.0},
    {"count": 1, "cores": 1, "quantum_ms": 7.0, "context_switch_ms": 0.2, "cpu_speed": 2.0, "memory_mb": 40.0,
     "disk_channels": 1, "disk_seek_rotation_ms": 6.0, "disk_mb_per_s": 50.0, "idle_watts": 4.0, "cpu_watts": 5.0},
]  # fmt: skip
SOME_WATTS = [{"count": 1, "idle_watts": 5.0, "cpu_watts": 9.0}, {"count": 1, "disk_watts": 2.0}]
SLOW = [
    {"device": "cpu", "factor": 0.5, "at_s": 1.0},
    {"device": "disk", "factor": 0.4, "kind": "exponential", "mean_up_s": 1.0, "mean_down_s": 0.5},
    {"device": "disk", "factor": 1.0, "at_s": 1.0},
    {"device": "cpu", "factor": 0.2, "at_s": 6.0},
]
NO_SEEKS = {"cluster.disk_seek_rotation_ms": 0.0, "cluster.disk_channels": 2}
NETWORK = {"interconnect.hardware": "ethernet-1g", "interconnect.bandwidth_mbps": 77.0, "interconnect.latency_ms": 1.5}
PRESETS = {
    "cluster.hardware": "hdd-2015", "cluster.memory_mb": 32_000.0,
    "cluster.group": [{"count": 3, "hardware": "ssd-2015"}],
}  # fmt: skip
ONE_NODE = {"cluster.nodes": 1, "interconnect.kind": "star", "interconnect.mode": "contended"}
UNTIL = {"run.until": 6000.0}


def another(list_of_tables, place, **keys):
    """The list with other values in one of its tables."""
    return [table | keys if number == place else table for number, table in enumerate(list_of_tables)]


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "key", "changed"), [
    ({}, "cluster.cpu_watts", {"cluster.cpu_watts": 90.0}),
    ({}, "cluster.disk_watts", {"cluster.disk_watts": 9.0}),
    ({"cluster.group": SOME_WATTS}, "cluster.cpu_watts", {"cluster.cpu_watts": 90.0}),
    (
        {"cluster.group": SOME_WATTS}, "cluster.group.0.cpu_watts",
        {"cluster.group": another(SOME_WATTS, 0, cpu_watts=70.0)},
    ),
    (
        {"cluster.group": SOME_WATTS}, "cluster.group.0.idle_watts",
        {"cluster.group": another(SOME_WATTS, 0, idle_watts=70.0)},
    ),
    (
        {"cluster.group": SOME_WATTS}, "cluster.group.1.idle_watts",
        {"cluster.group": another(SOME_WATTS, 1, idle_watts=70.0)},
    ),
    (NO_SEEKS, "cluster.disk_latency", {"cluster.disk_latency": "exponential"}),
    (
        NO_SEEKS | {"cluster.group": [{"count": 1, "disk_mb_per_s": 9.0}]}, "cluster.group.0.disk_latency",
        {"cluster.group": [{"count": 1, "disk_mb_per_s": 9.0, "disk_latency": "exponential"}]},
    ),
    *(
        ({"cluster.group": ALL_SAID}, f"cluster.{name}", {f"cluster.{name}": value})
        for name, value in {
            "cores": 3, "quantum_ms": 3.0, "context_switch_ms": 0.5, "cpu_speed": 2.0, "memory_mb": 70.0,
            "disk_channels": 3, "disk_seek_rotation_ms": 2.0, "disk_mb_per_s": 5.0, "idle_watts": 20.0,
        }.items()
    ),
    (PRESETS, "cluster.hardware", {"cluster.hardware": "qin-2003", "cluster.system_mb": 0.0}),
    (NETWORK, "interconnect.hardware", {"interconnect.hardware": "ethernet-10g"}),
    (UNTIL | {"failures.degrade": SLOW}, "failures.degrade.2", {"failures.degrade": SLOW[:2] + SLOW[3:]}),
    (UNTIL | {"failures.degrade": SLOW}, "failures.degrade.3", {"failures.degrade": SLOW[:3]}),
    *(
        (
            UNTIL | {"failures.degrade": SLOW}, f"failures.degrade.{place}.{name}",
            {"failures.degrade": another(SLOW, place, **{name: value})},
        )
        for place, name, value in [
            (0, "mean_up_s", 0.7), (0, "mean_down_s", 0.1), (0, "shape", 3.0), (0, "repair", "fixed"), (1, "shape", 3.0)
        ]
    ),
    (
        ONE_NODE | {"failures.degrade": [{"device": "link", "factor": 0.5, "at_s": 1.0}]}, "failures.degrade.0",
        {"failures.degrade": []},
    ),
])  # fmt: skip
def test_no_result_depends_on_keys_of_hardware_that_have_no_effect(settings, key, changed):
    assert key in keys_without_effect(scenario_from(BASE, "test", settings))
    assert outcome(BASE, settings | changed) == outcome(BASE, settings)


@pytest.mark.parametrize(("settings", "key"), [
    # By it energy is counted.
    ({}, "cluster.idle_watts"),
    ({"cluster.group": SOME_WATTS}, "cluster.idle_watts"),
    ({"cluster.idle_watts": 9.0}, "cluster.cpu_watts"),
    ({"cluster.idle_watts": 9.0, "cluster.group": SOME_WATTS}, "cluster.group.0.idle_watts"),
    ({}, "cluster.disk_latency"),
    # Page faults seek, if requests do not.
    (NO_SEEKS | {"cluster.fault_service_ms": 3.0}, "cluster.disk_latency"),
    # One node does.
    (NO_SEEKS | {"cluster.group": [{"count": 1, "disk_seek_rotation_ms": 2.0}]}, "cluster.disk_latency"),
    # How many requests are in service is a result.
    (NO_SEEKS, "cluster.disk_channels"),
    # A node is of no group.
    ({"cluster.group": ALL_SAID[:1]}, "cluster.cores"),
    # An application's requests are counted by it.
    (
        {"cluster.group": ALL_SAID, "workload.application.name": "pgrep", "workload.application.scale": 0.001},
        "cluster.disk_mb_per_s",
    ),
    (PRESETS, "cluster.group.0.hardware"),
    ({"cluster.hardware": "ssd-2015", "cluster.memory_mb": 16_000.0}, "cluster.hardware"),
    (NETWORK, "interconnect.latency_ms"),
    (UNTIL | {"failures.degrade": SLOW}, "failures.degrade.0"),
    (UNTIL | {"failures.degrade": SLOW}, "failures.degrade.1.mean_up_s"),
])  # fmt: skip
def test_keys_of_hardware_that_have_an_effect_are_not_among_them(settings, key):
    base = {**BASE, "cluster": {"nodes": 3}} if "cluster.hardware" in settings else BASE
    assert key not in keys_without_effect(scenario_from(base, "test", settings))


@pytest.mark.slow
@pytest.mark.parametrize(("settings", "has_effect"), [
    ({}, False),
    ({"cluster.disk_channels": 2}, True),
    ({"cluster.disk_latency": "exponential"}, True),
    ({"cluster.group": [{"count": 1, "disk_channels": 3}]}, True),
])  # fmt: skip
def test_the_size_of_a_page_counts_where_the_transfer_of_a_fault_is_told_from_its_seek(settings, has_effect):
    settings = {"cluster.fault_service_ms": 9.0, "cluster.memory_mb": 12.0, **settings}
    assert ("cluster.page_kb" not in keys_without_effect(scenario_from(BASE, "test", settings))) == has_effect
    assert (outcome(BASE, {**settings, "cluster.page_kb": 200.0}) != outcome(BASE, settings)) == has_effect


def test_presets_are_not_laid_under_the_tables_of_the_caller():
    settings = {"cluster.group": [{"count": 1, "hardware": "ssd-2015"}]}
    base = {"cluster": {"nodes": 3, "group": [{"count": 1, "hardware": "ssd-2015"}]}, "workload": {"utilisation": 0.5}}
    for given in (scenario_from(base, "test"), scenario_from(BASE, "test", settings)):
        assert given.cluster.group[0].cores == 8
    assert settings["cluster.group"] == base["cluster"]["group"] == [{"count": 1, "hardware": "ssd-2015"}]


@pytest.mark.parametrize(("settings", "said"), [
    (["cluster.cpu_watts=90"], "--set cluster.cpu_watts: has no effect: cluster.idle_watts is not set"),
    (["cluster.group=[{count=1, disk_watts=5.0}]"], "--set cluster.group.0.disk_watts: has no effect"),
    (
        ["cluster.disk_seek_rotation_ms=0", "cluster.disk_latency=exponential"],
        "cluster.disk_latency: has no effect: disk_seek_rotation_ms is 0",
    ),
    (
        ["failures.degrade=[{device='cpu', factor=0.5, at_s=1.0, mean_up_s=3.0}]"],
        "failures.degrade.0.mean_up_s: has no effect",
    ),
])  # fmt: skip
def test_a_key_of_hardware_without_effect_is_refused(cli, settings, said):
    words = [word for one in settings for word in ("--set", one)]
    code, _, err = cli("run", "quickstart", *words)
    assert code == 2
    assert said in err


def test_keys_of_a_files_groups_are_named_unless_the_list_is_given_anew(cli, tmp_path):
    (tmp_path / "s.toml").write_text(
        "[cluster]\nnodes = 2\n[[cluster.group]]\ncount = 1\ncpu_watts = 5.0\n"
        "[workload]\nutilisation = 0.3\nduration_s = 2.0\n"
    )
    code, _, err = cli("run", "s.toml")
    assert code == 0
    assert "without effect: cluster.group.0.cpu_watts (cluster.idle_watts is not set for every node" in err
    code, _, err = cli("run", "s.toml", "--set", "cluster.group=[{count=1, cores=2}]")
    assert code == 0
    assert "without effect" not in err
