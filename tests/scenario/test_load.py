"""Bad input: every problem named at once, with where, the field, the value and what is allowed."""

from __future__ import annotations

import pytest

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_from, scenario_keys, scenario_names, scenario_to_toml

GOOD = "[workload]\nutilisation = 0.5\n"


def problems(call, *arguments, **keywords):
    with pytest.raises(InputError) as caught:
        call(*arguments, **keywords)
    return caught.value.problems


@pytest.fixture
def write(tmp_path):
    def to(text, name="mine.toml"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return to


def test_a_file_and_a_shipped_name(write):
    assert load_scenario(write(GOOD)).name == "mine"
    assert load_scenario("quickstart").name == "quickstart"
    assert "quickstart" in scenario_names()


@pytest.mark.slow
@pytest.mark.parametrize("name", scenario_names())
def test_a_resolved_scenario_reads_back_equal(name, write):
    scenario = load_scenario(name)
    assert load_scenario(write(scenario_to_toml(scenario))) == scenario


def test_overrides_take_dotted_keys_and_one_rate_replaces_another(write):
    scenario = load_scenario(write(GOOD), {"cluster.nodes": 7, "workload.jobs_per_s": 2.0, "policy.name": "clb"})
    assert scenario.cluster.nodes == 7
    assert scenario.workload.utilisation is None
    assert scenario.policy.name == "clb"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[cluster]\nnoodes = 3\n", ["cluster.noodes", "did you mean 'cluster.nodes'"]),
        ("[clutser]\nnodes = 3\n", ["clutser", "did you mean 'cluster'"]),
        ('[cluster]\nnodes = "many"\n', ["cluster.nodes", "'many'", "whole number"]),
        ("[cluster]\nnodes = 0\n", ["cluster.nodes", "= 0", "greater than or equal to 1"]),
        ("[cluster]\nmemory_mb = -3.0\n", ["cluster.memory_mb", "-3.0", "greater than 0"]),
        ("[cluster]\nmemory_mb = nan\n", ["cluster.memory_mb", "nan"]),
        ("[cluster]\nmemory_mb = inf\n", ["cluster.memory_mb", "inf", "finite"]),
        ("[cluster]\nslice_ms = 0.0000001\n", ["cluster.slice_ms = 1e-07", "0.000001"]),
        ('[cluster]\npaging = "lazy"\n', ["cluster.paging", "'lazy'", "'rate'"]),
        ('[negotiation]\nmode = "shouting"\n', ["negotiation.mode", "'papers', 'negotiated' or 'head-node'"]),
        ('[run]\nuntil = "later"\n', ["run.until = 'later'", "drained", "above 0"]),
        ("[run]\nuntil = -5.0\n", ["run.until = -5.0", "above 0"]),
        ('[workload]\ncpu_ms = { kind = "zipf" }\n', ["workload.cpu_ms.kind", "'zipf'", "exponential"]),
        ('[workload]\ncpu_ms = { kind = "pareto", mean = 5.0, shape = 1.0 }\n', ["workload.cpu_ms", "shape 1.0"]),
        ("[workload]\nutilisation = 0.5\njobs = 5\n", ["exactly one", "workload.jobs", "workload.utilisation"]),
        ("[workload]\nduration_s = 5.0\n", ["exactly one", "none of them"]),
        ("[[cluster.group]]\ncount = 99\n", ["group", "99", "cluster.nodes is 32"]),
        ("[[cluster.group]]\ncount = 2\nram = 5\n", ["ram", "allowed"]),
        ("[cluster.group]\ncount = 2\n", ["cluster.group: a list of tables is written [[cluster.group]]"]),
        ("[[cluster.group]]\nbuffer_mb = 5\n", ["cluster.group.0.count: is missing"]),
        ('[workload]\nutilisation = 0.5\nhome = { kind = "weights", weights = [0.0] }\n', ["weights", "above 0"]),
        ("nodes = [1, 2\n", ["not a TOML file"]),
        ("[cluster]\nnodes = true\n", ["cluster.nodes = True", "whole number"]),
        ('[cluster]\nnodes = "7"\n', ["cluster.nodes = '7'", "write 7"]),
        ("[cluster]\nmemory_mb = false\n", ["cluster.memory_mb = False", "number"]),
        ("[run]\nseed = true\n", ["run.seed = True", "whole number"]),
        ("[run]\nuntil = true\n", ["run.until = True", "drained"]),
        ("[cluster]\nquantum_ms = 1e15\n", ["cluster.quantum_ms", "1000000000"]),
        ("[measure]\nperiod_ms = 1e-7\n", ["measure.period_ms", "0.000001"]),
        ("[cluster]\nmemory_mb = 100\n", ["buffer_mb 160.0", "memory_mb 100.0", "buffer_in_memory"]),
        ("[[cluster.group]]\ncount = 1\nbuffer_mb = 700\n", ["group.0.buffer_mb 700.0", "group.0.memory_mb 640.0"]),
        ('[workload]\nutilisation = 0.5\ncpu_ms = { kind = "exponential" }\n', ["cpu_ms.mean 0", "above 0"]),
        ('[workload]\nio_per_ms = { kind = "exponential", mean = 1, sd = 2 }\n', ["io_per_ms.sd 2", "takes mean only"]),
        ('[workload]\nmemory_mb = { kind = "lognormal", mean = 1, sd = 1e6 }\n', ["sd 1000000", "0.001..1000 means"]),
        ('[compare]\npolicies = "iolb"\n', ["compare.policies = 'iolb'", "list"]),
    ],
)
def test_what_is_wrong_is_named(text, expected, write):
    path = write(text)
    found = problems(load_scenario, path)
    assert len(found) == 1
    assert str(path) in found[0]
    for part in expected:
        assert part in found[0], found[0]


def test_several_problems_are_listed_at_once(write):
    text = '[cluster]\nnodes = -1\nmemroy_mb = 5\n[workload]\nutilisation = "high"\n[run]\nseed = -5\n'
    found = problems(load_scenario, write(text))
    assert [next(key for key in ("nodes", "memroy_mb", "utilisation", "seed") if key in line) for line in found] == [
        "nodes", "memroy_mb", "utilisation", "seed",
    ]  # fmt: skip


def test_an_override_is_named_as_such(write):
    found = problems(load_scenario, write(GOOD), {"cluster.nodes": 0})
    assert found[0].startswith("override: cluster.nodes = 0")


def test_no_such_scenario_suggests_the_nearest(tmp_path):
    assert "did you mean 'quickstart'" in problems(load_scenario, "quikstart")[0]
    assert "folder" in problems(load_scenario, tmp_path)[0]
    assert "no such file" in problems(load_scenario, tmp_path / "none.toml")[0]


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "bytes.toml"
    path.write_bytes(b"\xff\xfe\x00\x81")
    assert "cannot be read as a text file" in problems(load_scenario, path)[0]


def test_an_unknown_policy_and_keyword_are_found_when_the_model_is_made():
    scenario = scenario_from({"workload": {"utilisation": 0.1}}, "t", {"policy.name": "wal-mp"})
    assert "policy.name = 'wal-mp'" in problems(ClusterModel, scenario)[0]
    assert "cluster.noodes" in problems(ClusterModel, "quickstart", cluster__noodes=3)[0]


def test_a_parameter_alone_leaves_the_default_distribution(write):
    scenario = load_scenario(write("[workload]\nutilisation = 0.5\nmemory_mb = { mean = 9.0 }\n"))
    assert (scenario.workload.memory_mb.kind, scenario.workload.memory_mb.mean) == ("pareto", 9.0)
    scenario = load_scenario("unlike-nodes", {"workload.memory_mb.mean": 8, "workload.request_kb.mean": 64})
    assert (scenario.workload.memory_mb.kind, scenario.workload.memory_mb.mean) == ("pareto", 8.0)
    assert (scenario.workload.request_kb.kind, scenario.workload.request_kb.sd) == ("gamma", 50.0)


def test_so_it_does_in_a_section_of_a_section():
    closed = {"workload.arrivals.kind": "closed", "workload.jobs": None, "workload.utilisation": None}
    think = scenario_from({}, overrides=closed | {"workload.arrivals.think_s.mean": 7.0}).workload.arrivals.think_s
    assert (think.kind, think.mean) == ("exponential", 7.0)
    think = load_scenario("lmip", {"workload.arrivals.think_s.mean": 7.0}).workload.arrivals.think_s
    assert (think.kind, think.mean) == ("uniform", 7.0)
    size = scenario_from({"workload": {"jobs": 1}, "data": {"files": 9, "size_mb": {"mean": 7.0}}}).data.size_mb
    assert (size.kind, size.mean) == ("fixed", 7.0)


def test_another_kind_drops_the_parameters_it_does_not_take():
    memory = load_scenario("quickstart", {"workload.memory_mb.kind": "exponential"}).workload.memory_mb
    assert (memory.kind, memory.mean) == ("exponential", 4.0)


def test_every_key_says_what_it_is():
    keys = {entry["key"]: entry for entry in scenario_keys()}
    assert all(entry["meaning"] for entry in keys.values())
    assert keys["cluster.slice_ms"]["default"] == 10.0
    assert keys["negotiation.mode"]["allowed"] == ["papers", "negotiated", "head-node"]
    assert "workload.cpu_ms.mean" in keys


def test_overrides_that_reach_into_others_leave_the_callers_alone():
    overrides = {"workload.io_per_ms": {"kind": "uniform", "mean": 1.0}, "workload.io_per_ms.mean": 2.0}
    assert load_scenario("quickstart", overrides).workload.io_per_ms.mean == 2.0
    assert overrides["workload.io_per_ms"]["mean"] == 1.0
