"""In at most three clicks or keys: which task moved, from where to where, why, and what became of it."""

import math

import numpy as np
import pytest
from recorded import eventful

from cluster_abm.engine.tables import LOST

# Buttons to press, then the event: two clicks, for a task that was lost a third one for its decision.
WALKS = [
    ("Remote starts", "remote start"),
    ("Migrations", "migration"),
    ("Refused", "refused"),
    ("Did not pay", "did not pay"),
]


def decision_of(tab):
    """The row of the decision that is selected."""
    assert tab.run("p.view.selection.kind") == "decision"
    table = eventful().tables["decisions"]
    return table.slice(tab.run("p.view.selection.id"), 1).to_pylist()[0]


def finish_ms_of(task):
    tasks = eventful().tables["tasks"].to_pandas().set_index("task")
    return tasks.loc[task, "finish_ns"] / 1e6, tasks.loc[task]


def in_words(ms):
    """A duration, as the player writes it."""
    if ms < 99.5:
        return f"{float(f'{ms:.1f}') if ms < 10 else round(ms):g} ms"
    return f"{float(f'{ms / 1000:.2f}'):g} s" if ms < 995 else f"{float(f'{ms / 1000:.1f}'):g} s"


def look(tab, said, goes_there=True):
    """All that has to be found, against the recording; a click on what is seen now leaves the clock where it is."""
    row, why = decision_of(tab), tab.why
    assert said in why
    assert f"ask {row['task']}" in why
    for node in (row["source"], row["target"]):
        assert f"node {node}" in why.lower()
    assert row["rule"] in why
    assert eventful().meta["rules"][row["rule"]][1] in why
    believed = why[why.index("believed") :].splitlines()[0]
    assert [float(value) for value in believed.split("\t")[1:]] == pytest.approx(
        [row["load_here"], row["load_there"]], rel=0.01
    )
    for name, words in (("io_ms", "disk work waiting"), ("cpu_ms", "CPU work waiting")):
        line = next(line for line in why.splitlines() if line.startswith(f"true: {words}"))
        for side in ("here", "there"):
            value = row[f"true_{side}_{name}"]
            assert ("none" if value == 0 else in_words(value)) in line
    age_ns = row["time_ns"] - row["told_ns"]
    if row["told_ns"] < 0:
        assert "had not reported" in why
    elif age_ns == 0:
        assert "knew the loads of this moment" in why
    else:
        assert f"was {in_words(age_ns / 1e6)} old" in why
    saves = row["response_here_ms"] - row["response_there_ms"] - row["cost_ms"]
    assert f"costs {in_words(row['cost_ms'])}" in why
    assert f"{'saves' if saves >= 0 else 'loses'} {in_words(abs(saves))}" in why
    assert "busiest" not in why
    finish_ms, task = finish_ms_of(row["task"])
    took = f"{'lost' if task['outcome'] == LOST else 'finished'}"
    assert took in why.lower()
    if goes_there:
        assert tab.time_s == pytest.approx(row["time_ns"] / 1e9, abs=1e-3)
    return row, why, finish_ms


@pytest.mark.parametrize(("button", "said"), WALKS)
def test_two_clicks_lead_to_a_move_and_all_about_it(show, files, button, said):
    tab = show(files / "one.html")
    tab.run("p.seek(31000)")
    tab.button(button).first.click()
    tab.frame()
    tab.page.locator(".event").nth(3).click()
    row, why, finish_ms = look(tab, said)
    estimate_ms = row["time_ns"] / 1e6 + row["response_here_ms"]
    if row["accepted"] and finish_ms_of(row["task"])[1]["outcome"] != LOST:
        assert ("did not pay" in why) == (finish_ms > estimate_ms)
    if said == "did not pay":
        assert row["accepted"]
        assert finish_ms > estimate_ms
    if said == "refused":
        assert not row["accepted"]
        assert row["reason"] in why


def test_a_task_that_was_lost_in_three_clicks(show, files):
    tab = show(files / "one.html")
    tab.button("Lost").first.click()
    tab.frame()
    tab.page.locator(".event", has_text="task").first.click()
    why = tab.why
    task = eventful().tables["tasks"].to_pandas().set_index("task")
    number = tab.run("p.view.recordings[0].taskOf(p.view.selection.id).task")
    assert task.loc[number, "outcome"] == LOST
    assert f"Task {number} of job {task.loc[number, 'job']}" in why
    assert "was lost with" in why
    assert "failed" in why
    moved = tab.page.locator(".why .decision .link")
    if moved.count():
        moved.first.click()
        look(tab, "lost")


def test_one_key_leads_to_the_next_move(show, files):
    tab = show(files / "one.html")
    tab.run("p.seek(20000)")
    tab.page.keyboard.press("n")
    row, _, _ = look(tab, "")
    decisions = eventful().tables["decisions"].to_pandas()
    after = decisions[(decisions["kind"] > 0) & (decisions["time_ns"] > 20e9)]
    assert row["time_ns"] == after["time_ns"].min()
    tab.page.keyboard.press("n")
    tab.page.keyboard.press("p")
    assert decision_of(tab)["task"] == row["task"]


def test_a_click_on_a_dot_selects_its_move(show, files):
    tab = show(files / "one.html")
    moves = eventful().tables["decisions"].to_pandas()
    chosen = moves[(moves["kind"] == 2) & moves["accepted"]].iloc[5]
    middle_ms = (chosen["leaves_ns"] + chosen["enters_ns"]) / 2e6
    tab.run(f"(p.set({{speed: 0.01}}), p.seek({middle_ms}))")
    tab.frame()
    places = tab.run("Array.from(p.screen.stages[0].dots.places.slice(0, 3 * p.screen.stages[0].dots.placed))")
    found = np.array(places).reshape(-1, 3)
    decisions = [tab.run(f"p.view.recordings[0].moves.decision[{int(row)}]") for row in found[:, 0]]
    at = decisions.index(int(chosen.name))
    # The dot that is drawn last lies above others at the same place.
    alone = [math.dist(found[at, 1:], other[1:]) > 1 for i, other in enumerate(found) if i != at]
    assert all(alone)
    tab.page.locator(".stage").click(position={"x": found[at, 1], "y": found[at, 2]})
    row, _, _ = look(tab, "migration", goes_there=False)
    assert row["task"] == chosen["task"]


def test_the_list_of_events_by_keys(show, files):
    tab = show(files / "one.html")
    tab.page.keyboard.press("/")
    tab.page.keyboard.type("migrations")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    look(tab, "migration")


def test_a_press_is_not_lost_when_the_list_is_drawn_anew(show, files):
    """During play the list is drawn anew with each frame: between the press of a button and its release, too."""
    tab = show(files / "one.html")
    tab.run("p.seek(31000)")
    tab.button("Migrations").first.click()
    tab.frame()
    tab.page.locator(".event").nth(10).hover()
    tab.page.mouse.down()
    for _ in range(3):
        tab.run("p.screen.events.draw(p.screen.events.palette)")
        tab.frame()
    tab.page.mouse.up()
    assert decision_of(tab)["accepted"]
