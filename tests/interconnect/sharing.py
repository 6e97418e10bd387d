"""Links, flows over them, and a slow solver of their fair shares."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st


def exact_rates(capacities, paths):
    """One link after another, in fractions: the tightest one gives its flows their share, and they go."""
    rates, left = {}, {link: Fraction(capacity) for link, capacity in enumerate(capacities)}
    while len(rates) < len(paths):
        among = {link: [flow for flow, path in enumerate(paths) if link in path and flow not in rates] for link in left}
        tightest = min((link for link in left if among[link]), key=lambda link: left[link] / len(among[link]))
        share = left[tightest] / len(among[tightest])
        for flow in among[tightest]:
            rates[flow] = share
            for link in paths[flow]:
                left[link] -= share
    return [rates[flow] for flow in range(len(paths))]


@st.composite
def shared_links(draw):
    """Capacities of 1 to 8 links, whole, so that ties are frequent, or not; and the paths of 1 to 12 flows."""
    links = draw(st.integers(1, 8))
    capacity = st.integers(1, 6).map(float) | st.floats(0.01, 1e4)
    capacities = draw(st.lists(capacity, min_size=links, max_size=links))
    path = st.lists(st.integers(0, links - 1), min_size=1, unique=True).map(tuple)
    return capacities, draw(st.lists(path, min_size=1, max_size=12))
