"""Folders of results: a folder belongs to one command and one study, and foreign files are not overwritten."""

from __future__ import annotations

import json

import pytest

from cluster_abm.errors import InputError
from cluster_abm.study.store.commands import claim
from cluster_abm.study.store.documents import (
    DOCUMENTS,
    PLAN,
    SCENARIO,
    STUDY,
    check_folder,
    damaged_documents,
    holds_results,
    read_document,
    sealed_document,
)  # fmt: skip
from cluster_abm.study.store.durable import Damaged, seal, unseal

COMMAND = {"scenario": {"cluster": {"nodes": 4}, "name": "mine"}, "policies": ["none", "jsq"], "seeds": 8, "goal": None}


def test_the_first_command_claims_a_folder_and_the_same_command_continues(tmp_path):
    claim(tmp_path, COMMAND, "a search")
    assert json.loads((tmp_path / "command.json").read_text()) == COMMAND
    before = (tmp_path / "command.json").stat()
    # The order of keys does not matter, a missing key equals None, and a tuple equals a list.
    same = dict(reversed({key: value for key, value in COMMAND.items() if key != "goal"}.items()))
    claim(tmp_path, same | {"policies": ("none", "jsq")}, "a search")
    assert (tmp_path / "command.json").stat().st_ino == before.st_ino


@pytest.mark.parametrize(("changed", "said"), [
    ({"seeds": 9}, "seeds was 8, is 9"), ({"goal": "x"}, "goal was not set, is 'x'"),
    ({"seeds": None}, "seeds was 8, is not set"), ({"more": 1}, "more was not set, is 1"),
    ({"policies": ["none"]}, "policies was ['none', 'jsq'], is ['none']"),
    ({"scenario": {"cluster": {"nodes": 5}, "name": "mine"}}, "scenario.cluster.nodes was 4, is 5"),
    # Keys of the first command come first, then new keys.
    ({"more": 1, "scenario": {"name": "a"}},
     "scenario.cluster.nodes was 4, is not set; scenario.name was 'mine', is 'a'; more was not set, is 1"),
])  # fmt: skip
def test_another_command_is_refused_and_the_differences_are_named(tmp_path, changed, said):
    claim(tmp_path, COMMAND, "a search")
    with pytest.raises(InputError) as found:
        claim(tmp_path, COMMAND | changed, "a search")
    assert found.value.problems == [
        f"--out {str(tmp_path)!r}: holds a search by another command: {said}; another folder is needed"
    ]


@pytest.mark.parametrize(("count", "more"), [(5, ""), (6, ", and 1 more"), (8, ", and 3 more")])
def test_five_differences_are_named_and_the_others_counted(tmp_path, count, more):
    claim(tmp_path, {}, "a plan")
    with pytest.raises(InputError) as found:
        claim(tmp_path, {f"key{place}": place for place in range(count)}, "a plan")
    named = "; ".join(f"key{place} was not set, is {place}" for place in range(5))
    assert f"by another command: {named}{more}; another folder" in str(found.value)


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[1]", b'"text"', b"[" * 100_000, None])
def test_a_damaged_command_file_is_named(tmp_path, content):
    path = tmp_path / "command.json"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    with pytest.raises(InputError) as found:
        claim(tmp_path, COMMAND, "a plan")
    (said,) = found.value.problems
    assert said.startswith(f"{path}: is damaged (")
    assert said.endswith(f"remove it, and the same command goes on with the runs in {tmp_path}")


def test_a_broken_link_is_not_written_through(tmp_path):
    (tmp_path / "command.json").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="is damaged"):
        claim(tmp_path, COMMAND, "a plan")
    assert not (tmp_path / "nowhere").exists()


# ---- documents ----

TEXTS = {STUDY: 'name = "tiny"\n', SCENARIO: "[cluster]\nnodes = 2\n", PLAN: '{"study": "tiny", "cells": []}'}


def fill(folder, *names):
    for name in names:
        (folder / name).write_bytes(sealed_document(name, TEXTS[name]))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_comes_back_as_it_was(tmp_path, name):
    fill(tmp_path, name)
    assert read_document(tmp_path / name) == TEXTS[name]
    assert holds_results(tmp_path)
    assert damaged_documents(tmp_path) == {}
    first = (tmp_path / name).read_text().splitlines()[0]
    if name == PLAN:
        assert first.startswith('{"sha256": "')
        assert json.loads((tmp_path / name).read_text())["study"] == "tiny"
    else:
        assert first.startswith("# of cluster-abm batch: sha256 ")


def test_a_damaged_document_counts_as_results_if_its_mark_is_whole(tmp_path):
    assert not holds_results(tmp_path)
    fill(tmp_path, STUDY, PLAN)
    (tmp_path / STUDY).write_bytes((tmp_path / STUDY).read_bytes()[:-1])
    (tmp_path / PLAN).unlink()
    assert holds_results(tmp_path)
    assert damaged_documents(tmp_path) == {tmp_path / STUDY: "its checksum is wrong"}
    # A file that is cut off within its mark does not count as a document.
    (tmp_path / STUDY).write_bytes(b"# of cluster-abm batch: sha25")
    assert not holds_results(tmp_path)
    (tmp_path / STUDY).unlink()
    (tmp_path / STUDY).mkdir()
    assert not holds_results(tmp_path)
    assert damaged_documents(tmp_path) == {tmp_path / STUDY: "it cannot be read: Is a directory"}


def test_a_new_folder_and_one_of_this_study_may_be_written_to(tmp_path):
    check_folder("tiny", [tmp_path / "a.toml"], tmp_path / "new")
    for name in ("runs", "parts", "claims"):
        (tmp_path / name).mkdir()
    # Another process of the same study makes these folders when it starts.
    check_folder("tiny", [], tmp_path)
    fill(tmp_path, STUDY, PLAN, SCENARIO)
    (tmp_path / "runs" / "a.run").touch()
    check_folder("tiny", [tmp_path / "a.toml"], str(tmp_path))
    with pytest.raises(InputError) as found:
        check_folder("other", [], tmp_path)
    assert found.value.problems == [
        f"--out {str(tmp_path)!r}: holds results of the study 'tiny', not 'other'; another folder is needed"
    ]


@pytest.mark.parametrize(("kept", "said"), [((PLAN,), "tiny"), ((STUDY,), "tiny"), ((SCENARIO,), None)])
def test_each_document_with_the_name_of_the_study_names_the_owner(tmp_path, kept, said):
    fill(tmp_path, *kept)
    check_folder("tiny", [], tmp_path)
    if said is None:
        # The scenario does not name the study: the folder may belong to either.
        check_folder("other", [], tmp_path)
    else:
        with pytest.raises(InputError, match="of the study 'tiny', not 'other'"):
            check_folder("other", [], tmp_path)


@pytest.mark.parametrize(("paths", "said"), [
    (["plan.json"], "plan.json"), (["study.toml", "scenario.toml"], "scenario.toml, study.toml"),
    (["parts/mine"], "parts/"), (["runs/mine", "parts/mine", "plan.json"], "plan.json, runs/, parts/"),
])  # fmt: skip
def test_foreign_files_are_named(tmp_path, paths, said):
    for path in paths:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("mine")
    with pytest.raises(InputError, match=f"no results of a study, but {said}, which would be written over"):
        check_folder("tiny", [], tmp_path)


@pytest.mark.parametrize("name", [STUDY, SCENARIO])
def test_a_source_of_the_study_is_not_overwritten(tmp_path, name):
    fill(tmp_path, STUDY, SCENARIO, PLAN)
    (tmp_path / "link").symlink_to(tmp_path)
    for path in (tmp_path / name, tmp_path / "link" / name):
        with pytest.raises(InputError, match=f"{name} is what the study is read from, and would be written over"):
            check_folder("tiny", [tmp_path / "a.toml", path], tmp_path)
    # A path that does not exist, such as the name of a shipped scenario, is no source.
    (tmp_path / name).unlink()
    check_folder("tiny", [tmp_path / name], tmp_path)
    check_folder("tiny", [tmp_path / PLAN], tmp_path)


def test_a_seal_is_the_sha256_between_prefix_and_suffix():
    assert unseal(seal("text", "# ", " !"), "# ", " !") == "text"
    # `printf text | sha256sum`
    digest = "982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1"
    assert seal("text", "# ", " !") == f"# {digest} !\ntext".encode()
    for around in (("", " !"), ("# ", "")):
        with pytest.raises(Damaged, match="its checksum is wrong"):
            unseal(seal("text", "# ", " !"), *around)
