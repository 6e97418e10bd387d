"""What has been learnt, as data: a score for each node, from its features, by a small network; kept as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cluster_abm.arrays import Flags, Floats, Integers
from cluster_abm.bounded_files import Limit, shown, whole
from cluster_abm.errors import InputError
from cluster_abm.jit import allocating_kernel, inlinable
from cluster_abm.policy.parts.features import DOWN, FEATURES, HOME, Numbers
from cluster_abm.scenario import nearest
from cluster_abm.whole_files import in_one_move

FORMAT = "cluster-abm scorer 1"
# Enough for any network that decides for each task; a file beyond it is not one of ours.
LARGEST = Limit(8, "nothing: a file of weights is small")
MOST_UNITS, MOST_LAYERS, MOST_WORDS = 1024, 8, 2000
# So that no score overflows.
LARGEST_WEIGHT = 1e9
KEYS = ("format", "features", "layers", "words")


@dataclass(frozen=True)
class Scorer:
    """Scores nodes; an arriving task goes to the one of the highest score.

    The score of a node is the output of the last layer for its features: `weights @ x + bias`, and between layers
    max(0, x). One layer is a linear score. Every node is scored by the same weights, so that a scorer learnt on 32
    nodes works on 10,000.

    Attributes:
        layers: of each layer the weights, shape (outputs, inputs), and the bias, shape (outputs,); the last one has one
            output.
        words: how it was learnt, for a reader.

    Raises:
        InputError: layers that do not fit together, or numbers beyond LARGEST_WEIGHT.
    """

    layers: tuple[tuple[Floats, Floats], ...]
    words: str = ""

    def __post_init__(self) -> None:
        if problem := _problem_of(self.layers):
            raise InputError(f"scorer: {problem}")

    @classmethod
    def linear(cls, weights: Sequence[float] | Floats, words: str = "") -> Scorer:
        """A linear score: one weight a feature, in the order of FEATURES."""
        return cls(((np.array(weights, float).reshape(1, -1), np.zeros(1)),), words)

    def scores(self, features: Numbers) -> Floats:
        """The score of each node, from features of shape (features, nodes); shape (nodes,)."""
        return scores_of(np.ascontiguousarray(features), *self.numbers)

    @property
    def numbers(self) -> tuple[Floats, Integers]:
        """What `scores_of` takes: weights and bias of all layers, one after another; and how many inputs the first
        layer has, and outputs each."""
        flat = [part.ravel() for layer in self.layers for part in layer]
        sizes = [self.layers[0][0].shape[1], *(len(bias) for _, bias in self.layers)]
        return np.concatenate(flat).astype(float), np.array(sizes, np.int64)

    @property
    def reads(self) -> Flags:
        """Which features have a weight other than 0, shape (features,)."""
        return np.asarray((self.layers[0][0] != 0.0).any(axis=0))

    def choose(self, features: Numbers, refused: Sequence[int] = ()) -> int:
        """The node of the highest score; on a tie home, else the next one after it. Features as `scores` has them.

        Nodes that are believed to be down, and those in `refused`, are left out; home never is.
        """
        scores = self.scores(features)
        home = int(features[HOME].argmax())
        closed = features[DOWN] > 0.0
        closed[list(refused)] = True
        closed[home] = False
        scores[closed] = -math.inf
        after = np.roll(scores, -home)
        return (home + int(after.argmax())) % len(scores)

    def save(self, path: str | Path) -> None:
        """Write it as JSON, which `read_scorer` and the policy `learned` read. Raises InputError."""
        layers = [{"weights": weights.tolist(), "bias": bias.tolist()} for weights, bias in self.layers]
        document = {"format": FORMAT, "words": self.words, "features": list(FEATURES), "layers": layers}
        with in_one_move(Path(path)) as partial:
            partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


@allocating_kernel
def scores_of(features: Any, numbers: Floats, sizes: Integers) -> Floats:
    """The score of each node, from its features (Scorer).

    Args:
        features: shape (features, nodes).
        numbers, sizes: as of Scorer.numbers.

    Returns:
        shape (nodes,).
    """
    values, first = sums_of(features, numbers, 0, sizes[1]), sizes[1] * (sizes[0] + 1)
    for layer in range(2, len(sizes)):
        values = sums_of(np.maximum(values, 0.0), numbers, first, sizes[layer])
        first += sizes[layer] * (sizes[layer - 1] + 1)
    return values[0]


@inlinable
def sums_of(values: Any, numbers: Floats, first: int, outputs: int) -> Floats:
    """The outputs of a layer, shape (outputs, nodes), of its inputs; its weights and bias begin at `first`.

    Each is summed up in the order of the inputs: how a library multiplies matrices depends on the machine, and of two
    near scores the other might be higher.
    """
    inputs, nodes = values.shape
    found = np.empty((outputs, nodes))
    for output in range(outputs):
        added = found[output]
        added[:] = numbers[first + outputs * inputs + output]
        for place in range(inputs):
            weight, value = numbers[first + output * inputs + place], values[place]
            for node in range(nodes):
                added[node] += weight * float(value[node])
    return found


def read_scorer(path: str | Path) -> Scorer:
    """Read a scorer from a file. Raises InputError: it cannot be read, or is not what `Scorer.save` writes."""
    try:
        document = json.loads(whole(path, LARGEST).decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as problem:
        raise InputError(f"{shown(path)}: no JSON: {str(problem)[:200]}") from None
    try:
        return scorer_from(document)
    except InputError as problem:
        raise InputError([f"{shown(path)}: {line}" for line in problem.problems]) from None


def scorer_from(document: Any) -> Scorer:
    """A scorer from what its JSON holds. Raises InputError."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        found = document.get("format") if isinstance(document, dict) else type(document).__name__
        raise InputError(f"format = {str(found)[:60]!r}: {FORMAT!r} is needed, as Scorer.save writes it")
    unknown = [key for key in document if key not in KEYS]
    if unknown:
        raise InputError([f"unknown key {key[:60]!r}; {nearest(key[:60], list(KEYS))}" for key in unknown])
    if document.get("features") != list(FEATURES):
        raise InputError(
            f"features = {str(document.get('features'))[:200]}: this version measures {', '.join(FEATURES)}, in this "
            "order; learn anew"
        )
    words = document.get("words", "")
    if not isinstance(words, str) or len(words) > MOST_WORDS:
        raise InputError(f"words: a text of at most {MOST_WORDS} characters is needed")
    layers = document.get("layers")
    if not isinstance(layers, list):
        raise InputError("layers: a list is needed")
    made = tuple((_numbers(layer, "weights", 2), _numbers(layer, "bias", 1)) for layer in layers)
    if problem := _problem_of(made):
        raise InputError(problem)
    return Scorer(made, words)


def _numbers(layer: Any, name: str, axes: int) -> Floats:
    """An array of a layer; as `float`, numbers that a text or a truth value would stand for are refused."""
    given = layer.get(name) if isinstance(layer, dict) and set(layer) == {"weights", "bias"} else None
    rows = given if axes == 2 else [given]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise InputError(f'layers: each is {{"weights": [[...], ...], "bias": [...]}}; {name} is not so')
    flat = [number for row in rows for number in row]
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in flat):
        raise InputError(f"layers: {name}: only numbers are allowed")
    if len({len(row) for row in rows}) != 1:
        raise InputError(f"layers: {name}: rows of one length are needed")
    try:
        return np.array(given, float)
    except OverflowError:
        raise InputError(f"layers: {name}: a number that is too large") from None


def _problem_of(layers: Sequence[tuple[Floats, Floats]]) -> str:
    """Why layers are none of a scorer; "": they are."""
    if not 1 <= len(layers) <= MOST_LAYERS:
        return f"layers: there are {len(layers)}; allowed are 1 to {MOST_LAYERS}"
    inputs = len(FEATURES)
    for number, (weights, bias) in enumerate(layers):
        outputs = 1 if number == len(layers) - 1 else len(bias)
        if weights.shape != (outputs, inputs) or bias.shape != (outputs,):
            return (
                f"layers[{number}]: weights of shape {weights.shape}, bias of shape {bias.shape}: needed are "
                f"({outputs}, {inputs}) and ({outputs},)"
            )
        if outputs > MOST_UNITS:
            return f"layers[{number}]: {outputs} outputs; allowed are {MOST_UNITS}"
        # NaN is in no range.
        if not all((np.abs(numbers) <= LARGEST_WEIGHT).all() for numbers in (weights, bias)):
            return f"layers[{number}]: allowed are numbers of -{LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}"
        inputs = outputs
    return ""
