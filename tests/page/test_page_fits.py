"""The page in windows of all sizes: nothing is cut, nothing is unreadable, and no large part is blank."""

import io
from itertools import pairwise

import numpy as np
import pytest
from browser import ABSENT
from PIL import Image

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"needs {', '.join(ABSENT)}: pip install '.[viz,browser]'")

SIZES = [(1024, 768), (1280, 720), (1366, 768), (1440, 900), (1920, 1080), (2560, 1440)]
PHONES = [(390, 844), (360, 640)]
LEAST_LETTERS = 10.9

PROBLEMS = """([width, least, phone]) => {
    const found = [];
    const said = one => `${one.className.baseVal ?? one.className} ${(one.textContent || '').slice(0, 40)}`;
    const page = document.querySelector('.cluster-page');
    if (document.documentElement.scrollWidth > width || page.scrollWidth > width)
        found.push('the page scrolls sideways');
    for (const panel of document.querySelectorAll('.stage .panel')) {
        const box = panel.getBoundingClientRect();
        if (box.right > width + 0.5 || (!phone && box.bottom > innerHeight + 0.5))
            found.push(`outside: ${said(panel)}`);
        for (const inside of panel.querySelectorAll('svg, svg text, svg circle, table, h2, .body')) {
            const own = inside.getBoundingClientRect();
            if (own.width && (own.right > box.right + 1 || own.left < box.left - 1 || own.top < box.top - 1
                || own.bottom > box.bottom + 1)) found.push(`beyond its panel: ${said(inside)}`);
        }
        for (const inside of panel.querySelectorAll('td:not(.why), th, h2, .body')) {
            if (inside.scrollWidth > inside.clientWidth + 1 && inside.clientWidth) found.push(`cut: ${said(inside)}`);
        }
        for (const inside of panel.querySelectorAll('svg')) {
            const own = inside.getBoundingClientRect();
            const scale = own.width / inside.viewBox.baseVal.width;
            for (const words of inside.querySelectorAll('text')) {
                const at = words.getBoundingClientRect();
                if (words.textContent && (at.right > own.right + 1.5 || at.left < own.left - 1.5
                    || at.bottom > own.bottom + 4))
                    found.push(`beyond its picture: ${said(words)}`);
                if (parseFloat(getComputedStyle(words).fontSize) * scale < least) found.push(`small: ${said(words)}`);
            }
        }
        for (const words of panel.querySelectorAll('td, th, h2, span, div'))
            if (parseFloat(getComputedStyle(words).fontSize) < least) found.push(`small: ${said(words)}`);
    }
    for (const control of document.querySelectorAll('.controls input, .controls button, .controls label')) {
        const box = control.getBoundingClientRect();
        if (box.right > width + 0.5) found.push(`outside: ${control.outerHTML.slice(0, 80)}`);
    }
    return [...new Set(found)].slice(0, 12);
}"""


def looked_at(tab, size, name):
    """What is wrong at a size, once the pictures are drawn for it."""
    width, height = size
    tab.page.set_viewport_size({"width": width, "height": height})
    fits = """() => [...document.querySelectorAll('.stage .body > svg')].every(picture => {
        const unit = parseFloat(getComputedStyle(document.querySelector('.stage')).fontSize) / 13;
        const box = picture.viewBox.baseVal, own = picture.getBoundingClientRect();
        return Math.abs(box.width * unit - own.width) < 12 && Math.abs(box.height * unit - own.height) < 12;
    })"""
    tab.until(lambda: tab.page.evaluate(fits))
    tab.picture(f"{name}-{width}x{height}")
    return tab.page.evaluate(PROBLEMS, [width, LEAST_LETTERS, width < 760])


def blank_thirds(tab):
    """Which thirds of the stage, across and down, hold nothing; and the panels of which four fifths hold nothing."""
    image = np.asarray(Image.open(io.BytesIO(tab.page.screenshot())).convert("L"), int)
    box = tab.page.locator(".stage").bounding_box()
    left, top = round(box["x"]), round(box["y"])
    stage = image[top : top + round(box["height"]), left : left + round(box["width"])]
    found = []
    for axis in (0, 1):
        for place, part in enumerate(np.array_split(stage, 3, axis)):
            if holds(part) < 0.25:
                found.append(("down", "across")[axis] + f" {place}: {holds(part):.2f}")
    for panel in tab.page.locator(".stage .panel").all():
        at = {name: round(value) for name, value in panel.bounding_box().items()}
        part = image[at["y"] : at["y"] + at["height"], at["x"] : at["x"] + at["width"]]
        if holds(part) < 0.2:
            found.append(f"{panel.get_attribute('class')}: {holds(part):.2f}")
    return found


def holds(part):
    """Share of squares of about 24 pixels in which something is drawn."""
    rows, columns = max(1, part.shape[0] // 24), max(1, part.shape[1] // 24)
    squares = [square for row in np.array_split(part, rows, 0) for square in np.array_split(row, columns, 1)]
    return float(np.mean([np.ptp(square) > 12 for square in squares]))


@pytest.mark.parametrize("nodes", [4, 32, 256])
@pytest.mark.parametrize("two", [False, True], ids=["one", "two"])
def test_it_fits(tab, two, nodes):
    tab.enter("Nodes", nodes)
    tab.until(lambda: tab.page.locator("g.node").count() == nodes)
    if two:
        tab.choose("Beside it", "none")
        tab.until(lambda: tab.page.locator(".panel-map1 g.node").count() == nodes)
    tab.enter("Simulated time a frame", 3000)
    tab.steps(12)
    tab.page.mouse.move(5, 5)
    name = f"{'two' if two else 'one'}-{nodes}"
    wrong = {size: found for size in [*SIZES, *PHONES] if (found := looked_at(tab, size, name))}
    assert wrong == {}
    blank = {}
    for width, height in SIZES:
        tab.page.set_viewport_size({"width": width, "height": height})
        tab.page.wait_for_timeout(500)
        if found := blank_thirds(tab):
            blank[width, height] = found
    assert blank == {}


@pytest.mark.parametrize("size", PHONES)
def test_on_a_phone_the_settings_open_and_everything_is_in_one_column(tab, size):
    tab.page.set_viewport_size({"width": size[0], "height": size[1]})
    nodes = tab.page.get_by_label("Nodes", exact=True)
    assert not nodes.is_visible()
    tab.press("Settings")
    assert nodes.is_visible()
    tab.enter("Nodes", 5)
    tab.until(lambda: tab.page.locator("g.node").count() == 5)
    tab.page.get_by_role("button", name="Hide settings").click()
    boxes = [panel.bounding_box() for panel in tab.page.locator(".stage .panel").all()]
    assert all(before["y"] + before["height"] <= after["y"] for before, after in pairwise(boxes))
    assert len({round(box["x"]) for box in boxes}) == 1
    # The last panel can be scrolled to.
    tab.page.locator(".panel-talk").scroll_into_view_if_needed()
    assert tab.page.locator(".panel-talk h2").is_visible()
    tab.picture(f"phone-{size[0]}")
