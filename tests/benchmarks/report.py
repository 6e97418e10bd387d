"""The benchmarks' results as tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


def lines(results: Row) -> Iterator[str]:
    """All tables, line by line."""
    machine = results["machine"]
    yield f"Python {machine['python']}, Mesa {machine['mesa']}, SimPy {machine['simpy']}, numba {machine['numba']}"
    core = "not pinned" if machine["core"] is None else f"pinned to core {machine['core']}"
    yield f"CPU seconds, median of {results['repeats']}, {core}; compilation excluded"
    for name, table in TABLES.items():
        if name in results:
            yield from table(results[name])
    if "targets" in results:
        yield from _targets(results["targets"])
        yield (
            "  Quoted figures are of another run. The usual SimPy disk model does here "
            f"{results['faster_than_quoted']:.1f} times what is quoted: ratios to quoted ones may flatter by as much."
        )


def _cpu_only(group: Row) -> Iterator[str]:
    yield from _rates("CPU-only work, 32 nodes", group)
    for name, share in group["share_of_jobs_made_agents"].items():
        yield f"  {share:4.0%} of the jobs became agents: {name}"


def _disk_bound(group: Row) -> Iterator[str]:
    yield from _rates("Disk-bound work, 32 nodes", group)


def _idle_nodes(group: Row) -> Iterator[str]:
    yield from _rates("Idle nodes", group)
    each_ns = group["idle_node_slice_ns"]
    yield f"  cost {group['cost_ratio']:.2f} : 1, that is {each_ns:.3f} ns per idle node and slice, with construction"


def _many_cores(group: Row) -> Iterator[str]:
    yield from _rates("Many cores, at the same load per core", group)
    yield f"  a job in nodes of 64 cores costs {group['cost_ratio']:.2f} times one in nodes of one (at most 1.5 wanted)"
    yield f"  beside idle nodes of 64 cores it costs {group['idle_ratio']:.2f} times one beside idle nodes of one core"


def _scaling(group: Row) -> Iterator[str]:
    yield from _rates("Scaling: equal load per node, and longer windows", group)


def _every_policy(group: Row) -> Iterator[str]:
    """Us a job by policy and nodes, each with its ratio to `jsq` on as many nodes."""
    yield ""
    windows = ", ".join(f"{nodes} nodes {window_s:.0f} s" for nodes, window_s in group["windows_s"].items())
    yield f"Every policy, CPU us a job, least of the runs ({windows}); in brackets the ratio to jsq"
    yield f"  {'':20}" + "".join(f"{f'{nodes} nodes':>19}" for nodes in group["windows_s"])
    first = group["rows"][0]["us"]
    for row in group["rows"]:
        cells = "".join(f"{us:10.2f} ({us / first[nodes]:5.1f})" for nodes, us in row["us"].items())
        yield f"  {row['policy']:20}{cells}{'  in Python: ' + row['in_python'] if row['in_python'] else ''}"


def _log(group: Row) -> Iterator[str]:
    yield ""
    yield (
        f"{group['log']}: {group['jobs']:,} jobs, {group['tasks']:,} tasks; easy {group['easy_cpu_s']:.2f} CPU s, "
        f"by hand {group['by_hand_cpu_s']:.2f}: {group['ratio']:.1f} times; mean wait "
        f"{group['easy_mean_wait_s']:,.0f} s, by hand {group['by_hand_mean_wait_s']:,.0f} s"
    )


def _rates(title: str, group: Row) -> Iterator[str]:
    yield ""
    yield title + (f"; theory: {group['theory']}" if "theory" in group else "")
    # How many times the rate of each other row the first row has, where rows are rivals.
    first = group["rows"][0]["per_cpu_s"] if "quoted" in group else None
    ratio_head = "" if first is None else f"{'first is':>11}"

    def ratio(rate: float) -> str:
        return "" if first is None else f"{first / rate:10.2f}x"

    heads = f"{'CPU s':>9}{'per CPU s':>13}{'us each':>9}{'response ms':>13}{'used':>7}{ratio_head}"
    yield f"  {'':40}{group['unit']:>18}{heads}"
    for row in group["rows"]:
        yield (
            f"  {row['name']:40}{row['units']:18,}{row['cpu_s']:9.3f}{row['per_cpu_s']:13,.0f}"
            f"{row['us_per_unit']:9.3f}{row['mean_response_ms']:13,.0f}{row['utilisation']:7.3f}"
            f"{ratio(row['per_cpu_s'])}"
        )
    for name, rate in group.get("quoted", {}).items():
        yield f"  {name + ' (quoted, another run)':40}{'':18}{'':9}{rate:13,}{'':29}{ratio(rate)}"


def _targets(rows: list[Row]) -> Iterator[str]:
    yield ""
    yield "Asked for"
    for row in rows:
        verdict = "met" if row["met"] else "NOT met"
        yield f"  {row['what']:40}{row['yardstick']:34}{row['ratio']:8.2f}x, wanted {row['wanted']:4.0f}x: {verdict}"


def _theorem_1(group: Row) -> Iterator[str]:
    yield ""
    yield "Placing one job of m tasks among n nodes with IOLB [us] (Theorem 1: O(nm))"
    tasks = sorted({row["tasks"] for row in group["rows"]})
    yield "  " + f"{'n':>6}" + "".join(f"{f'm = {count}':>12}" for count in tasks)
    for nodes in sorted({row["nodes"] for row in group["rows"]}):
        found = {row["tasks"]: row["job_us"] for row in group["rows"] if row["nodes"] == nodes}
        yield "  " + f"{nodes:6}" + "".join(f"{found[count]:12,.0f}" for count in tasks)
    yield (
        f"  m ({group['per_task_us']:.1f} + {group['per_task_and_node_us']:.3f} n) us fits all of them "
        f"within {group['worst_relative_error']:.0%}"
    )


def _large(group: Row) -> Iterator[str]:
    yield ""
    yield "Decisions: CPU-only work, negotiated, reports each second; a decision is what a run takes more than `none`"
    heads = f"{'nodes':>8}{'jobs':>11}{'jobs/CPU s':>12}{'hour, CPU s':>13}{'us a decision':>15}{'wanted':>8}"
    yield f"  {'':14}{heads}{'in Python':>11}"
    for row in group["deciding"]:
        decision = ""
        if "decision_us" in row:
            decision = f"{row['decision_us']:15.2f}{row['wanted_us']:8.0f}{row['in_python_us']:11.0f}"
        yield (
            f"  {row['policy']:14}{row['nodes']:8,}{row['jobs']:11,}{row['jobs_per_cpu_s']:12,.0f}"
            f"{row['hour_s']:13.1f}{decision}"
        )
    for row in group["memory"]:
        yield (
            f"  peak memory of {row['nodes']:,} nodes, {row['seconds']:.0f} s, {row['policy']}, "
            f"records = {row['records']}: {row['peak_mb']:.0f} MB "
            f"({row['jobs']:,} jobs)"
        )
    if "first_compilation" in group:
        first = group["first_compilation"]
        yield f"  quickstart, nothing compiled: {first['first_cpu_s']:.1f} CPU s; then {first['second_cpu_s']:.1f}"


def _environment(group: Row) -> Iterator[str]:
    yield ""
    yield f"Environment for learners, 32 nodes; wanted are {group['wanted_per_cpu_s']:,.0f} decisions per CPU second"
    yield f"  {'':40}{'decisions':>11}{'steps':>9}{'CPU s':>9}{'per CPU s':>13}{'of wanted':>11}"
    for row in group["rows"]:
        yield (
            f"  {row['name']:40}{row['decisions']:11,}{row['steps']:9,}{row['cpu_s']:9.3f}{row['per_cpu_s']:13,.0f}"
            f"{row['of_wanted']:10.2f}x"
        )


def _talk(group: Row) -> Iterator[str]:
    yield ""
    yield "Load managers that talk, decided in Python: CPU-only work, 32 nodes"
    yield f"  {'':22}{'jobs':>9}{'messages a job':>16}{'CPU s':>9}{'jobs/CPU s':>12}{'times jsq':>11}"
    for row in group["rows"]:
        yield (
            f"  {row['name']:22}{row['jobs']:9,}{row['messages_per_job']:16.2f}{row['cpu_s']:9.3f}"
            f"{row['jobs_per_cpu_s']:12,.0f}{row['times_jsq']:10.1f}x"
        )


def _policies(group: Row) -> Iterator[str]:
    yield ""
    seconds = f"{group['simulated_s']:.0f} s (1,000 nodes: a 25th of that)"
    yield f"Policies beside the engine, {seconds} of I/O-intensive jobs"
    head = f"{'run CPU s':>11}{'engine CPU s':>14}{'rest/engine':>13}{'decisions':>11}{'us a decision':>15}"
    yield f"  {'':22}{head}"
    for row in group["rows"]:
        each = "-" if row["decision_us"] is None else f"{row['decision_us']:.0f}"
        yield (
            f"  {row['name']:22}{row['run_cpu_s']:11.3f}{row['engine_cpu_s']:14.3f}{row['beside_engine']:13.2f}"
            f"{row['decisions']:11,}{each:>15}"
        )


# By the names of the cases, in the order in which they are shown.
TABLES = {
    "cpu_only": _cpu_only, "disk_bound": _disk_bound, "idle_nodes": _idle_nodes, "many_cores": _many_cores,
    "scaling": _scaling, "theorem_1": _theorem_1, "policies": _policies, "every_policy": _every_policy, "log": _log,
    "large_clusters": _large, "environment": _environment, "talk": _talk,
}  # fmt: skip
