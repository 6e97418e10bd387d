"""The page of maps: its examples are maps, and its table says only what a run has said."""

from __future__ import annotations

import tomllib

import pandas as pd
import pytest
import try_maps
from click.testing import CliRunner
from pages import Page

from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.traces.mapping.maps import with_fields
from docs._extensions.generated_pages import filled, maps
from docs._extensions.generated_pages.markdown import anchor

TEXT = (maps.REFERENCE / "maps.md").read_text(encoding="utf-8")
PAGE = Page("docs/reference/maps.md", TEXT)


def maps_shown():
    """The maps that stand on the page alone, and those that stand in scenarios."""
    blocks = [tomllib.loads(block) for block in PAGE.blocks("toml")]
    alone = [ColumnMap.model_validate(block) for block in blocks if "workload" not in block]
    return alone, [block["workload"]["trace"] for block in blocks if "workload" in block]


def test_its_examples_are_maps():
    alone, of_scenarios = maps_shown()
    assert len(alone) >= 9
    for one in alone:
        one.check_complete()
    assert len(of_scenarios) == 2
    for trace in of_scenarios:
        of_shipped = maps.shipped_maps()[trace["map"]] if "map" in trace else None
        found = ColumnMap.model_validate(trace["columns"])
        (found if of_shipped is None else with_fields(of_shipped, found)).check_complete()


def test_its_examples_show_every_kind_of_source_and_of_several_rows():
    shown, _ = maps_shown()
    fields = [field for one in shown for field in one.fields.values()]
    for source in ("column", "columns", "expr", "value", "pattern", "zone", "format"):
        assert any(getattr(field, source) for field in fields), source
    for part in ("events", "spread", "parents", "filter", "missing"):
        assert any(getattr(one, part) for one in shown), part


def test_every_key_and_every_shipped_map_is_on_it():
    text = filled(TEXT)
    for part, section in maps.PARTS_OF_A_MAP.items():
        for name in section.model_fields:
            assert f"{{#{anchor(f'map-{part}', name)}}}" in text, (part, name)
    for name in maps.shipped_maps():
        assert f"{{#{anchor('map', name)}}}" in text, name


def test_a_map_without_a_run_is_said_to_be_not_tried():
    table = maps.tried()
    tried = set(pd.read_csv(maps.TRIED)["map"])
    for name, one in maps.shipped_maps().items():
        # Neither a number without a file, nor a file without a number.
        assert (name in tried) == bool(one.about.tried), name
        lines = [line for line in table.splitlines() if line.startswith(f"| `{name}` |")]
        assert lines, name
        assert (maps.NOT_TRIED in lines[0]) == (name not in tried), name


def test_rows_of_the_table_are_those_used_and_those_skipped():
    for row in pd.read_csv(maps.TRIED, keep_default_na=False).itertuples():
        skipped = sum(int(part.rpartition(":")[2]) for part in row.skipped.split("; ") if part)
        assert row.rows == row.used + skipped, row.file


@pytest.mark.slow
def test_a_run_is_a_line_and_lines_of_files_that_are_not_there_stay(tmp_path):
    data, out = tmp_path / "data", tmp_path / "maps.csv"
    (data / "helios").mkdir(parents=True)
    header = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
    day = "2020-06-09"
    ran = f"1,u,v,0,2,1,COMPLETED,{day} 10:00:00,{day} 10:00:05,{day} 10:01:05,60,5\n"
    never = f"2,u,v,0,2,1,CANCELLED,{day} 10:00:00,{day} 10:00:05,{day} 10:00:05,0,5\n"
    (data / "helios" / "cluster_log.csv").write_text(header + ran + never)
    out.write_text(",".join(try_maps.COLUMNS) + "\nphilly,cluster_job_log,3,2,2,no run time: 1,cpu_ms,1.0,200\n")
    done = CliRunner().invoke(try_maps.main, ["--data", str(data), "--out", str(out)])
    assert done.exit_code == 0, done.output
    table = pd.read_csv(out, keep_default_na=False)
    assert table["map"].tolist() == ["helios", "philly"]
    line = table.iloc[0]
    assert (line["file"], line["rows"], line["used"], line["jobs"]) == ("cluster_log.csv", 2, 1, 1)
    assert line["skipped"] == "zero run time: 1"
    assert line["peak_mb"] > 20
    assert table.iloc[1]["rows"] == 3
