"""The table of negotiations, from decisions made by hand: order and number of rows, words, and numbers in tips."""

from __future__ import annotations

import pytest
from drawn import decision, frame, numbers, of_class, read, run_of

from cluster_abm.model.observing.watching import JobLife
from viz.talk import HEADS, negotiations

WIDE = (900.0, 300.0)


def table_of(*runs, size=WIDE, **more):
    return next(read(negotiations(list(runs), size, **more)).iter("table"))


def row_of(one, policy="jsq", size=WIDE):
    """The row of a table of one decision."""
    (row,) = table_of(run_of(frame(decisions=(one,)), policy=policy), size=size).findall("tbody/tr")
    return row


def cells(row):
    return ["".join(cell.itertext()) for cell in row.findall("td")]


def at(*times_s):
    return tuple(decision(time_ms=1000.0 * time_s) for time_s in times_s)


@pytest.mark.parametrize(("one", "cell", "kind", "way"), [
    (decision(0, 0), "stays", "faint", "0"), (decision(0, 2), "accepted", "yes", "0 → 2"),
    (decision(3, 1, accepted=False), "refused", "no", "3 → 1"),
    (decision(3, 1, accepted=False, reason="no memory"), "refused: no memory", "no", "3 → 1"),
])  # fmt: skip
def test_a_row_has_time_task_route_and_answer(one, cell, kind, way):
    found = cells(row_of(one))
    assert (found[:3], found[4]) == (["1.00", "3: 7", way], cell)
    assert row_of(one).findall("td")[4].get("class") == f"answer {kind}"
    assert row_of(one).get("data-job") == "3"
    # A row of two lines has the same words.
    narrow = row_of(one, size=(600.0, 300.0))
    (answer,) = of_class(narrow, kind)[:1]
    assert answer.text == cell
    assert "".join(narrow.find("td/div").itertext()) == f"1.00 s · job 3 · {way} · {cell}"
    assert (narrow.get("data-job"), narrow.get("data-tip")) == ("3", row_of(one).get("data-tip"))


def test_long_times_have_separators():
    assert cells(row_of(decision(time_ms=1_234_567.0)))[0] == "1,234.57"


@pytest.mark.parametrize(("size", "rows", "has_head"), [
    # Rows of one line are 18 pixels high, below a head of 19. Rows of two and three lines are 37 and 54 high.
    # At least one row is shown.
    ((840.0, 19 + 3 * 18), 3, True), ((840.0, 19 + 3 * 18 - 1), 2, True),
    ((839.0, 3 * 37), 3, False), ((839.0, 3 * 37 - 1), 2, False), ((540.0, 3 * 37), 3, False),
    ((539.0, 3 * 54), 3, False), ((539.0, 3 * 54 - 1), 2, False), ((300.0, 5.0), 1, False), ((900.0, 5.0), 1, True),
])  # fmt: skip
def test_the_newest_decisions_that_fit_are_shown_newest_first(size, rows, has_head):
    table = table_of(run_of(frame(decisions=at(1, 2, 3, 4, 5))), size=size)
    found = ["".join(row.itertext())[:4] for row in table.findall("tbody/tr")]
    assert found == ["5.00", "4.00", "3.00"][:rows]
    assert (table.find("thead") is not None) == has_head
    assert table.get("class") == f"lines-{1 if size[0] >= 840 else 2 if size[0] >= 540 else 3}"


def test_decisions_of_two_runs_are_merged_by_time():
    runs = run_of(frame(decisions=at(1, 4)), policy="jsq"), run_of(frame(decisions=at(2, 3)), policy="mlb")
    rows = table_of(*runs, size=(900.0, 19 + 3 * 18.0)).findall("tbody/tr")
    assert [cells(row)[0] for row in rows] == ["A 4.00", "B 3.00", "B 2.00"]


@pytest.mark.parametrize("can_pick", [True, False])
def test_a_table_has_a_flag_for_clicks_and_tips_at_its_heads(can_pick):
    table = table_of(run_of(frame(decisions=at(1))), can_pick=can_pick)
    assert table.get("data-picks") == str(int(can_pick))
    heads = table.findall("thead/tr/th")
    assert [(one.text, one.get("data-tip"), one.get("tabindex")) for one in heads] == [
        (words, tip, "0") for words, tip in HEADS
    ]
    assert len({one.get("data-key") for one in heads}) == 5


@pytest.mark.parametrize(("policies", "words"), [
    (["none"], "none decides nothing"), (["none", "none"], "none decides nothing"),
    (["jsq"], "no decision has been taken"),
    # jsq may still decide.
    (["none", "jsq"], "no decision has been taken"),
])  # fmt: skip
def test_an_empty_table_gives_a_reason(policies, words):
    (cell,) = table_of(*(run_of(frame(), policy=name) for name in policies)).findall("tbody/tr/td")
    assert cell.text.startswith(words)
    assert cell.get("colspan") == str(len(HEADS))


@pytest.mark.parametrize(("one", "said"), [
    (decision(), []),
    # Known loads are listed with their index; without an index no loads are listed.
    (decision(index="cpu", task_load=1.0, load_here=4.0, load_there=2.5), ["cpu: 1 (task), 4 (here), 2.5 (there)."]),
    (decision(index="cpu", load_here=4.0, load_there=2.0), ["cpu: 4 (here), 2 (there)."]),
    (decision(task_load=1.0, load_here=4.0), []),
    # Milliseconds in seconds.
    (decision(response_here_ms=4000.0, response_there_ms=2500.0, cost_ms=70.0),
     ["Expected response here 4 s, there 2.5 s, cost of the move 0.07 s."]),
    (decision(cost_ms=70.0), ["Cost of the move 0.07 s."]),
])  # fmt: skip
def test_the_tip_of_a_decision_has_the_compared_numbers(one, said):
    tip = row_of(one).get("data-tip")
    begin, rest = tip.split("; accepted.")
    assert begin.startswith("Task 7 of job 3: ")
    assert rest.split(" Rule: ") == ["".join(f" {words}" for words in said), "a rule."]


def test_the_reason_is_followed_by_lines_of_the_paper():
    one = decision(0, 0, rule="", reason="home is best")
    why = row_of(one).find("td[@class='why']")
    assert why.text == "home is best "
    assert why.find("span").get("class") == "faint"
    assert why.find("span").text in row_of(one).get("data-tip")


LIFE = JobLife(3, "running", 4, 1, (0, 2), {"cpu": 100.0})


@pytest.mark.parametrize(("nodes", "where"), [
    ((), ""), ((5,), ", on node 5"), ((0, 2), ", on nodes 0, 2"), ((0, 1, 2, 3), ", on nodes 0, 1, 2, 3"),
    ((0, 1, 2, 3, 4), ", on nodes 0, 1, 2, 3 …"),
])  # fmt: skip
def test_the_life_of_a_picked_job_has_state_and_nodes(nodes, where):
    run = run_of(frame(life=JobLife(3, "running", 4, 1, nodes, {"cpu": 100.0})))
    (words,) = read(negotiations([run], WIDE)).iter("h3")
    assert words.text == f"job 3: running, 1 of 4 tasks done{where}"


def test_lives_of_two_runs_name_their_run_and_shorten_the_table():
    runs = [run_of(frame(life=LIFE, decisions=at(*range(1, 30))), policy=name) for name in ("jsq", "mlb")]
    found = read(negotiations(runs, (900.0, 19 + 2 * 84 + 2 * 18.0)))
    assert [one.text.partition(" · ")[0] for one in found.iter("h3")] == ["A jsq", "B mlb"]
    assert len(found.findall("table/tbody/tr")) == 2
    # Each is as wide as the panel.
    assert [numbers(one.get("viewBox"))[2] for one in found.iter("svg")] == [900, 900]
