"""The player's modules as one script, for an HTML file or a widget: no build step, no tool of JavaScript's."""

from __future__ import annotations

import importlib.resources
import re
from functools import cache
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "(?:\./|\.\./player/)([a-z_]+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let) ?\*? ?([A-Za-z_$][\w$]*))", re.MULTILINE)
_JSDOC = re.compile(r"^[ \t]*/\*\*(?:[^*]|\*(?!/))*\*/[ \t]*\n", re.MULTILINE)


def player_folder() -> Path:
    """Where the modules lie: beside the package in a checkout, inside it in a wheel."""
    package = Path(str(importlib.resources.files("cluster_abm")))
    inside = package / "shipped" / "viz"
    return (inside if inside.is_dir() else package.parent / "viz") / "player"


@cache
def page_script() -> str:
    """The script of an HTML file: it shows what lies in the page (`page.js`)."""
    return _joined("page")


@cache
def widget_script() -> str:
    """The module of an anywidget (`widget.js`)."""
    return f"{_joined('widget')}export default {{ render: m_widget.render }};\n"


@cache
def desk_script() -> str:
    """The module of the page of `cluster-abm view`, an anywidget too (`viz/page/desk.js`): settings and player."""
    return f"{_joined('desk')}export default {{ render: m_desk.render }};\n"


@cache
def part_script() -> str:
    """The module of a component of Mesa's page (`viz/page/part.js`)."""
    return f"{_joined('part')}export default {{ render: m_part.render }};\n"


def _joined(entry: str) -> str:
    """A module and all that it imports; each is a function that returns what it exports, in the order of imports."""
    return '"use strict";\n' + "".join(_wrapped(name, text) for name, text in _in_order(entry))


def _file(name: str) -> Path:
    own = player_folder() / f"{name}.js"
    return own if own.exists() else player_folder().parent / "page" / f"{name}.js"


def _in_order(entry: str) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    under_way: list[str] = []

    def take(name: str) -> None:
        if name in found:
            return
        if name in under_way:
            raise ValueError(f"viz/player: modules import each other: {' -> '.join([*under_way, name])}")
        under_way.append(name)
        text = _file(name).read_text(encoding="utf-8")
        for imported in _IMPORT.finditer(text):
            take(imported[2])
        under_way.pop()
        found[name] = text

    take(entry)
    return list(found.items())


def _wrapped(name: str, text: str) -> str:
    exported = _EXPORT.findall(text)
    body = _JSDOC.sub("", _EXPORT.sub("", _IMPORT.sub(_constants, text)))
    if re.search(r"^(import|export)\b", body, re.MULTILINE):
        raise ValueError(f"viz/player/{name}.js: an import or export that the player's script does not know")
    return f"const m_{name} = (() => {{\n{body}return {{ {', '.join(exported)} }};\n}})();\n"


def _constants(found: re.Match[str]) -> str:
    return f"const {{{found[1].replace(' as ', ': ')}}} = m_{found[2]};\n"
