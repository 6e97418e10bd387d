"""Values that are given with a unit: the message says the key's own, and what to write."""

from __future__ import annotations

import pytest

from cluster_abm.errors import InputError
from cluster_abm.scenario import load_scenario, scenario_from
from cluster_abm.scenario.wording.units import hint


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("cluster.memory_mb", "640MB", "is in MB: write 640"),
        ("cluster.memory_mb", "640 mb", "is in MB: write 640"),
        ("cluster.memory_mb", "0.5GB", "is in MB: write 512"),
        ("cluster.memory_mb", "2 GiB", "is in MB: write 2048"),
        ("cluster.page_kb", "1MB", "is in KB: write 1024"),
        ("cluster.memory_mb", "10ms", "is in MB, which ms is not: write a number alone"),
        ("workload.utilisation", "70%", "is a share of 1: write 0.7"),
        ("workload.write_share", "20 percent", "is a share of 1: write 0.2"),
        ("cluster.cpu_speed", "150%", "is a number without a unit: write 1.5"),
        ("cluster.quantum_ms", "10ms", "is in ms: write 10"),
        ("cluster.quantum_ms", "50us", "is in ms: write 0.05"),
        ("workload.duration_s", "1h", "is in s: write 3600"),
        ("workload.duration_s", "90 minutes", "is in s: write 5400"),
        ("run.until", "10s", "is in ms: write 10000"),
        ("workload.arrivals.think_s.mean", "500ms", "is in s: write 0.5"),
        # 1 Gbps = 1,024 Mbps, 1 MB = 8 Mb.
        ("interconnect.bandwidth_mbps", "1Gbps", "is in Mbps: write 1024"),
        ("interconnect.bandwidth_mbps", "100MB/s", "is in Mbps: write 800"),
        ("cluster.disk_mb_per_s", "1GB/s", "is in MB/s: write 1024"),
        ("cluster.idle_watts", "0.2kW", "is in W: write 200"),
        ("cluster.nodes", "1,000", "is a number without a unit: write 1000, without quotes or commas"),
        ("cluster.nodes", "64 nodes", "is a number without a unit: write a number alone, e.g. 64"),
        ("cluster.nodes", "many", None),
        ("cluster.nodes", "", None),
        ("cluster.nodes", "10-20", None),
    ],
)
def test_what_to_write(key, text, words):
    assert hint(key, text) == words


def test_from_overrides_and_from_files(tmp_path):
    with pytest.raises(InputError, match=r"override: cluster.memory_mb = '640MB': is in MB: write 640$"):
        load_scenario("quickstart", {"cluster.memory_mb": "640MB"})
    path = tmp_path / "mine.toml"
    path.write_text('[workload]\nutilisation = "70%"\n[run]\nuntil = "1h"\n')
    with pytest.raises(InputError) as found:
        load_scenario(path)
    assert found.value.problems == [
        f"{path}: workload.utilisation = '70%': is a share of 1: write 0.7",
        f"{path}: run.until = '1h': is in ms: write 3600000",
    ]


@pytest.mark.parametrize(("key", "text"), [("negotiation.mode", "10ms"), ("workload.kind", "70%")])
def test_what_takes_a_word_is_asked_for_a_word(key, text):
    with pytest.raises(InputError, match=r"should be '"):
        scenario_from({}, overrides={key: text})
