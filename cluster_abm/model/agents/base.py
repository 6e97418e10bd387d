"""What all agents have in common: numbers that keep no model alive, and a turn in each slice."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import mesa

from cluster_abm.model.assembly import Parts


class _IdentityCounters(WeakKeyDictionary[object, Iterator[int]]):
    """Counters of agent numbers per model that do not keep the model alive."""

    def __missing__(self, model: object) -> Iterator[int]:
        counter = self[model] = itertools.count(1)
        return counter

    def __getitem__(self, model: object) -> Any:
        return super().__getitem__(model) if model in self else self.__missing__(model)


if hasattr(mesa.Agent, "_ids"):
    # Mesa 3.3 keeps every model alive in this table, which later versions have given up. All agents of a model
    # must count by the same one, a user's own too: so Mesa's is replaced, and what it holds is kept.
    mesa.Agent._ids = _IdentityCounters(mesa.Agent._ids)


class OutOfTurn(RuntimeError):
    """An agent's step was called outside the slice that the model steps through."""


class ClusterAgent(mesa.Agent):
    """Base of this package's agents.

    Attributes:
        turn: which part of a slice is this class's: `ClusterModel.turn` says which part it is now.
    """

    # A ClusterModel, which knows this class and is not imported here.
    model: Any
    turn = ""

    @property
    def parts(self) -> Parts:
        """The parts of the run."""
        parts: Parts = self.model.parts
        return parts

    def check_turn(self) -> None:
        """Make sure that the model is stepping through the part of a slice in which this agent acts.

        Raises:
            OutOfTurn: it is not.
        """
        if self.model.turn != self.turn:
            name = type(self).__name__
            raise OutOfTurn(
                f"{name}.step() is this agent's part of a slice, in an order that the model keeps: call model.step() "
                f"for one slice, model.run() for all of them; to have agents act otherwise, override {name}.step in a "
                "subclass (ClusterModel.node_class, load_manager_class, job_class), or act upon them between slices "
                "(node.fail(), node.drain(), manager.send(task, node), job.kill(), ...)"
            )


def has_own(agent_class: type[ClusterAgent], base: type[ClusterAgent], *methods: str) -> bool:
    """Whether a class has one of these methods of its own, other than the base has."""
    return any(getattr(agent_class, name) is not getattr(base, name) for name in methods)
