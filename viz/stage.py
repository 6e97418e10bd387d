"""The part of the page that changes with each frame: HTML in, and back what was clicked, painted and measured."""

from __future__ import annotations

from collections.abc import Callable

import solara


@solara.component_vue("stage.vue")
def Stage(
    panels: list[list[str]],
    number: int,
    two: bool,
    event_painted: Callable[[object], None],
    event_pick: Callable[[object], None],
    event_resized: Callable[[object], None],
) -> None:
    """Shows panels, [name, HTML] each; reports which number the browser has painted, which job was clicked, and the
    room in each panel [pixels] whenever it changes."""
