"""Folders of results: no file of others is written over, what they say of themselves is whole or mended."""

from __future__ import annotations

import json
import tomllib

import pytest
from studies import study, study_path

from cluster_abm.errors import InputError
from cluster_abm.study.batch import run_batch
from cluster_abm.study.design.study_file import load_study
from cluster_abm.study.results_folder import load_results, read_plan
from cluster_abm.study.status import status_of
from cluster_abm.study.store.documents import DOCUMENTS, sealed_document


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["study.toml", "scenario.toml", "plan.json", "runs/mine.run", "parts/mine.parquet"])
def test_a_folder_with_files_of_somebodys_is_left_alone(tmp_path, name):
    out = tmp_path / "out"
    (out / name).parent.mkdir(parents=True)
    (out / name).write_text('title = "mine"')
    before = files(out)
    with pytest.raises(InputError, match=rf"no results of a study, but {name.partition('/')[0]}/?, which would be"):
        run_batch(study(tmp_path / "study"), out, "inline", quiet=True)
    assert files(out) == before


@pytest.mark.slow
def test_a_study_does_not_write_over_itself_or_its_scenario(tmp_path):
    path = study_path(tmp_path).rename(tmp_path / "study.toml")
    before = files(tmp_path)
    with pytest.raises(InputError, match=r"study\.toml is what the study is read from, and would be written over"):
        run_batch(load_study(path), tmp_path, "inline", quiet=True)
    (tmp_path / "tiny-cluster.toml").rename(tmp_path / "scenario.toml")
    other = tmp_path / "other.toml"
    other.write_text(path.read_text().replace("tiny-cluster", "scenario"))
    path.unlink()
    before = files(tmp_path)
    with pytest.raises(InputError, match=r"scenario\.toml is what the study is read from"):
        run_batch(load_study(other), tmp_path, "inline", quiet=True)
    assert files(tmp_path) == before
    # Nor one that a folder of results holds.
    assert run_batch(load_study(other), tmp_path / "out", "inline", quiet=True).made == 12
    with pytest.raises(InputError, match="another folder is needed"):
        run_batch(load_study(tmp_path / "out" / "study.toml"), tmp_path / "out", "inline", quiet=True)
    # Into another one it goes, and comes to the same runs.
    assert run_batch(load_study(tmp_path / "out" / "study.toml"), tmp_path / "two", "inline", quiet=True).made == 12
    assert [cell.key for cell in read_plan(tmp_path / "two").cells] == [
        cell.key for cell in read_plan(tmp_path / "out").cells
    ]


@pytest.mark.slow
def test_a_batch_that_was_killed_as_it_began_goes_on(tmp_path):
    """Its folders are there, and of its documents the first or none."""
    out = tmp_path / "out"
    for name in ("runs", "parts", "damaged", "tmp", "claims", "sessions"):
        (out / name).mkdir(parents=True)
    assert run_batch(study(tmp_path), out, "inline", quiet=True).made == 12
    for name in ("plan.json", "study.toml"):
        (out / name).unlink()
        assert run_batch(study(tmp_path), out, "inline", quiet=True).made == 0


def test_other_programs_read_the_documents_too(tmp_path):
    run_batch(study(tmp_path), tmp_path / "out", "inline", quiet=True)
    assert tomllib.loads((tmp_path / "out" / "study.toml").read_text())["scenario"] == "scenario.toml"
    assert tomllib.loads((tmp_path / "out" / "scenario.toml").read_text())["cluster"]["nodes"] == 2
    assert len(json.loads((tmp_path / "out" / "plan.json").read_text())["cells"]) == 4


DAMAGES = {
    "cut short": lambda data: data[: len(data) // 2],
    "empty": lambda data: b"",
    "a digit": lambda data: data.replace(b"2", b"3"),
    "not text": lambda data: data[:-2] + b"\xff\xff",
}


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_damaged_document_is_named_set_aside_and_written_anew(tmp_path, name, damage, capsys):
    out = tmp_path / "out"
    run_batch(study(tmp_path), out, "inline", quiet=True)
    sound, results = files(out), load_results(out)
    path = out / name
    path.write_bytes(damage(path.read_bytes()))
    broken = path.read_bytes()
    if name == "scenario.toml":
        # Nothing is read from it, and its damage is told.
        assert status_of(out).damaged == [f"{path}: its checksum is wrong"]
    else:
        with pytest.raises(InputError) as caught:
            status_of(out)
        assert caught.value.problems == [
            f"{path}: damaged (its checksum is wrong); `batch run` with the same study mends it, and keeps the runs"
        ]
    outcome = run_batch(study(tmp_path), out, "inline")
    assert outcome.made == 0
    assert len(outcome.damaged) == 1
    said = capsys.readouterr().err
    assert f"{path}: damaged (its checksum is wrong): set aside in {out / 'damaged'}, written anew" in said
    assert (out / "damaged" / name).read_bytes() == broken
    assert path.read_bytes() == sound[path.relative_to(out)]
    assert load_results(out).equals(results)
    assert (status_of(out).damaged, status_of(out).set_aside) == ([], 1)


def test_a_folder_is_known_to_be_another_studys_by_what_is_left_of_it(tmp_path):
    out = tmp_path / "out"
    run_batch(study(tmp_path), out, "inline", quiet=True)
    for name in ("plan.json", "study.toml"):
        text = (out / name).read_bytes()
        (out / name).write_bytes(text[:80])
        with pytest.raises(InputError, match="holds results of the study 'tiny', not 'another'"):
            run_batch(study(tmp_path, name="another"), out, "inline", quiet=True)
        (out / name).write_bytes(text)


def test_a_plan_of_another_version_is_told_and_written_anew(tmp_path):
    out = tmp_path / "out"
    run_batch(study(tmp_path), out, "inline", quiet=True)
    (out / "plan.json").write_bytes(sealed_document("plan.json", '{"study": "tiny", "cells": []}'))
    with pytest.raises(InputError, match=r"plan\.json: of another version"):
        status_of(out)
    assert run_batch(study(tmp_path), out, "inline", quiet=True).made == 0
    assert status_of(out).missing == 0
