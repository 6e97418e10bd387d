"""The arena's page says what held on fresh regimes, and nothing else; its numbers are those of its files."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from pages import ROOT

FOLDER = ROOT / "docs" / "arena"
PAGE = (FOLDER / "index.md").read_text("utf-8")
CLAIMS = pd.read_csv(FOLDER / "arena-claims.csv").set_index("words")
RANKING = pd.read_csv(FOLDER / "arena-regret.csv").set_index("policy")


def made(name):
    """The text of a part that is made."""
    (found,) = re.findall(rf"<!-- made: {name} -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    return found


def bullets(text):
    """The sentences of a list, each in one line."""
    return [re.sub(r"\s+", " ", one).strip() for one in re.split(r"^\* ", text.split("\n|")[0], flags=re.MULTILINE)[1:]]


def test_every_sentence_is_a_claim_that_held():
    told = [re.sub(r"(\d) %", r"\1%", one) for one in bullets(made("rules"))] + bullets(made("general"))
    known = {re.sub(r"(\d) %", r"\1%", words): held for words, held in CLAIMS["held"].items()}
    assert [one for one in told if not known[re.sub(r"(\d) %", r"\1%", one)]] == []
    assert len(told) == ((CLAIMS["kind"].isin(["leader", "best", "surely", "rule"])) & CLAIMS["held"]).sum()


@pytest.mark.parametrize(("plural", "verb"), [
    ("keep their rank", "keeps its rank"), ("lose rank", "loses rank"), ("gain rank", "gains rank"),
])  # fmt: skip
def test_ranks_that_are_said_to_be_kept_or_lost_held(plural, verb):
    for kind, words in (("wrong", "sizes wrong"), ("each", "tasks of a job that differ")):
        named = {name for one in bullets(made("sizes")) if words in one and plural in one
                 for name in re.findall(r"`(.*?)`", one)}  # fmt: skip
        own = CLAIMS[(CLAIMS["kind"] == kind) & CLAIMS["held"]]
        assert named == {re.findall(r"`(.*?)`", one)[0] for one in own.index if f"` {verb}" in one}


def test_the_table_has_the_numbers_of_the_file():
    rows = [line.strip("| ").split(" | ") for line in made("regret").splitlines()[2:]]
    assert len(rows) >= 15
    for row in rows:
        own = RANKING.loc[row[2].strip("`")]
        assert row[3] == f"{own['regret']:.1%}".replace("%", " %")
        assert int(row[0]) == list(RANKING.index).index(row[2].strip("`")) + 1
        assert row[8:11] == own[["knows_sizes", "sees_true_state", "may_refuse"]].tolist()


def test_the_page_is_short():
    assert len(re.sub(r"\||---", "", PAGE).split()) <= 2600
