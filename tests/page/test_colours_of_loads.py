"""Colours of loads: from the lightest to the full colour, by the scale."""

from __future__ import annotations

import pytest

from cluster_abm.results.colours import CLASS_COLOURS, colours_of, ink_on
from cluster_abm.results.load_scale import LoadScale
from viz import colours
from viz.colours import INDICES, index_of


def colour_at(index, share):
    """Red, green and blue of a load's colour: 0 is the lightest one, 1 the full one, evenly between them."""
    light, full = colours.rgb(colours.LIGHTEST), colours.rgb(INDICES[index].colour)
    return [a + share * (b - a) for a, b in zip(light, full, strict=True)]


@pytest.mark.parametrize(("load", "share"), [(0.0, 0), (1.0, 0.5), (4.0, 1), (9.0, 1)])
def test_the_colour_of_a_load_follows_from_the_scale(load, share):
    # On a scale to 4 the load 1 is at sqrt(1 / 4) = 0.5.
    assert colours.colour_of(INDICES["io"], load, LoadScale(4.0)) == pytest.approx(colour_at("io", share), abs=0.51)


@pytest.mark.parametrize(("load", "place"), [(-1.0, 0), (0.4, 0), (0.6, 1), (2.0, 2), (3.0, 3), (7.0, 3)])
def test_a_load_class_has_its_own_colour(load, place):
    assert colours.hexed(colours.colour_of(INDICES["class"], load, LoadScale(3.0))) == CLASS_COLOURS[place]


@pytest.mark.parametrize(("share", "place"), [(0.0, 0), (0.3, 1), (0.7, 2), (1.0, 3)])
def test_a_share_of_the_classes_has_the_nearest_class_colour(share, place):
    assert colours.hexed(colours.shade(INDICES["class"], share)) == CLASS_COLOURS[place]


@pytest.mark.parametrize("text", ["#000000", "#0a1b2c", "#fffe80"])
def test_colours_are_read_and_written(text):
    assert colours.hexed(colours.rgb(text)) == text


def test_a_colour_is_read_as_red_green_and_blue():
    assert colours.rgb("#0a1b2c") == (10, 27, 44)


@pytest.mark.parametrize(("name", "per_core", "changed"), [
    ("cpu", True, True), ("cpu", False, False), ("io", True, False), ("class", True, False),
])  # fmt: skip
def test_only_tasks_are_counted_per_core(name, per_core, changed):
    found, was = index_of(name, per_core), INDICES[name]
    assert (found != was) == changed
    if changed:
        assert (found.words, found.tip) == (f"{was.words} per core", was.tip.removesuffix(".") + ", over its cores.")
        assert (found.name, found.full, found.colour) == (was.name, was.full, was.colour)


def test_the_short_name_of_a_load_ends_at_the_colon():
    assert [one.short for one in INDICES.values()] == ["CPU", "Memory", "I/O", "Weighted", "Load class"]


@pytest.mark.parametrize(("fill", "ink"), [
    ((1, 1, 1), "#000000"), ((0, 0, 0), "#ffffff"), ((0, 1, 0), "#000000"), ((0, 0, 1), "#ffffff"),
    # Pure red has a luminance of 0.21, above 0.179; red of 0.9 has 0.17.
    ((1, 0, 0), "#000000"), ((0.9, 0, 0), "#ffffff"),
    # Black and white have the same contrast at a luminance of 0.179: a grey of 117.8 / 255.
    ((117 / 255,) * 3, "#ffffff"), ((118 / 255,) * 3, "#000000"),
    # Opacity does not count.
    ((0, 0, 0, 1), "#ffffff"),
])  # fmt: skip
def test_the_ink_on_a_fill_has_the_larger_contrast(fill, ink):
    assert ink_on(fill) == ink


def test_further_curves_have_colours_mixed_with_white_or_black():
    many = colours_of(["jsq"] * 100)
    # 14 colours: jsq's, 6 spare ones and those of 7 other policies; and 6 mixtures of each.
    assert len({*many}) == 14 + 6 * 14
    # The first spare one, #332288, with 0.45 of white: 51 + 0.45 x 204, 34 + 0.45 x 221, 136 + 0.45 x 119.
    assert many[14] == "#8F85BE"
    # Fourteen curves later with 0.45 of black: 0.55 x 51, 34 and 136.
    assert many[28] == "#1C134B"
