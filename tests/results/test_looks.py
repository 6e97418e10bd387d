"""How policies and states look: apart for every eye, on paper too, and the same for a policy wherever it stands.

The criterion, stated before colours were chosen: CSS Color 4 puts a just noticeable difference at 0.02 in OKLab. Thin
lines and small marks that are not side by side need more: five of them, 0.10, for most eyes; three, 0.06, for an eye
without one kind of cones, since the marker is a second sign there. Against white paper 3:1, which WCAG 2.2 (1.4.11)
asks of graphical objects.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from matplotlib.markers import MarkerStyle

from cluster_abm.policies import available
from cluster_abm.recording.script import player_folder
from cluster_abm.recording.words import marker_words
from cluster_abm.results.colours import AGAINST, BREAKDOWN_COLOURS, FOR, RAMP, SERIES_COLOURS, ink_on
from cluster_abm.results.looks import (
    FAMILIES,
    LOOKS,
    MARKERS,
    OTHERS,
    SERIES_MARKERS,
    SPARE_COLOURS,
    colour_of,
    colours_of,
    family_of,
    looks_of,
    markers_of,
    series_looks,
)

NOTICED = 0.02
# Severity 1.0 of Machado, Oliveira, Fernandes 2009 (IEEE TVCG 15(6)), for linear red, green and blue.
EYES = {
    "all cones": np.eye(3),
    "protanopia": np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ]),
    "deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881],
    ]),
    "tritanopia": np.array([
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900],
    ]),
}  # fmt: skip
BOUNDS = {eye: (5 if eye == "all cones" else 3) * NOTICED for eye in EYES}
# Ottosson 2020: from linear red, green and blue to cones, and from their cube roots to OKLab.
TO_CONES = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
TO_LAB = np.array([
    [0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
])  # fmt: skip
FIFTEEN = [
    "none", "random", "round-robin", "jsq", "power-of-d", "jiq", "lwl", "iolb", "iolb-pm", "wal-pm", "wal-re",
    "iocm-pm", "iocm-re", "combined", "pooled",
]  # fmt: skip


def linear(colours):
    parts = np.array([[int(one[at : at + 2], 16) for at in (1, 3, 5)] for one in colours]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def oklab(colours, eye="all cones"):
    return np.cbrt(np.clip(linear(colours) @ EYES[eye].T, 0, 1) @ TO_CONES.T) @ TO_LAB.T


def least_distance(colours, eye="all cones"):
    return min(np.linalg.norm(one - other) for one, other in combinations(oklab(colours, eye), 2))


def contrast(colours):
    """With white paper."""
    return 1.05 / (linear(colours) @ [0.2126, 0.7152, 0.0722] + 0.05)


def test_oklab_of_white_and_red():
    # Ottosson's own examples: white is (1, 0, 0), pure red (0.628, 0.225, 0.126).
    assert oklab(["#ffffff", "#ff0000"]) == pytest.approx(np.array([[1, 0, 0], [0.628, 0.225, 0.126]]), abs=5e-4)


@pytest.mark.parametrize("eye", EYES)
def test_the_fifteen_policies_are_apart_for_every_eye(eye):
    assert list(LOOKS) == FIFTEEN
    assert least_distance([colour for colour, _ in LOOKS.values()], eye) >= BOUNDS[eye]


@pytest.mark.parametrize("eye", EYES)
def test_states_of_a_task_are_apart_for_every_eye(eye):
    assert least_distance([*BREAKDOWN_COLOURS.values()], eye) >= BOUNDS[eye]


@pytest.mark.parametrize("eye", EYES)
def test_curves_that_are_no_policies_are_apart_for_every_eye(eye):
    assert least_distance([*SERIES_COLOURS], eye) >= BOUNDS[eye]
    assert least_distance([FOR, AGAINST], eye) >= BOUNDS[eye]


def test_curves_that_are_no_policies_look_like_none_of_the_fifteen():
    fifteen = oklab([colour for colour, _ in LOOKS.values()])
    for colour in (*SERIES_COLOURS, FOR, AGAINST):
        assert np.linalg.norm(fifteen - oklab([colour]), axis=1).min() >= 2 * NOTICED


def test_further_curves_that_are_no_policies_are_darker_and_have_other_markers():
    looks = [*series_looks("abcdefghij").values()]
    assert [look["color"] for look in looks[:5]] == [*SERIES_COLOURS]
    # #FC4860 with 35 % of black: 0.65 x 252 = 163.8, 0.65 x 72 = 46.8, 0.65 x 96 = 62.4.
    assert (looks[6]["color"], looks[6]["marker"], looks[7]["marker"]) == ("#A42F3E", SERIES_MARKERS[6], "o")
    assert len({(look["color"], look["marker"]) for look in looks}) == 10


def test_every_colour_of_a_line_stands_out_from_paper():
    lines = [*(colour for colour, _ in LOOKS.values()), *(colour for colour, _ in FAMILIES.values()), *SPARE_COLOURS]
    assert contrast([*lines, *SERIES_COLOURS, FOR, AGAINST]).min() >= 3
    assert len({*lines}) == len(lines)


def test_no_state_looks_like_one_of_the_fifteen():
    states = oklab([*BREAKDOWN_COLOURS.values()])
    for colour, _ in LOOKS.values():
        assert np.linalg.norm(states - oklab([colour]), axis=1).min() >= 2 * NOTICED


def test_loads_have_even_steps_of_lightness_for_every_eye():
    for eye in EYES:
        steps = np.diff(oklab(RAMP, eye)[:, 0])
        # From dark to light; no step is twice another one.
        assert 0 < steps.max() < 2 * steps.min()


def test_each_of_the_fifteen_has_a_marker_of_its_own_that_can_be_filled():
    assert len({*MARKERS}) == len(MARKERS) == 15
    assert all(MarkerStyle(marker).is_filled() for marker in MARKERS)


def test_the_player_knows_every_marker():
    shapes = (player_folder() / "shapes.js").read_text(encoding="utf-8").partition("};")[0]
    names = {line.split(":")[0].strip(' "') for line in shapes.splitlines() if line.endswith("],")}
    assert names == {marker_words(marker) for marker in MARKERS}


@pytest.mark.parametrize("policy", available())
def test_every_shipped_policy_looks_like_its_family_or_itself(policy):
    family = family_of(policy)
    # A new policy needs no entry: until it has one it is one of the others.
    theirs = SPARE_COLOURS if family == OTHERS else (FAMILIES[family][0],)
    assert colour_of(policy) in ((LOOKS[policy][0],) if policy in LOOKS else theirs)


def test_families_name_each_policy_once_and_none_that_is_not_there():
    named = [name for _, names in FAMILIES.values() for name in names.split()]
    assert len({*named}) == len(named)
    assert {*named} <= {*available()}


def test_a_policy_of_ones_own_has_a_spare_colour_by_its_name_whatever_stands_beside_it():
    assert (family_of("mine.best"), colour_of("mine.best") in SPARE_COLOURS) == (OTHERS, True)
    assert colours_of(["mine.best"]) == colours_of(["none", "clb", "mine.best"])[2:] == [colour_of("mine.best")]


def test_a_variant_looks_like_its_policy_and_a_shade_darker_beside_it():
    variant = "jsq[information=fresh]"
    assert (colour_of(variant), family_of(variant)) == (LOOKS["jsq"][0], "dispatching")
    assert family_of("iolb (queue)") == "I/O load"
    # #00683C with 35 % of black: 0.65 x 104 = 67.6, 0.65 x 60 = 39.
    assert colours_of(["jsq", variant]) == [LOOKS["jsq"][0], "#004427"]


def test_no_two_policies_of_a_picture_look_the_same():
    looks = looks_of(available())
    assert len({look["color"] for look in looks.values()}) == len(looks)
    # Of one family, too: clb, and what its colour is mixed to.
    few = looks_of(["clb", "cpu-based", "queue-length", "load-class"])
    assert len({look["marker"] for look in few.values()}) == len({look["color"] for look in few.values()}) == 4


def test_one_of_the_fifteen_keeps_its_look_behind_any_other_policy():
    before = ["mine", "yours", "clb", "age", "hawk"]
    for name in FIFTEEN:
        assert looks_of([*before, name])[name]["color"] == LOOKS[name][0]
        assert markers_of([*FIFTEEN, *before])[FIFTEEN.index(name)] == LOOKS[name][1]


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
    many = colours_of(["jsq"] * 240)
    # jsq's, two shades, six spare ones, ten of families; then 5 mixtures of each of these 16 and of the fifteen.
    assert len({*many}) == 3 + 16 + 5 * 31
    # The first spare one, #480C54, with 0.45 of white: 72 + 0.45 x 183, 12 + 0.45 x 243, 84 + 0.45 x 171.
    assert many[19] == "#9A79A1"
