"""What policies of one's own are called: their name, or one made of their class's; never that of another policy."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path

from cluster_abm.errors import InputError, PolicyFault
from cluster_abm.policy.base import Policy
from cluster_abm.policy.finding.files import file_of
from cluster_abm.policy.finding.mistakes import mistakes_in

# A policy as a caller in Python names it: NAME or FILE.py:CLASS, a class, or an object with its parameters.
AnyPolicy = str | type[Policy] | Policy
# With a place in front of its name a policy must not look like FILE.py:CLASS.
_NAME = re.compile(r"[\w.+-]*\w")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def check_class(policy: type[Policy], where: str) -> None:
    """Raise PolicyFault for a name, source or summary that is no text, and for parameters of another kind."""
    for attribute in ("name", "source", "summary"):
        value = getattr(policy, attribute)
        if not isinstance(value, str):
            raise PolicyFault(f"{where}: {policy.__name__}.{attribute} = {value!r:.60}: a text is needed")
    required = policy.required_demands
    if not (isinstance(required, tuple) and all(isinstance(name, str) for name in required)):
        raise PolicyFault(f"{where}: {policy.__name__}.required_demands = {required!r:.60}: a tuple of texts is needed")
    if not (isinstance(policy.Parameters, type) and issubclass(policy.Parameters, Policy.Parameters)):
        raise PolicyFault(f"{where}: {policy.__name__}.Parameters has to inherit from Policy.Parameters")


def give_name(policy: type[Policy]) -> None:
    """Give a class without a name of its own that of its class, in small letters: LightestDisk is `lightest-disk`."""
    if "name" not in vars(policy) or policy.name == "":
        policy.name = _WORDS.sub("-", policy.__name__.strip("_")).replace("_", "-").lower()


def free_name(policy: type[Policy], known: Mapping[str, type[Policy]], only_its_own: bool = False) -> str:
    """The name under which a class of policies can be entered among the others.

    A class without a name of its own gets one (`give_name`). Where another policy has the name already, that of its
    file or module stands before it: `mine.jsq`.

    Args:
        policy: the class.
        known: the others, by name. An earlier form of the same class gives way.
        only_its_own: whether a name that another policy has already is an error.

    Raises:
        InputError: no name is free, or it has other characters than letters, digits, `-`, `_`, `+` and `.`.
        InputError: the class has a mistake that no run would tell of (mistakes.py).
        PolicyFault: a name, a source or parameters of another kind.
    """
    where = _place(policy)
    give_name(policy)
    check_class(policy, where)
    wrong = [f"{where}: {mistake}" for mistake in mistakes_in(policy)]
    if wrong:
        raise InputError(wrong)
    name = policy.name
    if not _NAME.fullmatch(name) or name.endswith(".py"):
        raise InputError(f"{where}: {policy.__name__}.name = {name!r:.60}: allowed are letters, digits, - _ + and .")
    for free in (name,) if only_its_own else (name, f"{Path(where).stem.rpartition('.')[2]}.{name}"):
        there = known.get(free)
        if there is None or there is policy or (_place(there), there.__qualname__) == (where, policy.__qualname__):
            return free
    other = _place(known[name])
    raise InputError(
        f"{where}: {policy.__name__}.name = {name!r}: is that of the policy in {other}: choose another one"
    )


def _place(policy: type[Policy]) -> str:
    """The file or module that a class comes from."""
    file = file_of(policy)
    if file is not None:
        return str(file.path)
    # A script is run as one module and sent to other processes as another.
    return str(getattr(sys.modules.get(policy.__module__), "__file__", None) or policy.__module__)
