"""`.plot` and `.to_latex` of comparisons, plans, reproductions and runs, of numbers made by hand."""

from __future__ import annotations

import numpy as np
import pytest
from test_public_interface import reproduction
from test_sentences_of_comparisons import comparison
from test_sentences_of_plans import AT_9, AT_10, planned
from test_sentences_of_the_arena import MESSAGES, SLOWDOWNS, arena_of

from cluster_abm.engine.tables import BREAKDOWN
from cluster_abm.errors import InputError
from cluster_abm.study.papers.points import Point
from cluster_abm.study.planning.bracketing import Crossing

# b is half of a, and c twice as much, on every seed but for a little; b waits for nothing on one seed.
RUNS = {"a_1": [4.0, 5.0, 6.0], "b": [2.1, 2.5, 2.9], "c": [8.0, 10.0, 12.0]}
PARTS = {f"breakdown_ms.{part}": dict.fromkeys(RUNS, 10.0) for part in BREAKDOWN}


@pytest.fixture(scope="module")
def compared():
    return comparison(RUNS, **PARTS)


def names_at(axes):
    return [text.get_text() for text in axes.get_yticklabels()]


def test_policies_are_drawn_in_the_order_asked_for(compared):
    figure = compared.plot("mean_slowdown", policies=["c", "a_1"], labels={"c": "C"})
    assert names_at(figure.axes[0]) == ["C", "a_1"]
    assert set(figure.data["policy"]) == {"a_1", "c"}
    # Seeds are drawn over the comparison's baseline, its first policy.
    assert figure.axes[2].get_xlabel() == "mean slowdown / a_1's"


def test_against_a_baseline_the_others_are_ratios_to_it(compared):
    figure = compared.plot("mean_slowdown", baseline="c")
    assert names_at(figure.axes[0]) == ["a_1", "b"]
    # Geometric means over the seeds: of 4/8, 5/10, 6/12; and of 2.1/8, 2.5/10, 2.9/12.
    found = figure.data.set_index("policy")["ratio"]
    assert found["a_1"] == pytest.approx(0.5)
    assert found["b"] == pytest.approx((2.1 * 2.5 * 2.9 / (8 * 10 * 12)) ** (1 / 3))
    # Of one pair alone the interval is not widened for two.
    alone = compared.plot("mean_slowdown", baseline="c", policies=["b", "c"])
    assert alone.data.iloc[0]["high"] <= figure.data.iloc[1]["high"]


def test_of_a_metric_that_is_0_in_a_run_differences_are_drawn():
    waits = {"a": [10.0, 20.0, 30.0], "b": [0.0, 5.0, 7.0]}
    found = comparison(waits)
    figure = found.plot("mean_slowdown", baseline="a")
    # -10, -15, -23.
    assert figure.data["difference"].tolist() == [-16.0]
    assert figure.axes[0].get_xscale() == "linear"


@pytest.mark.parametrize(("look", "words"), [
    ({"x": "cluster.nodes"}, r"plot\(x='cluster.nodes'\): the picture of a comparison has no use for it"),
    ({"policies": ["d"]}, "'d': not in this picture; allowed: a_1, b, c"),
])  # fmt: skip
def test_what_a_comparison_cannot_draw(compared, look, words):
    with pytest.raises(InputError, match=words):
        compared.plot("mean_slowdown", **look)
    with pytest.raises(InputError, match="metric 'nothing': no run has it"):
        compared.plot("nothing")


def test_a_comparison_as_a_table_for_latex(compared):
    lines = compared.to_latex("mean_slowdown").split("\n")
    assert lines[:2] == [r"\begin{tabular}{lrr}", r"\toprule"]
    assert lines[2].endswith(r"[95 \%] & times a\_1 [95 \%] \\")
    # Means of 5, 2.5 and 10.
    assert [line.split(" ")[:3] for line in lines[4:7]] == [["a\\_1", "&", "5"], ["b", "&", "2.5"], ["c", "&", "10"]]
    assert lines[4].endswith(r"& 1 \\")
    pairs = compared.to_latex("mean_slowdown", pairs=True)
    assert rf"b & a\_1 & {(2.1 * 2.5 * 2.9 / (4 * 5 * 6)) ** (1 / 3):.3g} [" in pairs
    assert r"c & a\_1 & 2 [2, 2]" in pairs


PLAN = {"none": Crossing("least", 10.0, 9.0, 12.0, (AT_9, AT_10)), "jsq": Crossing("least", 10.0, 9.0, 12.0, (AT_10,))}


def test_a_plan_draws_the_policies_asked_for():
    figure = planned(PLAN).plot("p95_slowdown", policies=["jsq"], labels={"jsq": "JSQ"}, x="cluster.nodes", title="")
    (axes,) = figure.axes
    assert axes.get_legend_handles_labels()[1] == ["JSQ"]
    assert figure.get_suptitle() == ""
    for given, words in (
        ({"x": "cluster.memory_mb"}, "over one key; allowed: cluster.nodes"),
        ({"baseline": "none"}, "has no use for it"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            planned(PLAN).plot(**given)
    with pytest.raises(InputError, match="no need is about this metric; allowed: p95_slowdown"):
        planned(PLAN).plot("mean_slowdown")


def test_a_plan_as_a_table_for_latex():
    lines = planned(PLAN).to_latex().split("\n")
    assert lines[2] == r"policy & cluster.nodes [95 \%] & p95\_slowdown there [95 \%] \\"
    assert lines[4] == r"none & 10 [9, 12] & 2.9 [2.65, 3.15] \\"


def test_a_reproduction_is_drawn_and_written_by_its_series():
    found = reproduction(Point(0.8, "clb", 62.0, (60.0, 66.0)), Point(0.8, "iolb", None, (47.0, 47.0)))
    figure = found.plot(policies=["iolb"], colours={"iolb": "red"}, labels={"iolb": "ours"})
    assert figure.axes[0].get_title(loc="left") == "ours"
    assert figure.data["series"].tolist() == ["iolb"]
    assert "clb & 62 & 63 [" in found.to_latex()
    assert "iolb &  & 47" in found.to_latex()
    with pytest.raises(InputError, match=r"baseline.*has no use for it"):
        found.plot(baseline="clb")


def test_a_run_has_one_value_of_each_metric():
    import cluster_abm as ca

    model = ca.ClusterModel("quickstart", cluster__nodes=2)
    with pytest.raises(InputError, match=r"plot\('mean_slowdown'\): a run has one value of each metric"):
        model.plot("mean_slowdown")
    with pytest.raises(InputError, match=r"policies.*run has no use for it; allowed: size, style, title"):
        model.plot(policies=["jsq"])
    assert r"\toprule" in model.to_latex()


@pytest.fixture(scope="module")
def studied(tmp_path_factory):
    """A study over two keys: four points, two policies, three seeds."""
    import cluster_abm as ca

    grid = {"workload.jobs_per_s": [0.1, 0.2], "cluster.nodes": [2, 4]}
    study = ca.Study(
        name="small", scenario="quickstart", policies=("none", "jsq"), replications=3, grid=grid,
        overrides={"workload.duration_s": 60}, measure=("mean_slowdown",),
    )  # fmt: skip
    return ca.run_batch(study, tmp_path_factory.mktemp("small"), workers=1, quiet=True)


@pytest.mark.slow
def test_a_study_is_drawn_over_the_key_asked_for_and_against_a_policy(studied):
    over_nodes = studied.plot(x="cluster.nodes", policies=["jsq"], labels={"jsq": "JSQ"}, size="column")
    assert {axes.get_xlabel() for axes in over_nodes.axes} == {"nodes"}
    assert [text.get_text() for text in over_nodes.legends[0].get_texts()][:1] == ["JSQ"]
    assert over_nodes.get_figwidth() == 3.4
    logs = np.log(studied.runs.set_index(["point", "policy"])["mean_slowdown"]).groupby(["point", "policy"]).mean()
    against = studied.plot(baseline="none").data.set_index("point")["mean"]
    for point in range(4):
        # By the same seeds: the typical ratio is that of the geometric means.
        assert against[point] == pytest.approx(np.exp(logs[point, "jsq"] - logs[point, "none"]))
    for look, words in (
        ({"x": "cluster.slots"}, "not swept; allowed: workload.jobs_per_s, cluster.nodes"),
        ({"baseline": "iolb"}, "not in this picture; allowed: none, jsq"),
    ):
        with pytest.raises(InputError, match=words):
            studied.plot(**look)


@pytest.mark.slow
def test_a_study_as_a_table_for_latex(studied):
    lines = studied.to_latex().split("\n")
    assert lines[2].startswith("jobs [1/s] & nodes & policy & mean slowdown")
    assert len([line for line in lines if r"& jsq &" in line]) == 4


# Made by hand, the policies' ratios are the same from every seed.
@pytest.mark.filterwarnings("ignore:Precision loss")
@pytest.mark.slow
def test_an_arena_draws_its_regrets_and_its_map():
    arena = arena_of(SLOWDOWNS, MESSAGES)
    figure = arena.plot(policies=["none", "best"], labels={"best": "B"}, size="column")
    assert names_at(figure.axes[0]) == ["none", "B"]
    # How far `none` is from the best in the worst regime, as the table says.
    assert figure.data["worst"].tolist() == pytest.approx([2.0, 0.0])
    assert set(arena.plot("map").data["best"]) <= set(SLOWDOWNS)
    for picture, look, words in (
        ("heat", {}, "no such picture of an arena; allowed: regret, map"),
        ("regret", {"colours": {"best": "red"}}, "has no use for it"),
        ("map", {"policies": ["best"]}, "has no use for it"),
    ):
        with pytest.raises(InputError, match=words):
            arena.plot(picture, **look)
