"""The part of the page that changes with each frame: HTML in, and back what was clicked and when it is painted."""

from __future__ import annotations

from collections.abc import Callable

import solara


@solara.component_vue("stage.vue")
def Stage(
    panels: list[list[str]],
    number: int,
    two: bool,
    event_painted: Callable[[int], None],
    event_pick: Callable[[int], None],
) -> None:
    """Shows panels, [name, HTML] each; reports which number the browser has painted, and which job was clicked."""
