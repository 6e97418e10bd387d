"""The built site (its folder in CLUSTER_ABM_SITE) stands alone: nothing is fetched or missing, search works.

sphinx-build -W docs out/site && CLUSTER_ABM_SITE=out/site pytest tests/docs/test_site.py
"""

from __future__ import annotations

import os
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

SITE = Path(os.environ.get("CLUSTER_ABM_SITE") or "nowhere").absolute()
pytestmark = pytest.mark.skipif(not (SITE / "index.html").exists(), reason="CLUSTER_ABM_SITE names no built site")
# Attributes by which a browser fetches something on its own, by tag.
FETCHED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src", "video": "src"}


class Fetched(HTMLParser):
    """Addresses that a browser fetches when it shows a page, and those that a reader may follow."""

    def __init__(self):
        super().__init__()
        self.fetched, self.followed = [], []

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag in FETCHED and attributes.get(FETCHED[tag]):
            self.fetched.append(attributes[FETCHED[tag]])
        if tag == "a" and attributes.get("href"):
            self.followed.append(attributes["href"])


def pages():
    found = {}
    # Templates of the theme lie among its static files.
    for path in sorted(set(SITE.rglob("*.html")) - set((SITE / "_static").rglob("*.html"))):
        found[path] = parser = Fetched()
        parser.feed(path.read_text(encoding="utf-8"))
    return found


def test_nothing_is_fetched_from_elsewhere_and_all_that_is_fetched_is_there():
    seen = pages()
    assert len(seen) > 50
    for path, parser in seen.items():
        for address in parser.fetched:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            assert not parts.scheme, f"{path}: {address}"
            if parts.path:
                assert (path.parent / unquote(parts.path)).exists(), f"{path}: {address}"


def test_every_link_inside_the_site_leads_somewhere():
    for path, parser in pages().items():
        for address in parser.followed:
            parts = urlsplit(address)
            if not parts.scheme and parts.path:
                assert (path.parent / unquote(parts.path)).exists(), f"{path}: {address}"


def test_style_sheets_fetch_nothing_from_elsewhere():
    for path in SITE.rglob("*.css"):
        assert "url(http" not in path.read_text(encoding="utf-8").replace('"', "").replace("'", ""), path


@pytest.mark.parametrize(
    ("word", "page"),
    [
        ("slowdown", "glossary.html#term-slowdown"),
        ("transfer+policy", "glossary.html#term-transfer-policy"),
        ("preemptive", "papers/preemptive-migration"),
    ],
)
def test_search_works_from_files_alone(chromium, word, page):
    tab = chromium.new_page()
    asked = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(f"{(SITE / 'search.html').as_uri()}?q={word}")
    tab.wait_for_selector("#search-results li a", timeout=20_000)
    tab.wait_for_function("document.querySelector('#search-results p.search-summary').textContent.includes('found')")
    links = tab.eval_on_selector_all("#search-results li a", "links => links.map(link => link.getAttribute('href'))")
    tab.close()
    # A term is explained by the first thing found.
    assert any(page in link for link in (links[:1] if "#term-" in page else links)), links[:20]
    assert all(url.startswith("file:") for url in asked)


def test_a_recorded_run_plays_in_its_page_by_a_click(chromium):
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    said, asked = [], []
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{SITE}/index.html")
    assert page.locator(".live-player iframe").count() == 0
    page.locator(".live-player .play a").first.click()
    frame = page.frame_locator(".live-player iframe")
    frame.get_by_role("button", name="Migrations (", exact=False).click(timeout=30_000)
    assert "migrates" in frame.locator(".why h2").inner_text()
    assert said == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()
