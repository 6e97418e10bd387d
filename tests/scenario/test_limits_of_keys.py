"""Every limit of a number: what lies at it is accepted, what lies just beyond it refused."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from pydantic.json_schema import GenerateJsonSchema

from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from
from cluster_abm.scenario.schema import Scenario
from cluster_abm.scenario.sessions import SessionGroup
from cluster_abm.scenario.wording.keys import distributions

PLAIN = {"cluster.nodes": 4, "workload.jobs": 3}
NODE = ("cluster", "cluster.group.0")
OUTAGES = ("failures.node", "failures.link")
SLOW = "failures.degrade.0"
GROUP = ("workload.sessions.group.0",)
INITIAL = ("workload.initial.0",)


def under(sections: tuple[str, ...], *names: str) -> list[str]:
    return [f"{section}.{name}" for section in sections for name in names]


# [a, b] includes its ends, (a, b) does not; {a..b} are whole numbers, {a..} without an upper end.
RANGES: dict[str, list[str]] = {
    "(0, 1e12]": [
        *under(NODE, "memory_mb", "page_kb"), "cluster.page_fault_ratio_cap", "run.until", "data.drift_period_s",
        "measure.bound_ms",
        "data.file.0.size_mb",
        *under(("workload",), "duration_s", "jobs_per_s", "utilisation", "home.skew", "application.scale",
               "background.0.request_kb"),
        *under(INITIAL, "cpu_ms", "request_kb", "requested_ms"),
        *under(("workload.arrivals",), "sigma", "burst_s", "quiet_s", "time_unit_s"),
        *under(GROUP, "share", "longest_s"),
        *under(("workload.trace",), "duration_s", "cpu_scale", "cpu_ms_per_mb", "task_mb", "shake_s"),
    ],
    "[0, 1e12]": [
        *under(NODE, "buffer_mb", "swap_mb", "page_fault_rate_per_ms", "idle_watts", "cpu_watts", "disk_watts"),
        "workload.reaccess_rate", "workload.background.0.memory_mb", "workload.trace.start_s",
        *under(("workload.arrivals",), "daily", "weekly"), "workload.home.weights", "workload.tasks.widths",
        *under(GROUP, "widths", "daily", "users"), *under(("workload.sessions",), "users", "hold_back_s"),
        "workload.programs.mix", *under(INITIAL, "io_per_ms", "memory_mb", "initial_data_mb", "reaccess_rate"),
    ],
    # The system leaves some of the memory.
    "[0, 1e12)": [*under(NODE, "system_mb"), "workload.initial.0.age_ms"],
    "[-1e12, 1e12]": ["workload.arrivals.mu"],
    "(1, 1e12]": ["workload.arrivals.burst_factor"],
    "[1, 1e6]": ["workload.arrivals.batch_mean"],
    "[1, 1000]": ["workload.announced_error"],
    "[0, 1e6]": ["workload.arrivals.first_gap_s", "workload.background.0.io_per_ms"],
    "[0, 168)": ["workload.arrivals.starts_h"],
    "[0, 100]": ["workload.arrivals.variations"],
    "[0, 10]": ["data.popularity_skew"],
    "[0, 1]": [
        "cluster.fault_evenness", "data.affinity", "workload.initial.0.write_share",
        *under(("workload",), "no_io_share", "write_share", "tasks.parallel_share", "trace.disk_read_share",
               "trace.disk_write_share"),
        *under(GROUP, "one_width", "same_width", "after_end"),
    ],
    "[-0.99, 0.99]": under(GROUP, "work_with_tasks"),
    "(0, 10]": ["workload.sessions.reference_load"],
    "[0, 1)": ["workload.repeats.share"],
    "(0, 1]": [
        "cluster.buffer_control.gain", "workload.trace.keep_share", "workload.trace.sample",
        "workload.background.0.cpu_share", f"{SLOW}.factor",
    ],
    "(0, 1)": ["workload.application.cpu_share"],
    "[0, 0.99]": ["interconnect.loss_share"],
    "[1e-6, 1e9]": [
        *under(NODE, "quantum_ms"), "cluster.slice_ms", "cluster.exchange_period_ms", "measure.period_ms",
        "cluster.buffer_control.period_ms", "workload.arrivals.scales_s", "interconnect.gflops_per_speed",
    ],
    "[0, 1e9]": [
        *under(NODE, "context_switch_ms", "disk_seek_rotation_ms"), "interconnect.latency_ms",
        "interconnect.trunk_latency_ms", *under(("negotiation",), "remote_execution_ms", "migration_ms", "timeout_ms"),
        *under(("workload",), "tasks.barrier_ms", "tasks.communication_ms", "arrivals.batch_gap_s"),
        "failures.event.0.at_s", f"{SLOW}.at_s", "script.0.at_s", "measure.from_s",
        "failures.start_s",
    ],
    "(0, 1e9]": under(NODE, "fault_service_ms"),
    "[1e-3, 1e9]": [
        *under(NODE, "cpu_speed", "disk_mb_per_s"), "interconnect.bandwidth_mbps", "interconnect.trunk_bandwidth_mbps",
        *under((*OUTAGES, SLOW), "mean_up_s", "mean_down_s"), "failures.event.0.for_s", f"{SLOW}.for_s",
        "workload.background.0.period_ms", "workload.sessions.longest_gap_s",
    ],
    "[0.1, 20]": under((*OUTAGES, SLOW), "shape"),
    "[1, 1e9]": ["failures.checkpoint_period_ms"],
    "{1..100000}": ["cluster.nodes", "workload.programs.max_mb", "workload.trace.max_mb", "interconnect.max_mb",
                    "failures.max_mb"],
    "{1..1024}": under(NODE, "cores", "disk_channels"),
    "{1..}": ["data.copies", "compare.seeds"],
    # There are four nodes.
    "{1..4}": ["cluster.group.0.count", "workload.dispatchers"],
    "{0..3}": [
        "workload.background.0.node", "workload.initial.0.node", "negotiation.head_node",
        "failures.event.0.node", "workload.arrivals.user_nodes", "script.0.node",
    ],
    "{0..}": ["workload.trace.run", f"{SLOW}.nodes", "script.0.job", "script.0.task"],
    "(0, 1e6]": ["script.0.factor"],
    "{1..50000000}": ["workload.jobs", "workload.arrivals.jobs_per_user"],
    "{1..1000000}": ["workload.arrivals.users_per_node", "negotiation.offers", "negotiation.missed_reports"],
    "{0..1000000}": ["data.files", *under(("data.files_per_job",), "minimum", "maximum")],
    "{1..2147483647}": [
        *under(("workload.tasks",), "minimum", "maximum"), "workload.trace.max_tasks", "workload.initial.0.tasks",
    ],
    "{1..10000}": ["workload.repeats.back"],
    "{1..1000000000}": under(("interconnect",), "rack_nodes", "dimensions", "routers_per_group", "nodes_per_router",
                              "clusters", "cluster_nodes", "nodes_per_vertex"),
    "{0..9223372036854775807}": ["run.seed"],
    "{1..256}": ["run.threads"],
}  # fmt: skip
# Below, and in test_keys_that_fit.
ELSEWHERE = {"interconnect.arity", "workload.dependence", "failures.event.0.link"}
# Lists and tables that hold the number.
HOLDERS: dict[str, Any] = {
    "workload.arrivals.daily": lambda value: [1.0, value],
    "workload.arrivals.weekly": lambda value: [1.0] * 6 + [value],
    "workload.home.weights": lambda value: [1.0, value],
    "workload.tasks.widths": lambda value: {"1": 1.0, "2": value},
    "workload.programs.mix": lambda value: {"bit-r": 1.0, "m-m": value},
    "workload.sessions.users": lambda value: [1.0, value],
    "workload.sessions.group.0.daily": lambda value: [1.0, value],
    "workload.sessions.group.0.widths": lambda value: {"1": 1.0, "2": value},
    "workload.sessions.group.0.users": lambda value: {"0": 1.0, "other": value},
    **dict.fromkeys(
        ["workload.arrivals.variations", "workload.arrivals.scales_s", "workload.arrivals.user_nodes", f"{SLOW}.nodes",
         "interconnect.dimensions", "interconnect.cluster_nodes"], lambda value: [value]),
}  # fmt: skip
# The entry of a list of tables that the key is laid over.
ENTRIES = {
    "cluster.group": {"count": 2, "memory_mb": 1e12},
    "workload.background": {"node": 1, "cpu_share": 0.3},
    "workload.initial": {"node": 1, "cpu_ms": 1e12},
    "failures.event": {"node": 1, "at_s": 1.0},
    "data.file": {"name": "maps", "size_mb": 5.0, "at": [1]},
    "failures.degrade": {"device": "cpu", "factor": 0.5, "at_s": 1.0},
    "script": {"act": "fail", "node": 1, "at_s": 1.0},
    "workload.sessions.group": {"jobs": {"mean": 2.0}},
}
DRAWN = {"at_s": None, "kind": "weibull"}
# What other checks need.
NEEDED: list[tuple[list[str], dict[str, Any]]] = [
    (under(NODE, "memory_mb", "buffer_mb"), {"cluster.buffer_in_memory": False}),
    (under(NODE, "system_mb"), {"cluster.buffer_in_memory": False, "cluster.memory_mb": 1e12}),
    (["cluster.group.0.swap_mb"], {"cluster.swap_mb": 9.0}),
    (["workload.tasks.minimum"], {"workload.tasks.maximum": 2147483647}),
    (["workload.tasks.maximum"], {"workload.tasks.minimum": 1}),
    (["measure.from_s"], {"workload.duration_s": 1e10}),
    (["data.files"], {"data.files_per_job": {"minimum": 0, "maximum": 0}}),
    (["data.files_per_job.minimum"], {"data.files_per_job.maximum": 1_000_000}),
    (["data.files_per_job.maximum"], {"data.files_per_job.minimum": 0}),
    (["interconnect.rack_nodes"], {"interconnect.kind": "tree"}),
    (["interconnect.arity"], {"interconnect.kind": "fat-tree"}),
    (["interconnect.dimensions"], {"interconnect.kind": "torus"}),
    (["interconnect.nodes_per_vertex"], {"interconnect.file": "two-pairs"}),
    (under(("interconnect",), "routers_per_group", "nodes_per_router"), {"interconnect.kind": "dragonfly"}),
    (under(("interconnect",), "clusters", "cluster_nodes", "trunk_latency_ms", "trunk_bandwidth_mbps"),
     {"interconnect.kind": "clusters"}),
    (under((SLOW,), "mean_up_s", "mean_down_s", "shape"), DRAWN),
    (["script.0.factor"], {"act": "arrivals", "node": None}),
    (["script.0.job"], {"act": "kill", "node": None}),
    (["script.0.task"], {"act": "send"}),
]  # fmt: skip
ALSO = {key: settings for keys, settings in NEEDED for key in keys}


def made(key: str, value: Any) -> Scenario:
    """A scenario with a number at a key."""
    held = HOLDERS[key](value) if key in HOLDERS else value
    also = ALSO.get(key, {})
    name = next((one for one in ENTRIES if key.startswith(f"{one}.0.")), None)
    if name is None:
        return scenario_from({}, "test", PLAIN | also | {key: held})
    own = {one: more for one, more in also.items() if "." not in one}
    entry = ENTRIES[name] | own | {key.removeprefix(f"{name}.0."): held}
    entries = [{one: more for one, more in entry.items() if more is not None}]
    return scenario_from({}, "test", PLAIN | {one: more for one, more in also.items() if "." in one} | {name: entries})


def ends(interval: str) -> Iterator[tuple[Any, Any]]:
    """What is accepted at each end of an interval, and what is refused just beyond it."""
    if interval[0] == "{":
        low, high = interval[1:-1].split("..")
        yield int(low), int(low) - 1
        if high:
            yield int(high), int(high) + 1
    else:
        low, high = (float(one) for one in interval[1:-1].split(","))
        below, above = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
        yield (low, below) if interval[0] == "[" else (math.nextafter(low, math.inf), low)
        yield (high, above) if interval[-1] == "]" else (math.nextafter(high, -math.inf), high)


def value_at(setup: Any, key: str) -> Any:
    for part in key.split("."):
        setup = setup[int(part)] if part.isdecimal() and isinstance(setup, tuple) else getattr(setup, part)
    return setup


@pytest.mark.slow
@pytest.mark.parametrize(("key", "interval"), [(key, one) for one, keys in RANGES.items() for key in keys])
def test_a_number_is_accepted_up_to_its_limits(key, interval):
    for accepted, beyond in ends(interval):
        held = HOLDERS[key](accepted) if key in HOLDERS else accepted
        assert value_at(made(key, accepted), key) == (tuple(held) if isinstance(held, list) else held)
        with pytest.raises(InputError) as caught:
            made(key, beyond)
        assert all(key.rpartition(".")[2] in line for line in caught.value.problems)


def numbers_below(tree: Mapping[str, Any], whole: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The dotted keys of a JSON schema whose values are, or hold, numbers."""
    for name, entry in tree.get("properties", {}).items():
        options = [entry, *entry.get("anyOf", []), *entry.get("allOf", [])]
        section = next((one["$ref"] for one in options if "$ref" in one), None)
        if name == "columns":  # a map: tests/workload/test_maps_of_columns.py, test_outages_in_files.py
            continue
        table = entry.get("items", {}).get("$ref") if isinstance(entry.get("items"), dict) else None
        if section or table:
            below = whole["$defs"][(section or table).rpartition("/")[2]]
            yield from numbers_below(below, whole, f"{path}{name}." + ("" if section else "0."))
        elif "'type': 'number'" in str(options) or "'type': 'integer'" in str(options):
            yield path + name


class LenientSchema(GenerateJsonSchema):
    """Of a key that checks itself old versions of pydantic make no schema; new ones make one that allows anything."""

    def handle_invalid_for_json_schema(self, schema, error_info):
        return {}


def test_no_number_is_missing():
    """Those of distributions are limits of one class: test_keys_that_fit."""
    of_groups = [
        f"workload.sessions.group.0.{name}" for name, field in SessionGroup.model_fields.items()
        if "Distribution" in str(field.annotation)
    ]  # fmt: skip
    assert len(of_groups) == 6
    laws = (*distributions(), "workload.requested_over_actual", *of_groups)
    schema = Scenario.model_json_schema(schema_generator=LenientSchema)
    found = {key for key in numbers_below(schema, schema) if key.rpartition(".")[0] not in laws}
    # Two that check themselves: the schema does not know that they are numbers.
    found |= {"run.until", "run.threads"}
    assert found == {key for keys in RANGES.values() for key in keys} | ELSEWHERE


@pytest.mark.parametrize(("key", "accepted", "refused"), [
    ("interconnect.arity", [2, 1000], [0, 1, 3, 999, 1002]),
    ("workload.dependence", [{"tasks,cpu_ms": 0.99}, {"tasks,cpu_ms": -0.99}], [{"tasks,cpu_ms": 1.0},
                                                                              {"tasks,cpu_ms": -1.0}]),
    ("cluster.quantum_ms", ["inf"], ["-inf", "nan", math.nan, -math.inf]),
    ("run.until", ["drained"], ["drain", True, math.nan, math.inf]),
    ("run.threads", ["auto"], ["all", True, 2.0]),
    # Lengths of lists and tables.
    ("workload.arrivals.daily", [[1.0] * 1440], [[1.0] * 1441]),
    ("workload.arrivals.weekly", [[1.0] * 7], [[1.0] * 6, [1.0] * 8]),
    ("workload.arrivals.scales_s", [[1.0] * 32], [[1.0] * 33]),
    ("workload.arrivals.variations", [[1.0] * 32], [[1.0] * 33]),
    ("workload.tasks.widths", [{str(width): 1.0 for width in range(1, 1001)}],
     [{str(width): 1.0 for width in range(1, 1002)}]),
    ("interconnect.dimensions", [[2] * 16], [[], [2] * 17]),
    ("interconnect.cluster_nodes", [[4]], [[]]),
])  # fmt: skip
def test_what_is_no_single_number(key, accepted, refused):
    for value in accepted:
        scenario_from({}, "test", PLAIN | ALSO.get(key, {}) | {key: value})
    for value in refused:
        with pytest.raises(InputError, match=key.rpartition(".")[2]):
            scenario_from({}, "test", PLAIN | ALSO.get(key, {}) | {key: value})
