"""Files of results: the returned paths, and the folders that are made and removed."""

from __future__ import annotations

import json

import pandas as pd
import pytest

from cluster_abm.errors import InputError
from cluster_abm.results.files import (
    out_folder,
    prepare_out,
    write_json,
    write_pieces,
    write_run,
    write_table,
    write_text,
)
from cluster_abm.scenario import scenario_from

TABLE = pd.DataFrame({"a": [1, 2]})


@pytest.mark.parametrize(("write", "content"), [
    (write_text, "words"), (write_json, {"a": 1}), (write_table, TABLE), (write_pieces, [TABLE]),
])  # fmt: skip
def test_the_path_of_the_written_file_is_returned(tmp_path, write, content):
    assert write(tmp_path, "name", content) == tmp_path / "name"
    assert [one.name for one in tmp_path.iterdir()] == ["name"]


def test_a_run_leaves_a_file_for_each_of_its_parts(tmp_path):
    scenario = scenario_from({"name": "test", "workload": {"jobs": 3}}, "test", {})
    written = write_run(tmp_path, scenario, {"seed": 1}, {"jobs": TABLE, "nodes": [TABLE, TABLE]}, 2.5)
    names = ["scenario.toml", "summary.json", "jobs.parquet", "nodes.parquet", "timing.json"]
    assert [one.relative_to(tmp_path).as_posix() for one in written] == names
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted(names)
    assert json.loads((tmp_path / "timing.json").read_text()) == {"wall_s": 2.5}
    assert pd.read_parquet(tmp_path / "nodes.parquet")["a"].tolist() == [1, 2, 1, 2]


def test_a_folder_is_made_with_its_parents_and_may_exist(tmp_path):
    for _ in range(2):
        assert prepare_out(str(tmp_path / "a" / "b")) == tmp_path / "a" / "b"
    assert not [*(tmp_path / "a" / "b").iterdir()]


@pytest.mark.parametrize("given", ["", "file", "file/below"])
def test_a_path_that_is_no_folder_is_refused(tmp_path, given):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="folder is needed"):
        prepare_out(str(tmp_path / given) if given else "")


def test_new_folders_that_stay_empty_are_removed(tmp_path):
    (tmp_path / "was").mkdir()
    with out_folder(tmp_path / "was" / "a" / "b") as folder:
        assert folder.is_dir()
    assert [one.name for one in tmp_path.rglob("*")] == ["was"]
    with out_folder(tmp_path / "was" / "a" / "b") as folder:
        write_text(folder, "name", "words")
    assert sorted(one.name for one in tmp_path.rglob("*")) == ["a", "b", "name", "was"]
