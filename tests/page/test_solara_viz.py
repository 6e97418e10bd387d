"""Mesa's own page with the project's components, in a browser."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time

import pytest
from browser import ABSENT, PICTURES, ROOT

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"there is no {', '.join(ABSENT)} here")

APP = """
from mesa.visualization import SolaraViz, make_space_component

from cluster_abm import ClusterModel
from cluster_abm.components import heat_map, load_portrayal, negotiations, network, places, player

by_mesa = make_space_component(load_portrayal, layout_alg=places, layout_kwargs={})
by_mesas_defaults = make_space_component(load_portrayal)
model = ClusterModel("cpu-bound", cluster__nodes=8, policy__name="jsq", workload__utilisation=0.8, record=True)
page = SolaraViz(
    model,
    components=[network, heat_map, negotiations, player, by_mesa, by_mesas_defaults],
    model_params={
        "scenario": "cpu-bound", "cluster__nodes": 8, "workload__utilisation": 0.8, "record": True,
        "policy__name": {"type": "Select", "value": "jsq", "values": ["jsq", "random"], "label": "policy"},
    },
    name="cluster",
    render_interval=50,
)
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An app of a user's own, served by Solara."""
    folder = tmp_path_factory.mktemp("solara")
    (folder / "app.py").write_text(APP)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log_path = folder / "log"
    with log_path.open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "solara", "run", "app.py", "--host", "127.0.0.1", "--port", str(port), "--no-open",
             "--production"],
            env=os.environ | {"PYTHONPATH": str(ROOT), "SOLARA_TELEMETRY_MIXPANEL_ENABLE": "false"},
            cwd=folder, stderr=log, stdout=log,
        )  # fmt: skip
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if server.poll() is not None or probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        assert server.poll() is None, log_path.read_text()
        yield f"http://127.0.0.1:{port}", log_path
    finally:
        server.terminate()
        server.wait(20)


def shown(page, of, otherwise):
    """What an expression of a part's view is; something else until it shows a run."""
    return page.locator(".cluster-abm.stage cluster-player").evaluate(
        f"one => {{ const view = one.shown?.view; return view ? {of} : {otherwise}; }}"
    )


def end_ms(page):
    """The end of the recording that is shown."""
    return shown(page, "view.end", -1)


def step(page):
    """One step of the model; the recording goes on by it."""
    before = end_ms(page)
    page.get_by_role("button", name="Step", exact=False).first.click()
    until(page, lambda: end_ms(page) > before)


def until(page, condition):
    """Wait until a condition holds."""
    end = time.monotonic() + 120
    while not condition() and time.monotonic() < end:
        page.wait_for_timeout(50)
    assert condition()


def test_the_components_follow_the_model(chromium, served):
    address, log = served
    context = chromium.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    stage, decisions = page.locator(".cluster-abm.stage"), page.locator(".cluster-abm.decisions")
    stage.locator(".stages canvas").first.wait_for(timeout=120_000)
    # What Mesa draws are pictures: another one once tasks have come.
    drawn = page.locator("img[src^='data:image/png'], img[src^='blob:']")
    drawn.nth(1).wait_for(timeout=60_000)
    first = [drawn.nth(place).get_attribute("src") for place in range(2)]
    for _ in range(6):
        step(page)
    assert page.locator(".cluster-abm.timeline .timelines canvas").first.is_visible()
    # A part is that part alone.
    assert not stage.locator(".timelines").is_visible()
    assert not decisions.locator(".stages").is_visible()
    assert page.locator(".cluster-abm.player .bar").is_visible()
    for place in range(2):
        page.wait_for_function(
            "([place, first]) => document.querySelectorAll("
            "\"img[src^='data:image/png'], img[src^='blob:']\")[place].src !== first",
            arg=[place, first[place]], timeout=60_000,
        )  # fmt: skip
    assert "task" in decisions.locator(".side").inner_text()
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / "solara-viz.png", full_page=True)
    # A reset begins a new run, from 0, with the parameters as they are then.
    reached = end_ms(page)
    page.get_by_role("button", name="Reset").first.click()
    until(page, lambda: 0 <= end_ms(page) < reached)
    step(page)
    assert end_ms(page) < reached
    step(page)
    reached = end_ms(page)
    page.locator(".v-select", has_text="policy").first.click()
    page.get_by_role("option", name="random").click()
    page.get_by_role("button", name="Reset").first.click()
    until(page, lambda: shown(page, "view.recordings[0].policy", "''") == "random")
    assert end_ms(page) < reached
    step(page)
    assert shown(page, "view.recordings[0].policy", "''") == "random"
    context.close()
    assert errors == []
    assert "Traceback" not in log.read_text()
