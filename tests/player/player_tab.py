"""A tab of a browser that shows an HTML file with the player."""

import time

PLAYER = "document.getElementById('player')?.player"


class PlayerTab:
    """One tab, and what the browser said in it."""

    def __init__(self, context, path, address=""):
        self.said, self.asked = [], []
        self.page = context.new_page()
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self._note(request.url))
        self.page.goto(f"file://{path}{address}")
        self.loaded()

    def loaded(self):
        """Until it shows a recording, or says why it cannot."""
        self.until("p?.screen || document.getElementById('player').shadowRoot.querySelector('[role=alert]')")

    def until(self, condition, timeout_s=20.0):
        """Until a condition of the player `p` holds. (The file's content policy forbids Playwright's way.)"""
        end = time.monotonic() + timeout_s
        while not self.run(f"Boolean({condition})"):
            assert time.monotonic() < end, f"{condition}: never"
            self.page.wait_for_timeout(20)

    def _note(self, url):
        if not url.startswith(("file:", "data:", "blob:")):
            self.asked.append(url)

    def run(self, expression):
        """The value of an expression of the player `p`."""
        return self.page.evaluate(f"(() => {{ const p = {PLAYER}; return {expression}; }})()")

    @property
    def time_s(self):
        return self.run("p.view.time") / 1000

    @property
    def why(self):
        """What is said of the selection."""
        self.frame()
        return self.page.locator(".why").inner_text()

    def frame(self):
        """Until the next frame has been drawn."""
        self.page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")

    def button(self, name):
        return self.page.get_by_role("button", name=name, exact=True)
