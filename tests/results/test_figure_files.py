"""Figures as files: which formats, equal bytes, texts that stay texts, the data behind them, and what a PNG says."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from PIL import Image

from cluster_abm.errors import InputError
from cluster_abm.results import style
from cluster_abm.results.figures.data import csv_of, drawn_in, hash_of
from cluster_abm.results.figures.files import first_file, formats_of, formats_wanted, linked, save, save_both
from cluster_abm.results.figures.latex import escaped, latex_table, with_interval
from cluster_abm.results.figures.stamps import DATA, DRAWN_BY, hash_of_module


def figure(last=2.0):
    made = style.new_figure(4, 3, "a title that is found")
    axes = made.subplots()
    axes.plot([0.0, 1.0], [1.0, last], label="a curve")
    style.tidy(axes, "a panel", "time [s]", "slowdown")
    return made


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_formats_are_read_from_a_list():
    assert formats_of(" svg,PDF,svg, ") == ("svg", "pdf")


@pytest.mark.parametrize("text", ["", ",", "gif", "png,jpeg", "png svg"])
def test_a_format_that_is_not_there_is_refused(text):
    with pytest.raises(InputError, match="allowed: png, svg, pdf, csv"):
        formats_of(text)


def test_without_a_wish_a_figure_is_a_png(tmp_path):
    assert save(figure(), tmp_path / "a.png") == tmp_path / "a.png"
    assert names_in(tmp_path) == ["a.png"]


@pytest.mark.slow
def test_the_formats_asked_for_are_written_and_no_other(tmp_path):
    with formats_wanted(("svg", "csv")):
        assert save(figure(), tmp_path / "a.png") == tmp_path / "a.svg" == first_file(tmp_path / "a.png")
        assert [path.name for path in save_both(figure(), tmp_path / "b.c")] == ["b.c.svg", "b.c.csv"]
        assert linked("words", "a.png") == "![words](a.svg)"
    assert names_in(tmp_path) == ["a.csv", "a.svg", "b.c.csv", "b.c.svg"]
    assert first_file(tmp_path / "a.png") == tmp_path / "a.png"
    with formats_wanted(("csv",)):
        assert linked("words", "a.png") == "[words](a.csv)"


@pytest.mark.slow
def test_equal_figures_are_equal_bytes_that_hold_no_date_and_their_texts(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        with formats_wanted(("png", "svg", "pdf", "csv")):
            save(figure(), tmp_path / name / "a.png")
    for ending in ("png", "svg", "pdf", "csv"):
        one, two = ((tmp_path / name / f"a.{ending}").read_bytes() for name in ("one", "two"))
        assert one == two
        assert b"Date" not in one
    text = (tmp_path / "one" / "a.svg").read_text()
    assert "a title that is found</text>" in text
    # Nothing is loaded from elsewhere: what begins with http names a form of XML.
    assert not [word for word in ("<image", 'href="http', "@import") if word in text]
    # Letters of an embedded TrueType font, which editors take for text; Type 3 fonts are drawings.
    pdf = (tmp_path / "one" / "a.pdf").read_bytes()
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf


@pytest.mark.slow
def test_a_users_own_savefig_gives_equal_bytes_too(tmp_path):
    for name in ("one.pdf", "two.pdf"):
        figure().savefig(tmp_path / name)
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "two.pdf").read_bytes()


def test_the_data_of_a_figure_is_what_is_drawn_or_what_was_left_with_it():
    made = figure()
    assert csv_of(made) == "panel,what,label,x,y\na panel,line,a curve,0,1\na panel,line,a curve,1,2\n"
    made.data = pd.DataFrame({"policy": ["none"], "mean": [1 / 3]})
    assert csv_of(made) == "policy,mean\nnone,0.333333\n"


def test_every_kind_of_mark_is_in_the_data():
    made = Figure()
    axes = made.subplots()
    axes.barh([0, 1], [3.0, 5.0], label="bars")
    axes.scatter([1.0], [2.0], label="points")
    axes.stairs([4.0, 6.0], [0.0, 1.0, 2.0], label="steps")
    axes.pcolormesh(np.array([[1.0, 2.0], [3.0, 4.0]]))
    axes.plot([0.0], [math.nan], label="nothing")
    table = drawn_in(made)
    assert table[table["what"] == "bar"]["x"].tolist() == [3.0, 5.0]
    assert table[table["what"] == "points"][["x", "y"]].to_numpy().tolist() == [[1.0, 2.0]]
    assert table[table["what"] == "steps"][["x", "y"]].to_numpy().tolist() == [[0.0, 4.0], [1.0, 6.0]]
    grid = table[table["what"] == "grid"]
    assert grid[["label", "x", "y"]].to_numpy().tolist() == [
        ["row 0", 0.0, 1.0], ["row 0", 1.0, 2.0], ["row 1", 0.0, 3.0], ["row 1", 1.0, 4.0],
    ]  # fmt: skip
    assert len(table[table["label"] == "nothing"]) == 1


def test_a_png_says_which_module_drew_it_and_from_what(tmp_path):
    made = figure()
    # A test is no module that is found again elsewhere, but lies in the repository, too.
    assert made.drawn_by == "tests/results/test_figure_files.py"
    with Image.open(save(made, tmp_path / "a.png")) as image:
        assert image.info[DRAWN_BY].startswith("tests/results/test_figure_files.py ")
        assert image.info[DATA] == hash_of(figure()) != hash_of(figure(2.1))


def test_a_module_is_known_by_its_code_and_not_by_its_comments(tmp_path):
    texts = {
        "one": '"""A text."""\n\n# A comment.\nLABEL = "slowdown"\n\n\ndef draw():\n    """Draw."""\n    return 1\n',
        "same": '"""Another."""\nLABEL = "slowdown"\ndef draw():\n    """Draw it\n\n    well."""\n    return 1\n',
        "other": 'LABEL = "slow-down"\ndef draw():\n    return 1\n',
    }
    found = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.py").write_text(text)
        found[name] = hash_of_module(tmp_path / f"{name}.py")
    assert found["one"] == found["same"] != found["other"]


def test_texts_for_latex_are_set_letter_by_letter():
    assert escaped(r"a_b & 5 % {x} \$") == r"a\_b \& 5 \% \{x\} \textbackslash{}\$"


def test_a_table_for_latex():
    rows = [{"policy": "a_b", "mean [95 %]": with_interval(2.0, 1.5, 2.5)}, {"policy": "none", "mean [95 %]": ""}]
    assert latex_table(rows).split("\n") == [
        r"\begin{tabular}{lr}", r"\toprule", r"policy & mean [95 \%] \\", r"\midrule", r"a\_b & 2 [1.5, 2.5] \\",
        r"none &  \\", r"\bottomrule", r"\end{tabular}", "",
    ]  # fmt: skip


@pytest.mark.parametrize(("given", "text"), [
    ((math.nan, 1.0, 2.0), ""), ((1.23456, math.nan, math.nan), "1.235"), ((0.5, 0.25, 0.75), "0.5 [0.25, 0.75]"),
])  # fmt: skip
def test_a_number_with_its_interval(given, text):
    assert with_interval(*given) == text


@pytest.mark.parametrize(("one", "other", "same"), [
    ([1.0, math.nan], [1.0 + 1e-9, math.nan], True), ([1234.56], [1234.564], True), ([1234.56], [1234.57], False),
    ([1.0], [10.0], False), ([0.0], [-0.0], True), ([2.0], [-2.0], False), ([math.nan], [0.0], False),
    ([math.inf], [-math.inf], False), ([math.inf], [0.0], False),
])  # fmt: skip
def test_a_hash_is_of_six_digits(one, other, same):
    hashes = set()
    for values in (one, other):
        made = style.new_figure(2, 2, "")
        made.data = pd.DataFrame({"policy": "a", "value": values})
        hashes.add(hash_of(made))
    assert (len(hashes) == 1) == same
