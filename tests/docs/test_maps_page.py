"""The page of maps: its examples are maps, and its table says only what a run has said."""

from __future__ import annotations

import tomllib

import pandas as pd
from pages import Page

from cluster_abm.scenario.columns import ColumnMap
from docs._extensions.generated_pages import filled, maps
from docs._extensions.generated_pages.markdown import anchor

TEXT = (maps.REFERENCE / "maps.md").read_text(encoding="utf-8")
PAGE = Page("docs/reference/maps.md", TEXT)


def test_its_examples_are_maps():
    blocks = PAGE.blocks("toml")
    assert len(blocks) >= 9
    for block in blocks:
        ColumnMap.model_validate(tomllib.loads(block))


def test_its_examples_show_every_kind_of_source_and_of_several_rows():
    shown = [ColumnMap.model_validate(tomllib.loads(block)) for block in PAGE.blocks("toml")]
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
