"""The page. `cluster-abm view`, or `solara run viz/app.py`, which needs surroundings to be as offline (view.md)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

# Solara runs this file as a script: the package that it belongs to has to be found.
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

import solara
from solara.server.kernel_context import get_current_context

from cluster_abm import Scenario
from cluster_abm.scenario.hardware import hardware_named
from viz import controls, first, shelf
from viz.server.files import KINDS
from viz.visit import Visit
from viz.widget import PageWidget

STYLE = """
.solara-content-main, .v-application--wrap > div { padding: 0; }
@media (min-width: 760px) { html { overflow: hidden; } }
"""


@solara.component
def Page() -> None:
    """The whole page; each tab has its own settings, and all share the processes that compute runs."""
    solara.Style(STYLE)
    path = first.recording()
    if path is not None:
        solara.Title(f"cluster-abm · {shelf.titles_of(path)}")
        page = PageWidget.element(
            named=shelf.titles_of(path), recordings=shelf.payloads_of(path), stem=shelf.stem_of(path),
            files=[[name, KINDS[name].words] for name in shelf.OFFERED],
        )  # fmt: skip
    else:
        scenario, _ = first.scenario_and_settings()
        solara.Title(f"cluster-abm · {scenario.name}")
        page = PageWidget.element(
            named=_named(scenario), lists=controls.lists(),
            files=[[name, kind.words] for name, kind in KINDS.items()], scene=first.scene(),
        )  # fmt: skip
    solara.use_effect(lambda: _living(solara.get_widget(page), path), [])


def _living(page: PageWidget, path: str | None) -> Callable[[], None]:
    context = get_current_context()

    # Both are called by the visit's thread, which belongs to no tab of Solara's.
    def show(values: Any) -> None:
        with context, page.hold_sync():
            for name, value in values.items():
                setattr(page, name, value)

    def send(message: Any, data: bytes) -> None:
        with context:
            page.send(dict(message), [data])

    visit: Visit | shelf.Shelf
    if path is not None:
        visit = shelf.Shelf(path, show, send)
    else:
        visit = Visit(*first.scenario_and_settings(), first.runs(), context.id, show, send)
    page.on_msg(lambda _, content, __: visit.hear(content))
    return visit.close


def _named(scenario: Scenario) -> str:
    """The scenario's name, and the presets of hardware that it names."""
    hardware = hardware_named(scenario.cluster, scenario.interconnect)
    return f"{scenario.name} · {hardware}" if hardware else scenario.name
