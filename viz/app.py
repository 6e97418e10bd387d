"""The page. `cluster-abm view`, or `solara run viz/app.py`, which needs surroundings to be as offline (README)."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

# Solara runs this file as a script: the package that it belongs to has to be found.
sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

import solara

from cluster_abm import Scenario, load_scenario
from cluster_abm.model.observation.watching import telling_index
from cluster_abm.policies import available
from cluster_abm.scenario.hardware import hardware_named, preset_names
from viz.colours import INDICES
from viz.markup import tag
from viz.player import Player, Shot
from viz.settings import TOO_LARGE, Settings, settings_of
from viz.stage import Stage
from viz.worker import shortened

ASKED = "CLUSTER_ABM_VIEW"
"""Environment: {"scenario": name or path, "overrides": {dotted key: value}} as JSON."""
LABELS = {"intensity": "Workload intensity [times]", "io_per_ms": "I/O rate [1/ms of CPU]",
          "page_fault_rate_per_ms": "Page-fault rate [1/ms of CPU]", "nodes": "Nodes",
          "bandwidth_mbps": "Network [Mbps a link]", "exchange_period_ms": "Exchange period [ms]",
          "slice_ms": "Time slice [ms]", "seed": "Seed"}  # fmt: skip
NO_POLICY = "no policy"
AS_GIVEN = "as the scenario says"
STYLE = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")


@solara.component
def Page() -> None:
    """The whole page; each tab has its own player."""
    asked = json.loads(os.environ.get(ASKED, '{"scenario": "quickstart", "overrides": {}}'))
    scenario = solara.use_memo(lambda: load_scenario(asked["scenario"], asked["overrides"]), [])
    shot = solara.use_reactive(cast(Shot | None, None))
    settings = solara.use_reactive(settings_of(scenario))
    index = solara.use_reactive(telling_index(scenario))
    frame_ms = solara.use_reactive(1000.0)
    player = solara.use_memo(lambda: Player(scenario, settings.value, shot.set, index.value), [])
    solara.use_effect(lambda: _living(player), [])
    solara.Title(f"cluster-abm · {scenario.name}")
    solara.Style(STYLE)

    def change(**values: Any) -> None:
        settings.set(dataclasses.replace(settings.value, **values))
        player.change(settings.value)

    def colour_by(words: str) -> None:
        index.set(next(one.name for one in INDICES.values() if one.short == words))
        player.colour_by(index.value)

    def last_ms(value: float) -> None:
        frame_ms.set(min(1e7, max(1.0, value)))
        player.frame_ms = frame_ms.value

    now = shot.value
    playing, over = now is not None and now.playing, now is not None and now.over
    with solara.Div(classes=["cluster-page"]):
        with solara.Div(classes=["controls"]):
            solara.HTML(tag="div", unsafe_innerHTML="cluster-abm", classes=["brand"])
            solara.Text(_named(scenario, settings.value), classes=["faint", "small"])
            solara.HTML(tag="div", unsafe_innerHTML=_offered(now), classes=["offered", "small"])
            solara.HTML(tag="div", unsafe_innerHTML=_clock(now), classes=["time"])
            with solara.Div(classes=["buttons"]):
                if playing:
                    solara.Button("Pause", on_click=player.pause, color="primary")
                else:
                    solara.Button("Play", on_click=player.play, color="primary", disabled=over)
                solara.Button("Step", on_click=player.step, disabled=over, outlined=True)
                solara.Button("Reset", on_click=player.reset, outlined=True)
            _choice("Policy", settings.value.policy, list(available()), lambda name: change(policy=name))
            _choice(
                "Beside it, on the same jobs", settings.value.other or NO_POLICY, [NO_POLICY, *available()],
                lambda name: change(other="" if name == NO_POLICY else name),
            )  # fmt: skip
            _choice(
                "Hardware of the nodes", settings.value.hardware or AS_GIVEN, [AS_GIVEN, *preset_names("cluster")],
                lambda name: change(hardware="" if name == AS_GIVEN else name),
            )  # fmt: skip
            _choice("Nodes coloured by", INDICES[index.value].short, [one.short for one in INDICES.values()], colour_by)
            _number("Simulated time a frame [ms]", frame_ms.value, last_ms, player)
            for name, words in LABELS.items():
                _number(words, getattr(settings.value, name), _setter(name, change), player)
            solara.Text("Keep what you see", classes=["control"])
            with solara.Div(classes=["keep"]):
                solara.FileDownload(player.picture, "cluster.png", label="PNG")
                solara.FileDownload(player.jobs, "jobs.parquet", label="Parquet")
        if now is not None:
            Stage(
                panels=now.panels, number=now.number, two=bool(settings.value.other),
                event_painted=player.painted, event_pick=player.pick,
            )  # fmt: skip


def _living(player: Player) -> Callable[[], None]:
    player.begin()
    return player.close


def _clock(shot: Shot | None) -> str:
    ms = 0.0 if shot is None else shot.now_ms
    ended = ", over" if shot is not None and shot.over and not shot.error else ""
    return tag("span", f"{ms / 1000:,.2f} s", class_="clock") + tag("span", f"simulated{ended}", class_="faint")


def _named(scenario: Scenario, settings: Settings) -> str:
    """The scenario's name, and the presets of hardware that it names, unless another one is chosen."""
    hardware = "" if settings.hardware else hardware_named(scenario.cluster, scenario.interconnect)
    return f"{scenario.name} · {hardware}" if hardware else scenario.name


def _offered(shot: Shot | None) -> str:
    if shot is None or not shot.offered:
        return ""
    words = "\n".join(shot.warnings)
    return tag("span", f"offered load: {shot.offered}", title=words or None, class_="high" if words else "faint")


def _setter(name: str, change: Callable[..., None]) -> Callable[[Any], None]:
    return lambda value: change(**{name: value})


def _choice(words: str, value: str, values: list[str], on_value: Callable[[str], None]) -> None:
    solara.Select(words, values=values, value=value, on_value=on_value, dense=True)


def _number(words: str, value: float, on_value: Callable[[Any], None], player: Player) -> None:
    # Not Solara's own InputFloat: it takes nan, and renders for ever because that does not equal itself.
    kind = int if isinstance(value, int) else float

    def put(text: str) -> None:
        try:
            number = _read(text, kind)
        except ValueError as problem:
            player.refuse(words, f"{words}: {shortened(text, 40)!r}: {problem}")
            return
        player.accept(words)
        on_value(number)

    solara.InputText(words, value=str(value), on_value=put, continuous_update=False, dense=True)


def _read(text: str, kind: type[int] | type[float]) -> float:
    """The number of a field. Raises ValueError, saying what is needed."""
    try:
        number = kind(text.replace(",", "."))
    except ValueError:
        # Also for more digits than Python reads; of a whole number they say that it is one.
        if kind is int and text.strip().lstrip("+-").isdecimal():
            raise ValueError("the number is too large; allowed is less than 2^63") from None
        raise ValueError(f"a {'whole ' if kind is int else ''}number is needed") from None
    if kind is int and abs(number) >= TOO_LARGE:
        raise ValueError("the number is too large; allowed is less than 2^63")
    if not math.isfinite(number):
        raise ValueError("a finite number is needed")
    return number
