"""The whole page for all eyes and hands: what axe finds, what Tab leads to, what can be pressed."""

import importlib.util
from pathlib import Path

import pytest
from browser import ABSENT

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"needs {', '.join(ABSENT)}: pip install '.[viz,browser]'")

AXE = importlib.util.find_spec("axe_playwright_python")
DEEP = """() => {
    let one = document.activeElement;
    while (one?.shadowRoot?.activeElement) one = one.shadowRoot.activeElement;
    if (!one || one === document.body) return '';
    return `${one.className || one.id} ${one.getAttribute('aria-label') ?? one.textContent}`;
}"""


@pytest.mark.skipif(AXE is None, reason="needs axe-playwright-python: without it axe's report is not made")
def test_the_report_of_axe_has_nothing_serious(tab):
    """In both sizes and lights: settings, acts and their pins, a list, the downloads, a wrong value, a wrong act."""
    tab.page.evaluate(f"{Path(AXE.submodule_search_locations[0], 'axe.min.js').read_text(encoding='utf-8')}; 0")
    tab.enter("Nodes", -5)
    tab.until(lambda: tab.wrong("nodes"))
    tab.page.evaluate("desk().set({hash: '#t=20.5&sel=node0'})")
    for act in ("Recover", "Fail"):
        tab.press(act)
        tab.until(lambda act=act: tab.page.locator(".pin").count() == 1 + (act == "Fail"))
    # The first one has nothing to do.
    assert tab.page.locator(".pin.undone").count() == 1
    tab.page.get_by_label("times as fast").fill("0")
    tab.press("Arrivals from here")
    tab.until(lambda: tab.page.locator(".what-if .wrong-value").inner_text())
    wrong = {}

    def report(name):
        found = tab.page.evaluate("axe.run(document)")["violations"]
        if found := [
            (one["id"], one["impact"], one["nodes"][0]["target"])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]:
            wrong[name] = found

    for width in (1600, 390):
        tab.page.set_viewport_size({"width": width, "height": 900})
        if width < 760:
            tab.press("Settings")
        for light in ("one", "the other"):
            tab.page.get_by_role("button", name="Dark or light").click()
            tab.page.wait_for_timeout(200)
            report(f"{width}, {light} light")
        for kind in ("node", "task", "job"):
            tab.view(f"view.select({{run: 0, kind: '{kind}', id: 1}})")
            tab.page.wait_for_timeout(100)
            report(f"{width}, a {kind} and what can be done with it")
        for light in ("one", "the other"):
            tab.page.get_by_role("button", name="Dark or light").click()
            tab.page.locator(".pin").last.click()
            assert tab.page.get_by_role("dialog", name="An act").is_visible()
            tab.page.wait_for_timeout(200)
            report(f"{width}, {light} light, pins and the card of an act")
            tab.page.keyboard.press("Escape")
        tab.labelled("Policy").click()
        report(f"{width}, a list")
        tab.page.keyboard.press("Escape")
        tab.press("Download")
        report(f"{width}, downloads")
        tab.page.keyboard.press("Escape")
    assert wrong == {}


def test_tab_leads_from_the_settings_through_the_player(tab):
    names = []
    for _ in range(90):
        tab.page.keyboard.press("Tab")
        names.append(tab.page.evaluate(DEEP))
        if names[-1].startswith("tool Whole run"):
            break
    for part in ("field-", "stage Stage of", "timeline Timeline of", "search", "list Events", "tool play"):
        assert any(name.startswith(part) for name in names), (part, names)
    places = [
        next(at for at, name in enumerate(names) if name.startswith(part)) for part in ("field-", "stage", "list")
    ]
    assert places == sorted(places)


def tab_to(tab, start):
    """Press Tab until what has the focus begins so."""
    for _ in range(90):
        tab.page.keyboard.press("Tab")
        if tab.page.evaluate(DEEP).startswith(start):
            return
    raise AssertionError(f"Tab does not lead to {start}")


def test_an_act_by_keys_alone(tab):
    """A node on the stage, its button, and the run that is computed again: the focus stays where it was."""
    tab.view("view.seek(60_000)")
    tab_to(tab, "stage Stage of")
    tab.page.keyboard.press("ArrowRight")
    tab.page.keyboard.press("ArrowRight")
    assert tab.view("[view.selection.kind, view.selection.id]") == ["node", 1]
    tab_to(tab, "plain Fail")
    tab.page.keyboard.press("Enter")
    tab.until(lambda: tab.page.locator(".pin").count())
    assert tab.page.locator(".pin").first.get_attribute("aria-label") == "Act at 60.00 s: node 1 fails"
    tab.until(lambda: tab.page.evaluate(DEEP).startswith("body What is selected"))
    assert tab.view("[view.selection.kind, view.selection.id]") == ["node", 1]


@pytest.mark.slow
def test_every_act_by_keys_alone(tab):
    """A node on the stage, a task on the timeline, their buttons and fields; pins are moved and removed."""

    def press(*keys):
        for key in keys:
            tab.page.keyboard.press(key)

    def acts(number):
        """Those of the run, once it has that many."""
        tab.shown(f"(view.recordings[0].header.summary.acts ?? []).length === {number}")
        return [(one["act"], one["at_s"]) for one in tab.view("view.recordings[0].header.summary.acts ?? []")]

    tab.view("view.seek(60_000)")
    tab_to(tab, "stage Stage of")
    press("ArrowRight", "ArrowRight")
    for number, name in enumerate(("Fail", "Recover", "Drain"), 1):
        tab_to(tab, f"plain {name}")
        press("Enter")
        assert acts(number)[-1] == (name.lower(), 60.0)
    tab_to(tab, " device")
    press("c", "Tab", "Control+a", "5", "0", "Enter")
    assert acts(4)[-1] == ("slow", 60.0)
    slow = tab.view("view.recordings[0].header.summary.acts.find(one => one.act === 'slow')")
    assert (slow["device"], slow["factor"], slow["node"]) == ("cpu", 0.5, 1)
    tab_to(tab, " times as fast")
    press("Control+a", "3", "Enter")
    assert acts(5)[-1] == ("arrivals", 60.0)
    tab_to(tab, "timeline Timeline of")
    press("ArrowUp", "ArrowRight")
    assert tab.view("view.selection.kind") == "task"
    tab_to(tab, " node")
    press("Control+a", "3", "Enter")
    assert acts(6)[-1][0] == "send"
    tab_to(tab, "plain Kill job")
    press("Enter")
    assert {act for act, _ in acts(7)} == {"fail", "recover", "drain", "slow", "arrivals", "send", "kill"}
    tab_to(tab, "pin Act at 60.00 s: node 1 fails")
    press("Shift+ArrowLeft", "ArrowLeft")
    tab.shown("view.recordings[0].header.summary.acts[0].at_s === 58.99")
    assert tab.page.evaluate(DEEP) == "pin Act at 58.99 s: node 1 fails"
    press("Delete")
    assert ("fail", 58.99) not in acts(6)
    press("Control+z")
    assert acts(7)[0] == ("fail", 58.99)
    press("Control+y")
    acts(6)
    tab.page.get_by_label("Seed").focus()
    tab_to(tab, "remove Remove: node 1 recovers")
    press("Enter")
    assert "recover" not in dict(acts(5))
