"""How the points of a study lie in its pictures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from cluster_abm.results.of_studies.study_axes import Layout, lay_out


@pytest.mark.parametrize(("keys", "expected"), [
    # One key varies: along it; what does not vary has no place.
    ({"cluster.nodes": [8, 4], "workload.utilisation": [0.5, 0.5]}, [("", (1, 0), (4, 8))]),
    # The number with most values is along x, whichever key it is; texts part panels.
    ({"policy.index": ["cpu", "io", "cpu", "io"], "cluster.nodes": [4, 4, 8, 8]},
     [("index = cpu", (0, 2), (4, 8)), ("index = io", (1, 3), (4, 8))]),
    # A combination with a single point makes no curve: then all points stand beside each other, by name.
    ({"policy.index": ["cpu", "io"], "cluster.nodes": [4, 8]}, [("", (0, 1), (0, 1))]),
    # A yes or no is no number.
    ({"policy.heterogeneous": [True, False]}, [("", (0, 1), (0, 1))]),
])  # fmt: skip
def test_points_lie_along_the_key_with_most_values(keys, expected):
    layout = lay_out(pd.DataFrame(keys))
    assert [(panel.title, panel.points, panel.x) for panel in layout.panels] == expected
    assert layout.joined == (not layout.names)


@pytest.mark.parametrize(("groups", "panels", "joined"), [(9, 9, True), (10, 2, False)])
def test_of_more_than_nine_combinations_points_are_scattered(groups, panels, joined):
    layout = lay_out(pd.DataFrame([(n, u) for n in range(groups) for u in range(11)], columns=["a.nodes", "a.load"]))
    assert (len(layout.panels), layout.joined, layout.names) == (panels, joined, ())


@pytest.mark.parametrize(("count", "named"), [(9, True), (10, False)])
def test_up_to_nine_scattered_points_have_their_names(count, named):
    values = np.arange(count)
    layout = lay_out(pd.DataFrame({"cluster.nodes": values, "workload.utilisation": values / 8}))
    assert bool(layout.names) == named
    assert not layout.joined
    if named:
        assert layout.names[1] == "nodes = 1, utilisation = 0.125"
        assert not layout.is_single


def test_a_layout_of_one_point_is_single():
    assert lay_out(pd.DataFrame({"cluster.nodes": [4]})).is_single
    assert not Layout((), (), ()).is_single
