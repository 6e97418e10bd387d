"""A tab of a browser that shows the page, and what it needs that may be absent."""

import importlib.util
import re
import time
from pathlib import Path
from urllib.parse import urlsplit

from chromium import CHROMIUM

ABSENT = [name for name in ("solara", "solara_assets", "playwright") if importlib.util.find_spec(name) is None]
ABSENT += [] if CHROMIUM else ["chromium"]
ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "out" / "page"


class Tab:
    """One tab that shows the page, and what went wrong in it."""

    def __init__(self, context, address):
        self.errors, self.elsewhere = [], []
        self.page = context.new_page()
        self.page.on("console", lambda said: self.errors.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.on("websocket", lambda socket: self._note(socket.url))
        self.page.goto(address)
        self.page.wait_for_selector(".stage svg circle", timeout=60_000)

    def _note(self, url):
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.elsewhere.append(url)

    @property
    def clock_s(self):
        return float(re.sub(r"[ s,]", "", self.page.locator(".clock").inner_text()))

    @property
    def panels_s(self):
        """Of which moment the panels are: they come at once, but not with the clock."""
        return float(self.page.locator(".numbers").get_attribute("data-ms")) / 1000

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def until(self, condition, timeout_s=20.0):
        """Wait until a condition holds; its last value."""
        end = time.monotonic() + timeout_s
        while not (found := condition()) and time.monotonic() < end:
            self.page.wait_for_timeout(20)
        assert found, self.page.locator("body").inner_text()[:2000]
        return found

    def steps(self, count):
        self.until(self._is_of_one_moment)
        for _ in range(count):
            before = self.clock_s
            self.press("Step")
            self.until(lambda before=before: self.clock_s > before and self._is_of_one_moment())

    def _is_of_one_moment(self):
        return abs(self.panels_s - self.clock_s) < 0.01

    def choose(self, label, value):
        """A value from the list of that label, by its search."""
        field = self._labelled(label)
        field.click()
        field.fill(value)
        option = self.page.locator(".menuable__content__active .v-list-item").filter(
            has=self.page.get_by_text(value, exact=True)
        )
        option.click()

    def wrong(self, name):
        """What is said beneath a control, by its name in the settings; "" if nothing is."""
        found = self.page.locator(f".settings [data-name={name}] .wrong")
        return " ".join(found.evaluate_all("all => all.map(one => one.innerText)"))

    def enter(self, label, value):
        """A number into the field of that label."""
        field = self._labelled(label)
        field.fill(str(value))
        field.press("Enter")

    def _labelled(self, label):
        """The input that a label is tied to."""
        return self.page.get_by_label(re.compile(rf"^\s*{re.escape(label)}\s*(\[|,|$)"))

    def fills(self):
        """Colour of each node, in their order."""
        return self.page.locator("g.node[data-node] circle").evaluate_all(
            "all => all.map(one => one.getAttribute('fill'))"
        )

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png")
