"""The player as a widget: a module with `render`, whose recordings can be changed while one looks."""

import base64

import pytest
from recorded import calm, eventful

import cluster_abm as ca
from cluster_abm.recording.payload import payload_of
from cluster_abm.recording.script import widget_script

# A model as anywidget hands it to `render`.
START = """async ([script, payloads]) => {
    const {default: {render}} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
    const bytes = payloads.map(text => new DataView(Uint8Array.from(atob(text), one => one.charCodeAt(0)).buffer));
    const values = {recordings: [bytes[0]], address: "#t=12.5&sel=node3", height: "600px",
        has_detail: true};
    const heard = {};
    const sent = [];
    const model = {
        get: name => values[name], set: (name, value) => { values[name] = value; }, save_changes: () => {},
        send: message => sent.push(message),
        on: (event, callback) => { heard[event] = callback; }, off: event => { delete heard[event]; },
    };
    const place = document.createElement("div");
    document.body.append(place);
    const end = render({model, el: place});
    Object.assign(globalThis, {values, heard, sent, place, end, bytes});
}"""

# Once it has been drawn.
CLOCK_STANDS = "place.shadowRoot.querySelector('.clock').value === '12.50 s'"


@pytest.fixture
def page(chromium):
    said = []
    page = chromium.new_page(viewport={"width": 1200, "height": 800})
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto("data:text/html,<!DOCTYPE html><title>widget</title>")
    texts = [base64.b64encode(payload_of(recording)).decode() for recording in (eventful(), calm())]
    page.evaluate(START, [widget_script(), texts])
    page.get_by_role("button", name="Play", exact=True).wait_for()
    yield page
    page.close()
    assert said == []


def test_other_recordings_take_the_place_and_the_clock_stays(page):
    page.wait_for_function(CLOCK_STANDS)
    assert "wal-pm" in page.locator(".stages").inner_text()
    page.get_by_label("Quantity of the lines").select_option("2")
    page.locator(".search").fill("refused")
    page.get_by_role("button", name="Dark or light").click()
    ground = "getComputedStyle(place.shadowRoot.querySelector('.stages')).backgroundColor"
    page.wait_for_timeout(50)
    dark = page.evaluate(ground)
    page.evaluate("(values.recordings = [bytes[1], bytes[0]], heard['change:recordings']())")
    page.get_by_role("button", name="First different decision").wait_for()
    page.wait_for_function(CLOCK_STANDS)
    assert "node 3" in page.locator(".why").inner_text()
    assert page.get_by_label("Quantity of the lines").input_value() == "2"
    assert page.locator(".search").input_value() == "refused"
    assert page.evaluate(ground) == dark


def test_what_is_seen_goes_back_as_an_address(page):
    page.locator(".stage").click(position={"x": 20, "y": 20})
    page.wait_for_function("values.address.includes('sel=node0')")
    page.evaluate("(values.address = '#t=20', heard['change:address']())")
    page.wait_for_function("place.shadowRoot.querySelector('.clock').value === '20.00 s'")


def test_nothing_is_left_when_it_is_closed(page):
    page.evaluate("end()")
    assert page.evaluate("[place.shadowRoot.childElementCount, Object.keys(heard).length]") == [0, 0]


def test_bytes_that_are_none_are_told(page):
    page.evaluate("(values.recordings = [new DataView(new ArrayBuffer(3))], heard['change:recordings']())")
    alert = page.get_by_role("alert")
    alert.wait_for()
    assert "is cut off" in alert.inner_text()
    page.evaluate("(values.recordings = [bytes[1]], heard['change:recordings']())")
    page.get_by_role("button", name="Play", exact=True).wait_for()


# What replaces the recordings by one, as anywidget does it.
REPLACE = """text => {
    values.recordings = [new DataView(Uint8Array.from(atob(text), one => one.charCodeAt(0)).buffer)];
    heard["change:recordings"]();
}"""


def test_detail_is_asked_for_where_the_window_is_short_and_what_is_seen_stays(page):
    ask = page.get_by_role("button", name="Show CPU and disk in detail")
    assert not ask.is_visible()
    page.get_by_label("Search events (/)").fill("node 3")
    page.locator(".timeline").focus()
    page.keyboard.press("c")
    assert "zoom in to 5 s or less first" in page.locator(".asked").inner_text()
    page.evaluate("(values.address = '#t=12.5&sel=node3&zoom=11-14', heard['change:address']())")
    ask.click()
    assert page.evaluate("sent") == [{"event": "detail", "from_s": 9.5, "to_s": 15.5}]
    assert page.locator(".asked").inner_text() == "Computing CPU and disk in detail …"
    assert not ask.is_visible()
    found = ca.detail_of(eventful(), 9.5, 15.5)
    page.evaluate(REPLACE, base64.b64encode(payload_of(found)).decode())
    page.get_by_text("exact from 9.50 s to 15.50 s").wait_for()
    assert not ask.is_visible()
    assert not page.locator(".asked").is_visible()
    # The player is the same one: also what no address holds has stayed.
    assert page.get_by_label("Search events (/)").input_value() == "node 3"
    page.wait_for_function(CLOCK_STANDS)
    assert "node 3" in page.locator(".why").inner_text()
    # Half a window on it is known, a whole one on it is not.
    for zoom, is_offered in (("12.4-15.4", False), ("14-17", True)):
        page.evaluate(f"(values.address = '#t=12.5&zoom={zoom}', heard['change:address']())")
        page.wait_for_timeout(50)
        assert ask.is_visible() is is_offered


def test_why_there_is_no_detail_is_told_in_a_line_until_one_goes_on(page):
    page.evaluate("(values.address = '#t=12.5&zoom=11-14', heard['change:address']())")
    ask = page.get_by_role("button", name="Show CPU and disk in detail")
    ask.click()
    page.evaluate("heard['msg:custom']({detail: 'policy <b>pooled</b> has none'})")
    assert page.locator(".asked").inner_text() == "policy <b>pooled</b> has none"
    assert ask.is_visible()
    page.evaluate("(values.address = '#t=12.5&zoom=12-15', heard['change:address']())")
    page.locator(".asked").wait_for(state="hidden")
