"""Spoilt tables of outages."""

from __future__ import annotations

from case import Case, Random
from network_samples import EVENTS, OUTAGES, RECORDED
from scenario_files import BASE, ending
from traces import packed, spoilt_table

FILTERS = ("System == 20", "node < 2", "System +", "nodenum in [1", "1", "no == 'x'")


def outage_case(random: Random) -> Case:
    """`run` with nodes that fail by a spoilt table."""
    name, data, between, given = random.choice(
        (
            ("o.csv", OUTAGES, b",", ""),
            ("o.csv", OUTAGES.replace(b",", b"\t"), b"\t", ""),
            ("l.csv", RECORDED, b",", "lanl"),
            ("e.tab", EVENTS, b"\t", "grid5000"),
        )
    )
    data, changes = spoilt_table(random, data, between)
    if random.random() < 0.2:
        data, name, change = packed(random, data, name)
        changes.append(change)
    words = ["run", "s.toml", "--set", f"failures.file={name}", "--set", "cluster.nodes=4"]
    if given:
        words += ["--set", f"failures.map={given}"]
    if random.random() < 0.3:
        words += ["--set", f"failures.filter={random.choice(FILTERS)}"]
    if random.random() < 0.2:
        words += ["--set", f"failures.start_s={random.choice(('0', '1e9', '-1', 'nan', '0.7'))}"]
    return Case("outages", [*words, *ending(random)], {name: data, "s.toml": BASE.encode()}, changes)
