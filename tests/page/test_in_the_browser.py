"""The page as it is seen: in chromium, served by `cluster-abm view`."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest
from browser import ABSENT, ROOT, Tab
from command import served

from cluster_abm import load_recording, load_scenario

pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"needs {', '.join(ABSENT)}: pip install '.[viz,browser]'")


def seed_is(number):
    return f"view.recordings[0].header.seed === {number}"


def test_a_setting_computes_a_new_run_and_the_clock_stays(tab):
    assert tab.policies == ["jsq"]
    tab.page.evaluate("desk().seek(12345)")
    tab.enter("Seed", 2)
    tab.shown(seed_is(2))
    assert tab.view("view.time") == 12345
    tab.choose("Compare with", "none")
    tab.shown("view.recordings.length === 2")
    assert tab.policies == ["jsq", "none"]
    assert tab.view("view.time") == 12345
    tab.choose("Compare with", "(off)")
    tab.shown("view.recordings.length === 1")
    tab.press("As the scenario says")
    tab.shown(seed_is(1))
    assert tab.page.get_by_label("Seed").input_value() == "1"
    tab.picture("one")


def test_cpu_and_disk_in_detail(tab):
    ask = tab.page.get_by_role("button", name="Show CPU and disk in detail")
    tab.page.evaluate("desk().set({hash: '#t=20.5&sel=node1&zoom=20-22'})")
    ask.click()
    tab.shown("view.recordings[0].detail.from === 19000 && view.recordings[0].detail.to === 23000", 120)
    assert tab.view("[view.time, view.from, view.to, view.selection.kind]") == [20500, 20000, 22000, "node"]
    assert not ask.is_visible()
    tab.picture("detail")
    # Another run has none.
    tab.enter("Seed", 2)
    tab.shown(f"{seed_is(2)} && !(view.recordings[0].detail.from >= 0)")
    tab.choose("Policy", "pooled")
    tab.shown("view.recordings[0].policy === 'pooled'")
    ask.click()
    tab.until(lambda: "'pooled' pools all nodes" in tab.page.locator(".asked").inner_text(), 60)
    assert tab.policies == ["pooled"]


def acts_are(number):
    return f"(view.recordings[0].header.summary.acts ?? []).length === {number}"


def test_what_if_a_node_fails_at_the_clock(tab, tmp_path):
    tab.page.evaluate("desk().set({hash: '#t=20.5&sel=node0'})")
    tab.press("Fail")
    tab.shown(acts_are(1))
    assert tab.view("view.time") == 20500
    assert tab.view("view.recordings[0].header.summary.acts[0]") == {
        "entry": 0, "at_s": 20.5, "act": "fail", "node": 0, "done": True, "why_not": "",
    }  # fmt: skip
    assert tab.view("view.recordings[0].failures.at[0]") == 20500
    # Beside it the same run without the act: they part there.
    tab.press("Compare without acts")
    tab.shown("view.recordings.length === 2")
    assert tab.view("view.names") == ["jsq, with 1 act", "jsq, without acts"]
    tab.press("First different event at 20.50 s")
    tab.picture("what-if")
    # Moved by its pin, undone and redone.
    tab.page.get_by_role("button", name="Act at 20.50 s").focus()
    tab.page.keyboard.press("Shift+ArrowRight")
    tab.shown("view.recordings[0].header.summary.acts[0].at_s === 21.5")
    tab.press("Undo")
    tab.shown("view.recordings[0].header.summary.acts[0].at_s === 20.5")
    tab.press("Redo")
    tab.shown("view.recordings[0].header.summary.acts[0].at_s === 21.5")
    address = tab.page.url
    assert "script=fail%4021.5%3An0" in address
    # What is downloaded gives the same recording, byte for byte.
    tab.choose("Compare with", "(off)")
    tab.shown("view.recordings.length === 1")
    found = {}
    for kind in ("toml", "recording"):
        tab.press("Download")
        with tab.page.expect_download() as download:
            tab.page.locator(f"[data-kind={kind}]").click()
        found[kind] = tmp_path / f"page.{kind}"
        download.value.save_as(found[kind])
    by_hand = [sys.executable, "-m", "cluster_abm", "run", found["toml"], "--record", tmp_path / "by-hand.rec"]
    subprocess.run(by_hand, check=True, capture_output=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    assert (tmp_path / "by-hand.rec").read_bytes() == found["recording"].read_bytes()
    tab.page.reload()
    tab.shown(acts_are(1))
    # Acts that were there from the beginning are none to undo.
    undo = tab.page.get_by_role("button", name="Undo")
    assert undo.get_attribute("aria-disabled") == "true"
    # An act that cannot be is said beside the acts, and the picture stays.
    tab.page.evaluate("desk().set({hash: '#t=30&sel=node1'})")
    tab.page.get_by_label("times as fast").fill("0")
    # What is typed stays when the panel is drawn for another node.
    tab.page.evaluate("desk().set({hash: '#t=30&sel=node2'})")
    tab.page.get_by_role("heading", name="Node 2").wait_for()
    tab.page.evaluate("desk().set({hash: '#t=30&sel=node1'})")
    tab.page.get_by_role("heading", name="Node 1").wait_for()
    # The same mistake again takes nothing away from what is right.
    for _ in range(2):
        tab.press("Arrivals from here")
        tab.until(lambda: "script.1.factor" in tab.page.locator(".what-if .wrong-value").inner_text())
        # The words stand there already when it comes for the second time.
        tab.page.wait_for_timeout(700)
    tab.press("Fail")
    tab.shown(acts_are(2))
    assert tab.view("view.time") == 30000
    # By keys among the settings, too.
    undo.focus()
    tab.page.keyboard.press("Control+z")
    tab.shown(acts_are(1))
    tab.press("As the scenario says")
    tab.shown(acts_are(0))


def test_settings_are_in_the_address(open_tab):
    tab = open_tab()
    tab.enter("Seed", 2)
    tab.shown(seed_is(2))
    tab.choose("Compare with", "none")
    tab.shown("view.recordings.length === 2")
    assert "?other=none&seed=2" in tab.page.url
    tab.page.evaluate("desk().seek(30000)")
    tab.until(lambda: "t=30" in tab.page.url)
    tab.page.reload()
    tab.shown(f"{seed_is(2)} && view.recordings.length === 2")
    assert tab.view("view.time") == 30000
    assert tab.page.get_by_label("Compare with").input_value() == "none"
    tab.press("As the scenario says")
    tab.shown(f"{seed_is(1)} && view.recordings.length === 1")
    tab.page.go_back()
    tab.shown(f"{seed_is(2)} && view.recordings.length === 2")
    assert tab.page.get_by_label("Seed").input_value() == "2"
    tab.page.go_forward()
    tab.shown(f"{seed_is(1)} && view.recordings.length === 1")


def test_an_address_is_taken_as_far_as_it_can_be(open_tab):
    tab = open_tab(query="?nodes=4&policy=mine.py:Mine&seed=-3&slice_ms=soon")
    tab.shown("view.recordings[0].nodes === 4")
    assert tab.policies == ["jsq"]
    assert "run.seed = -3" in tab.wrong("seed")
    assert "'soon': a number is needed" in tab.wrong("slice_ms")


def ordered(page, items, sought):
    text = (ROOT / "viz" / "page" / "ordering.js").read_text().replace("export function", "function")
    found = page.evaluate(f"([items, sought]) => {{ {text}; return ordered(items, sought); }}", [items, sought])
    return [one["value"] for one in found]


def test_the_order_of_what_is_found(chromium):
    page = chromium.new_page()
    items = [
        {"value": value, "summary": summary, "also": also}
        for value, summary, also in (
            ("conservative", "none but idle nodes", ""), ("iocm-none", "", ""), ("none-at-all", "", ""),
            ("none", "every task stays", "No Policy"), ("jsq", "to the shortest queue", "Join Shortest Queue"),
        )
    ]  # fmt: skip
    # The exact name, names that begin so, names that have it, then words of the summary.
    assert ordered(page, items, "none") == ["none", "none-at-all", "iocm-none", "conservative"]
    assert ordered(page, items, " NONE ") == ["none", "none-at-all", "iocm-none", "conservative"]
    assert ordered(page, items, "queue short") == ["jsq"]
    assert ordered(page, items, "join") == ["jsq"]
    assert ordered(page, items, "") == [one["value"] for one in items]
    assert ordered(page, items, "no-such") == []
    # A name of the package is found first by that name.
    names = [{"value": name, "summary": "", "also": ""} for name in ("eagle", "hawk", "iocm-pm", "iocm-re", "jiq")]
    for one in names:
        assert ordered(page, names, one["value"])[0] == one["value"]
    page.close()


def test_a_policys_name_and_enter_take_that_policy(tab):
    field = tab.labelled("Policy")
    for name in ("none", "random", "wal-pm", "iocm-re", "hawk"):
        field.click()
        field.fill(name)
        field.press("Enter")
        # What is chosen, whether or not it can run here.
        assert field.input_value() == name


def test_a_search_finds_policies_by_name_and_by_what_they_do(tab):
    field = tab.labelled("Policy")
    field.click()
    names = tab.page.locator("#list-policy:visible .name")
    field.fill("idle steal")
    assert {"hawk"} <= set(names.all_inner_texts())
    assert names.count() < 6
    field.fill("join the short")
    assert names.all_inner_texts()[0] == "jsq"
    tab.picture("search")
    field.press("Escape")
    assert names.count() == 0
    assert field.input_value() == "jsq"


def test_what_is_offered_can_be_downloaded(tab, tmp_path):
    tab.choose("Compare with", "none")
    tab.shown("view.recordings.length === 2")
    stem = "page-jsq-none-seed-1"
    found = {}
    for kind in ("png", "html", "recording", "jobs", "decisions", "toml"):
        tab.press("Download")
        with tab.page.expect_download() as download:
            tab.page.locator(f"[data-kind={kind}]").click()
        assert download.value.suggested_filename.startswith(f"{stem}.")
        found[kind] = tmp_path / download.value.suggested_filename
        download.value.save_as(found[kind])
    assert found["png"].read_bytes().startswith(b"\x89PNG")
    assert "<cluster-player" in found["html"].read_text()
    assert load_recording(found["recording"], "none").meta["seed"] == 1
    jobs = pd.read_parquet(found["jobs"])
    assert jobs[["run", "policy"]].drop_duplicates().to_numpy().tolist() == [["A", "jsq"], ["B", "none"]]
    assert {"rule", "policy"} <= {*pd.read_parquet(found["decisions"])}
    assert load_scenario(found["toml"]).policy.name == "jsq"


def test_what_cannot_be_is_said_beneath_its_field_and_the_picture_stays(tab):
    tab.enter("Nodes", -3)
    tab.until(lambda: "cluster.nodes = -3" in tab.wrong("nodes"))
    field = tab.page.get_by_label("Nodes", exact=True)
    assert field.input_value() == "-3"
    assert field.get_attribute("aria-invalid") == "true"
    assert tab.view("view.recordings[0].nodes") == 8
    tab.picture("refused")
    tab.enter("Nodes", 4)
    tab.shown("view.recordings[0].nodes === 4")
    assert tab.wrong("nodes") == ""


LARGE = "allowed is less than 2^63"


WRONG = [
    ("Seed", "seed", "1" * 5000, "2", LARGE), ("Nodes", "nodes", "-" + "1" * 5000, "8", LARGE),
    ("Workload intensity", "intensity", "1e400", "1.0", "a finite number is needed"),
    ("Workload intensity", "intensity", "nan", "1.0", "a finite number is needed"),
    ("Nodes", "nodes", "8.5", "8", "a whole number is needed"), ("I/O rate", "io_per_ms", "much", "0.1", "is needed"),
    ("Nodes", "nodes", "4097", "8", "cluster.nodes = 4097: the page runs at most 4,096 nodes"),
]  # fmt: skip


def test_numbers_that_are_none_or_too_large_are_refused_in_few_words(tab):
    """One after another in one tab: to open one takes longer than all of them."""
    for field, name, text, right, words in WRONG:
        tab.enter(field, text)
        tab.until(lambda name=name, words=words: words in tab.wrong(name))
        assert len(tab.wrong(name)) < 300
        tab.enter(field, right)
        tab.until(lambda name=name: tab.wrong(name) == "")


def test_a_preset_of_hardware_is_chosen_and_the_offered_load_follows(tab):
    offered = tab.page.locator(".offered")
    assert tab.until(offered.inner_text).startswith("Offered load: CPU 5")
    # A load of 0.5 keeps eight cores of five times the speed busy with forty times the jobs: a page runs so many only.
    tab.choose("Hardware of the nodes", "hdd-2015")
    tab.until(lambda: "cluster.hardware = hdd-2015: together" in tab.wrong("hardware"))
    tab.enter("Workload intensity", 0.02)
    tab.until(lambda: offered.inner_text().startswith("Offered load: CPU 1"), 60)
    assert tab.labelled("Hardware of the nodes").input_value() in ("hdd-2015", "as the scenario says")


def test_an_exception_in_a_policy_is_told_with_what_came_before_and_the_page_lives_on(tab):
    tab.choose("Policy", "faulty")
    tab.until(lambda: "RuntimeError: lost my <marbles>" in tab.progress, 60)
    assert "the run ends at 10.0" in tab.progress
    tab.shown("view.recordings[0].policy === 'faulty'")
    assert 10_000 <= tab.view("view.end") < 10_100
    tab.picture("error")
    tab.choose("Policy", "unready")
    tab.until(lambda: "RuntimeError: not even <begun>" in tab.progress, 60)
    # The old picture stays.
    assert tab.policies == ["faulty"]
    tab.choose("Policy", "jsq")
    tab.shown("view.recordings[0].policy === 'jsq'")
    tab.until(lambda: "RuntimeError" not in tab.progress)


def test_a_policy_that_does_not_return_is_said_and_can_be_stopped_and_no_other_tab_is_disturbed(open_tab):
    tab, other = open_tab(), open_tab()
    tab.choose("Policy", "endless")
    tab.until(lambda: "endless: running, 0 %" in tab.progress, 60)
    for seed in (2, 3):
        other.enter("Seed", seed)
        other.shown(seed_is(seed))
    tab.until(lambda: "the policy has not returned for" in tab.progress, 60)
    tab.picture("endless")
    tab.press("Stop")
    tab.until(lambda: "Stopped." in tab.progress)
    assert tab.labelled("Policy").input_value() == "jsq"
    assert tab.policies == ["jsq"]
    tab.enter("Seed", 5)
    tab.shown(seed_is(5))


def test_a_policy_that_leaves_the_program_ends_its_run_only(tab):
    tab.choose("Policy", "leaving")
    tab.until(lambda: "'leaving'" in tab.progress, 60)
    tab.choose("Policy", "none")
    tab.shown("view.recordings[0].policy === 'none'")


def test_every_control_has_a_tooltip_that_comes_by_mouse_and_keyboard_and_covers_no_field(tab):
    without = """all => all.filter(one => !(one.closest('[data-tip]') || {dataset: {tip: ''}}).dataset.tip.trim())
        .map(one => one.outerHTML.slice(0, 200))"""
    for what in (".fields input", ".foot > button", ".download > button"):
        assert tab.page.locator(what).evaluate_all(without) == [], what
    tip = tab.page.locator("#tip:visible")
    tab.page.get_by_label("Exchange period").hover()
    tip.wait_for()
    assert "time from one load report of a manager to the next" in tip.inner_text().lower()
    assert "cluster.exchange_period_ms" in tip.inner_text()
    box, panel = tip.bounding_box(), tab.page.locator(".panel").first.bounding_box()
    assert box["x"] >= panel["x"] + panel["width"]
    tab.page.mouse.move(700, 5)
    tab.until(lambda: tip.count() == 0)
    tab.page.get_by_label("Seed").focus()
    tab.page.keyboard.press("Shift+Tab")
    tip.wait_for()
    assert "time slice" in tip.inner_text().lower()
    tab.page.keyboard.press("Escape")
    tab.until(lambda: tip.count() == 0)


def test_the_players_keys_are_no_keys_of_fields(tab):
    field = tab.page.get_by_label("Seed")
    field.focus()
    tab.page.keyboard.press("Space")
    assert not tab.view("view.playing")


def test_too_many_tabs_are_said_and_one_that_is_loaded_anew_or_closed_makes_room(chromium, folder):
    with served(folder, "--max-tabs", "2", "--max-tabs-each", "2") as (_, port):
        address = f"http://127.0.0.1:{port}"
        context = chromium.new_context()
        first, second = Tab(context, address), Tab(context, address)
        third = context.new_page()
        third.goto(address)
        assert "too many tabs are open: this page has places for 2" in third.locator("body").inner_text()
        third.close()
        first.page.reload()
        first.shown()
        third = context.new_page()
        third.goto(address)
        assert "too many tabs" in third.locator("body").inner_text()
        second.page.goto("about:blank")
        third.wait_for_selector("cluster-player .stages", timeout=30_000)
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
        assert inner.query_selector("cluster-player") is None
    context.close()


def test_a_recording_is_shown_without_settings(chromium, folder):
    from cluster_abm import record

    path = folder / "kept.rec"
    record("quickstart", "jsq", seed=3, workload__duration_s=5).save(path)
    with served(folder, scenario="kept.rec") as (_, port):
        context = chromium.new_context(viewport={"width": 1280, "height": 800})
        tab = Tab(context, f"http://127.0.0.1:{port}")
        tab.shown(seed_is(3))
        assert tab.page.get_by_label("Seed").count() == 0
        tab.press("Download")
        kinds = tab.page.locator("[data-kind]").evaluate_all("all => all.map(one => one.dataset.kind)")
        assert kinds == ["png", "html", "jobs", "decisions"]
        assert json.dumps(tab.errors) == "[]"
        context.close()
