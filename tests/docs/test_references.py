"""docs/references.md: each policy's source has its entry there, and what an entry says to be used is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cluster_abm.policies import available

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "references.md").read_text()
# The words in bold that an entry begins with, and the rest of it.
ENTRIES = dict(re.findall(r"^\* \*\*(.+?)\.\*\*(.*?)(?=^\* \*\*|^#|^$)", PAGE, re.M | re.S))
NO_PAPER = {"random", "round-robin", "central-queue", "pooled", "learned"}
# What a file says in place of the authors' names.
OTHER_WORDS = {"Steele, Lea and Flood 2014": "splitmix64", "SPEC": "SPECpower"}


def _used(entry: str) -> str:
    return " ".join(entry.split("Used:")[1].split())


def _first_word(key: str) -> str:
    return re.split(r",| et al| and | (?=\d)", key)[0]


def _policies() -> dict[str, str]:
    """The source of each shipped policy by its name."""
    return {name: policy.source for name, policy in available().items() if policy.__module__.startswith("cluster_abm.")}


@pytest.mark.parametrize("name", sorted(set(_policies()) - NO_PAPER))
def test_the_source_of_a_policy_has_an_entry_that_names_the_policy(name: str) -> None:
    source = _policies()[name]
    keys = [key for key in ENTRIES if re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", source)]
    if "Kubernetes" in source:
        keys = ["Kubernetes scheduler-plugins"]
    assert keys, f"no entry of docs/references.md begins with words of {source!r}"
    for key in keys:
        assert f"`{name}`" in _used(ENTRIES[key]), f"{key}: {name} is not said to use it"


@pytest.mark.parametrize("key", sorted(ENTRIES))
def test_a_policy_that_an_entry_lists_names_it_as_its_source(key: str) -> None:
    listed = re.match(r"(?:`[^`]+`,?\s*)+", _used(ENTRIES[key]))
    sources = _policies()
    for name in re.findall(r"`([^`]+)`", listed[0]) if listed else []:
        if name in sources:
            assert key.split()[0].rstrip(",") in sources[name], f"{name}: {sources[name]!r}"


def test_policies_without_a_paper_are_said_to_have_none() -> None:
    (words,) = re.findall(r"^Four policies have no paper:.*?\n\n", PAGE, re.M | re.S)
    assert set(re.findall(r"`([^`]+)`", words)) == NO_PAPER


@pytest.mark.parametrize("key", sorted(ENTRIES))
def test_the_files_that_an_entry_names_exist_and_cite_it(key: str) -> None:
    used = _used(ENTRIES[key])
    for name in re.findall(r"`([\w./-]+/[\w./-]+)`", used):
        places = [place for place in (ROOT / name, ROOT / "cluster_abm" / name) if place.exists()]
        assert places, name
        if places[0].suffix in {".py", ".toml"}:
            assert OTHER_WORDS.get(key, _first_word(key)) in places[0].read_text(), f"{name} does not cite {key}"
    for page in re.findall(r"\]\(([\w./-]+\.md)\)", used):
        assert (ROOT / "docs" / page).is_file(), page


def test_an_address_is_the_one_that_its_words_say_and_stands_once() -> None:
    pairs = re.findall(r"\[doi:([^\]]+)\]\(https://doi\.org/([^)]+)\)", PAGE)
    assert len(pairs) > 40
    assert [words for words, _ in pairs] == [address for _, address in pairs]
    assert len({address.lower() for _, address in pairs}) == len(pairs)


@pytest.mark.parametrize("key", sorted(set(ENTRIES) - {"SPEC", "Kubernetes scheduler-plugins"}))
def test_an_entry_has_authors_a_title_and_a_year(key: str) -> None:
    words = " ".join(ENTRIES[key].split("Used:")[0].split())
    assert re.match(r"[^:]*(?:[A-Z][\w'’é-]+|others): \S+ \S+", words), "authors: title"
    assert re.search(r"\b(19[5-9]\d|20[0-2]\d)\b", words), "year"
