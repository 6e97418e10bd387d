"""Learns where arriving tasks should start, and says how good that is: docs/how-to/learning.md.

    python scenarios/learn_placement.py --out docs/how-to

The cross-entropy method (Rubinstein and Kroese 2004) over the weights of a linear score of nodes, with numpy alone:
candidates are drawn around a mean, play the training scenarios from the same seeds, and the mean moves to the best
quarter. What was learnt is saved as `learned.json` and judged on the held-out scenarios against shipped policies.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np
import numpy.typing as npt
import pandas as pd
from tqdm import tqdm

from cluster_abm import Scenario
from cluster_abm.gym import (
    FEATURES,
    HELD_OUT,
    OPPONENTS,
    TRAINING,
    Scorer,
    evaluate,
    held_out,
    play,
    read_scorer,
    training,
)

Floats = npt.NDArray[np.float64]
# Of a generation: the share that the next one is drawn around; and what its spread never falls below, of weights ~ 1.
BEST, LEAST_SPREAD = 0.25, 0.03


def first_mean() -> Floats:
    """To begin with the least tasks, as jsq does, and a little noise between equals."""
    begin = {"tasks": -1.0, "noise": 0.05}
    return np.array([begin.get(name, 0.0) for name in FEATURES])


def score(weights: Floats, scenarios: Sequence[str], seed: int) -> float:
    """Mean over the scenarios of the logarithm of the mean slowdown: in each a gain of 1 % counts as much."""
    rounded = weights.astype(np.float32)
    # Home first among equals, as the policy `learned` has it, is left out: no two nodes have the same noise.
    slowdowns = [play(lambda seen: int((seen @ rounded).argmax()), training(name), [seed])[0] for name in scenarios]
    return float(np.log(slowdowns).mean())


def learn(scenarios: Sequence[str], generations: int, population: int, seed: int) -> tuple[Floats, list[float]]:
    """Learn weights.

    Args:
        scenarios: names of training scenarios.
        generations: how many.
        population: candidates of each.
        seed: of the candidates; every generation plays jobs of a seed of its own.

    Returns:
        the weights, shape (features,), and of each generation the score of its best quarter.
    """
    draws = np.random.default_rng(seed)
    mean, spread = first_mean(), np.full(len(FEATURES), 0.5)
    course = []
    for generation in tqdm(range(generations), desc="learning", disable=None):
        candidates = mean + spread * draws.standard_normal((population, len(FEATURES)))
        # All candidates of a generation play the same jobs: differences between them are their own.
        scores = np.array([score(one, scenarios, 1 + generation) for one in candidates])
        best = candidates[np.argsort(scores, kind="stable")[: max(2, int(BEST * population))]]
        mean, spread = best.mean(axis=0), np.maximum(best.std(axis=0), LEAST_SPREAD)
        course.append(float(np.sort(scores)[: len(best)].mean()))
    return mean / np.abs(mean).max(), course


def judge(scorer: Scorer, names: Sequence[str], seeds: int | None, refusals: bool) -> pd.DataFrame:
    """One row a held-out scenario and policy: its mean slowdown, and the learner's minus it on the same jobs.

    Args:
        scorer: what was learnt.
        names: of held-out scenarios.
        seeds: how many of theirs; None: all.
        refusals: whether nodes that are asked may refuse, as the names say; False: opponents, too, decide by what the
            manager of the home knows alone.
    """
    rows = []
    for name in names:
        setup: str | Scenario = name
        if not refusals:
            plain = held_out(name)
            negotiation = plain.negotiation.model_copy(update={"refusals": False})
            setup = plain.model_copy(update={"negotiation": negotiation})
        count = seeds or len(HELD_OUT[name].seeds)
        found = evaluate(scorer, setup, OPPONENTS, count, name="learned")
        click.echo("\n".join([*found.lines(), ""]))
        differences = found.differences()
        for policy, estimate in found.estimates().items():
            row = {"scenario": name, "refusals": refusals, "policy": policy, "seeds": len(found.seeds)}
            # The held-out scenarios' headline.
            row["mean_slowdown"] = estimate.mean
            row["low"], row["high"] = estimate.ci95 or (np.nan, np.nan)
            if policy in differences:
                one = differences[policy]
                row["learned_minus_it"] = one.difference.mean
                row["difference_low"], row["difference_high"] = one.difference.ci95 or (np.nan, np.nan)
                row["significant"] = one.significant
            rows.append(row)
    return pd.DataFrame(rows)


@click.command()
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), default=Path("out/learning"))
@click.option("--generations", type=click.IntRange(min=1), default=40)
@click.option("--population", type=click.IntRange(min=4), default=32)
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Of the candidates.")
@click.option(
    "--seeds", type=click.IntRange(min=1), help="Of the held-out runs; default: all that their names stand for."
)
@click.option("--weights", type=click.Path(path_type=Path), help="Judge these weights; nothing is learnt.")
@click.option("--quick", is_flag=True, help="Two generations of four on two scenarios, judged on one from two seeds.")
def main(
    out: Path, generations: int, population: int, seed: int, seeds: int | None, weights: Path | None, quick: bool
) -> None:
    """Learn a linear score of nodes, save it, and judge it."""
    scenarios, judged = list(TRAINING), list(HELD_OUT)
    if quick:
        scenarios, judged, generations, population, seeds = ["io-bound", "memory-bound"], ["io-bound-v1"], 2, 4, 2
    out.mkdir(parents=True, exist_ok=True)
    if weights is None:
        found, course = learn(scenarios, generations, population, seed)
        words = f"{generations} generations of {population}, seed {seed}, on {', '.join(scenarios)}"
        scorer = Scorer.linear(found.round(4), words)
        scorer.save(out / "learned.json")
        click.echo(f"mean log slowdown of the best quarter: {course[0]:.3f} at first, {course[-1]:.3f} at last")
    else:
        scorer = read_scorer(weights)
    click.echo(f"learnt in {scorer.words}")
    for name, weight in zip(FEATURES, scorer.layers[0][0][0].tolist(), strict=True):
        click.echo(f"  {name:<12}{weight:+8.4f}")
    tables = []
    for refusals in (True, False):
        click.echo(f"\nNodes that are asked {'may refuse' if refusals else 'take every task'}")
        tables.append(judge(scorer, judged, seeds, refusals))
    pd.concat(tables).to_csv(out / "learning.csv", index=False, float_format="%.4f")
    click.echo(f"written to {out}")


if __name__ == "__main__":
    main()
