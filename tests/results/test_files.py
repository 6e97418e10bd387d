"""Tables that are written in pieces are the bytes of those that are written whole."""

from __future__ import annotations

import errno
import os

import numpy as np
import pandas as pd
import pytest
from support import busy, finished

from cluster_abm import large_tables
from cluster_abm.errors import InputError
from cluster_abm.results import files, pictures
from cluster_abm.results.files import write_pieces, write_table
from cluster_abm.results.summary import task_slowdowns

GROUP = 4096


def frame_of(rows):
    rng = np.random.default_rng(rows)
    return pd.DataFrame(
        {
            "job": np.arange(rows),
            "node": rng.integers(0, 9, rows).astype(np.int32),
            "slowdown": np.where(rng.random(rows) < 0.1, np.nan, rng.exponential(size=rows)),
            "remote": rng.random(rows) < 0.5,
            "outcome": np.array(["finished", "killed"], object)[rng.integers(0, 2, rows)],
        }
    )


def pieces_of(frame, rows):
    # Of columns of their own, as they are made.
    for first in range(0, max(1, len(frame)), rows):
        yield pd.DataFrame({name: frame[name].to_numpy()[first : first + rows] for name in frame})


@pytest.mark.slow
@pytest.mark.parametrize("rows", [0, 1, GROUP - 1, GROUP, GROUP + 1, 3 * GROUP + 77])
def test_pieces_give_the_bytes_of_the_whole(tmp_path, monkeypatch, rows):
    monkeypatch.setattr(files, "ROW_GROUP", GROUP)
    frame = frame_of(rows)
    frame.to_parquet(tmp_path / "whole.parquet", index=False, compression="zstd", row_group_size=GROUP)
    write_pieces(tmp_path, "pieces.parquet", pieces_of(frame, GROUP // 4))
    assert (tmp_path / "pieces.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.slow
def test_so_does_a_run(tmp_path, monkeypatch):
    model = finished(**busy())
    write_table(tmp_path, "whole.parquet", model.jobs_frame())
    write_table(tmp_path, "nodes.parquet", model.nodes_frame())
    monkeypatch.setattr(large_tables, "ROWS_AT_ONCE", 16)
    write_pieces(tmp_path, "pieces.parquet", model.jobs_pieces())
    write_pieces(tmp_path, "nodes_pieces.parquet", model.parts.measurements.pieces())
    assert (tmp_path / "pieces.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert (tmp_path / "nodes_pieces.parquet").read_bytes() == (tmp_path / "nodes.parquet").read_bytes()


def test_a_group_of_rows_is_as_large_as_a_whole_file_has_them():
    assert files.ROW_GROUP == 1 << 20
    assert files.ROW_GROUP % large_tables.ROWS_AT_ONCE == 0


def test_a_disk_that_is_full_leaves_what_was_there(tmp_path):
    write_pieces(tmp_path, "a.parquet", [frame_of(3)])
    before = (tmp_path / "a.parquet").read_bytes()

    def pieces():
        yield frame_of(2)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with pytest.raises(InputError, match=r"a\.parquet: cannot be written \(No space left"):
        write_pieces(tmp_path, "a.parquet", pieces())
    assert (tmp_path / "a.parquet").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


@pytest.mark.slow
def test_slowdowns_of_a_picture_are_those_of_the_frame():
    failing = {"kind": "exponential", "mean_up_s": 5.0, "mean_down_s": 1.0}
    model = finished(**busy(failures__node=failing, failures__on_failure="lost"))
    expected = model.jobs_frame()["slowdown"].dropna()
    assert 0 < len(expected) < model.engine.finished
    assert task_slowdowns(model.engine.ordered_records()).tolist() == expected.tolist()


@pytest.mark.parametrize(("count", "drawn"), [(0, 0), (100, 100), (101, 100), (5000, 100)])
def test_of_very_many_values_some_are_drawn_and_it_is_said(monkeypatch, count, drawn):
    monkeypatch.setattr(pictures, "MOST_VALUES", 100)
    axes = pictures.style.new_figure(4, 3, "a title").subplots()
    values = np.sort(np.random.default_rng(1).exponential(size=count) + 1)
    pictures._draw_distribution(axes, values, count)
    title = f"Slowdown of {count:,} finished tasks"
    assert axes.get_title(loc="left") + axes.get_title() == title + (", 100 of them drawn" if count > drawn else "")
    if count:
        xs, ys = axes.lines[0].get_data()
        assert (len(xs), xs[-1], ys[-1]) == (drawn + 1, values[-1], 1.0)
        assert values[0] in xs
        # Each is where it is in the distribution of them all.
        share = np.searchsorted(values, xs[1:], side="right") / count
        assert np.abs(share - ys[1:]).max() <= 1.01 / drawn
