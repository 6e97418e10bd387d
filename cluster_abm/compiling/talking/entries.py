"""A policy that talks as compiled functions, one for each kind of event, which the compiled conversation calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from cluster_abm.compiling.entries import METHODS, CompiledPolicy, PolicyToken, keep_texts, kept_entry, policy_of
from cluster_abm.compiling.operations import floats_at
from cluster_abm.compiling.policy_types import arrays_of, definition_of, kinds_of, kinds_of_arrays, numbers_of
from cluster_abm.compiling.tables import task_of
from cluster_abm.compiling.talking.messages import count_told, first_told, put_told_in_arena, task_at, task_told
from cluster_abm.compiling.talking.notes import NotesLayout, layout_of
from cluster_abm.compiling.talking.posts import post_type
from cluster_abm.compiling.talking.tables import KINDS, ends_in, message_of, talk_of, tasks_in
from cluster_abm.compiling.translating import NotCompilable
from cluster_abm.compiling.values import JIT_OPTIONS
from cluster_abm.jit import inlined
from cluster_abm.policy.talking import Talking


class CompiledTalk(NamedTuple):
    """Addresses of the compiled methods of a policy that talks."""

    # By the kinds of events: method(talk, manager, numbers, 0) gives 1; 0: at a fault. 0 of what the policy leaves out.
    methods: npt.NDArray[np.int64]
    layout: NotesLayout  # of its notes
    numbers: npt.NDArray[np.float64]  # its parameters, and where its arrays lie
    arrays: tuple[Any, ...] = ()  # its arrays, kept as long as the numbers say where they lie


def post_of(token: Any, at: Any, me: Any) -> Any:
    """The post of a manager of a token's policy; in compiled code only."""


@overload(post_of, jit_options=JIT_OPTIONS, strict=False)
def _post_of(token: Any, at: Any, me: Any) -> Any:
    of = token.token
    make = post_type(layout_of(of.policy.Notes), "capacities" not in of.absent)[1]
    return lambda token, at, me: make(at, me)


@inlined
def about_told(at: int) -> int:
    """The node that has failed."""
    return int(talk_of(at).told[0].about)


def _begins(token: PolicyToken) -> Callable[..., int]:
    def begins(at: int, me: int, numbers: int, nothing: int) -> int:
        policy_of(token, floats_at(numbers, 1)).begins(post_of(token, at, me))
        return 1

    return begins


def _arrives(token: PolicyToken) -> Callable[..., int]:
    def arrives(at: int, me: int, numbers: int, nothing: int) -> int:
        tasks = tasks_in(at, put_told_in_arena(at), count_told(at))
        policy_of(token, floats_at(numbers, 1)).arrives(tasks, post_of(token, at, me))
        return 1

    return arrives


def _hears(token: PolicyToken) -> Callable[..., int]:
    def hears(at: int, me: int, numbers: int, nothing: int) -> int:
        policy_of(token, floats_at(numbers, 1)).hears(message_of(at), post_of(token, at, me))
        return 1

    return hears


def _came(token: PolicyToken) -> Callable[..., int]:
    def came(at: int, me: int, numbers: int, nothing: int) -> int:
        policy_of(token, floats_at(numbers, 1)).came(task_of(task_at(at, task_told(at))), post_of(token, at, me))
        return 1

    return came


def _ended(token: PolicyToken) -> Callable[..., int]:
    def ended(at: int, me: int, numbers: int, nothing: int) -> int:
        ends = ends_in(at, first_told(at), count_told(at))
        policy_of(token, floats_at(numbers, 1)).ended(ends, post_of(token, at, me))
        return 1

    return ended


def _unanswered(token: PolicyToken) -> Callable[..., int]:
    def unanswered(at: int, me: int, numbers: int, nothing: int) -> int:
        policy_of(token, floats_at(numbers, 1)).unanswered(message_of(at), post_of(token, at, me))
        return 1

    return unanswered


def _node_failed(token: PolicyToken) -> Callable[..., int]:
    def node_failed(at: int, me: int, numbers: int, nothing: int) -> int:
        policy_of(token, floats_at(numbers, 1)).node_failed(about_told(at), post_of(token, at, me))
        return 1

    return node_failed


MAKERS = dict(zip(KINDS, (_begins, _arrives, _hears, _came, _ended, _unanswered, _node_failed), strict=True))
# What this process has compiled, or why it cannot be.
_COMPILED: dict[Hashable, tuple[npt.NDArray[np.int64], NotesLayout] | str] = {}


def compiled_talk(policy: Talking, has_capacities: bool = False) -> CompiledTalk:
    """Compile a policy that talks, or take it from what is kept.

    Args:
        policy: the policy.
        has_capacities: whether loads of unlike nodes are compared by what these have.

    Raises NotCompilable: it has no compiled form.
    """
    of = type(policy)
    if policy.migrates:
        raise NotCompilable("load managers talk about running tasks")
    absent = frozenset(["data"] if has_capacities else ["data", "capacities"])
    key = of, absent, kinds_of(policy), kinds_of_arrays(policy), definition_of(of)
    if key not in _COMPILED:
        try:
            layout, token = layout_of(policy.Notes), PolicyToken(policy, absent)
            keep_texts(of)
            _COMPILED[key] = (np.array([_address(policy, kind, token) for kind in KINDS]), layout)
        except NotCompilable as problem:
            _COMPILED[key] = str(problem)
    found = _COMPILED[key]
    if isinstance(found, str):
        raise NotCompilable(found)
    return CompiledTalk(*found, numbers_of(policy), tuple(arrays_of(policy).values()))


def of_talk(talk: CompiledTalk) -> CompiledPolicy:
    """The compiled policy of which only the parameters are used: its managers do not negotiate."""
    return CompiledPolicy(
        **dict.fromkeys(METHODS, 0), relieve=0, reads_loads=True, numbers=talk.numbers, notes=0, arrays=talk.arrays
    )


def _address(policy: Talking, kind: str, token: PolicyToken) -> int:
    if getattr(type(policy), kind) is getattr(Talking, kind) and kind != "arrives":
        return 0
    return int(kept_entry(MAKERS[kind], token).address)
