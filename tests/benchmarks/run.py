"""Speed, against yardsticks of the same run: `python tests/benchmarks/run.py [--quick] [--json]`."""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click
from measuring import pin_to_one_core


@click.command()
@click.option("--quick", is_flag=True, help="Short windows, each once: a smoke run of seconds, ratios are rough.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")
@click.option("--repeats", type=click.IntRange(min=1), help="Median of so many runs (default 3, with --quick 1).")
@click.option("--only", help="Only the cases of this name, such as every_policy.")
@click.option("--log", type=click.Path(exists=True, path_type=Path), help="A log for EASY, such as HPC2N's (.swf.xz).")
def main(quick: bool, as_json: bool, repeats: int | None, only: str | None, log: Path | None) -> None:
    """Measure the simulator against plain Mesa and SimPy, its scaling, and the cost of its policies."""
    # Before the libraries come in, so that none of them counts more cores than one.
    core = pin_to_one_core()
    from dataclasses import replace

    import cases
    import families
    import report

    sizes = cases.QUICK if quick else cases.Sizes()
    if repeats is not None:
        sizes = replace(sizes, repeats=repeats)
    _say("warm-up: compilation and imports")
    cases.warm_up()
    results: dict[str, Any] = {
        "machine": {
            "core": core,
            "python": platform.python_version(),
            **{name: version(name) for name in ("mesa", "simpy", "numba", "numpy")},
        },
        "quick": quick,
        "repeats": sizes.repeats,
    }
    for measure in (
        cases.cpu_only, cases.disk_bound, cases.idle_nodes, cases.many_cores, cases.scaling, cases.theorem_1,
        cases.policies, cases.every_policy, cases.large_clusters, cases.environment, cases.talk,
    ):  # fmt: skip
        if only not in (None, measure.__name__):
            continue
        _say(measure.__name__)
        results[measure.__name__] = measure(sizes)
    if log is not None:
        _say(f"EASY on {log.name}")
        results["log"] = families.on_a_log(log)
    if only is None:
        results["targets"] = cases.targets(results["cpu_only"], results["disk_bound"], results["large_clusters"])
        results["faster_than_quoted"] = cases.faster_than_quoted(results["disk_bound"])
    if as_json:
        click.echo(json.dumps(results, indent=2))
    else:
        for line in report.lines(results):
            click.echo(line)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
