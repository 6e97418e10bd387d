"""Every key of a scenario by section: default, unit, bounds or choices, meaning, and when it has an effect."""

from __future__ import annotations

import json
import math
import re
import types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, PlainValidator
from pydantic.fields import FieldInfo

from cluster_abm.errors import InputError
from cluster_abm.scenario import Scenario
from cluster_abm.scenario.distributions import Distribution, RequestSize
from cluster_abm.scenario.interconnect import Interconnect
from cluster_abm.scenario.load import scenario_from
from cluster_abm.scenario.unused import keys_without_effect, reason_without_effect

from .markdown import anchor, code, docstring, escaped, sentence, target

# Bounds that only keep numbers inside what a machine can hold are not worth a word.
ENORMOUS = 1e9
REQUIRED = "required"
# What turns on that of which a section speaks.
TURNED_ON: Mapping[str, Mapping[str, Any]] = {
    "workload.trace": {"workload": {"kind": "trace"}},
    "workload.arrivals": {},
    "workload": {"workload": {"utilisation": 0.5}},
    "failures": {"failures": {"node": {"kind": "exponential"}}},
}
NOT_ALIKE = re.compile(r'(?P<key>[\w.]+) is "(?P<found>[^"]*)", not "(?P<needed>[^"]*)"')


class Key(NamedTuple):
    """A key of a scenario.

    Attributes:
        section: the table that it stands in: "cluster", or "[[cluster.group]]" of a list of tables.
        name: dotted, as `--set` takes it; of a list of tables without the place in it.
        default: as TOML has it; "" if it is not set, REQUIRED if every such table has to say it.
        allowed: bounds or choices in words; "" if there are none.
        meaning: as the schema describes it.
        is_distribution: whether it is a table of a distribution's parameters.
    """

    section: str
    name: str
    default: str
    allowed: str
    meaning: str
    is_distribution: bool


class Part(NamedTuple):
    """A section: its heading as a scenario file has it, what its class says, and its keys."""

    heading: str
    words: str
    keys: list[Key]


def parts() -> list[Part]:
    """All sections in the order of the schema, that of what stands outside of any section first."""
    return list(_parts_below(Scenario(), "", "(top of the file)"))


def _parts_below(section: BaseModel, path: str, heading: str) -> Iterator[Part]:
    own: list[Key] = []
    inner: list[Part] = []
    for name, field in type(section).model_fields.items():
        value = getattr(section, name)
        of_list = _listed_section(field.annotation)
        if isinstance(value, BaseModel) and not isinstance(value, Distribution):
            inner += _parts_below(value, f"{path}{name}.", f"[{path}{name}]")
        elif of_list is not None:
            inner += _parts_of_class(of_list, f"{path}{name}", field.description or "")
        else:
            own.append(_key(heading, path + name, field, value))
    yield Part(heading, docstring(type(section)), own)
    yield from inner


def _parts_of_class(of: type[BaseModel], path: str, words: str) -> Iterator[Part]:
    keys = [
        _key(f"[[{path}]]", f"{path}.{name}", field, field.get_default(call_default_factory=True))
        for name, field in of.model_fields.items()
    ]
    words = re.sub(r"^\[\[[\w.]+\]\]: ", "", words)
    yield Part(f"[[{path}]]", f"{docstring(of)}\n\n{escaped(sentence(words))}".strip(), keys)


def _key(section: str, name: str, field: FieldInfo, value: Any) -> Key:
    is_distribution = _holds_distribution(field.annotation)
    allowed = "" if is_distribution else allowed_of(field)
    default = REQUIRED if field.is_required() else as_toml(value)
    return Key(section, name, default, allowed, field.description or "", is_distribution)


def _listed_section(annotation: Any) -> type[BaseModel] | None:
    found = get_args(annotation)[:1] if get_origin(annotation) is tuple else ()
    return next((one for one in found if isinstance(one, type) and issubclass(one, BaseModel)), None)


def _holds_distribution(annotation: Any) -> bool:
    options = (annotation, *get_args(annotation))
    return any(isinstance(one, type) and issubclass(one, Distribution) for one in options)


def as_toml(value: Any) -> str:
    """A default as a scenario file has it; "" of what is not set."""
    if value is None:
        return ""
    if isinstance(value, Distribution):
        used = ("kind", *value.USES[value.kind], *(("per",) if isinstance(value, RequestSize) else ()))
        return "{ " + ", ".join(f"{name} = {as_toml(getattr(value, name))}" for name in used) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, float):
        return "inf" if math.isinf(value) else f"{value:.12g}"
    return json.dumps(value)


def allowed_of(field: FieldInfo) -> str:
    """Bounds or choices of a field in words; "" if there are none."""
    return _allowed(field.annotation, list(field.metadata))


def _allowed(annotation: Any, metadata: list[Any]) -> str:
    origin = get_origin(annotation)
    if any(isinstance(one, PlainValidator) for one in metadata):
        # Its own words say what is allowed.
        return ""
    if origin is Annotated:
        first, *further = get_args(annotation)
        return _allowed(first, [*further, *metadata])
    if origin in (Union, types.UnionType):
        words = [_allowed(one, metadata) for one in get_args(annotation) if one is not type(None)]
        return " or ".join(dict.fromkeys(word for word in words if word))
    if origin is Literal:
        return ", ".join(code(json.dumps(value)) for value in get_args(annotation))
    if origin is tuple:
        each = _allowed(get_args(annotation)[0], [])
        return f"a list, each {each}" if each else "a list"
    if origin is dict:
        each = _allowed(get_args(annotation)[1], [])
        return f"a table, each value {each}" if each else "a table"
    if annotation is bool:
        return "`true`, `false`"
    if annotation in (int, float):
        return _bounds(annotation, metadata)
    return ""


def _bounds(kind: type, metadata: list[Any]) -> str:
    least, above, most, below, multiple = (
        [value for one in _flat(metadata) if (value := getattr(one, name, None)) is not None]
        for name in ("ge", "gt", "le", "lt", "multiple_of")
    )
    low, high = max(least, default=-math.inf), min(most, default=math.inf)
    words = []
    if multiple:
        words.append(f"a multiple of {multiple[0]}")
    elif kind is int:
        words.append("a whole number")
    # Of a bound above 0 that keeps numbers apart from 0 by next to nothing, 0 is the one that counts.
    if above and max(above) >= low:
        words.append(f"above {max(above):g}")
    elif low > -ENORMOUS:
        words.append(f"from {low:g}")
    if below and min(below) <= high:
        words.append(f"below {min(below):g}" if min(below) < ENORMOUS else "")
    elif high < ENORMOUS:
        words.append(f"to {_whole(high)}" if low > -ENORMOUS and not above else f"up to {_whole(high)}")
    return " ".join(word for word in words if word)


def _whole(number: float) -> str:
    return f"{number:,.0f}" if number >= 1e4 else f"{number:g}"


def _flat(metadata: list[Any]) -> Iterator[Any]:
    for one in metadata:
        yield from _flat(list(one.metadata)) if isinstance(one, FieldInfo) else [one]


# ---- when a key has an effect ----------------------------------------------------------------------------------------


@cache
def _variants() -> list[Scenario]:
    """The scenario of all defaults, and those that differ from it in one choice, or in what the choice is about."""
    found = [Scenario()]
    for key in (key for part in parts() for key in part.keys if not part.heading.startswith("[[")):
        choices = re.findall(r'"([\w-]+)"', key.allowed)
        for choice in choices:
            above = next((tree for section, tree in TURNED_ON.items() if key.name.startswith(section)), {})
            try:
                found.append(scenario_from(_joined(above, _tree(key.name, choice))))
            except InputError:
                # That choice asks for more keys.
                continue
    return found


def _tree(dotted: str, value: Any) -> dict[str, Any]:
    first, _, rest = dotted.partition(".")
    return {first: _tree(rest, value) if rest else value}


def _joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    joined = dict(first)
    for name, value in second.items():
        known = joined.get(name)
        joined[name] = _joined(known, value) if isinstance(known, Mapping) and isinstance(value, Mapping) else value
    return joined


@cache
def _reasons() -> list[dict[str, str]]:
    return [dict(keys_without_effect(variant)) for variant in _variants()]


def effect(name: str) -> str:
    """When a key has an effect, in words; "" if it always has, as far as other choices are concerned."""
    found = [reason_without_effect(name, unused) for unused in _reasons()]
    needed: dict[str, dict[str, None]] = {}
    others = []
    for reason in dict.fromkeys(reason for reason in found if reason):
        match = NOT_ALIKE.fullmatch(reason)
        if match:
            needed.setdefault(match["key"], {})[match["needed"]] = None
        else:
            others.append(reason)
    kinds = [kind for kind, names in Interconnect.USES.items() if name.removeprefix("interconnect.") in names]
    if name.startswith("interconnect.") and kinds:
        needed["interconnect.kind"] = dict.fromkeys(kinds)
    words = [
        f"*Only if* {code(key)} is {_either([code(json.dumps(one)) for one in values])}."
        for key, values in needed.items()
    ]
    words += [f"*Without effect* while {with_keys(reason)}." for reason in _gathered(others)]
    return " ".join(words)


def _gathered(reasons: list[str]) -> list[str]:
    """Reasons that differ in one quoted choice only, as one."""
    choices: dict[str, list[str]] = {}
    for reason in reasons:
        first = re.search(r'"[^"]*"', reason)
        skeleton = reason.replace(first[0], "\0", 1) if first else reason
        choices.setdefault(skeleton, []).extend([first[0]] if first else [])
    return [skeleton.replace("\0", _either(list(dict.fromkeys(found)))) for skeleton, found in choices.items()]


def _either(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def with_keys(text: str) -> str:
    """Plain words as Markdown, dotted keys and quoted choices in code type."""
    parts_ = re.split(r'(\b[a-z_]+(?:\.[a-z_]+)+\b|"[^"]*")', text)
    return "".join(code(part) if place % 2 else escaped(part) for place, part in enumerate(parts_))


# ---- the page --------------------------------------------------------------------------------------------------------


def all_keys() -> str:
    """All sections with their keys, as Markdown."""
    return "\n".join(_section(part) for part in parts())


def _section(part: Part) -> str:
    name = part.heading.strip("[]") if part.heading.startswith("[") else "top"
    title = code(part.heading) if part.heading.startswith("[") else "Outside of any section"
    lines = [f"(section-{name.replace('.', '-').replace('_', '-')})=", f"## {title}", "", part.words, ""]
    return "\n".join([*lines, *(_entry(key) for key in part.keys)])


def _entry(key: Key) -> str:
    default = f" = {code(key.default)}" if key.default else " (not set)"
    if key.default == REQUIRED:
        default = " (required)"
    words = [sentence(with_keys(key.meaning)) if key.meaning else _as_elsewhere(key.name)]
    if key.is_distribution:
        words.append("A [distribution](#distributions).")
    if key.allowed:
        words.append(f"*Allowed:* {key.allowed}.")
    words.append(effect(key.name))
    return f"{target('key', key.name)}{default}\n: {' '.join(' '.join(words).split())}\n"


def _as_elsewhere(name: str) -> str:
    """What a key of a group of nodes means: what that of all nodes does."""
    of_all = name.replace("cluster.group.", "cluster.")
    return f"As [{code(of_all)}](#{anchor('key', of_all)}), of these nodes."


def distributions() -> str:
    """The kinds of distributions, and their parameters, as Markdown."""
    entries = []
    for name, field in Distribution.model_fields.items():
        users = [kind for kind, uses in Distribution.USES.items() if name in uses]
        if users:
            words = f"{sentence(escaped(field.description or ''))} *Of* {', '.join(map(code, users))}."
            entries.append(
                f"{code(name)} = {code(as_toml(field.get_default()))}\n: {words} *Allowed:* {allowed_of(field)}.\n"
            )
    size = [
        f"{code(name)} = {code(as_toml(field.get_default()))}\n"
        f": {sentence(escaped(field.description or ''))} *Allowed:* {allowed_of(field)}."
        for name, field in RequestSize.model_fields.items() if name not in Distribution.model_fields
    ]  # fmt: skip
    return "\n\n".join(
        [
            docstring(Distribution),
            "\n".join(entries),
            "**Sizes of accesses** (`workload.request_kb`) have one more parameter:",
            *size,
        ]
    )
