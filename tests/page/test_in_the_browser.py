"""The page as it is seen: in chromium, served by `cluster-abm view`."""

import pandas as pd
import pytest
from browser import ABSENT, Tab
from command import served

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"needs {', '.join(ABSENT)}: pip install '.[viz,browser]'")


def test_it_loads_and_is_whole(tab):
    assert tab.clock_s == 0
    assert tab.page.locator("g.node").count() == 8
    assert len(set(tab.fills())) == 1
    tab.steps(15)
    assert cut(tab) == []
    tab.picture("one")


def cut(tab):
    """Panels that are cut, by the window, or what they hold by the panel (test_page_fits looks at more)."""
    find = """panels => panels.filter(panel => {
        const box = panel.getBoundingClientRect();
        return box.right > innerWidth || box.bottom > innerHeight || panel.scrollHeight > panel.clientHeight + 1
            || panel.scrollWidth > panel.clientWidth + 1;
    }).map(panel => panel.className)"""
    return tab.page.locator(".panel, .controls").evaluate_all(find)


def test_a_step_advances_the_clock_by_a_frame(tab):
    tab.steps(2)
    assert tab.clock_s == 2.0
    tab.enter("Simulated time a frame", 250)
    tab.steps(1)
    assert tab.clock_s == 2.25


def test_colours_change_under_load_and_a_task_is_seen_to_move(tab):
    tab.until(lambda: tab.press("Step") or len(set(tab.fills())) > 1)
    tab.until(lambda: tab.press("Step") or tab.page.locator("g.move").count() > 0)
    tab.picture("moves")
    assert tab.page.locator(".panel-talk tbody tr").count() > 1
    tab.page.locator(".panel-talk tbody tr").first.click()
    tab.until(lambda: "tasks done" in tab.page.locator(".panel-talk").inner_text())
    assert cut(tab) == []
    tab.picture("life")


def test_play_pause_and_reset(tab):
    tab.press("Play")
    tab.until(lambda: tab.clock_s >= 5)
    tab.press("Pause")
    tab.page.get_by_role("button", name="Play").wait_for()
    stopped_s = tab.clock_s
    tab.page.wait_for_timeout(400)
    assert tab.clock_s == stopped_s
    tab.press("Play")
    tab.until(lambda: tab.clock_s > stopped_s)
    tab.press("Reset")
    tab.until(lambda: tab.clock_s == 0)
    tab.page.wait_for_timeout(400)
    assert tab.clock_s == 0


def test_another_policy_begins_anew_on_the_same_jobs(tab):
    tab.steps(20)
    submitted = tab.page.locator(".numbers tr", has_text="jobs submitted").inner_text()
    tab.choose("Policy", "none")
    tab.until(lambda: tab.clock_s == 0)
    tab.until(lambda: "none" in tab.page.locator(".numbers thead").inner_text())
    tab.steps(20)
    assert tab.page.locator(".numbers tr", has_text="jobs submitted").inner_text() == submitted
    assert tab.page.locator(".numbers tr", has_text="started elsewhere").inner_text().split()[-1] == "0"


def test_a_preset_of_hardware_is_chosen_and_the_offered_load_follows(tab):
    offered = tab.page.locator(".offered")
    before = tab.until(offered.inner_text)
    assert before.startswith("offered load: CPU 0.5")
    assert tab.page.get_by_label("Hardware of the nodes").input_value() == "as the scenario says"
    # A load of 0.5 keeps eight cores of five times the speed busy with forty times the jobs: a page runs so many only.
    tab.choose("Hardware of the nodes", "hdd-2015")
    tab.until(lambda: "cluster.hardware = hdd-2015: together" in tab.wrong("hardware"))
    tab.enter("Workload intensity", 0.5)
    tab.until(lambda: offered.inner_text().startswith("offered load: CPU 0.25"))
    assert tab.wrong("hardware") == ""
    tab.until(lambda: "per core" in tab.page.locator(".panel-map0").inner_text())
    tab.steps(3)
    assert cut(tab) == []
    tab.picture("hardware")


def test_what_is_seen_can_be_kept(tab):
    tab.steps(5)
    for name, begins in (("PNG", b"\x89PNG"), ("Parquet", b"PAR1")):
        with tab.page.expect_download() as download:
            tab.press(name)
        with open(download.value.path(), "rb") as file:
            assert file.read(4) == begins


def test_two_policies_side_by_side(tab):
    tab.choose("Beside it", "none")
    tab.until(lambda: tab.page.locator(".panel-map1 g.node").count() == 8)
    tab.steps(25)
    row = tab.page.locator(".numbers tr", has_text="started elsewhere").locator("td").all_inner_texts()
    here, there, difference = (float(text.replace(",", "")) for text in row)
    assert here > 0
    assert there == 0
    assert difference == -here
    assert cut(tab) == []
    with tab.page.expect_download() as download:
        tab.press("Parquet")
    kept = pd.read_parquet(download.value.path())
    assert kept[["run", "policy"]].drop_duplicates().to_numpy().tolist() == [["A", "jsq"], ["B", "none"]]
    accepted = tab.page.locator(".panel-talk .yes").filter(has_text="accepted")
    assert accepted.count() > 0
    cut_off = "cells => cells.map(cell => cell.parentElement.scrollWidth > cell.parentElement.clientWidth)"
    assert not any(accepted.evaluate_all(cut_off))
    tab.picture("two")


def test_other_nodes_and_colours(tab):
    tab.enter("Nodes", 20)
    tab.until(lambda: tab.page.locator("g.node").count() == 20)
    tab.choose("Nodes coloured by", "Load class")
    tab.until(lambda: "idle" in tab.page.locator(".panel-map0").inner_html())
    tab.steps(5)
    tab.picture("classes")


def test_what_cannot_be_is_said_beneath_its_field_and_the_run_goes_on(tab):
    tab.steps(2)
    tab.enter("Nodes", -3)
    tab.until(lambda: "cluster.nodes = -3" in tab.wrong("nodes"))
    field = tab.page.get_by_label("Nodes", exact=True)
    assert field.input_value() == "-3"
    assert field.get_attribute("aria-invalid") == "true"
    tab.picture("refused")
    assert tab.page.locator(".panel-error").count() == 0
    tab.steps(1)
    assert tab.clock_s == 3.0
    assert tab.page.locator("g.node").count() == 8
    assert field.input_value() == "-3"
    tab.enter("Nodes", 4)
    tab.until(lambda: tab.page.locator("g.node").count() == 4)
    assert tab.wrong("nodes") == ""
    # A reset shows what the run has.
    tab.enter("Seed", "some")
    tab.until(lambda: "a whole number is needed" in tab.wrong("seed"))
    tab.press("Reset")
    tab.until(lambda: tab.wrong("seed") == "")
    assert tab.page.get_by_label("Seed").input_value() == "1"


def test_a_search_finds_policies_by_name_and_by_what_they_do(tab):
    field = tab.page.get_by_label("Policy", exact=True)
    field.click()
    titles = tab.page.locator(".menuable__content__active .v-list-item__title")
    field.fill("idle steal")
    tab.until(lambda: {"hawk"} <= set(titles.all_inner_texts()) and titles.count() < 6)
    assert "iolb" not in titles.all_inner_texts()
    assert all(tab.page.locator(".menuable__content__active .choice-summary").all_inner_texts())
    # A policy is known by its abbreviation, and by what that stands for.
    field.fill("join the short")
    tab.until(lambda: titles.all_inner_texts()[:1] == ["jsq"] and titles.count() < 6)
    field.fill("power-of-d")
    tab.until(lambda: titles.all_inner_texts() == ["power-of-d"])
    tab.picture("search")
    field.press("Enter")
    tab.until(lambda: "power-of-d" in tab.page.locator(".numbers thead").inner_text())
    assert "power-of-d" in tab.page.locator(".notice").inner_text()


def test_a_second_policy_is_announced_to_start_the_run_again(tab):
    tab.steps(3)
    assert "a change starts it again from 0 s" in tab.page.locator(".group-title").nth(1).inner_text()
    tab.choose("Beside it", "none")
    tab.until(lambda: tab.clock_s == 0)
    notice = tab.page.locator(".notice.shown")
    notice.wait_for()
    assert notice.inner_text() == "Started again from 0 s: A jsq and B none beside it, on the same jobs."


def tips(tab):
    """Each thing that has a tooltip, by what the tooltip says."""
    return tab.page.locator("[data-tip]").evaluate_all("all => all.map(one => one.dataset.tip.trim())")


def test_every_control_and_every_quantity_has_a_tooltip(tab):
    tab.choose("Beside it", "none")
    tab.until(lambda: tab.page.locator(".panel-map1 g.node").count() == 8)
    tab.steps(5)
    without = """all => all.filter(one => !(one.closest('[data-tip]') || {dataset: {tip: ''}}).dataset.tip.trim())
        .map(one => one.outerHTML.slice(0, 200))"""
    for what in (
        ".controls input:not([type=hidden])", ".controls button", ".stage h2", ".numbers tbody th",
        ".numbers th:last-child",
        ".panel-talk tbody tr", ".panel-talk thead th", ".panel-lines svg > g > text:first-child",
        ".panel-heat0 svg > g > text:first-child", ".legend > g:first-child",
    ):  # fmt: skip
        found = tab.page.locator(what)
        assert found.evaluate_all(without) == [], what
        assert found.count() or "thead" in what, what
    # What is no control can be reached by the keyboard too.
    assert tab.page.locator(".numbers tbody th:not([tabindex])").count() == 0
    assert min(map(len, tips(tab))) > 10


def test_a_tooltip_comes_by_mouse_by_keyboard_and_goes(tab):
    tip = tab.page.locator("#tip.shown")
    tab.page.get_by_label("Exchange period").hover()
    tip.wait_for()
    assert "time from one load report of a manager to the next" in tip.inner_text().lower()
    assert "cluster.exchange_period_ms" in tip.inner_text()
    tab.page.mouse.move(700, 5)
    tab.until(lambda: tip.count() == 0)
    tab.page.get_by_label("Seed").focus()
    tab.page.keyboard.press("Shift+Tab")
    tip.wait_for()
    assert "time slice" in tip.inner_text().lower()
    assert tab.page.locator(":focus").get_attribute("aria-describedby") == "tip"
    tab.page.keyboard.press("Escape")
    tab.until(lambda: tip.count() == 0)
    # A quantity keeps the focus while the page goes on.
    tab.page.locator(".numbers tbody th", has_text="load imbalance").focus()
    tab.page.keyboard.press("Shift+Tab")
    tip.wait_for()
    assert "service" in tip.inner_text()
    for _ in range(2):
        tab.page.get_by_role("button", name="Step", exact=True).evaluate("one => one.click()")
        tab.page.wait_for_timeout(400)
    assert tab.page.locator(":focus").inner_text() == "disk busy now"


def test_an_exception_in_a_step_is_shown_and_the_page_lives_on(tab):
    tab.choose("Policy", "faulty")
    tab.until(lambda: "faulty" in tab.page.locator(".numbers thead").inner_text())
    tab.press("Play")
    tab.page.locator(".panel-error").wait_for(timeout=20_000)
    assert "RuntimeError: lost my <marbles>" in tab.page.locator(".panel-error").inner_text()
    tab.picture("error")
    # The message stays in sight, and hides nothing that could not be scrolled to.
    tab.page.locator(".stage").evaluate("stage => { stage.scrollTop = stage.scrollHeight }")
    covered = """banner => {
        const top = banner.getBoundingClientRect().top;
        const others = [...document.querySelectorAll('.panel:not(.panel-error)')];
        return others.filter(panel => panel.getBoundingClientRect().bottom > top).map(panel => panel.className);
    }"""
    assert tab.page.locator(".panel-error").evaluate(covered) == []
    tab.choose("Policy", "jsq")
    tab.until(lambda: tab.page.locator(".panel-error").count() == 0)
    tab.steps(1)
    assert tab.clock_s == 1.0


def test_an_exception_before_the_first_step_is_shown_and_the_page_lives_on(tab):
    tab.choose("Policy", "unready")
    tab.until(lambda: "RuntimeError: not even <begun>" in tab.page.locator(".panel-error").inner_text())
    tab.picture("unready")
    tab.choose("Policy", "jsq")
    tab.until(lambda: tab.page.locator(".panel-error").count() == 0)
    tab.steps(1)


@pytest.mark.parametrize(("field", "name", "text", "right", "clock_s"), [
    ("Workload intensity", "intensity", "nan", "1.0", 1), ("Workload intensity", "intensity", "inf", "2", 0),
    ("I/O rate", "io_per_ms", "much", "0.1", 0), ("Nodes", "nodes", "8.5", "8", 1),
    ("Simulated time a frame", "frame_ms", "soon", "500", 1),
])  # fmt: skip
def test_what_is_no_number_is_said(tab, field, name, text, right, clock_s):
    """Put right as it was before, the run goes on; another value begins anew."""
    tab.steps(1)
    tab.enter(field, text)
    tab.until(lambda: f"'{text}': a " in tab.wrong(name))
    assert "number is needed" in tab.wrong(name)
    assert tab.page.locator(".panel-error").count() == 0
    tab.enter(field, right)
    tab.until(lambda: tab.wrong(name) == "" and tab.clock_s == clock_s)
    tab.steps(1)


def test_long_names_beside_each_other_fit(tab):
    tab.choose("Policy", "memory-based")
    tab.choose("Beside it", "no-ls-blocking")
    tab.until(lambda: "no-ls-blocking" in tab.page.locator(".numbers thead").inner_text())
    tab.steps(12)
    assert cut(tab) == []
    assert tab.page.locator(".numbers").evaluate("table => table.scrollWidth <= table.parentElement.clientWidth")
    wide = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.innerText)"
    assert tab.page.locator(".numbers th, .numbers td").evaluate_all(wide) == []
    tab.picture("long-names")


def test_two_tabs_do_not_share_a_run(open_tab):
    first = open_tab()
    second = open_tab(first.page.context)
    first.steps(3)
    assert (first.clock_s, second.clock_s) == (3.0, 0.0)
    second.enter("Nodes", 5)
    second.until(lambda: second.page.locator("g.node").count() == 5)
    assert first.page.locator("g.node").count() == 8
    assert first.clock_s == 3.0


LARGE = "allowed is less than 2^63"


@pytest.mark.parametrize(("field", "name", "text", "right", "words"), [
    ("Seed", "seed", "1" * 400, "2", LARGE), ("Seed", "seed", "1" * 5000, "2", LARGE),
    ("Nodes", "nodes", "1" * 400, "8", LARGE), ("Nodes", "nodes", "-" + "1" * 5000, "8", LARGE),
    ("Seed", "seed", "1e400", "2", "a whole number is needed"),
    ("Workload intensity", "intensity", "1e400", "1.0", "a finite number is needed"),
    ("Workload intensity", "intensity", "1" * 5000, "1.0", "a finite number is needed"),
    ("Nodes", "nodes", "4097", "8", "cluster.nodes = 4097: the page runs at most 4,096 nodes"),
], ids=lambda text: text[:20] + str(len(text)))  # fmt: skip
def test_numbers_beyond_measure_are_refused_in_few_words(tab, field, name, text, right, words):
    tab.enter(field, text)
    tab.until(lambda: words in tab.wrong(name))
    assert len(tab.wrong(name)) < 300
    assert "Error" not in tab.wrong(name)
    tab.enter(field, right)
    tab.until(lambda: tab.wrong(name) == "")
    tab.steps(1)


def test_a_policy_that_does_not_return_is_stopped_and_no_other_tab_is_disturbed(open_tab):
    tab, other = open_tab(), open_tab()
    tab.choose("Policy", "endless")
    tab.until(lambda: "endless" in tab.page.locator(".numbers thead").inner_text())
    tab.press("Play")
    tab.page.get_by_role("button", name="Pause").wait_for()
    other.steps(2)
    tab.press("Pause")
    tab.page.locator(".panel-error").wait_for(timeout=20_000)
    said = tab.page.locator(".panel-error").inner_text()
    assert "policy 'endless' had not returned for " in said
    assert said.endswith(" s when it was stopped")
    tab.picture("endless")
    other.steps(1)
    # A step that does not end, and then another policy.
    tab.press("Reset")
    tab.until(lambda: tab.page.locator(".panel-error").count() == 0)
    tab.press("Step")
    tab.choose("Policy", "jsq")
    tab.until(lambda: "jsq" in tab.page.locator(".numbers thead").inner_text())
    tab.until(lambda: tab.page.locator(".panel-error").count() == 0)
    tab.steps(2)
    assert tab.clock_s == 2.0


def test_a_policy_that_leaves_the_program_ends_its_run_only(tab):
    tab.choose("Policy", "leaving")
    tab.until(lambda: "leaving" in tab.page.locator(".numbers thead").inner_text())
    tab.press("Play")
    tab.page.locator(".panel-error").wait_for(timeout=20_000)
    assert "'leaving'" in tab.page.locator(".panel-error").inner_text()
    tab.choose("Policy", "jsq")
    tab.until(lambda: tab.page.locator(".panel-error").count() == 0)
    tab.steps(1)


def test_a_page_begins_with_the_scenarios_own_policy(tab):
    assert "jsq" in tab.page.locator(".numbers thead").inner_text()


def test_too_many_tabs_are_said_and_one_that_is_loaded_anew_or_closed_makes_room(chromium, folder):
    with served(folder, "--max-tabs", "2", "--max-tabs-each", "2") as (_, port):
        address = f"http://127.0.0.1:{port}"
        context = chromium.new_context()
        first, second = Tab(context, address), Tab(context, address)
        first.steps(1)
        third = context.new_page()
        third.goto(address)
        assert "too many tabs are open: this page has places for 2" in third.locator("body").inner_text()
        third.close()
        first.page.reload()
        first.page.wait_for_selector(".stage svg circle", timeout=30_000)
        first.steps(1)
        third = context.new_page()
        third.goto(address)
        assert "too many tabs" in third.locator("body").inner_text()
        second.page.goto("about:blank")
        third.wait_for_selector(".stage svg circle", timeout=30_000)
        context.close()


def test_another_page_can_neither_read_it_nor_frame_it_nor_connect(chromium, address):
    """A page of another origin, in the same browser."""
    context = chromium.new_context()
    page = context.new_page()
    page.route("http://evil.example/**", lambda route: route.fulfill(body="<p>evil</p>", content_type="text/html"))
    page.goto("http://evil.example/")
    script = """address => new Promise(resolve => {
        const socket = new WebSocket(address.replace('http', 'ws') + '/jupyter/api/kernels/x/channels?session_id=1');
        socket.onopen = () => resolve('open');
        socket.onerror = () => resolve('refused');
    })"""
    assert page.evaluate(script, address) == "refused"
    framed = """address => new Promise(resolve => {
        const frame = document.createElement('iframe');
        frame.onload = () => resolve(frame.contentWindow.length);
        frame.src = address;
        document.body.append(frame);
    })"""
    # The same from an origin of the page's own, where nothing but its header forbids it.
    for origin in ("http://evil.example/", f"{address}/"):
        page.goto(origin)
        page.evaluate(framed, address)
        # What the browser shows instead; the page itself would need a moment to be whole.
        page.wait_for_timeout(3000)
        [inner] = page.main_frame.child_frames
        assert not inner.url.startswith(address)
        assert inner.query_selector(".stage") is None
    context.close()
