"""What an arena claims, and whether fresh regimes bear it out: on runs made by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_sentences_of_the_arena import PLAN, arena_of, traits_made

from cluster_abm.study.arena.claims import claims_of, leaders
from cluster_abm.study.arena.regimes import sample
from cluster_abm.study.arena.report import markdown
from cluster_abm.study.arena.sizes import VARIANTS, effects_of_sizes, places
from cluster_abm.study.arena.verify import verified, verify_document, write_verification

COUNT = 12
NOISE = np.random.default_rng(3).normal(0.0, 0.01, (4, COUNT))
KNOWING = traits_made(True, False, False)


def arena_with(traits=None, pairs=None, **slowdowns):
    """An arena of twelve regimes: of each policy its slowdown, in all regimes or one for each, and a little noise."""
    values = {
        name: np.broadcast_to(given, COUNT) * np.exp(noise)
        for (name, given), noise in zip(slowdowns.items(), NOISE, strict=False)
    }
    arena = arena_of(values | {"pooled": np.ones(COUNT)})
    return replace(arena, pairs=pairs, traits={**arena.traits, **(traits or {})})


def told_of(found, fresh):
    """Each claim that is told with whether it holds, without ranks."""
    return {one.words: one.held for one in verified(found, fresh) if one.kind != "rank"}


def test_leaders_are_those_that_are_not_significantly_behind():
    """`b` is above `a` by a tenth in half of the regimes, and below it in the others; `c` is twice as bad."""
    swings = np.where(np.arange(COUNT) % 2, 1.1, 1 / 1.09)
    arena = arena_with(a=2.0, b=2.0 * swings, c=4.0, none=8.0)
    assert leaders(arena, ["a", "b", "c", "none"]) == ["a", "b"]
    assert leaders(arena, ["c", "none"]) == ["c"]


def test_claims_that_hold_and_claims_that_do_not():
    found = arena_with({"a": KNOWING}, a=2.0, b=3.0, none=8.0)
    same = told_of(found, arena_with({"a": KNOWING}, a=2.2, b=3.0, none=7.0))
    turned = told_of(found, arena_with({"a": KNOWING}, a=4.0, b=3.0, none=7.0))
    first = "Of all policies, `a` leads: the mean regret of every other one is significantly larger."
    blind = (
        "Of the policies that do not know sizes, `b` leads: the mean regret of every other one is significantly larger."
    )
    most = "`a` is the best in more than half of the regimes."
    near = "`a` is surely within 10 % of the best in more regimes than any other policy."
    assert same == {first: True, blind: True, most: True, near: True}
    assert turned == {first: False, blind: True, most: False, near: False}


def test_where_two_are_near_the_best_as_often_none_is_said_to_be_so_more_often():
    """`a` and `b` are the best by halves in six regimes each; with `a` the best in seven it is so more often."""
    turns = np.where(np.arange(COUNT) % 2, 1.5, 0.5)
    words = "`a` is surely within 10 % of the best in as many regimes as any other policy."
    found = arena_with(a=2.0 * turns, b=2.0 / turns, none=8.0)
    assert found.table.set_index("policy")["sure_in"][["a", "b"]].tolist() == [6, 6]
    assert told_of(found, found)[words]
    more, fewer = turns.copy(), turns.copy()
    more[1], fewer[0] = 0.5, 1.5
    assert told_of(found, arena_with(a=2.0 * more, b=2.0 / more, none=8.0))[words]
    assert not told_of(found, arena_with(a=2.0 * fewer, b=2.0 / fewer, none=8.0))[words]
    ahead = arena_with(a=2.0 * more, b=2.0 / more, none=8.0)
    assert told_of(ahead, ahead)["`a` is surely within 10 % of the best in more regimes than any other policy."]
    assert not told_of(ahead, found)["`a` is surely within 10 % of the best in more regimes than any other policy."]


def test_that_no_policy_is_best_everywhere_is_claimed_where_none_is():
    changing = np.where(np.arange(COUNT) % 2, 1.5, 0.5)
    words = "No policy is the best in more than half of the regimes."
    found = arena_with(a=2.0, b=2.0 * changing, none=8.0)
    assert told_of(found, arena_with(a=2.1, b=2.0 * changing, none=8.0))[words]
    assert not told_of(found, arena_with(a=2.0, b=3.0, none=8.0))[words]


@pytest.mark.slow
def test_a_rank_holds_if_it_moves_by_one_place():
    """Of four policies one place is allowed: `a` falls by two."""
    found = arena_with(a=2.0, b=3.0, c=4.0, none=8.0)
    fresh = arena_with(a=5.0, b=3.0, c=4.0, none=8.0)
    ranks = {one.words[:3]: (one.found, one.fresh, one.held) for one in verified(found, fresh) if one.kind == "rank"}
    assert [ranks[f"`{name}"[:2] + "`"][2] for name in "abc"] == [False, True, True]
    assert ranks["`a`"][0].startswith("1, ")
    assert ranks["`a`"][1].startswith("3, ")
    assert (places(4), places(20), places(47)) == (1, 1, 2)


def planted(gain, seed):
    """36 regimes: where reports are older than three demands, `jsq` is so many times as bad as `random`."""
    regimes, noise = pd.DataFrame(sample(36, 4)), np.random.default_rng(seed).normal(0.0, 0.02, 36)
    jsq = np.where(regimes["age"] > 3.0, 2.0 * gain, 1.6) * np.exp(noise)
    return arena_of({"jsq": jsq, "random": np.full(36, 2.0), "none": np.full(36, 50.0)})


@pytest.mark.parametrize(("gain", "holds"), [(1.5, True), (0.9, False)])
def test_a_rule_is_measured_on_all_fresh_regimes(gain, holds):
    found, fresh = planted(1.5, 1), planted(gain, 2)
    (rule,) = [one for one in verified(found, fresh) if one.kind == "rule"]
    assert rule.held is holds
    (held,) = found.rules.held
    assert rule.found == f"{held.gain_above:+.0%}; {held.gain_below:+.0%}"
    above = fresh.regimes["age"] > held.value
    logs = np.log(fresh.runs[fresh.runs["seed"] == 1].pivot_table(
        index="regime", columns="policy", values="bounded_slowdown"))  # fmt: skip
    gap = logs["jsq"] - logs["random"]
    assert rule.fresh == f"{math.expm1(gap[above].mean()):+.0%}; {math.expm1(-gap[~above].mean()):+.0%}"


# ---- sizes ----


def pairs_of(factors):
    """Runs of four regimes and two seeds in each variant: of each policy its slowdown by variant, times a regime's."""
    return pd.DataFrame(
        {"regime": regime, "variant": variant, "policy": policy, "seed": seed, "mean_wait_ms": 0.0,
         "bounded_slowdown": own[place] * (1.0 + regime) * (1.0 + 0.1 * seed)
         * 1.01 ** ((regime - 1.5) * (policy == "a") * (variant == "wrong"))}
        for policy, own in factors.items() for place, variant in enumerate(VARIANTS)
        for regime in range(4) for seed in (1, 2)
    )  # fmt: skip


# Plain, wrong, each. Ranks: a b c d; with wrong sizes b c a d; with tasks that differ a b c d.
FACTORS = {"a": (1.0, 2.6, 1.1), "b": (1.5, 1.5, 1.6), "c": (2.0, 2.0, 2.1), "none": (9.0, 9.0, 9.0)}


def test_ranks_and_costs_of_changed_sizes_by_hand():
    """The measure of `a` is 2.6 times as large with wrong sizes in the geometric mean of four regimes, and from one to
    the next by 1 % more; all else is the same in all of them."""
    told = effects_of_sizes(pairs_of(FACTORS), "bounded_slowdown")
    wrong, each = told["wrong"], told["each"]
    assert wrong["before"].to_dict() == {"a": 1, "b": 2, "c": 3, "none": 4}
    assert wrong["after"].to_dict() == {"b": 1, "c": 2, "a": 3, "none": 4}
    assert wrong.loc["a", "cost"] == pytest.approx(1.6)
    # Student's t of three degrees of freedom, and the deviation of 0, 1, 2, 3 hundredths (logarithms of 1.01).
    arm = 3.182446 * math.sqrt(5 / 3) / 2 * math.log(1.01)
    assert wrong.loc["a", "high"] == pytest.approx(2.6 * math.exp(arm) - 1.0, rel=1e-5)
    assert wrong["keeps"].to_dict() == {"a": False, "b": True, "c": True, "none": True}
    assert wrong["is_dearer"].to_dict() == {"a": True, "b": False, "c": False, "none": False}
    assert each["keeps"].all()


def test_without_all_variants_there_is_no_effect():
    runs = pairs_of(FACTORS)
    assert effects_of_sizes(runs[runs["variant"] != "each"], "bounded_slowdown") == {}
    assert effects_of_sizes(runs[runs["regime"] == 0], "bounded_slowdown") == {}
    assert effects_of_sizes(runs[(runs["variant"] != "each") | (runs["regime"] < 2)], "bounded_slowdown")


@pytest.mark.slow
def test_the_report_and_its_claims_on_sizes():
    slowdowns = {"a": 1.0, "b": 1.5, "c": 2.0, "none": 9.0}
    found = arena_with({"a": KNOWING}, pairs_of(FACTORS), **slowdowns)
    told = markdown(found, PLAN, [])
    assert "* With announced sizes wrong by a factor of two, `b`, `c` and `none` keep their ranks." in told
    assert "* With announced sizes wrong by a factor of two, `a` loses rank." in told
    assert "* With tasks of a job that differ in size, `a`, `b`, `c` and `none` keep their ranks." in told
    assert "* Sizes wrong by a factor of two cost `a` significantly." in told
    (row,) = [line for line in told.split("## Sizes")[1].splitlines() if line.startswith("| a |")]
    assert row.startswith("| a | 1 | 3 | +160.0% [")
    assert row.endswith("] | 1 |")
    # On fresh regimes wrong sizes cost `a` nothing: what is said of it does not hold, and all else does.
    fresh = arena_with({"a": KNOWING}, pairs_of(FACTORS | {"a": (1.0, 1.0, 1.1)}), **slowdowns)
    held = {one.words: one.held for one in verified(found, fresh) if one.kind in ("wrong", "each")}
    assert [words for words, is_held in held.items() if not is_held] == [
        "Sizes wrong by a factor of two cost `a` significantly.",
        "With announced sizes wrong by a factor of two, `a` loses rank.",
    ]  # fmt: skip
    assert len(held) == 10


# ---- files ----


def test_what_is_written_of_a_verification(tmp_path):
    found, fresh = arena_with(a=2.0, b=3.0, none=8.0), arena_with(a=4.0, b=3.0, none=8.0)
    write_verification(tmp_path, found, fresh)
    text, document = (tmp_path / "verify.md").read_text(), json.loads((tmp_path / "verify.json").read_text())
    assert document == json.loads(json.dumps(verify_document(found, fresh)))
    assert document["held"] == sum(claim["held"] for claim in document["claims"])
    assert [claim["kind"] for claim in document["claims"]] == ["leader", "leader", "best", "surely"] + ["rank"] * 3
    assert {*document["claims"][0]} == {"kind", "words", "found", "fresh", "held"}
    assert (
        "Held on 12 fresh regimes (hypercube of seed 2027) and other seeds (from 1001): 0 of 4 sentences, 3 of 3"
        in text
    )
    assert (
        "| `a` is the best in more than half of the regimes. | 1 policies; a in 100% | 1 policies; b in 100% | **no** |"
        in text
    )
    assert len(claims_of(found)) == 7
