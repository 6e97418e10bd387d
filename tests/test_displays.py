"""HTML for notebooks: texts of users are escaped, and empty contents give no HTML."""

from __future__ import annotations

import pytest

from cluster_abm import displays
from cluster_abm.displays import folded, headline, image, paragraph, table


@pytest.mark.parametrize("made", [
    headline("<i>&"), headline("a", "<i>&"), paragraph("<i>&"), table([{"<i>&": "a"}]), table([{"a": "<i>&"}]),
    image(b"", "<i>&"), folded("<i>&", "a"),
])  # fmt: skip
def test_a_text_of_a_user_makes_no_html(made):
    assert "<i>" not in made
    assert "&lt;i&gt;&amp;" in made


def test_only_the_first_words_of_a_headline_are_bold():
    assert "<b>quickstart</b></div>" in headline("quickstart")
    assert "<span" not in headline("quickstart")
    line = headline("quickstart", "seed 3")
    assert line.index("<b>quickstart</b>") < line.index("seed 3</span>")


def test_a_paragraph_keeps_its_line_breaks():
    assert "white-space:pre-wrap" in paragraph("a\nb")
    assert "a\nb" in paragraph("a\nb")


def test_a_table_has_the_columns_of_its_first_row():
    shown = table([{"a": "1", "b": "2"}, {"b": "4", "c": "5"}])
    assert shown.count("<th") - shown.count("<thead") == 2
    # The second row has no a: the cell is empty. Column c is not shown.
    assert [cell.partition("<")[0] for cell in shown.split(">") if cell.endswith("</td")] == ["1", "2", "", "4"]
    assert "5" not in shown.replace("padding:2px 12px 2px 0", "")
    assert table([]) == ""


@pytest.mark.parametrize(("rows", "most", "shown", "said"), [
    (40, None, 40, None), (41, None, 40, "the first 40 of 41 rows"), (3, 3, 3, None),
    (4, 3, 3, "the first 3 of 4 rows"), (2000, 1000, 1000, "the first 1,000 of 2,000 rows"),
])  # fmt: skip
def test_a_long_table_shows_its_first_rows(rows, most, shown, said):
    given = [{"n": f"row {number}."} for number in range(rows)]
    made = table(given) if most is None else table(given, most)
    # The head is a row too.
    assert made.count("<tr>") == shown + 1
    assert (f"row {shown - 1}." in made, f"row {shown}." in made) == (True, False)
    assert ("the first" in made) == (said is not None)
    assert said is None or said in made


@pytest.mark.parametrize(("letters", "is_whole"), [(28, True), (29, False)])
def test_a_cell_of_up_to_28_letters_is_not_broken(letters, is_whole):
    assert ("nowrap" in table([{"a": "x" * letters}])) == is_whole


def test_a_picture_is_embedded_with_its_text():
    # Three zero bytes are AAAA in base64.
    made = image(b"\0\0\0", "load over time")
    assert "src='data:image/png;base64,AAAA'" in made
    assert "alt='load over time'" in made


def test_folded_contents_and_no_fold_around_nothing():
    assert folded("more", "<b>x</b>") == "<details><summary>more</summary><b>x</b></details>"
    assert folded("more", "") == ""


class Shown(displays.Displayed):
    def __init__(self, good, words="a run"):
        self.good, self.words = good, words

    def __repr__(self):
        return self.words

    def _parts(self):
        for number in range(self.good):
            yield paragraph(f"part {number}")
        raise ValueError("lost")


def test_an_error_is_shown_after_the_parts_so_far():
    made = Shown(2)._repr_html_()
    assert made.startswith("<div><div")
    assert made.index("part 0") < made.index("part 1") < made.index("no more can be shown: ValueError: lost")
    assert "a run" not in made
    # Without any part the plain text is shown.
    assert "a run" in Shown(0)._repr_html_()
