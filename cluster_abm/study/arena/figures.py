"""The pictures of an arena."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cluster_abm.arguments import shortened
from cluster_abm.errors import InputError
from cluster_abm.results.figures.options import ALWAYS, OF_POLICIES, FigureOptions, Look
from cluster_abm.results.of_studies.arena_pictures import map_figure, regret_figure
from cluster_abm.results.words import line_words
from cluster_abm.study.arena.regimes import BY_NAME, FACTORS
from cluster_abm.study.arena.verdicts import RegimeVerdict, table_of_regret

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

# The factor along the x axes of the map.
X = "load"
PICTURES = ("regret", "map")


def figure_of(
    regimes: pd.DataFrame,
    runs: pd.DataFrame,
    found: dict[int, RegimeVerdict],
    measure: str,
    picture: str,
    look: Look,
    own: Sequence[str] = (),
) -> Figure:
    """`Arena.plot`; its tables, verdicts and headline, and the policies of the user, drawn in another colour.

    Raises InputError: as said there.
    """
    if picture not in PICTURES:
        raise InputError(f"plot({shortened(picture)}): no such picture of an arena; allowed: {', '.join(PICTURES)}")
    if not found:
        raise InputError("no regime has all its runs: there is nothing to draw")
    table = table_of_regret(runs, found)
    size = f"{len(found)} regimes, {runs['seed'].nunique()} seeds each, the same jobs for all"
    names = [str(name) for name in table["policy"]]
    if picture == "regret":
        # Bars have one colour: that of policies of one's own is another one.
        options = FigureOptions.of(look, OF_POLICIES - {"colours"}, names, "picture of regrets")
        rows = table.set_index("policy", drop=False).loc[list(options.policies)].reset_index(drop=True)
        title = options.titled(f"How far from the best: {size}")
        return options.draw(lambda: regret_figure(title, rows, line_words(measure), own))
    takes = ALWAYS | {"labels", "colours"}
    options = FigureOptions.of(look, takes, names, "map of the best policies")
    best = {number: (one.best, one.best in one.sure) for number, one in found.items()}
    others = [(factor.name, factor.words, factor.is_log) for factor in FACTORS if factor.name != X]
    named = {factor.name: factor.names for factor in FACTORS if factor.names}
    title = options.titled(f"The best policy of each regime: {size}")
    return options.draw(lambda: map_figure(title, regimes, best, others, (X, BY_NAME[X].words), named))
