"""Bars made of parts."""

import pandas as pd

from cluster_abm.results import stacked
from cluster_abm.results.stacked import draw_stacked


def test_each_bar_has_its_parts_and_their_sum(tmp_path, monkeypatch):
    drawn = []
    save = stacked.save
    monkeypatch.setattr(stacked, "save", lambda figure, path: (drawn.append(figure), save(figure, path))[1])
    parts = pd.DataFrame({"CPU": [3.0, 3.0], "paging": [1.0, float("nan")], "other": [0.0, 2.5]}, index=["a", "b"])
    path = draw_stacked(tmp_path / "parts.png", "a title", "mean [s]", parts)
    assert path.stat().st_size > 5000
    (axes,) = drawn[0].axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["a", "b"]
    assert [text.get_text() for text in axes.texts] == [" 4", " 5.5"]
    assert axes.get_xlabel() == "mean [s]"
    assert [text.get_text() for text in drawn[0].legends[0].get_texts()] == ["CPU", "paging", "other"]
    # Ends of the parts: where the next one begins.
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [
        (0, 3), (0, 3), (3, 1), (3, 0), (4, 0), (3, 2.5),
    ]  # fmt: skip
