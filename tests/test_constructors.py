"""How objects of the package are made: by name, as soon as a constructor takes many things."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import cluster_abm

MOST = 7
PACKAGE = Path(cluster_abm.__file__).parent


def classes() -> Iterator[type]:
    """All classes of the package."""
    for found in pkgutil.walk_packages([str(PACKAGE)], "cluster_abm."):
        if not found.name.endswith("__main__"):
            module = importlib.import_module(found.name)
            yield from (one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == found.name)


def is_written(one: type) -> bool:
    """Whether the constructor of a class is written by hand, in this package."""
    base = next(base for base in one.__mro__ if "__init__" in vars(base))
    return base.__module__.startswith("cluster_abm.") and not dataclasses.is_dataclass(base)


@pytest.mark.slow
def test_no_constructor_takes_more_than_seven_arguments_by_position():
    """Rows of data apart (NamedTuples and dataclasses), whose calls the next test looks at."""
    found = {}
    for one in filter(is_written, classes()):
        kinds = [each.kind for each in list(inspect.signature(one.__init__).parameters.values())[1:]]
        found[one.__qualname__] = sum(kind.name.startswith("POSITIONAL") for kind in kinds)
    assert len(found) > 100
    assert {name: count for name, count in found.items() if count > MOST} == {}


@pytest.mark.slow
def test_no_object_is_made_with_more_than_seven_arguments_by_position():
    """Rows of tables of constants apart (NamedTuples)."""
    names = {one.__name__ for one in classes() if not issubclass(one, tuple)}
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and len(call.args) > MOST:
                name = getattr(call.func, "id", getattr(call.func, "attr", ""))
                found += [f"{path.relative_to(PACKAGE)}:{call.lineno}: {name}"] if name in names else []
    assert found == []


def test_parts_of_a_run_are_wired_by_name_and_are_handed_what_they_use():
    """No part takes all parts, or the model."""
    of_model = [one for one in classes() if one.__module__.startswith("cluster_abm.model.")]
    wired = [one for one in of_model if "__post_init__" in vars(one)]
    assert len(wired) > 25
    for one in wired:
        fields = dataclasses.fields(one)
        assert all(field.kw_only for field in fields if field.init), one
        assert not any(name in str(field.type) for field in fields for name in ("Parts", "ClusterModel")), one
