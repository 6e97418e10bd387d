"""The papers' equations, module by module, and the public names, as directives of autodoc."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType
from typing import Any

from pydantic import BaseModel

import cluster_abm
from cluster_abm import ClusterModel, formulas

from .markdown import code, escaped, table


def modules() -> list[str]:
    """The modules of cluster_abm.formulas that hold public functions, sorted."""
    return sorted(one.name for one in pkgutil.iter_modules(formulas.__path__) if not one.name.startswith("_"))


def functions(module: str) -> dict[str, Any]:
    """The public functions of one of them, by name, as they stand there."""
    found = importlib.import_module(f"cluster_abm.formulas.{module}")
    return {
        name: value for name, value in vars(found).items()
        if inspect.isfunction(value) and value.__module__ == found.__name__ and not name.startswith("_")
    }  # fmt: skip


def overview() -> str:
    """All equations in a line each, as Markdown."""
    rows = []
    for module in modules():
        for name, function in functions(module).items():
            first = inspect.cleandoc(function.__doc__ or "").split("\n\n")[0]
            rows.append([f"{{py:func}}`{name} <cluster_abm.formulas.{module}.{name}>`", escaped(first), code(module)])
    return table(["function", "what it gives", "module"], rows)


def of_module(*_: str) -> str:
    """The equations of all modules, with their arguments, units and sources."""
    return "\n".join(
        f"## {module}\n\n" + directive(f".. automodule:: cluster_abm.formulas.{module}", "members:")
        for module in modules()
    )


def directive(line: str, *options: str) -> str:
    """A directive of reStructuredText inside Markdown."""
    return "\n".join(["```{eval-rst}", line, *(f"   :{option}" for option in options), "```", ""])


def surface() -> str:
    """Every public name of `import cluster_abm`, as it is exported there."""
    lines = []
    for name in sorted(cluster_abm.__all__, key=lambda one: (one.lower(), one)):
        value = getattr(cluster_abm, name)
        if name.startswith("__") or isinstance(value, ModuleType):
            continue
        path = f"cluster_abm.{name}"
        if not inspect.isclass(value):
            lines.append(directive(f".. autofunction:: {path}" if callable(value) else f".. autodata:: {path}"))
        elif value.__module__.startswith("cluster_abm.policy."):
            # All of them with their members on the page on writing a policy.
            lines.append(directive(f".. autoclass:: {path}", "no-index:", "no-members:"))
        elif issubclass(value, BaseModel | BaseException):
            lines.append(directive(f".. autoclass:: {path}"))
        elif issubclass(value, ClusterModel):
            lines.append(directive(f".. autoclass:: {path}", "members:", "inherited-members: Model, object"))
        else:
            lines.append(directive(f".. autoclass:: {path}", "members:"))
    return "\n".join(lines)
