"""The page in windows of all sizes: the settings are whole and readable, the player has the rest, a phone scrolls."""

import pytest
from browser import ABSENT

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"needs {', '.join(ABSENT)}: pip install '.[viz,browser]'")

SIZES = [(1024, 768), (1280, 720), (1366, 768), (1920, 1080), (2560, 1440), (390, 844), (360, 640)]
LEAST_LETTERS = 10.9
PROBLEMS = """([desk, width, least]) => {
    const found = [];
    const said = one => `${one.className} ${(one.textContent || '').slice(0, 40)}`;
    if (document.documentElement.scrollWidth > width) found.push('the page scrolls sideways');
    for (const one of desk.querySelectorAll('input, button, label, .offered, .brand')) {
        const box = one.getBoundingClientRect();
        if (!box.width) continue;
        if (box.right > width + 0.5 || box.left < -0.5) found.push(`outside: ${said(one)}`);
        if (one.scrollWidth > one.clientWidth + 1 && one.tagName !== 'INPUT' && one.tagName !== 'LABEL')
            found.push(`cut: ${said(one)}`);
        if (parseFloat(getComputedStyle(one).fontSize) < least) found.push(`small: ${said(one)}`);
    }
    return found;
}"""


def problems(tab, width):
    desk = tab.page.locator(".desk").element_handle()
    return tab.page.evaluate(PROBLEMS, [desk, width, LEAST_LETTERS])


def test_it_fits(tab):
    wrong = {}
    for width, height in SIZES:
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.page.wait_for_timeout(300)
        tab.picture(f"fits-{width}x{height}")
        if found := problems(tab, width):
            wrong[width, height] = found
        if width >= 760:
            box = tab.page.locator("cluster-player").bounding_box()
            assert (round(box["y"]), round(box["x"] + box["width"])) == (0, width)
            assert abs(box["height"] - max(height, 560)) <= 1
    assert wrong == {}


@pytest.mark.parametrize("size", [(390, 844), (360, 640)])
def test_on_a_phone_the_settings_open_and_the_whole_page_can_be_scrolled(tab, size):
    tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    nodes = tab.page.get_by_label("Nodes", exact=True)
    assert not nodes.is_visible()
    tab.press("Settings")
    assert nodes.is_visible()
    tab.enter("Nodes", 5)
    tab.shown("view.recordings[0].nodes === 5")
    tab.press("Hide settings")
    last = tab.page.locator("cluster-player .side")
    last.scroll_into_view_if_needed()
    box = last.bounding_box()
    assert box["y"] < size[1]
    tab.picture(f"phone-{size[0]}")


def test_the_settings_are_as_dark_as_the_player(tab):
    ground = "one => getComputedStyle(one).backgroundColor"
    panel = tab.page.locator(".desk > .panel")
    light = panel.evaluate(ground)
    tab.page.get_by_role("button", name="Dark or light").click()
    tab.until(lambda: panel.evaluate(ground) != light)
    tab.picture("dark")
