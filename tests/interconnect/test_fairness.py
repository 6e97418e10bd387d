"""Max-min fair rates: cases solved by hand, the property that defines them, and a slow solver in exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sharing import exact_rates, shared_links

from cluster_abm.interconnect import max_min_rates


@pytest.mark.parametrize(
    ("capacities", "paths", "expected"),
    [
        # One link, three flows.
        ([12.0], [(0,), (0,), (0,)], [4.0, 4.0, 4.0]),
        # Parking lot (Bertsekas and Gallager, section 6.5.2): the long flow and one short one on each of three links.
        ([10.0, 10.0, 10.0], [(0, 1, 2), (0,), (1,), (2,)], [5.0, 5.0, 5.0, 5.0]),
        # The same with a narrow link in the middle: a flow that does not cross it gets what is left over.
        ([10.0, 4.0, 10.0], [(0, 1, 2), (0,), (1,), (2,)], [2.0, 8.0, 2.0, 8.0]),
        # Two bottlenecks, the second one made by the first: 3 each on link 0; then 12 - 3 for one; then 9 - 3 for two.
        ([6.0, 12.0, 9.0], [(0, 1), (0, 2), (1,), (2,), (2,)], [3.0, 3.0, 9.0, 3.0, 3.0]),
        # A chain of them: 1, then 4 - 1 = 3, then 12 - 3 = 9.
        ([2.0, 4.0, 12.0], [(0,), (0, 1), (1, 2), (2,)], [1.0, 1.0, 3.0, 9.0]),
        # A star with one hot receiver, node 0: 1, 2 and 3 send there, 3 also to 2. Links: 1, 2, 3 up, 0 and 2 down.
        ([9.0] * 5, [(0, 3), (1, 3), (2, 3), (2, 4)], [3.0, 3.0, 3.0, 6.0]),
        # No two flows meet.
        ([5.0, 7.0], [(1,), (0,)], [7.0, 5.0]),
        ([], [], []),
    ],
)  # fmt: skip
def test_cases_solved_by_hand(capacities, paths, expected):
    assert max_min_rates(capacities, paths).tolist() == pytest.approx(expected, rel=1e-12)


def test_a_flow_without_links_is_infinitely_fast_and_takes_nothing():
    assert max_min_rates([6.0], [(), (0,), (), (0,)]).tolist() == [np.inf, 3.0, np.inf, 3.0]


@pytest.mark.slow
@given(shared_links())
def test_as_an_exact_solver_has_it(case):
    assert max_min_rates(*case).tolist() == pytest.approx([float(rate) for rate in exact_rates(*case)], rel=1e-9)


@pytest.mark.slow
@given(shared_links())
def test_every_flow_has_a_full_link_on_which_none_is_faster(case):
    # By this property, and no link being overfull, max-min fair rates are defined.
    capacities, paths = case
    rates = max_min_rates(capacities, paths)
    used = [sum(rates[flow] for flow, path in enumerate(paths) if link in path) for link in range(len(capacities))]
    assert all(amount <= capacity * (1 + 1e-9) for amount, capacity in zip(used, capacities, strict=True))
    for flow, path in enumerate(paths):
        assert any(
            used[link] >= capacities[link] * (1 - 1e-9)
            and rates[flow] >= max(rates[other] for other, its in enumerate(paths) if link in its) * (1 - 1e-9)
            for link in path
        )


@pytest.mark.slow
@given(shared_links(), shared_links())
def test_to_the_last_bit_nobody_matters_whom_no_link_connects(case, elsewhere):
    (capacities, paths), (more, others) = case, elsewhere
    moved = [tuple(link + len(capacities) for link in path) for path in others]
    together = max_min_rates([*capacities, *more], [*paths, *moved])
    assert together.tobytes() == max_min_rates(*case).tobytes() + max_min_rates(*elsewhere).tobytes()
