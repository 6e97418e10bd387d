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
        self.shown()

    def _note(self, url):
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.elsewhere.append(url)

    def shown(self, condition="true", timeout_s=60.0):
        """Wait until the player shows a run of which a condition holds, in JavaScript: `view` is the player's."""
        ready = f"() => {{ const view = globalThis.desk?.()?.view; return Boolean(view && ({condition})); }}"
        self.page.wait_for_function(ready, timeout=1000 * timeout_s)

    def view(self, expression):
        """What an expression of the player's view is."""
        return self.page.evaluate(f"() => {{ const view = globalThis.desk().view; return {expression}; }}")

    @property
    def policies(self):
        return self.view("view.recordings.map(one => one.policy)")

    @property
    def progress(self):
        """What is said of runs under way, and of what went wrong."""
        return self.page.locator(".progress").inner_text()

    def press(self, name):
        self.page.get_by_role("button", name=name, exact=True).click()

    def until(self, condition, timeout_s=20.0):
        """Wait until a condition holds; its last value."""
        end = time.monotonic() + timeout_s
        while not (found := condition()) and time.monotonic() < end:
            self.page.wait_for_timeout(20)
        assert found, self.page.locator("body").inner_text()[:2000]
        return found

    def choose(self, label, value):
        """A value from the list of that label, by its name and Enter."""
        field = self.labelled(label)
        field.click()
        field.fill(value)
        field.press("Enter")

    def wrong(self, name):
        """What is said beneath a control, by its name in the settings; "" if nothing is."""
        found = self.page.locator(f".fields [data-name={name}] .wrong-value")
        return " ".join(found.evaluate_all("all => all.map(one => one.innerText)")).strip()

    def enter(self, label, value):
        """A number into the field of that label."""
        field = self.labelled(label)
        field.fill(str(value))
        field.press("Enter")

    def labelled(self, label):
        """The input that a label is tied to."""
        return self.page.get_by_label(re.compile(rf"^\s*{re.escape(label)}\s*(\[|$)"))

    def picture(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{name}.png")
