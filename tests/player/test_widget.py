"""The player as a widget: a module with `render`, whose recordings can be changed while one looks."""

import base64

import pytest
from recorded import calm, eventful

from cluster_abm.recording.payload import payload_of
from cluster_abm.recording.script import widget_script

# A model as anywidget hands it to `render`.
START = """async ([script, payloads]) => {
    const {default: {render}} = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
    const bytes = payloads.map(text => new DataView(Uint8Array.from(atob(text), one => one.charCodeAt(0)).buffer));
    const values = {recordings: [bytes[0]], address: "#t=12.5&sel=node3", height: "600px"};
    const heard = {};
    const model = {
        get: name => values[name], set: (name, value) => { values[name] = value; }, save_changes: () => {},
        on: (event, callback) => { heard[event] = callback; }, off: event => { delete heard[event]; },
    };
    const place = document.createElement("div");
    document.body.append(place);
    const end = render({model, el: place});
    Object.assign(globalThis, {values, heard, place, end, bytes});
}"""


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
    assert page.get_by_label("Time [s]").input_value() == "12.50 s"
    assert "wal-pm" in page.locator(".stages").inner_text()
    page.evaluate("(values.recordings = [bytes[1], bytes[0]], heard['change:recordings']())")
    page.get_by_role("button", name="First different decision").wait_for()
    assert page.get_by_label("Time [s]").input_value() == "12.50 s"
    assert "node 3" in page.locator(".why").inner_text()


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
