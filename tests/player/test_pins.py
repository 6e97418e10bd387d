"""Pins of acts on the timeline: where they can be taken, and that a drag moves the act and nothing else."""

import json

import pytest

import cluster_abm as ca
from cluster_abm.recording.html import html_of

SCRIPT = [
    {"at_s": 10.0, "act": "fail", "node": 1},
    {"at_s": 20.0, "act": "recover", "node": 1},
    {"at_s": 22.0, "act": "arrivals", "factor": 2.0},
]
# As the page has it: what is changed is known at once, and its run comes later.
ACTING = """(() => {
    globalThis.changes = [];
    const acting = {
        acts: () => globalThis.changes.at(-1) ?? SCRIPT,
        change: (acts) => globalThis.changes.push(acts),
    };
    for (const one of p.screen.acts) one.acting = acting;
})()"""


@pytest.fixture(scope="module")
def acted(tmp_path_factory):
    """An HTML file of a run with a script."""
    path = tmp_path_factory.mktemp("pins") / "acted.html"
    run = ca.record("quickstart", "jsq", seed=1, script=SCRIPT, workload__duration_s=30, cluster__nodes=6)
    path.write_text(html_of([run]), encoding="utf-8")
    return path


@pytest.fixture
def tab(show, acted, request):
    tab = show(acted, "#t=5&zoom=0-25", viewport={"width": 1280, "height": 720}, **getattr(request, "param", {}))
    tab.run(ACTING.replace("SCRIPT", json.dumps(SCRIPT)))
    tab.frame()
    return tab


def changes(tab):
    return tab.page.evaluate("changes")


def seen(tab):
    return tab.run("[p.view.time, p.view.from, p.view.to, p.view.selection]")


def pin(tab, number=0):
    return tab.page.locator(".pin").nth(number)


def middle(tab, number=0):
    box = pin(tab, number).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_a_pin_can_be_taken_within_24_pixels(tab):
    x, y = middle(tab)
    taken = [
        (across, down)
        for across in range(-14, 15)
        for down in range(-14, 15)
        if tab.page.evaluate(
            "([x, y]) => document.getElementById('player').shadowRoot.elementFromPoint(x, y)?.className === 'pin'",
            [x + across, y + down],
        )
    ]
    for side in zip(*taken, strict=True):
        assert max(side) - min(side) >= 23, (min(side), max(side))


@pytest.mark.parametrize("down", [-11, 0, 11])
def test_a_drag_moves_the_act_and_nothing_else(tab, down):
    """Also at its upper and lower edge, over the axis and over the rows."""
    before, (x, y) = seen(tab), middle(tab)
    plot = tab.run("p.screen.timelines[0].plot")
    tab.page.mouse.move(x, y + down)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 60, y + down, steps=5)
    tab.page.mouse.up()
    tab.frame()
    assert seen(tab) == before
    assert not tab.page.get_by_role("dialog", name="An act").is_visible()
    (script,) = changes(tab)
    assert script[1:] == SCRIPT[1:]
    slice_s = tab.run("p.view.recordings[0].slice") / 1000
    assert script[0]["at_s"] == pytest.approx(10 + 60 / plot * 25, abs=slice_s)
    # The pin stays where it was put, until the new run is there.
    assert middle(tab)[0] == pytest.approx(x + 60, abs=1)
    pin(tab).click()
    assert tab.page.get_by_role("dialog", name="An act").is_visible()


@pytest.mark.parametrize("tab", [{"has_touch": True}], indirect=True)
def test_a_finger_moves_it_too(tab):
    before, (x, y) = seen(tab), middle(tab)
    devtools = tab.page.context.new_cdp_session(tab.page)
    for kind, at in (("touchStart", 0), ("touchMove", 20), ("touchMove", 60), ("touchEnd", None)):
        points = [] if at is None else [{"x": x + at, "y": y + 11}]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    tab.frame()
    assert seen(tab) == before
    assert [one[0]["at_s"] > 11 for one in changes(tab)] == [True]


def test_keys_that_follow_each_other_quickly_add_up(tab):
    slice_s = tab.run("p.view.recordings[0].slice") / 1000
    pin(tab).focus()
    for key in ("Shift+ArrowRight", "Shift+ArrowRight", "ArrowLeft"):
        tab.page.keyboard.press(key)
    # A change waits for further keys.
    tab.page.wait_for_timeout(400)
    moved = changes(tab)
    assert moved[-1][0]["at_s"] == pytest.approx(12 - slice_s)
    # An act that is gone is not confused with the one that has its place now.
    tab.page.keyboard.press("Delete")
    tab.page.keyboard.press("ArrowRight")
    tab.page.wait_for_timeout(400)
    assert changes(tab)[len(moved) :] == [SCRIPT[1:]]
