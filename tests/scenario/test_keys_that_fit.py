"""Keys that limit each other: a pair of settings that just fits, and one that just does not."""

from __future__ import annotations

import math
from typing import Any

import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario import scenario_from

PLAIN = {"cluster.nodes": 4, "workload.jobs": 3}
TINY = math.ulp(0.0)
BELOW_1, ABOVE_1 = math.nextafter(1.0, 0.0), math.nextafter(1.0, 2.0)
RATIO = "workload.requested_over_actual"
LAW = "workload.cpu_ms"
BUSY = {"node": 1, "cpu_share": 1.0}
ENDLESS = {"cluster.quantum_ms": "inf", "cluster.cores": 2, "workload.background": [BUSY, BUSY]}
FEEDBACK = {"cluster.buffer_control.kind": "feedback"}
FILES = {"data.files": 4, "data.files_per_job.maximum": 4}
SCALES = {"workload.arrivals.kind": "multiscale", "workload.arrivals.scales_s": [1.0, 2.0]}
OF_CLUSTERS = {"interconnect.kind": "clusters", "interconnect.cluster_nodes": [1, 3]}
SLOW = {"device": "cpu", "factor": 0.5, "at_s": 1.0}
DRAWN = {"device": "cpu", "factor": 0.5, "kind": "exponential"}
EACH = {"workload.task_cpu": "each"}


def group(*entries: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"cluster.group": list(entries)} | {f"cluster.{name}": value for name, value in more.items()}


def law(kind: str, **values: Any) -> dict[str, Any]:
    return {LAW: {"kind": kind, **values}}


def quantiles(values: list[float], probabilities: list[float], key: str = LAW) -> dict[str, Any]:
    return {key: {"kind": "quantiles", "values": values, "probabilities": probabilities}}


# What fits, what does not, and the beginning of why.
PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a mean of requests": ({RATIO: {"mean": 1.0}}, {RATIO: {"mean": BELOW_1}}, "requested_over_actual.mean"),
    "a least request": (
        {RATIO: {"kind": "lifetime", "minimum": 1.0}}, {RATIO: {"kind": "lifetime", "minimum": BELOW_1}},
        "requested_over_actual.minimum",
    ),
    "the largest request": (
        quantiles([0.2, 1.0], [0.0, 1.0], RATIO), quantiles([0.2, BELOW_1], [0.0, 1.0], RATIO), "must reach 1"),
    "requests times a scale": (
        {RATIO: {"kind": "quantiles", "values": [0.2, 0.5], "scale": 2.0}},
        {RATIO: {"kind": "quantiles", "values": [0.2, 0.5], "scale": 1.99}}, "must reach 1",
    ),
    "a mean above 0": (law("fixed", mean=TINY), law("fixed", mean=0.0), "cpu_ms.mean 0"),
    "quantiles above 0": (quantiles([TINY, 9.0], [0.0, 1.0]), quantiles([0.0, 9.0], [0.0, 1.0]), "cpu_ms.values"),
    "a pareto mean": (law("pareto", mean=9.0, shape=ABOVE_1), law("pareto", mean=9.0, shape=1.0), "shape 1.0"),
    "a lifetime's ends": (
        law("lifetime", minimum=5.0, maximum=math.nextafter(5.0, 6.0)), law("lifetime", minimum=5.0, maximum=5.0),
        "maximum 5.0",
    ),
    "the least gamma sd": (law("gamma", mean=1000.0, sd=1.0), law("gamma", mean=1000.0, sd=BELOW_1), "0.001..1000"),
    "the largest sd": (
        law("lognormal", mean=1.0, sd=1000.0), law("lognormal", mean=1.0, sd=1000.1), "must be 0.001..1000 means"),
    "no sd": (law("fixed", mean=5.0), law("gamma", mean=5.0, sd=0.0), "sd 0.0 of a gamma"),
    "an sd that is not used": (law("gamma", mean=5.0, sd=1.0), law("uniform", mean=5.0, sd=1.0), "takes mean only"),
    "two quantiles": (quantiles([1.0, 2.0], []), quantiles([1.0], []), "needs two or more"),
    "as many probabilities": (
        quantiles([1.0, 2.0], [0.0, 1.0]), quantiles([1.0, 2.0], [0.0, 0.5, 1.0]), "3 of them for 2 values"),
    "quantiles that ascend": (quantiles([2.0, 2.0], []), quantiles([2.0, math.nextafter(2.0, 1.0)], []), "ascend"),
    "probabilities that ascend": (
        quantiles([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 0.5, 1.0]), quantiles([1.0, 2.0, 3.0, 4.0], [0.0, 0.5, 0.4, 1.0]),
        "must ascend",
    ),
    "probabilities from 0": (quantiles([1.0, 2.0], [0.0, 1.0]), quantiles([1.0, 2.0], [TINY, 1.0]), "from 0 to 1"),
    "probabilities to 1": (quantiles([1.0, 2.0], [0.0, 1.0]), quantiles([1.0, 2.0], [0.0, BELOW_1]), "from 0 to 1"),
    "a size of each request": (
        {"workload.request_kb": {"kind": "uniform", "mean": 9.0, "per": "job"}},
        {"workload.request_kb": {"kind": "uniform", "mean": 9.0}}, "allowed are fixed, exponential, gamma",
    ),
    "as many tasks at most as at least": (
        {"workload.tasks.minimum": 5, "workload.tasks.maximum": 5},
        {"workload.tasks.minimum": 5, "workload.tasks.maximum": 4}, "maximum 4",
    ),
    "weights of widths": (
        {"workload.tasks.widths": {"1": 0.0, "2": TINY}}, {"workload.tasks.widths": {"1": 0.0}}, "at least one weight"),
    "the widest job": (
        {"workload.tasks.widths": {"2147483647": 1.0}}, {"workload.tasks.widths": {"2147483648": 1.0}}, "widths"),
    "the narrowest job": ({"workload.tasks.widths": {"1": 1.0}}, {"workload.tasks.widths": {"0": 1.0}}, "widths"),
    "a width without a nought": (
        {"workload.tasks.widths": {"10": 1.0}}, {"workload.tasks.widths": {"010": 1.0}}, "widths"),
    "shares of programs": (
        {"workload.programs.mix": {"m-m": TINY}}, {"workload.programs.mix": {"m-m": 0.0}}, "share above 0"),
    "weights of homes": (
        {"workload.home": {"kind": "weights", "weights": [0.0, TINY]}},
        {"workload.home": {"kind": "weights", "weights": [0.0, 0.0]}}, "number above 0",
    ),
    "a weight for each node": (
        {"workload.home": {"kind": "weights", "weights": [1.0] * 4}},
        {"workload.home": {"kind": "weights", "weights": [1.0] * 5}}, "5 weights",
    ),
    "a variation for each scale": (
        SCALES | {"workload.arrivals.variations": [1.0, 1.0]}, SCALES | {"workload.arrivals.variations": [1.0]},
        "1 of them for 2 scales_s",
    ),
    "a scale": (
        {"workload.arrivals.kind": "poisson"}, {"workload.arrivals.kind": "multiscale"}, "needs one or more"),
    "an hour with jobs": (
        {"workload.arrivals.daily": [0.0, TINY]}, {"workload.arrivals.daily": [0.0, 0.0]}, "number above 0"),
    "a day with jobs": (
        {"workload.arrivals.weekly": [0.0] * 6 + [TINY]}, {"workload.arrivals.weekly": [0.0] * 7}, "number above 0"),
    "a number of jobs squeezed into a window": (
        {"workload.arrivals.kind": "lognormal-window"},
        {"workload.arrivals.kind": "lognormal-window", "workload.jobs_per_s": 2.0}, "needs workload.jobs",
    ),
    "groups of all nodes": (group({"count": 3}, {"count": 1}), group({"count": 3}, {"count": 2}), "add up to 5"),
    "memory that the system leaves": (
        {"cluster.paging": "oversize", "cluster.memory_mb": 9.0, "cluster.system_mb": math.nextafter(9.0, 0.0)},
        {"cluster.paging": "oversize", "cluster.memory_mb": 9.0, "cluster.system_mb": 9.0}, "system_mb 9.0",
    ),
    "memory that the system of a group leaves": (
        group({"count": 1, "system_mb": 8.0}, memory_mb=9.0, paging="oversize"),
        group({"count": 1, "system_mb": 9.0}, memory_mb=9.0, paging="oversize"), "group.0.system_mb",
    ),
    "memory that the buffer leaves": (
        {"cluster.memory_mb": 9.0, "cluster.system_mb": 2.0, "cluster.buffer_mb": math.nextafter(7.0, 0.0)},
        {"cluster.memory_mb": 9.0, "cluster.system_mb": 2.0, "cluster.buffer_mb": 7.0}, "buffer_mb 7.0",
    ),
    "a buffer that is not in the memory": (
        {"cluster.memory_mb": 9.0, "cluster.buffer_mb": 9.0, "cluster.buffer_in_memory": False},
        {"cluster.memory_mb": 9.0, "cluster.buffer_mb": 9.0}, "buffer_mb 9.0",
    ),
    "swap of a group": (
        group({"count": 1, "swap_mb": 5.0}, swap_mb=9.0), group({"count": 1, "swap_mb": 5.0}), "needs cluster.swap_mb"),
    "a policy of parameters": (
        group({"count": 1, "policy": "power-of-d", "policy_parameters": {"d": 2}}),
        group({"count": 1, "policy_parameters": {"d": 2}}), "of which policy is not said",
    ),
    "parameters without a name": (
        group({"count": 1, "policy": "jsq", "policy_parameters": {}}),
        group({"count": 1, "policy": "jsq", "policy_parameters": {"name": "jsq"}}), "named by its key policy",
    ),
    "feedback within the memory": (FEEDBACK, FEEDBACK | {"cluster.buffer_in_memory": False}, "buffer_control.kind"),
    "feedback by the rate of faults": (FEEDBACK, FEEDBACK | {"cluster.paging": "oversize"}, "buffer_control.kind"),
    "feedback alone": (FEEDBACK, FEEDBACK | {"cluster.remote_memory": True}, "remote_memory = false"),
    "cores that programs leave": (ENDLESS | {"cluster.cores": 3}, ENDLESS, "never leave the 2 cores"),
    "a quantum for programs": (ENDLESS | {"cluster.quantum_ms": 9.0}, ENDLESS, "never leave the 2 cores"),
    "programs that sleep": (
        ENDLESS | {"workload.background": [BUSY, BUSY | {"cpu_share": BELOW_1}]}, ENDLESS, "never leave the 2 cores"),
    "programs on another node": (
        ENDLESS | {"workload.background": [BUSY, BUSY | {"node": 2}]}, ENDLESS, "never leave the 2 cores"),
    "programs that wait for the disk": (
        ENDLESS | {"workload.background": [BUSY, BUSY | {"io_per_ms": 0.1}]}, ENDLESS, "never leave the 2 cores"),
    "processors that are nodes alike": (
        group({"count": 1, "cores": 2}, cores=2) | {"workload.trace.processor": "node"},
        group({"count": 1, "cores": 2}, cores=3) | {"workload.trace.processor": "node"}, "nodes differ in cores (2, 3)",
    ),
    "memory of nodes alike": (
        group({"count": 4, "cores": 2}, cores=3) | {"workload.trace.memory_per": "node"},
        group({"count": 3, "cores": 2}, cores=3) | {"workload.trace.memory_per": "node"}, "differ in cores (2, 3)",
    ),
    "files enough for a job": (FILES, FILES | {"data.files": 3}, "files_per_job.maximum 4"),
    "no files": (FILES | {"data.files": 0}, FILES | {"data.files": 1}, "files_per_job.maximum 4"),
    "fewest and most files": (
        FILES | {"data.files_per_job.minimum": 4}, FILES | {"data.files_per_job.minimum": 5}, "maximum 4"),
    "a node for each copy": (FILES | {"data.copies": 4}, FILES | {"data.copies": 5}, "data.copies 5"),
    "copies of no files": ({"data.copies": 5}, FILES | {"data.copies": 5}, "data.copies 5"),
    # 20,000,000 pairs at most.
    "pairs of files and nodes": (
        {"data.files": 200_000, "cluster.nodes": 100}, {"data.files": 200_001, "cluster.nodes": 100}, "data.files"),
    "as many clusters as sizes": (
        OF_CLUSTERS | {"interconnect.clusters": 2}, OF_CLUSTERS | {"interconnect.clusters": 3}, "clusters 3"),
    "a key of another network": (
        {"interconnect.kind": "tree", "interconnect.rack_nodes": 2},
        {"interconnect.kind": "star", "interconnect.rack_nodes": 2}, "rack_nodes 2",
    ),
    "a file's kind": (
        {"interconnect": {"file": "two-pairs"}}, {"interconnect": {"file": "two-pairs", "kind": "bus"}}, "two-pairs"),
    "a kind's file": (
        {"interconnect": {"kind": "file", "file": "two-pairs"}}, {"interconnect": {"kind": "file"}}, "kind \"file\""),
    "what fails": (
        {"failures.event": [{"at_s": 1.0, "node": 1}]},
        {"failures.event": [{"at_s": 1.0, "node": 1, "link": [0, 1]}]}, "exactly one",
    ),
    "something that fails": (
        {"failures.event": [{"at_s": 1.0, "link": [0, 1]}]}, {"failures.event": [{"at_s": 1.0}]}, "exactly one"),
    "a node that fails": (
        {"failures.event": [{"at_s": 1.0, "node": 3}]}, {"failures.event": [{"at_s": 1.0, "node": 4}]}, "node 4"),
    "a time when it becomes slow": (
        {"failures.degrade": [SLOW]}, {"failures.degrade": [{**SLOW, "kind": "weibull"}]}, "draws its times"),
    "a schedule's time": (
        {"failures.degrade": [DRAWN]}, {"failures.degrade": [DRAWN | {"kind": "schedule"}]}, "needs it"),
    "how long it is slow": (
        {"failures.degrade": [SLOW | {"for_s": 1.0}]}, {"failures.degrade": [DRAWN | {"for_s": 1.0}]}, "mean_down_s"),
    "a node with users": (
        {"workload.arrivals.user_nodes": [3]}, {"workload.arrivals.user_nodes": [4]}, "user_nodes: node 4"),
    "correlations that go together": (
        {"workload.dependence": {"cpu_ms,memory_mb": 0.9, "memory_mb,tasks": 0.9, "cpu_ms,tasks": 0.8}},
        {"workload.dependence": {"cpu_ms,memory_mb": 0.9, "memory_mb,tasks": 0.9, "cpu_ms,tasks": 0.0}},
        "no numbers have these",
    ),
    "own demands without profiles": (
        EACH, EACH | {"workload.programs.mix": {"bit-r": 1.0}}, 'task_cpu "each": workload.programs.mix',
    ),
    "own demands of no application": (
        EACH | {"workload.application.name": "none"}, EACH | {"workload.application.name": "lu"},
        'task_cpu "each": workload.application.name is "lu"',
    ),
    "own demands that nothing depends on": (
        EACH | {"workload.dependence": {"memory_mb,io_per_ms": 0.2}},
        EACH | {"workload.dependence": {"memory_mb,cpu_ms": 0.2}}, "names cpu_ms (memory_mb,cpu_ms)",
    ),
    "own demands without repeats": (
        EACH | {"workload.repeats.share": 0.0}, EACH | {"workload.repeats.share": TINY},
        'task_cpu "each": workload.repeats.share',
    ),
    "own demands of no trace": (
        {"workload.kind": "trace"}, EACH | {"workload.kind": "trace"}, 'allowed with it is "job"',
    ),
    "a correlation once": (
        {"workload.dependence": {"cpu_ms,memory_mb": 0.2}},
        {"workload.dependence": {"cpu_ms,memory_mb": 0.2, "memory_mb,cpu_ms": 0.2}}, "named twice",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_keys_fit_or_do_not(name):
    fits, fails, said = PAIRS[name]
    scenario_from({}, "test", PLAIN | fits)
    with pytest.raises(InputError) as caught:
        scenario_from({}, "test", PLAIN | fails)
    assert said in str(caught.value)


# Of a law's numbers: what is accepted at each end, and what is refused beyond.
LIFETIME, QUANTILES = {"kind": "lifetime", "minimum": 1.0}, {"kind": "quantiles", "values": [1.0, 2.0]}
MORE = math.nextafter(1e12, math.inf)


@pytest.mark.parametrize(("kind", "name", "accepted", "refused"), [
    ({"kind": "exponential"}, "mean", [TINY, 1e12], [-TINY, MORE]),
    ({"kind": "gamma", "mean": 1e12}, "sd", [1e9, 1e12], [-TINY, MORE]),
    (LIFETIME, "shape", [TINY, 1e12], [0.0, MORE]),
    (LIFETIME | {"maximum": 1e12}, "minimum", [TINY, math.nextafter(1e12, 0.0)], [0.0, MORE]),
    (LIFETIME, "maximum", [ABOVE_1, 1e12], [0.0, MORE]),
    (QUANTILES, "scale", [TINY, 1e12], [0.0, MORE]),
    (QUANTILES, "values", [[1.0, 1e12], [1.0] * 1000], [[-TINY, 1.0], [1.0, MORE], [1.0] * 1001]),
    (QUANTILES, "probabilities", [[0.0, 1.0]], [[-TINY, 1.0], [0.0, ABOVE_1]]),
])  # fmt: skip
@pytest.mark.parametrize("key", [LAW, "workload.request_kb", "data.size_mb"])
def test_the_numbers_of_a_law(key, kind, name, accepted, refused):
    per = {"per": "job"} if key == "workload.request_kb" else {}
    for value in accepted:
        scenario_from({}, "test", PLAIN | {key: kind | per | {name: value}})
    for value in refused:
        with pytest.raises(InputError, match=name):
            scenario_from({}, "test", PLAIN | {key: kind | per | {name: value}})


def test_nothing_may_be_fetched_or_needed_but_no_access_is_empty():
    scenario_from({}, "test", PLAIN | {"workload.memory_mb.mean": 0.0, "data.size_mb.mean": 0.0})
    with pytest.raises(InputError, match=r"request_kb\.mean"):
        scenario_from({}, "test", PLAIN | {"workload.request_kb.mean": 0.0})
