"""Decisions in compiled code: `Decision(...)` of a policy, its row, and the offer that another node is asked about."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import MISSING, fields
from typing import Any

from numba import types
from numba.extending import register_jitable

from cluster_abm.compiling.operations import array_at, as_float, as_node, as_text, place_of
from cluster_abm.compiling.tables import DECISION_ROW, OFFER, from_dtype, text_at
from cluster_abm.compiling.values import JIT_OPTIONS, attribute
from cluster_abm.policy.decision import FIELDS, TEXTS, Decision

# By its address, an array of one row.
decisions_at = array_at(types.Array(from_dtype(DECISION_ROW), 1, "C"))
# A decision as policies make it in compiled code: named as the fields of its row; texts are texts.
_tuple_of: Any = namedtuple
DecisionValue: Any = _tuple_of("DecisionValue", DECISION_ROW.names or ())
_AS = {"int": as_node, "str": as_text, "float": as_float}


def _written(text: str, **given: Any) -> Any:
    """The function of a text, which follows from what a decision is."""
    space = dict(given)
    exec(text, space)
    return register_jitable(**JIT_OPTIONS)(space["function"])


def _parameter(of: Any) -> str:
    return str(of.name) if of.default is MISSING else f"{of.name}={of.default!r}"


# Decision in compiled code: of the same parameters.
make_decision = _written(
    f"""def function({", ".join(map(_parameter, fields(Decision)))}):
    return DecisionValue({", ".join(f"as_{one.name}({one.name})" for one in fields(Decision))})""",
    DecisionValue=DecisionValue,
    nan=float("nan"),
    **{f"as_{one.name}": _AS.get(str(one.type), place_of) for one in fields(Decision)},
)
# Fill in a row.
_SAID = {name: f"decision.{name}.number" if name in TEXTS else f"decision.{name}" for name in DecisionValue._fields}
put_decision = _written(
    "def function(row, decision):" + "".join(f"\n    row.{name} = {said}" for name, said in _SAID.items())
)


# Fill in a row with a decision of which nothing is known.
_OF_KIND = {"int": "-1", "str": "0", "float": "nan"}
forget_decision = _written(
    "def function(row):"
    + "".join(
        f"\n    row.{'place' if one.name == 'task' else one.name} = {_OF_KIND.get(one.kind, '-1')}" for one in FIELDS
    ),
    nan=float("nan"),
)


def _text(name: str) -> Any:
    return _written(f"def function(offer): return text_at(offer.row.{name})", text_at=text_at)


@attribute(OFFER, "task")
def _task(offer: Any) -> Any:
    # Whether it is None can be asked. The task itself is the one that is offered.
    return offer.row.place if offer.row.place >= 0 else None


for _name in TEXTS:
    attribute(OFFER, _name)(_text(_name))
