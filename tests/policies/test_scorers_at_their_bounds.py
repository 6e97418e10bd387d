"""The largest scorers that are allowed, and larger ones; and the node of the highest score, worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cluster_abm.errors import InputError
from cluster_abm.policy.parts.features import FEATURES
from cluster_abm.policy.parts.scorer import (
    FORMAT,
    LARGEST_WEIGHT,
    MOST_LAYERS,
    MOST_UNITS,
    MOST_WORDS,
    Scorer,
    scorer_from,
)

NAMES = list(FEATURES)
INPUTS = len(NAMES)


def layers(*units: int):
    """Layers of zeros with these numbers of outputs, and behind them a layer with one output."""
    inputs, found = INPUTS, []
    for outputs in (*units, 1):
        found.append((np.zeros((outputs, inputs)), np.zeros(outputs)))
        inputs = outputs
    return tuple(found)


@pytest.mark.parametrize(("made", "said"), [
    (layers(), ""), (layers(*[2] * (MOST_LAYERS - 1)), ""), (layers(*[2] * MOST_LAYERS), "there are 9; allowed"),
    (layers(MOST_UNITS), ""), (layers(MOST_UNITS + 1), "layers[0]: 1025 outputs; allowed are 1024"),
    ((), "there are 0; allowed are 1 to 8"),
    # The last layer has one output, whatever its bias is.
    (((np.zeros((2, INPUTS)), np.zeros(2)),), f"needed are (1, {INPUTS}) and (1,)"),
    (((np.zeros((1, INPUTS)), np.zeros(2)),), f"needed are (1, {INPUTS}) and (1,)"),
    (((np.zeros((2, INPUTS)), np.zeros(2)), (np.zeros((1, 3)), np.zeros(1))), "layers[1]: "),
    (((np.full((1, INPUTS), LARGEST_WEIGHT), np.array([-LARGEST_WEIGHT])),), ""),
    (((np.full((1, INPUTS), -1.01 * LARGEST_WEIGHT), np.zeros(1)),), "allowed are numbers of -1e+09 to 1e+09"),
    (((np.zeros((1, INPUTS)), np.array([1.01 * LARGEST_WEIGHT])),), "allowed are numbers of -1e+09 to 1e+09"),
])  # fmt: skip
def test_layers_have_to_fit_together_and_to_stay_within_the_limits(made, said):
    if not said:
        assert Scorer(made).layers == made
        return
    with pytest.raises(InputError) as caught:
        Scorer(made)
    assert said in str(caught.value)
    assert str(caught.value).startswith("scorer: layers")


@pytest.mark.parametrize(("words", "fits"), [("", True), ("x" * MOST_WORDS, True), ("x" * (MOST_WORDS + 1), False)])
def test_the_words_of_a_scorer_have_a_limited_length(words, fits):
    document = {
        "format": FORMAT, "words": words, "features": NAMES,
        "layers": [{"weights": [[1] + [0.5] * (INPUTS - 1)], "bias": [-2]}],
    }  # fmt: skip
    if fits:
        found = scorer_from(document)
        assert found.words == words
        assert found.layers[0][0].tolist() == [[1.0] + [0.5] * (INPUTS - 1)]
        assert found.layers[0][1].tolist() == [-2.0]
        return
    with pytest.raises(InputError, match="words: a text of at most 2000 characters"):
        scorer_from(document)


def features(home: int, scores: list[float], down: tuple[int, ...] = ()):
    """Features of nodes whose `tasks` are these numbers."""
    found = np.zeros((INPUTS, len(scores)), np.float32)
    found[NAMES.index("home"), home] = 1.0
    found[NAMES.index("down"), list(down)] = 1.0
    found[NAMES.index("tasks")] = scores
    return found


BY_TASKS = Scorer.linear([1.0 if name == "tasks" else 0.0 for name in NAMES])


@pytest.mark.parametrize(("home", "scores", "down", "refused", "node"), [
    (0, [0.1, 0.5, 0.3], (), (), 1), (0, [0.1, 0.5, 0.3], (1,), (), 2), (0, [0.1, 0.5, 0.3], (), (1,), 2),
    (0, [0.1, 0.5, 0.3], (2,), (1,), 0),
    # On a tie home; else the next one after it, cyclically.
    (1, [0.5, 0.5, 0.5], (), (), 1), (1, [0.5, 0.1, 0.5], (), (), 2), (2, [0.5, 0.5, 0.1], (), (), 0),
    # Home is never left out.
    (1, [0.1, 0.5, 0.3], (1,), (1,), 1), (1, [0.3, 0.2, 0.1], (0, 2), (0,), 1),
])  # fmt: skip
def test_the_node_of_the_highest_score(home, scores, down, refused, node):
    assert BY_TASKS.choose(features(home, scores, down), refused) == node
