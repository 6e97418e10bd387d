"""What there is to name in Python: scenarios, their keys, policies, studies, reproductions, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from cluster_abm import displays
from cluster_abm.arguments import TEXT, check_arguments
from cluster_abm.policies import describe
from cluster_abm.scenario import load_scenario, scenario_names
from cluster_abm.scenario.wording.caption import caption_of
from cluster_abm.scenario.wording.keys import keys_with
from cluster_abm.study.design.study_file import load_study, study_names
from cluster_abm.study.papers.plan import load_plan, reproduction_names

# All of it: a list that is cut in a notebook hides what one looks for.
MOST_ROWS = 500


class Listing(pd.DataFrame, displays.Displayed):
    """A pandas table by name, which a notebook shows whole, without cutting its texts."""

    @property
    def _constructor(self) -> type[pd.DataFrame]:
        return pd.DataFrame

    def _repr_html_(self) -> str:
        return displays.Displayed._repr_html_(self)

    def _parts(self) -> Iterator[str]:
        rows = [{str(key): value for key, value in row.items()} for row in self.reset_index().to_dict("records")]
        yield displays.table(rows, MOST_ROWS)


def _listing(rows: Sequence[Mapping[str, object]], index: str) -> Listing:
    return Listing(pd.DataFrame(list(rows)).set_index(index))


def list_scenarios() -> pd.DataFrame:
    """The shipped scenarios.

    Example:
        ca.list_scenarios().loc["quickstart", "summary"]

    Returns:
        index name; columns nodes, policy (what it runs under if none is given), summary.
    """
    shipped = [load_scenario(name) for name in scenario_names()]
    rows = [
        {"name": one.name, "nodes": one.cluster.nodes, "policy": one.policy.label, "summary": caption_of(one)}
        for one in shipped
    ]
    return _listing(rows, "name")


def list_keys(containing: str = "") -> pd.DataFrame:
    """The keys that a scenario may hold: what `load_scenario(name, {key: value})` takes.

    Example:
        ca.list_keys("memory")

    Args:
        containing: only keys, or meanings, with this text in them, in any case; "": all.

    Returns:
        index key; columns default ("not set" of a key that has none), allowed (values of a key that takes one of a
        few), meaning.
    """
    check_arguments(containing=(containing, TEXT))
    rows = [
        {
            "key": one["key"], "default": "not set" if one["default"] is None else one["default"],
            "allowed": ", ".join(map(str, one["allowed"])), "meaning": one["meaning"],
        }
        for one in keys_with(containing)
    ]  # fmt: skip
    return Listing(pd.DataFrame(rows, columns=["key", "default", "allowed", "meaning"]).set_index("key"))


def list_policies() -> pd.DataFrame:
    """The policies there are, those of your own that have been named or registered included.

    Example:
        ca.list_policies().loc["jsq", "source"]

    Returns:
        index name; columns summary, source (the paper), parameters ("name = default", comma-separated).
    """
    rows = [
        {
            "name": one["name"], "summary": one["summary"], "source": one["source"],
            "parameters": ", ".join(f"{of['name']} = {of['default']!r}" for of in one["parameters"]),
        }
        for one in describe()
    ]  # fmt: skip
    return _listing(rows, "name")


def list_studies() -> pd.DataFrame:
    """The shipped studies, as `run_batch` takes them.

    Returns:
        index name; columns runs (the least number of them), title.
    """
    rows = []
    for name in study_names():
        study = load_study(name)
        runs = study.point_count * len(study.policies) * study.replications
        rows.append({"name": name, "runs": runs, "title": study.title})
    return _listing(rows, "name")


def list_reproductions() -> pd.DataFrame:
    """The papers' tables and figures, as `reproduce` takes them.

    Returns:
        index name; columns paper, title.
    """
    plans = [load_plan(name) for name in reproduction_names()]
    return _listing([{"name": one.name, "paper": one.paper, "title": one.title} for one in plans], "name")
