"""Keys that are given and have no effect are refused, or in a scenario file remarked on; no other key is."""

from __future__ import annotations

import json

import pytest
from support import mostly_slow

from cluster_abm import ClusterModel
from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_from, scenario_names, scenario_to_toml
from cluster_abm.scenario.unused import keys_without_effect
from cluster_abm.scenario.wording.caption import caption_of
from cluster_abm.study.design.fingerprint import cell_key

TRACE = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb\n0,0,5,0,1\n5,1,5,0,1\n"
PARALLEL_TRACE = "arrival_ms,home,cpu_ms,memory_mb,tasks\n0,0,5,1,2\n5,1,5,1,3\n"
BASE = {
    "cluster": {"nodes": 3, "memory_mb": 30.0, "buffer_mb": 4.0},
    "workload": {
        "utilisation": 0.6, "duration_s": 4.0, "cpu_ms": {"kind": "exponential", "mean": 200.0},
        "io_per_ms": {"kind": "uniform", "mean": 0.05}, "memory_mb": {"kind": "exponential", "mean": 12.0},
    },
    "policy": {"name": "iolb"},
}  # fmt: skip
# Another value of each key that may have no effect; where a key is missing here the test below says so.
OTHER = {
    "run.threads": 2, "workload.arrivals.mu": 1.0, "workload.arrivals.sigma": 1.0, "workload.arrivals.time_unit_s": 2.0,
    "workload.arrivals.regular": True, "workload.arrivals.burst_factor": 3.0, "workload.arrivals.burst_s": 1.0,
    "workload.arrivals.quiet_s": 1.0, "workload.arrivals.users_per_node": 2, "workload.arrivals.jobs_per_user": 3,
    "workload.arrivals.think_s": {"kind": "fixed", "mean": 0.5}, "workload.arrivals.user_nodes": [1],
    "workload.arrivals.first_gap_s": 0.2, "workload.trace": {"start_s": 1.0}, "workload.home.skew": 3.0,
    "workload.home.weights": [1.0, 2.0], "workload.application.cpu_share": 0.3, "workload.application.scale": 0.5,
    "workload.tasks.minimum": 3, "workload.tasks.maximum": 7, "workload.tasks.barrier_ms": 20.0,
    "workload.tasks.communication_ms": 3.0, "cluster.fault_evenness": 0.9, "cluster.page_fault_rate_per_ms": 0.1,
    "cluster.page_fault_law": "overflow", "cluster.page_fault_ratio_cap": 1.1, "cluster.buffer_in_memory": False,
    "cluster.page_kb": 64.0, "failures.node.mean_up_s": 3.0, "failures.node.mean_down_s": 1.0,
    "failures.node.shape": 2.0, "failures.node.repair": "fixed", "failures.link.mean_up_s": 3.0,
    "failures.link.mean_down_s": 1.0, "failures.link.shape": 2.0, "failures.link.repair": "fixed",
    "failures.map": "lanl", "failures.columns": {"node": "n", "down": "d"}, "failures.filter": "a > 1",
    "failures.start_s": 3.0, "failures.max_mb": 1, "failures.on_failure": "lost",
    "failures.checkpoint_period_ms": 500.0, "data.size_mb": {"mean": 5.0},
    "data.copies": 2, "data.files_per_job": {"maximum": 2}, "data.popularity_skew": 1.0, "data.affinity": 0.5,
    "data.drift_period_s": 1.0, "data.file": [{"name": "maps", "size_mb": 9.0, "at": [1]}],
    "negotiation.refusals": False, "interconnect.loss_share": 0.5,
    "negotiation.timeout_ms": 500.0, "negotiation.missed_reports": 9, "workload.cpu_ms": {"mean": 300.0},
    "workload.memory_mb": {"mean": 25.0}, "workload.memory_of": "job", "workload.io_per_ms": {"mean": 0.5},
    "workload.no_io_share": 0.5, "workload.request_kb": {"mean": 300.0}, "workload.initial_data_mb": {"mean": 3.0},
    "workload.write_share": 0.9, "workload.tasks.parallel_share": 0.5, "workload.duration_s": 6.0,
    "workload.home": {"kind": "skewed"}, "workload.jobs": 4, "workload.jobs_per_s": 3.0, "workload.utilisation": 0.2,
    "workload.arrivals": {"kind": "bursty"}, "workload.programs.max_mb": 1, "interconnect.max_mb": 1,
    "interconnect.gflops_per_speed": 2.0,
    "negotiation.offers": 1, "cluster.exchange_period_ms": 5000.0, "policy": {"name": "random"},
    "negotiation.head_node": 1, "cluster.buffer_control.period_ms": 300.0, "cluster.buffer_control.gain": 0.1,
    "workload.task_cpu": "each",
    "workload.trace.memory_per": "job", "workload.trace.shake_s": 30.0,
    "workload.repeats.back": 9, "workload.tasks.widths": {"2": 1.0},
    "workload.arrivals.scales_s": [1.0], "workload.arrivals.variations": [1.0], "workload.arrivals.batch_mean": 3.0,
    "workload.arrivals.batch_gap_s": 0.1, "workload.arrivals.daily": [1.0, 3.0], "workload.arrivals.starts_h": 6.0,
    "workload.arrivals.weekly": [1.0, 2.0, 1.0, 1.0, 1.0, 1.0, 1.0],
    "cluster.cpu_watts": 30.0, "cluster.disk_watts": 4.0,
    "workload.sessions": {"hold_back_s": 60.0}, "workload.users": "react", "workload.repeats": {"back": 9},
    "workload.requested_over_actual": {"mean": 2.0}, "workload.sessions.longest_gap_s": 5.0,
    "workload.sessions.think_s": {"mean": 3.0}, "workload.sessions.wait_s": {"mean": 3.0},
    "workload.sessions.gap_spread": {"mean": 3.0}, "workload.sessions.reference_load": 0.3,
}  # fmt: skip
SITUATIONS = {
    "plain": {},
    "papers": {"negotiation.mode": "papers"},
    "papers, migration": {"negotiation.mode": "papers", "policy.name": "wal-pm"},
    "links fail": {
        "run.until": 6000.0,
        "interconnect.kind": "tree",
        "failures.link.kind": "exponential",
        "failures.link.mean_up_s": 1.0,
        "failures.link.mean_down_s": 0.5,
    },
    "oversize": {"cluster.paging": "oversize", "cluster.fault_service_ms": 9.0},
    "parallel": {"workload.tasks.parallel_share": 0.5, "workload.tasks.maximum": 4},
    "closed": {"workload.arrivals.kind": "closed", "workload.utilisation": None, "workload.arrivals.jobs_per_user": 4},
    "bursty": {"workload.arrivals.kind": "bursty"},
    "widths": {"workload.tasks.widths": {"1": 2.0, "3": 1.0}},
    "equal tasks": {"workload.tasks.widths": {"3": 1.0}, "workload.cpu_ms": {"kind": "fixed", "mean": 200.0}},
    "widths of one": {"workload.tasks.widths": {"1": 2.0}},
    "fails": {
        "run.until": 6000.0,
        "failures.node.kind": "exponential",
        "failures.node.mean_up_s": 2.0,
        "failures.node.mean_down_s": 0.5,
    },
    "application": {"workload.application.name": "pgrep", "workload.application.scale": 0.001},
    "programs": {"workload.programs.mix": {"bit-r": 1.0}},
    "trace": {"workload.kind": "trace"},
    "trace without its memory": {"workload.kind": "trace", "workload.trace.memory": "drawn"},
    "sessions": {
        "workload.kind": "sessions",
        "workload.sessions.users": [2.0, 1.0],
        "workload.sessions.group": [
            {"work_s": {"mean": 0.2}, "memory_mb": {"mean": 5.0}},
            {"work_s": {"mean": 0.3}, "memory_mb": {"mean": 5.0}},
        ],
    },
    "sessions of users who wait": {
        "workload.kind": "sessions",
        "workload.sessions.think_s": {"mean": 0.1},
        "workload.sessions.group": [
            {"jobs": {"mean": 3.0}, "after_end": 0.5, "widths": {"1": 1.0, "2": 1.0}, "work_s": {"mean": 0.2}}
        ],
    },
    "groups of policies": {"cluster.group": [{"count": 2, "policy": "jsq"}, {"count": 1, "policy": "random"}]},
}


def outcome(tree, overrides):
    model = ClusterModel(scenario_from(tree, "test", overrides), seed=1)
    model.run()
    return json.dumps(model.summary(), sort_keys=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", mostly_slow(SITUATIONS, [*SITUATIONS][::2]))
def test_no_result_depends_on_them(name, tmp_path):
    settings = {key: value for key, value in SITUATIONS[name].items() if value is not None}
    tree = json.loads(json.dumps(BASE))
    if name == "closed":
        del tree["workload"]["utilisation"]
    if name.startswith("trace"):
        (tmp_path / "t.csv").write_text(PARALLEL_TRACE if "without" in name else TRACE)
        settings["workload.trace.file"] = str(tmp_path / "t.csv")
    unused = keys_without_effect(scenario_from(tree, "test", settings))
    assert unused
    before = outcome(tree, settings)
    closed = ("workload.jobs", "workload.jobs_per_s", "workload.utilisation") if name == "closed" else ()
    # Those of groups are in test_keys_of_hardware_without_effect and test_keys_of_sessions.
    elsewhere = ("cluster.group.", "workload.sessions.group.")
    for key in (one for one in unused if not one.startswith(elsewhere)):
        assert key in OTHER, f"no other value of {key} is given above"
        if key not in closed:
            assert outcome(tree, {**settings, key: OTHER[key]}) == before, key


@pytest.mark.parametrize(("words", "said"), [
    (["run", "quickstart", "--set", "workload.trace.start_s=3"], "workload.trace.start_s: has no effect"),
    (["run", "quickstart", "--trace-run", "3"], "error: --trace-run: has no effect"),
    (["run", "quickstart", "--policy", "jsq", "--set", "policy.d=3"],
     "policy.d: has no effect: policy jsq does not know it"),
    (["run", "cpu-bound", "--set", "workload.task_cpu=each"],
     "workload.task_cpu: has no effect: workload.tasks.parallel_share is 0: no job is parallel"),
    (["run", "quickstart", "--set", "compare.seeds=3"], "compare.seeds: has no effect: only `cluster-abm compare`"),
    (["run", "quickstart", "--set", "interconnect.max_mb=3"], "interconnect.max_mb: has no effect"),
    (["run", "lmip-data", "--set", "interconnect.max_mb=3"], "interconnect.max_mb: has no effect"),
    (["run", "quickstart", "--set", "workload.programs.max_mb=3"], "workload.programs.max_mb: has no effect"),
    (["run", "quickstart", "--set", "data.copies=3"], "data.copies: has no effect: data.files is 0"),
    (["run", "quickstart", "--set", "failures.node.mean_up_s=9"], 'failures.node.mean_up_s: has no effect: failures'),
    (["view", "quickstart", "--set", "data.copies=3"], "data.copies: has no effect"),
    (["compare", "quickstart", "--policies", "jsq,random", "--set", "policy.d=3"], "jsq and random do not know it"),
    (["compare", "quickstart", "--set", "policy.name=jsq"], "policy.name: has no effect: `compare` runs the policies"),
    (["compare", "quickstart", "--policies", "jsq", "--set", 'compare.policies=["iolb"]'], "--policies says it"),
    (["compare", "quickstart", "--set", "measure.period_ms=50"], "measure.period_ms: has no effect"),
    (["run", "quickstart", "--set", "cluster.nodes=4", "--set", "cluster.nodes=8"], "cluster.nodes: is given twice"),
    (["run", "quickstart", "--policy", "jsq", "--set", "policy.name=iolb"], "--policy sets this key too"),
    (["run", "quickstart", "--set", "cluster.nodes=4", "--set", "cluster={nodes=8}"], "cluster.nodes: is given twice"),
    (["run", "quickstart", "--policy", "jsq", "--set", "policy={name='iolb'}"], "--policy sets this key too"),
    (["run", "quickstart", "--seed", "3", "--set", "run.seed=4"], "--seed sets this key too"),
    (["run", "replay", "--trace", "a.csv", "--set", "workload.trace.file=b.csv"], "--trace sets this key too"),
])  # fmt: skip
def test_an_option_without_effect_is_refused(cli, words, said):
    code, out, err = cli(*words)
    assert code == 2
    assert said in err
    assert out == ""


@pytest.mark.slow
def test_a_parameter_that_one_of_the_policies_knows_is_fine(cli):
    small = ["--set", "workload.duration_s=5", "--seeds", 1, "--workers", 1]
    code, _, err = cli("compare", "quickstart", "--policies", "jsq,power-of-d", "--set", "policy.d=3", *small)
    assert code == 0, err


@pytest.mark.parametrize("name", scenario_names())
def test_shipped_scenarios_have_no_key_without_effect(name, capfd):
    check_keys_have_effect(load_scenario(name), name, {})
    assert capfd.readouterr().err == ""


def test_a_file_with_keys_without_effect_gets_one_line(cli, tmp_path):
    (tmp_path / "s.toml").write_text(
        "[cluster]\nnodes = 2\n[workload]\nutilisation = 0.3\nduration_s = 2.0\n"
        "[data]\ncopies = 2\n[failures.node]\nmean_up_s = 5.0\n[policy]\nname = 'jsq'\nd = 4\n"
    )
    code, _, err = cli("run", "s.toml")
    assert code == 0
    notes = [line for line in err.splitlines() if line.startswith("note: ")]
    assert len(notes) == 1
    assert all(key in notes[0] for key in ("data.copies", "failures.node.mean_up_s", "s.toml"))


@pytest.mark.parametrize(("options", "said"), [
    (["--threads", 2], "note: --threads: has no effect: one thread serves a run"),
    (["--set", "run.threads='auto'"], "note: --set run.threads: has no effect: one thread serves a run"),
    (["--set", "run={threads=256}"], "note: --set run.threads: has no effect: one thread serves a run"),
])  # fmt: skip
def test_threads_are_taken_and_said_once_to_change_nothing(cli, tmp_path, options, said):
    text = "name = 's'\n[cluster]\nnodes = 2\n[workload]\nutilisation = 0.3\nduration_s = 60.0\n"
    (tmp_path / "s.toml").write_text(text)
    (tmp_path / "t.toml").write_text(f"{text}[run]\nthreads = 3\n")
    code, plain, err = cli("run", "s.toml", "--json")
    assert (code, "thread" in err) == (0, False)
    code, out, err = cli("run", "t.toml", "--json")
    assert (code, out, err.count("run.threads (one thread serves a run)")) == (0, plain, 1)
    code, out, err = cli("run", "s.toml", "--json", *options)
    assert (code, out, [line for line in err.splitlines() if "thread" in line]) == (0, plain, [said])
    scenarios = [load_scenario(name) for name in ("s.toml", "t.toml")]
    assert len({cell_key(one) for one in scenarios}) == len({scenario_to_toml(one) for one in scenarios}) == 1


@pytest.mark.parametrize(("options", "said"), [
    (["--threads", 0], 'run.threads = 0: must be "auto" or a whole number from 1 to 256'),
    (["--threads", "many"], "run.threads = 'many': must be"),
    (["--threads", 2, "--set", "run.threads=3"], "--threads sets this key too"),
])  # fmt: skip
def test_bad_numbers_of_threads_are_refused(cli, options, said):
    code, out, err = cli("run", "cpu-bound", *options)
    assert (code, out) == (2, "")
    assert said in err


@pytest.mark.parametrize(
    "given",
    [
        {"workload": {"utilisation": 0.5, "trace": {"file": "t.csv"}}},
        {"workload": {"utilisation": 0.5, "programs": {"file": "p.csv"}}},
    ],
)
def test_a_file_that_would_not_be_read_is_refused_wherever_it_is_set(given):
    with pytest.raises(InputError, match=r"workload\.(trace|programs)\.file .*: would not be read"):
        scenario_from(given)
    key = "workload.trace.file" if "trace" in given["workload"] else "workload.programs.file"
    with pytest.raises(InputError, match="would not be read"):
        load_scenario("quickstart", {key: "f.csv"})
    with pytest.raises(InputError, match="would not be read"):
        ClusterModel("quickstart", **{key.replace(".", "__"): "f.csv"})


def test_profiles_for_a_trace_that_names_no_program_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text(TRACE)
    with pytest.raises(InputError, match=r"workload\.programs\.file .*: would not be read: .*no column 'name'"):
        ClusterModel("replay", workload__trace__file=str(tmp_path / "t.csv"), workload__programs__file="mcls")


@pytest.mark.parametrize(("overrides", "said"), [
    ({"clustr.nodes": 4}, "override: unknown key 'clustr.nodes'; did you mean 'cluster.nodes'?"),
    ({"cluster.nods": 4}, "override: unknown key 'cluster.nods'; did you mean 'cluster.nodes'?"),
    ({"workload.home.kind": "weights"}, "override: workload.home"),
    ({"workload.arrivals.kind": "lognormal-window"}, "override: workload"),
])  # fmt: skip
def test_an_override_is_blamed_for_what_it_does(overrides, said):
    with pytest.raises(InputError) as caught:
        load_scenario("quickstart", overrides)
    assert any(line.startswith(said) for line in caught.value.problems), caught.value.problems
    assert not any("quickstart.toml" in line for line in caught.value.problems)


def test_a_file_is_blamed_for_its_own(tmp_path):
    (tmp_path / "s.toml").write_text("[cluster]\nnods = 3\n")
    with pytest.raises(InputError) as caught:
        load_scenario(tmp_path / "s.toml", {"cluster.memory_mb": -1.0})
    own, laid_over = sorted(caught.value.problems, reverse=True)
    assert own.startswith("override: cluster.memory_mb = -1.0")
    assert laid_over.startswith(f"{tmp_path / 's.toml'}: unknown key 'cluster.nods'")


@pytest.mark.slow
def test_captions_say_what_runs(cli):
    code, out, _ = cli(
        "compare", "stale-views", "--policies", "jsq", "--seeds", 1, "--workers", 1, "--set", "cluster.nodes=3",
        "--set", "cluster.exchange_period_ms=20000", "--set", "workload.duration_s=2",
    )  # fmt: skip
    assert code == 0
    assert "stale-views: 3 nodes, CPU-bound jobs at load 0.8, reports every 20 s" in out
    assert "with cluster.nodes=3, cluster.exchange_period_ms=20000" in out


@pytest.mark.parametrize("name", scenario_names())
def test_shipped_captions_are_whole_sentences(name):
    caption = caption_of(load_scenario(name))
    assert "{" not in caption
    assert "(not set)" not in caption


@pytest.mark.parametrize(("summary", "said"), [
    ("jobs of {workload.cpu_ms}", "jobs of {workload.cpu_ms}"),
    ("until {run.until}, {compare.policies}", "until"),
    ("{workload.cpu_ms.mean}, {workload.cpu_ms.kind}", "2 s, "),
    ("{cluster.remote_memory} {no.key} {", "{no.key} {"),
])  # fmt: skip
def test_a_caption_may_name_any_key(summary, said):
    given = {"summary": summary, "workload": {"jobs": 3, "cpu_ms": {"kind": "fixed", "mean": 2000.0}}}
    assert said in caption_of(scenario_from(given))


def test_fetching_files_is_no_migration(cli):
    code, out, _ = cli("run", "wide-area-data", "--policy", "none", "--set", "workload.duration_s=20")
    assert code == 0
    breakdown = out.partition("where a task's time went")[2]
    assert "transfer" in breakdown
    assert "migration" not in breakdown
