"""What users say about a figure: what is refused, and what the figure looks like then."""

from __future__ import annotations

import matplotlib
import pandas as pd
import pytest
from matplotlib.colors import to_hex

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.errors import InputError
from cluster_abm.results import style
from cluster_abm.results.figures.fitting import in_lines
from cluster_abm.results.figures.options import ALWAYS, OF_POLICIES, FigureOptions, current
from cluster_abm.results.of_studies.comparison_picture import Against, comparison_figure, ratio_figure

NAMES = ("none", "jsq", "iolb")


def options(**look):
    return FigureOptions.of(look, OF_POLICIES | {"baseline"}, NAMES)


WRONG = {
    "an option that there is not": ({"color": "red"}, "color='red'.*knows no such option; allowed: baseline, colours"),
    "one that makes no sense": ({"x": "cluster.nodes"}, "has no use for it; allowed: baseline"),
    "a size": ({"size": "wide"}, 'allowed: "column"'),
    "a side": ({"size": (3.0, 100.0)}, "from 1.5 to 40"),
    "no number": ({"size": (True, 3.0)}, "from 1.5 to 40"),
    "a policy": ({"policies": ["jsq", "nope"]}, "'nope': not in this picture; allowed: none, jsq, iolb"),
    "one twice": ({"policies": ["jsq", "jsq"]}, "a policy is named twice"),
    "a text for a list": ({"policies": "jsq"}, "allowed: a list of names"),
    "a baseline": ({"baseline": "nope"}, "'nope': not in this picture"),
    "a colour": ({"colours": {"jsq": "greenish"}}, "jsq: 'greenish': no colour"),
    "a label": ({"labels": {"jsq": 3}}, "jsq: 3: has to be a text"),
    "a style": ({"style": "nice"}, "'nope'|no such style; allowed: .*ggplot"),
    "a setting": ({"style": {"font.sise": 8}}, "font.sise.*no setting"),
    "its value": ({"style": {"font.size": "a lot"}}, "font.size = 'a lot'"),
    "a title": ({"title": 3}, "title=3.*has to be a text"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_refused(case):
    look, words = WRONG[case]
    with pytest.raises(InputError, match=words):
        options(**look)


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(InputError) as found:
        options(size="wide", baseline="nope", style="nice")
    assert len(found.value.problems) == 3


def test_none_is_as_if_nothing_was_said():
    assert options(size=None, labels=None, title=None) == options()
    assert options().policies == NAMES


@pytest.mark.parametrize(("size", "inches", "letters"), [
    # 7 pt in a column, 8 pt on a page, the usual 10 pt from 14.2 inches on.
    ("column", (3.4, None), 7.0), ("page", (7.0, None), 8.0), ((5.2, 2.0), (5.2, 2.0), 7.5), ((20, 9), (20, 9), 10.0),
])  # fmt: skip
def test_sizes(size, inches, letters):
    found = options(size=size)
    assert found.inches == inches
    assert 10 * found.type_scale == pytest.approx(letters)
    figure = found.draw(lambda: style.new_figure(12, 6, ""))
    width, height = figure.get_size_inches()
    assert width == inches[0]
    assert height == pytest.approx(inches[1] or 6 * letters / 10)


def test_options_hold_only_while_a_figure_is_drawn():
    size = matplotlib.rcParams["font.size"]
    seen = []
    options(size="column", colours={"jsq": "red"}).draw(lambda: seen.append(current()) or style.new_figure(4, 3, ""))
    assert seen[0].colours == {"jsq": "red"}
    assert current() == FigureOptions()
    assert matplotlib.rcParams["font.size"] == size


@pytest.mark.parametrize(("width", "columns"), [(3.4, 1), (7.0, 2), (14.0, 3)])
def test_panels_without_room_stand_below_each_other(width, columns):
    # A panel keeps three quarters of 4.1 inches, as much smaller as its letters: of 3.4 inches one has room, of 7
    # (2.46 each) two, of 14 (3.06 each) all three.
    found = []
    options(size=(width, 3.0)).draw(lambda: found.append(style.columns_of(3)) or style.new_figure(4, 3, ""))
    assert found == [columns]


def test_a_style_is_laid_over_our_look():
    def drawn():
        figure = style.new_figure(4, 3, "")
        style.tidy(figure.subplots(), "a title", "x", "y")
        return figure

    (usual,) = options().draw(drawn).axes
    (own,) = options(style={"axes.spines.top": True, "axes.grid": False, "axes.titlesize": 20.0}).draw(drawn).axes
    assert [axes.spines["top"].get_visible() for axes in (usual, own)] == [False, True]
    assert [any(line.get_visible() for line in axes.get_ygridlines()) for axes in (usual, own)] == [True, False]
    assert own._left_title.get_fontsize() == 20.0


def comparison(means, **look):
    rows = [
        {"policy": name, "seed": seed, "mean_slowdown": mean} | {f"breakdown_ms.{part}": 10.0 for part in BREAKDOWN}
        for name, mean in means.items() for seed in (1, 2)
    ]  # fmt: skip
    given = {name: (mean, None) for name, mean in means.items()}
    return options(**look).draw(lambda: comparison_figure("a title", pd.DataFrame(rows), given))


def test_labels_and_colours_are_those_given():
    figure = comparison({"none": 3.0, "jsq": 2.0}, labels={"jsq": "JSQ, $2"}, colours={"jsq": "red"})
    bars = figure.axes[0]
    assert [text.get_text() for text in bars.get_yticklabels()] == ["none", "JSQ, $2"]
    assert to_hex(bars.patches[1].get_facecolor()) == "#ff0000"
    assert to_hex(bars.patches[0].get_facecolor()) != "#ff0000"


@pytest.mark.parametrize(("largest", "scale"), [(20.0, "linear"), (20.1, "log")])
def test_an_axis_on_which_one_policy_dwarfs_the_rest_is_logarithmic_and_says_so(largest, scale):
    bars = comparison({"none": largest, "jsq": 2.0}).axes[0]
    assert bars.get_xscale() == scale
    assert ("logarithmic: largest / smallest > 10" in bars.get_xlabel()) == (scale == "log")


def test_ratios_are_drawn_over_the_baseline():
    against = {"jsq": Against(0.5, (0.4, 0.625), True), "iolb": Against(1.1, (0.9, 1.3), False)}
    figure = options(labels={"none": "no policy"}).draw(
        lambda: ratio_figure("", "mean_slowdown", "none", against, are_ratios=True)
    )
    (axes,) = figure.axes
    assert axes.get_xscale() == "log"
    assert "/ no policy's" in axes.get_xlabel()
    low, high = axes.get_xlim()
    assert low < 0.4 < 1.3 < high
    points = [line for line in axes.lines if line.get_marker() == "o"]
    assert [float(line.get_xdata()[0]) for line in points] == [0.5, 1.1]
    # Filled where it is significant.
    assert [to_hex(line.get_markerfacecolor()) == to_hex(line.get_color()) for line in points] == [True, False]
    assert figure.data[["policy", "baseline", "ratio", "low", "high"]].to_numpy().tolist() == [
        ["jsq", "none", 0.5, 0.4, 0.625], ["iolb", "none", 1.1, 0.9, 1.3],
    ]  # fmt: skip


def test_differences_have_their_unit_and_begin_at_0():
    against = {"jsq": Against(-30_000.0, (-40_000.0, -20_000.0), True)}
    figure = options().draw(lambda: ratio_figure("", "mean_response_ms", "none", against, are_ratios=False))
    (axes,) = figure.axes
    assert axes.get_xscale() == "linear"
    assert "[s], less none's" in axes.get_xlabel()
    assert [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() == "o"] == [-30.0]


def test_a_number_stays_with_its_unit():
    assert in_lines("mean response [ms], 95 % interval", 19) == "mean response [ms],\n95 % interval"
    assert in_lines("a\nb", 10) == "a\nb"


def test_a_picture_without_policies_takes_none():
    with pytest.raises(InputError, match=r"policies.*run has no use for it; allowed: size, style, title"):
        FigureOptions.of({"policies": ["jsq"]}, ALWAYS, what="picture of one run")
