"""What the papers conclude, as comparisons that can be run under other conditions than their figures'. Data only."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence

import pandas as pd
from pydantic import Field

from cluster_abm.scenario import shipped_path
from cluster_abm.scenario.base import Section
from cluster_abm.study.cells import Cell, Ratio, ratio_of
from cluster_abm.study.papers.plan import Setting


class Conclusion(Section):
    """One sentence of a paper: under a scenario one policy has a smaller metric than another.

    Attributes:
        paper: the paper and the figure.
        says: the sentence.
        scenario, settings: what is run.
        key, points: a key of the scenario and the values that it takes; none: once, as it is.
        metric: a metric of a run's summary; less is better.
        better, worse: the policies.
        settings_of: keys that a policy needs besides.
        scale_s: length of the window in which larger clusters are compared [s]; none: they are not.
    """

    paper: str
    says: str
    scenario: str
    metric: str = "mean_slowdown"
    key: str = ""
    points: tuple[float, ...] = ()
    better: str
    worse: str
    settings: dict[str, Setting] = Field(default_factory=dict)
    settings_of: dict[str, dict[str, Setting]] = Field(default_factory=dict)
    scale_s: float | None = None

    @property
    def runs(self) -> str:
        """What names its runs: conclusions of one scenario under the same settings share them."""
        return f"{self.scenario} {self.key} {self.settings} {self.settings_of}"

    def cells(self, labels: dict[str, object], settings: dict[str, object], points: Sequence[float]) -> list[Cell]:
        """Its runs under further settings, of both policies at every point; labels besides: runs, policy, point."""
        found = []
        for policy in (self.better, self.worse):
            for point in points or (None,):
                own = {"policy.name": policy, **self.settings, **self.settings_of.get(policy, {}), **settings}
                if point is not None:
                    own[self.key] = point
                found.append(
                    Cell({**labels, "runs": self.runs, "policy": policy, "point": point or 0.0}, self.scenario, own)
                )
        return found

    def ratio(self, table: pd.DataFrame) -> Ratio:
        """The better policy's metric over the worse one's, of the rows of these runs."""
        own = table[(table["runs"] == self.runs) & table["policy"].isin([self.better, self.worse])]
        return ratio_of(own, self.better, self.worse, self.metric, ["point"])


def load_conclusions() -> list[Conclusion]:
    """Those of the five papers: published/conclusions.toml."""
    path = shipped_path("published", "conclusions.toml")
    return [Conclusion(**entry) for entry in tomllib.loads(path.read_text(encoding="utf-8"))["conclusion"]]


def distinct(cells: Iterable[Cell]) -> list[Cell]:
    """Each cell once, though several conclusions want it."""
    return list({repr(sorted(cell.labels.items(), key=lambda item: item[0])): cell for cell in cells}.values())
