"""The page. `cluster-abm view`, or `solara run viz/app.py`, which needs surroundings to be as offline (README)."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

# Solara runs this file as a script: the package that it belongs to has to be found.
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

import solara

from cluster_abm import Scenario, load_scenario
from cluster_abm.model.observing.watching import telling_index
from cluster_abm.scenario.hardware import hardware_named
from viz import heard
from viz.colours import INDICES
from viz.controls import AS_GIVEN, FIELDS, FRAME_MS, NO_POLICY, Controls, groups, offered_by, parsed
from viz.player import Player, Shot
from viz.settings import Settings, settings_of
from viz.stage import Stage

ASKED = "CLUSTER_ABM_VIEW"
"""Environment: {"scenario": name or path, "overrides": {dotted key: value}} as JSON."""
STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


@solara.component
def Page() -> None:
    """The whole page; each tab has its own player."""
    asked = json.loads(os.environ.get(ASKED, '{"scenario": "quickstart", "overrides": {}}'))
    scenario = solara.use_memo(lambda: load_scenario(asked["scenario"], asked["overrides"]), [])
    shot = solara.use_reactive(cast(Shot | None, None))
    # What was asked for, whether it can be or not; the player's shots say which of it is refused.
    settings = solara.use_reactive(settings_of(scenario))
    index = solara.use_reactive(telling_index(scenario))
    frame_ms = solara.use_reactive(1000.0)
    # What was typed into fields of numbers, and what is wrong with it where it is no number.
    typed = solara.use_reactive(cast(dict[str, str], {}))
    unread = solara.use_reactive(cast(dict[str, str], {}))
    player = solara.use_memo(lambda: Player(scenario, settings.value, shot.set, index.value), [])
    solara.use_effect(lambda: _living(player), [])
    solara.Title(f"cluster-abm · {scenario.name}")
    solara.Style(STYLE)

    def change(**values: Any) -> None:
        settings.set(dataclasses.replace(settings.value, **values))
        player.change(settings.value)

    buttons = {"play": player.play, "pause": player.pause, "step": player.step, "reset": player.reset}

    def press(sent: object) -> None:
        name = heard.button(sent, buttons)
        if name is None:
            return
        if name == "reset":
            # Fields show again what the run has.
            typed.set({})
            unread.set({})
            if shot.value is not None and shot.value.settings is not None:
                settings.set(shot.value.settings)
        buttons[name]()

    def choose(sent: object) -> None:
        chosen = heard.choice(sent, offered_by(drawn))
        if chosen is None:
            return
        name, value = chosen
        if name == "index":
            index.set(next(kind.name for kind in INDICES.values() if kind.short == value))
            player.colour_by(index.value)
        else:
            change(**{name: "" if value in (NO_POLICY, AS_GIVEN) else value})

    def enter(sent: object) -> None:
        entered = heard.entry(sent, FIELDS)
        if entered is None:
            return
        name, text = entered
        was = frame_ms.value if name == "frame_ms" else getattr(settings.value, name)
        typed.set(typed.value | {name: text})
        others = {field: words for field, words in unread.value.items() if field != name}
        try:
            number = parsed(text, int if isinstance(was, int) else float)
            if name == "frame_ms" and not FRAME_MS[0] <= number <= FRAME_MS[1]:
                raise ValueError(f"{text!r}: allowed is {FRAME_MS[0]:g} to {FRAME_MS[1]:,.0f} ms")
        except ValueError as problem:
            unread.set(others | {name: str(problem)})
            return
        unread.set(others)
        if name == "frame_ms":
            frame_ms.set(number)
            player.frame_ms = number
        else:
            change(**{name: number})

    now = shot.value
    playing, over = now is not None and now.playing, now is not None and now.over
    wrong = (dict(now.refused) if now is not None else {}) | unread.value
    drawn = groups(settings.value, index.value, frame_ms.value, typed.value, wrong)
    offered, warnings = (now.offered, "\n".join(now.warnings)) if now is not None else ("", "")
    with solara.Div(classes=["cluster-page"]):
        with solara.Div(classes=["controls"]):
            Controls(
                named=_named(scenario, settings.value),
                offered=f"offered load: {offered}" if offered else "",
                offered_tip=warnings
                or "What the jobs ask of all CPUs, disks and memory while they are submitted; 1 is all.",
                offered_high=bool(warnings),
                clock=f"{(0.0 if now is None else now.now_ms) / 1000:,.2f} s",
                ended=over and not (now is not None and now.error),
                playing=playing,
                over=over,
                groups=drawn,
                notice=now.notice if now is not None else "",
                notice_number=now.starts if now is not None else 0,
                event_press=press,
                event_choose=choose,
                event_enter=enter,
            )
            with solara.Div(classes=["keep"]):
                solara.Text("Keep what you see", classes=["control"])
                _kept("PNG", "The maps as a picture.", player.picture, "cluster.png")
                _kept("Parquet", "The tasks that have finished so far, as a table.", player.jobs, "jobs.parquet")
        if now is not None:
            Stage(
                panels=now.panels, number=now.number, two=bool(now.settings is not None and now.settings.other),
                event_painted=player.painted, event_pick=player.pick, event_resized=player.resize,
            )  # fmt: skip


def _living(player: Player) -> Callable[[], None]:
    player.begin()
    return player.close


def _named(scenario: Scenario, settings: Settings) -> str:
    """The scenario's name, and the presets of hardware that it names, unless another one is chosen."""
    hardware = "" if settings.hardware else hardware_named(scenario.cluster, scenario.interconnect)
    return f"{scenario.name} · {hardware}" if hardware else scenario.name


def _kept(label: str, tip: str, made: Callable[[], bytes], name: str) -> None:
    with solara.FileDownload(made, name):
        solara.Button(label, attributes={"data-tip": tip})
