"""Arrows beside a road, worked by hand; y points downwards."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster_abm.results.films.lanes import along, lane

POINTS = st.tuples(st.integers(-9, 9).map(float), st.integers(-9, 9).map(float))


def flat(strokes):
    return [(pen, *(pytest.approx(point) for point in points)) for pen, points in strokes]


def test_a_straight_road_has_a_lane_on_its_right_for_each_direction():
    # Eastwards the right hand is south, below; westwards it is above.
    assert flat(lane([(0, 0), (10, 0)], 1, 2, 3, 5)) == [("M", (2, 1)), ("L", (7, 1))]
    assert flat(lane([(10, 0), (0, 0)], 1, 2, 3, 5)) == [("M", (8, -1)), ("L", (3, -1))]


def test_a_corner_is_rounded_where_the_lanes_meet():
    # East, then south: a right turn, which the right lane cuts short. Round it from 4 before to 4 behind.
    expected = [("M", (0, 1)), ("L", (15, 1)), ("Q", (19, 1), (19, 5)), ("L", (19, 20))]
    assert flat(lane([(0, 0), (20, 0), (20, 20)], 1, 0, 0, 4)) == expected


def test_a_short_stretch_keeps_some_of_itself():
    assert flat(lane([(0, 0), (10, 0)], 0, 50, 50, 0)) == [("M", (4, 0)), ("L", (6, 0))]
    # From a corner's middle to where a node stands: a fifth is left.
    assert flat(along([[(0, 0), (10, 0)], [(90, 0), (100, 0)]], 0, 50, 50, 0)) == [
        ("M", (8, 0)), ("L", (10, 0)), ("M", (90, 0)), ("L", (92, 0)),
    ]  # fmt: skip


def test_nowhere_is_no_lane():
    assert lane([(1, 1), (1, 1)], 1, 0, 0, 0) == []


@pytest.mark.slow
@given(st.lists(POINTS, min_size=2, max_size=6), st.floats(0, 3), st.floats(0, 5))
def test_a_lane_stays_near_its_road(road, aside, bend):
    for _, points in lane(road, aside, 0, 0, bend):
        for x, y in points:
            near = min(distance_to(one, other, x, y) for one, other in itertools.pairwise(road))
            assert near <= 2 * aside + bend + 1e-6


def distance_to(one, other, x, y):
    squared = (other[0] - one[0]) ** 2 + (other[1] - one[1]) ** 2
    share = ((x - one[0]) * (other[0] - one[0]) + (y - one[1]) * (other[1] - one[1])) / squared if squared else 0.0
    share = min(1.0, max(0.0, share))
    return math.dist((x, y), (one[0] + share * (other[0] - one[0]), one[1] + share * (other[1] - one[1])))


def test_round_a_sharp_corner_a_lane_keeps_near_it():
    # East, then back along (-0.8, -0.6): the right hands are (0, 1) and (0.6, -0.8). The lanes beside both stretches
    # would meet at 5 times their sum; it is twice the sum, of which the corner of a lane is never further away.
    expected = [("M", (0, 1)), ("L", (11.2, 0.4)), ("Q", (11.2, 0.4), (11.2, 0.4)), ("L", (2.6, -6.8))]
    assert flat(lane([(0, 0), (10, 0), (2, -6)], 1, 0, 0, 0)) == expected


def test_of_a_bend_each_stretch_keeps_four_fifths_for_what_stands_at_its_end():
    # Of 10: 8 at the start. Of 20: 3 at the end.
    assert flat(lane([(0, 0), (10, 0), (10, 20)], 0, 50, 3, 0)) == [
        ("M", (8, 0)), ("L", (10, 0)), ("Q", (10, 0), (10, 0)), ("L", (10, 17)),
    ]  # fmt: skip


def test_points_that_are_passed_twice_in_a_row_count_once():
    assert flat(lane([(0, 0), (0, 0), (10, 0), (10, 0)], 1, 0, 0, 5)) == [("M", (0, 1)), ("L", (10, 1))]
