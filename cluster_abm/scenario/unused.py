"""Keys of a scenario that have no effect, because another key turns off what they describe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cluster_abm.scenario.arrivals import Arrivals
from cluster_abm.scenario.cluster import Cluster, NodeGroup
from cluster_abm.scenario.failures import Outages
from cluster_abm.scenario.hardware import NODE_KEYS, own_keys_that_win, read_preset
from cluster_abm.scenario.interconnect import Interconnect
from cluster_abm.scenario.load import shipped_network, shipped_profiles, shipped_trace
from cluster_abm.scenario.schema import Scenario, Workload
from cluster_abm.scenario.sessions.unused import has_daily_groups, of_sessions

# Keys of the arrivals that only some kinds use.
ARRIVAL_KEYS: Mapping[str, tuple[str, ...]] = {
    "poisson": (),
    "lognormal-window": ("mu", "sigma", "time_unit_s", "regular"),
    "bursty": ("burst_factor", "burst_s", "quiet_s"),
    "multiscale": ("scales_s", "variations"),
    "closed": ("users_per_node", "jobs_per_user", "think_s", "user_nodes", "first_gap_s"),
}
# Kinds of arrivals whose rate may follow a course, and whose jobs may come in batches.
OPEN_ARRIVALS = ("poisson", "bursty", "multiscale")
COURSE_KEYS = ("batch_mean", "batch_gap_s", "daily", "weekly", "starts_h")
OF_PROGRAMS = ("cpu_ms", "memory_mb", "memory_of", "io_per_ms", "no_io_share")
OF_APPLICATIONS = ("cpu_ms", "io_per_ms", "request_kb", "no_io_share", "initial_data_mb", "write_share")

# Keys of earlier versions that are taken, in a file and by `--set`, and on which nothing depends, each with the reason.
TAKEN = {"run.threads": "one thread serves a run"}


def keys_without_effect(scenario: Scenario) -> dict[str, str]:
    """Dotted keys, and sections, on which no result of a run of this scenario depends, each with the reason.

    A section stands for all its keys. What depends on the policy or on the content of a file is not among them.
    """
    work, cluster = scenario.workload, scenario.cluster
    parts = (
        _of_workload(work), of_sessions(work), _of_arrivals(work), _of_cluster(cluster), _of_power(cluster),
        _of_groups(scenario), _of_presets(scenario), _of_policy(scenario), _of_failures(scenario),
        _of_slow_devices(scenario), _of_script(scenario), _of_data_and_messages(scenario),
    )  # fmt: skip
    reasons = dict(TAKEN)
    for key, reason in (pair for part in parts for pair in part):
        reasons.setdefault(key, reason)
    return reasons


def reason_without_effect(key: str, unused: Mapping[str, str]) -> str | None:
    """Why a dotted key has no effect, by `keys_without_effect`; None if it has one."""
    parts = key.split(".")
    for end in range(len(parts), 0, -1):
        reason = unused.get(".".join(parts[:end]))
        if reason is not None:
            return reason
    return None


def dotted(tree: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The dotted keys of nested tables; of lists of tables the list's."""
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from dotted(value, f"{path}{name}.")
        else:
            yield path + str(name)


def dotted_entries(tree: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """As `dotted`, with the keys of each table of a list of tables by its place: cluster.group.0.cores."""
    for name, value in tree.items():
        if isinstance(value, Mapping) and value:
            yield from dotted_entries(value, f"{path}{name}.")
        elif isinstance(value, list | tuple) and value and all(isinstance(entry, Mapping) for entry in value):
            for index, entry in enumerate(value):
                yield from dotted_entries(entry, f"{path}{name}.{index}.")
        else:
            yield path + str(name)


def _of_workload(work: Workload) -> Iterator[tuple[str, str]]:
    if work.kind == "none":
        for name in (
            "jobs", "jobs_per_s", "utilisation", "duration_s", "arrivals", "home", "cpu_ms", "task_cpu", "programs",
        ):  # fmt: skip
            yield f"workload.{name}", 'workload.kind is "none": there are no jobs but those of workload.initial'
    if work.kind == "trace":
        for name in ("jobs", "jobs_per_s", "utilisation", "duration_s", "arrivals"):
            yield f"workload.{name}", 'workload.kind is "trace", and the trace says when jobs are submitted'
        if work.application.name == "none" and work.trace.says_cpu:
            yield "workload.cpu_ms", 'workload.kind is "trace", and the trace says the CPU times'
        if work.trace.memory == "drawn":
            yield "workload.trace.memory_per", 'workload.trace.memory is "drawn": no memory is read'
        if work.trace.resample != "shake":
            yield "workload.trace.shake_s", f'workload.trace.resample is "{work.trace.resample}", not "shake"'
        if work.trace.file is not None and shipped_trace(work.trace.file) is not None:
            yield "workload.trace.max_mb", "workload.trace.file is no file of your own"
    else:
        yield "workload.trace", f'workload.kind is "{work.kind}": no trace is read'
    if work.application.name == "none":
        for name in ("cpu_share", "scale"):
            yield f"workload.application.{name}", 'workload.application.name is "none"'
    else:
        for name in OF_APPLICATIONS:
            yield f"workload.{name}", f'workload.application.name is "{work.application.name}", which says it'
        for name in ("parallel_share", "minimum", "maximum", "widths"):
            yield f"workload.tasks.{name}", f'workload.application.name is "{work.application.name}", which says it'
    if work.programs.mix:
        for name in OF_PROGRAMS:
            yield f"workload.{name}", "workload.programs.mix is set, and the programs' profiles say it"
    if work.programs.file is None or shipped_profiles(work.programs.file) is not None:
        yield "workload.programs.max_mb", "workload.programs.file is no file of your own"
    if work.home.kind != "skewed":
        yield "workload.home.skew", f'workload.home.kind is "{work.home.kind}", not "skewed"'
    if work.home.kind != "weights":
        yield "workload.home.weights", f'workload.home.kind is "{work.home.kind}", not "weights"'
    if work.repeats.share == 0.0:
        yield "workload.repeats.back", "workload.repeats.share is 0: no job repeats another"
    if work.tasks.widths:
        for name in ("parallel_share", "minimum", "maximum"):
            yield f"workload.tasks.{name}", "workload.tasks.widths is set, and says it"
    if work.kind == "synthetic" and work.application.name == "none" and not work.tasks.has_parallel_jobs:
        said = "widths has 1 alone" if work.tasks.widths else "parallel_share is 0"
        for name in ("minimum", "maximum", "barrier_ms", "communication_ms"):
            yield f"workload.tasks.{name}", f"workload.tasks.{said}: no job is parallel"
        if not work.programs.mix:
            yield "workload.task_cpu", f"workload.tasks.{said}: no job is parallel"
    if work.kind == "synthetic" and work.cpu_ms.kind == "fixed" and not work.programs.mix:
        yield "workload.task_cpu", 'workload.cpu_ms.kind is "fixed": all tasks have the same CPU demand'
    if work.tasks.barrier_ms == 0.0:
        yield "workload.tasks.communication_ms", "workload.tasks.barrier_ms is 0: there are no barriers"


def _of_arrivals(work: Workload) -> Iterator[tuple[str, str]]:
    kind = work.arrivals.kind
    for name in Arrivals.model_fields:
        users = [other for other, keys in ARRIVAL_KEYS.items() if name in keys]
        if users and kind not in users:
            yield f"workload.arrivals.{name}", f'workload.arrivals.kind is "{kind}", not "{users[0]}"'
    if kind not in OPEN_ARRIVALS:
        for name in COURSE_KEYS:
            yield f"workload.arrivals.{name}", f'workload.arrivals.kind is "{kind}": its law says when jobs come'
    if not work.arrivals.has_course and not has_daily_groups(work):
        yield "workload.arrivals.starts_h", "workload.arrivals.daily and weekly are not set"
    if work.arrivals.batch_mean == 1.0:
        yield "workload.arrivals.batch_gap_s", "workload.arrivals.batch_mean is 1: there are no batches"
    if work.kind == "synthetic" and kind == "closed":
        for name in ("duration_s", "home"):
            yield f"workload.{name}", 'workload.arrivals.kind is "closed": its users say when and where'


def _of_cluster(cluster: Cluster) -> Iterator[tuple[str, str]]:
    if cluster.paging != "oversize":
        yield "cluster.fault_evenness", f'cluster.paging is "{cluster.paging}", not "oversize"'
    else:
        for name in ("page_fault_rate_per_ms", "page_fault_law", "page_fault_ratio_cap", "buffer_in_memory"):
            yield f"cluster.{name}", 'cluster.paging is "oversize", not "rate"'
    if cluster.buffer_control.kind == "fixed":
        for name in ("period_ms", "gain"):
            yield f"cluster.buffer_control.{name}", 'cluster.buffer_control.kind is "fixed"'
    # Where a disk has channels or draws its seeks, a fault's transfer is told from its seek.
    one_piece = all(kind.disk_channels == 1 and kind.disk_latency == "fixed" for kind, _ in cluster.kinds)
    if cluster.fault_service_ms is not None and not cluster.remote_memory and one_piece:
        yield "cluster.page_kb", "cluster.fault_service_ms is set: no page's transfer is counted"


def _of_power(cluster: Cluster) -> Iterator[tuple[str, str]]:
    if cluster.has_power:
        return
    why = "cluster.idle_watts is not set for every node: no energy is counted"
    for section in _sections(cluster):
        for name in ("cpu_watts", "disk_watts"):
            yield f"{section}.{name}", why
    without = [index for index, (kind, count) in enumerate(cluster.kinds) if count and kind.idle_watts is None]
    for index in range(len(cluster.group)):
        if set(without) - {index}:
            yield f"cluster.group.{index}.idle_watts", why


def _of_groups(scenario: Scenario) -> Iterator[tuple[str, str]]:
    cluster = scenario.cluster
    if not any(_seeks(kind) for kind, count in cluster.kinds if count):
        for section in _sections(cluster):
            yield f"{section}.disk_latency", "disk_seek_rotation_ms is 0 on every node: no seek is drawn"
    if cluster.kinds[-1][1] > 0:
        return
    said = [name for name in NODE_KEYS if all(getattr(group, name) is not None for group in cluster.group)]
    if scenario.workload.application.name != "none":
        # Its requests are counted by the disk of [cluster] itself.
        said = [name for name in said if name not in ("disk_seek_rotation_ms", "disk_mb_per_s")]
    for name in said:
        yield f"cluster.{name}", "cluster.group says it of every node"
    if cluster.hardware is not None and set(read_preset(cluster.hardware).keys) <= set(said):
        yield "cluster.hardware", "cluster.group says all of it of every node"


def _sections(cluster: Cluster) -> list[str]:
    """The sections that say what nodes are."""
    return ["cluster", *(f"cluster.group.{index}" for index in range(len(cluster.group)))]


def _seeks(kind: Cluster) -> bool:
    """Whether requests or page faults of such a node seek."""
    if kind.fault_service_ms is not None and kind.fault_service_ms > kind.page_kb / kind.disk_mb_per_s:
        return True
    return kind.disk_seek_rotation_ms > 0.0


def _of_presets(scenario: Scenario) -> Iterator[tuple[str, str]]:
    sections: list[tuple[str, Cluster | NodeGroup | Interconnect]] = [
        ("cluster", scenario.cluster), ("interconnect", scenario.interconnect),
        *((f"cluster.group.{index}", group) for index, group in enumerate(scenario.cluster.group)),
    ]  # fmt: skip
    for where, section in sections:
        if section.hardware is not None:
            preset = read_preset(section.hardware)
            if len(own_keys_that_win(section)) == len(preset.keys):
                yield f"{where}.hardware", f"{where} itself says all that the preset does"


def _of_policy(scenario: Scenario) -> Iterator[tuple[str, str]]:
    groups = scenario.cluster.group
    if sum(group.count for group in groups) == scenario.cluster.nodes and all(group.policy for group in groups):
        yield "policy", "cluster.group names the policy of every node"


def _of_failures(scenario: Scenario) -> Iterator[tuple[str, str]]:
    failures = scenario.failures
    for name, outages in (("node", failures.node), ("link", failures.link)):
        if outages.kind == "none":
            for key in set(Outages.model_fields) - {"kind"}:
                yield f"failures.{name}.{key}", f'failures.{name}.kind is "none"'
        elif outages.kind != "weibull":
            yield f"failures.{name}.shape", f'failures.{name}.kind is "{outages.kind}", not "weibull"'
    if failures.file is None:
        for key in ("map", "columns", "filter", "start_s", "max_mb"):
            yield f"failures.{key}", "failures.file is not set"
    if not (failures.can_happen or scenario.nodes_may_fail):
        for name in ("on_failure", "checkpoint_period_ms"):
            yield (
                f"failures.{name}",
                "nothing can fail: failures.node, failures.link, failures.event and failures.file are not set, and no "
                "act of the script fails a node",
            )
    elif not scenario.nodes_may_fail:
        for name in ("on_failure", "checkpoint_period_ms"):
            yield (
                f"failures.{name}",
                "no node can fail: failures.node, failures.event, failures.file and the script name none",
            )
    elif failures.on_failure != "checkpoint":
        yield "failures.checkpoint_period_ms", f'failures.on_failure is "{failures.on_failure}", not "checkpoint"'


def _of_slow_devices(scenario: Scenario) -> Iterator[tuple[str, str]]:
    until = scenario.run.until
    for index, cause in enumerate(scenario.failures.degrade):
        where = f"failures.degrade.{index}"
        if cause.factor == 1.0:
            yield where, f"{where}.factor is 1: nothing becomes slow"
        elif cause.device == "link" and scenario.cluster.nodes == 1:
            yield where, "cluster.nodes is 1: nothing travels"
        elif cause.at_s is not None and isinstance(until, float) and cause.at_s * 1000.0 >= until:
            yield where, f"run.until is {until:g} ms: the run is over by then"
        elif cause.kind == "schedule":
            for name in ("mean_up_s", "shape", "mean_down_s", "repair"):
                yield f"{where}.{name}", f'{where}.kind is "schedule", which at_s and for_s say'
        elif cause.kind != "weibull":
            yield f"{where}.shape", f'{where}.kind is "{cause.kind}", not "weibull"'


def _of_script(scenario: Scenario) -> Iterator[tuple[str, str]]:
    until = scenario.run.until
    for index, act in enumerate(scenario.script):
        where = f"script.{index}"
        if isinstance(until, float) and act.at_s * 1000.0 >= until:
            yield where, f"run.until is {until:g} ms: the run is over by then"
        elif act.act == "arrivals" and scenario.workload.kind == "none":
            yield where, 'workload.kind is "none": no job arrives'


def _of_data_and_messages(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for name in ("max_mb", "gflops_per_speed"):
        if scenario.interconnect.file is None:
            yield f"interconnect.{name}", "interconnect.file is not set"
        elif shipped_network(scenario.interconnect.file) is not None:
            yield f"interconnect.{name}", "interconnect.file is no file of your own"
    if not scenario.data.files:
        for name in type(scenario.data).model_fields:
            if name not in ("files", "file"):
                yield f"data.{name}", "data.files is 0: jobs that name no files need none"
    if scenario.workload.kind != "trace":
        yield "data.file", f'workload.kind is "{scenario.workload.kind}": only jobs of a trace name files'
    if scenario.negotiation.mode != "head-node":
        yield "negotiation.head_node", f'negotiation.mode is "{scenario.negotiation.mode}", not "head-node"'
    information = scenario.policy.parameters.get("information")
    if information == "fresh" and scenario.negotiation.mode != "papers" and not scenario.cluster.remote_memory:
        yield "cluster.exchange_period_ms", 'policy.information is "fresh": every load is known without reports'
    if scenario.negotiation.mode == "papers":
        for key in ("negotiation.refusals", "interconnect.loss_share"):
            yield key, 'negotiation.mode is "papers": every load is known, and every offer accepted'
        if not scenario.may_fail:
            for key in ("negotiation.timeout_ms", "negotiation.missed_reports", "negotiation.offers"):
                yield key, 'negotiation.mode is "papers", and nothing can fail'
            if not scenario.cluster.remote_memory and information != "reported":
                yield "cluster.exchange_period_ms", 'negotiation.mode is "papers": every load is known without reports'
