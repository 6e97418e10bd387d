"""How far the engine may go in one call, by itself: times in ms, in slices of 10, where it is 20 now."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from cluster_abm.clock import Clock
from cluster_abm.engine.tables import NEVER
from cluster_abm.model.window import Window, Windows

MS = 1_000_000
ASKED: list[int] = []


def ns(ms):
    return NEVER if ms is None else ms * MS


def windows(
    due=(), end=None, places=False, reviews=False, kills=False, background=False, last_look=None, coming=None,
    crowd=None, waits_for_ends=False, held=(), stuck=False, all_started=False, in_transit=0, talks=False, hears=False,
    talk_due=None, talk_stuck=False,
) -> Windows:  # fmt: skip
    """Windows where nothing is to come but what is said: jobs at `coming`, a crowd of them before `crowd`."""
    schedule = SimpleNamespace(
        waits_for_ends=waits_for_ends, after_next=lambda jobs: ns(crowd),
        first_after=lambda time_ns: ASKED.append(time_ns) or ns(coming),
    )  # fmt: skip
    submissions = SimpleNamespace(
        schedule=schedule, last_look_ns=ns(last_look), held=set(held), is_stuck=stuck, all_started=all_started
    )
    conversation = SimpleNamespace(is_on=talks, hears_ends=hears, due_ns=ns(talk_due), is_stuck=talk_stuck)
    clock = Clock(10 * MS)
    clock.now_ns = 20 * MS
    return Windows(
        clock, submissions, SimpleNamespace(in_transit=in_transit), [SimpleNamespace(due_ns=ns(at)) for at in due],
        None if end is None else end * MS, lambda: places, reviews, kills, background, conversation,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "boundary"),
    [
        ({"due": (50, 40, 60)}, 40),
        # A slice at least.
        ({"due": (10,)}, 30),
        ({"due": (50,), "end": 40}, 40),
        ({"due": (50,), "last_look": 40}, 40),
        # That look is over.
        ({"due": (50,), "last_look": 20}, 50),
        ({"due": (90,), "crowd": 57}, 50),
        # Jobs are placed when their slice begins, if that depends on what is known then.
        ({"due": (90,), "coming": 57}, 90),
        ({"due": (90,), "coming": 57, "places": True}, 50),
        ({"due": (90,), "coming": 57, "waits_for_ends": True}, 50),
        ({"due": (90,), "coming": 33, "places": True}, 30),
    ],
)
def test_the_next_boundary_is_the_first_at_which_anything_acts(given, boundary):
    ASKED.clear()
    assert windows(**given).next_boundary_ns() == boundary * MS
    # Those of the slice that begins now are placed now.
    assert ASKED in ([], [30 * MS - 1])


@pytest.mark.parametrize(
    ("given", "window"),
    [
        ({}, (100, False, False)),
        # Held jobs are looked at when a task has ended, unless at a period of their own, or by managers that talk.
        ({"held": [1]}, (100, False, False)),
        ({"held": [1], "reviews": True}, (100, True, False)),
        ({"reviews": True}, (100, False, False)),
        ({"held": [1], "reviews": True, "talks": True}, (100, False, False)),
        ({"talks": True, "hears": True}, (100, True, False)),
        ({"waits_for_ends": True}, (100, True, False)),
        # What has just been said may be heard before.
        ({"talk_due": 50}, (50, False, False)),
        ({"talk_due": 20}, (30, False, False)),
        ({"talk_due": 200}, (100, False, False)),
        # The last slice of a run that is stuck, unless it ends at a time.
        ({"stuck": True}, (30, False, False)),
        ({"talk_stuck": True}, (30, False, False)),
        ({"stuck": True, "end": 500}, (100, False, False)),
        ({"talk_stuck": True, "end": 500}, (100, False, False)),
        # Transfers do not run ahead of a window that may end early, or in which their task may be killed.
        ({"in_transit": 1}, (100, False, False)),
        ({"in_transit": 1, "waits_for_ends": True}, (30, True, False)),
        ({"in_transit": 1, "kills": True}, (30, False, False)),
        ({"kills": True}, (100, False, False)),
        # Background programs go on for ever.
        ({"background": True, "all_started": True}, (100, False, True)),
        ({"all_started": True}, (100, False, False)),
        ({"background": True}, (100, False, False)),
        ({"background": True, "all_started": True, "end": 500}, (100, False, False)),
    ],
)
def test_a_window_up_to_100(given, window):
    end, until_end_of_task, until_idle = window
    assert windows(**given).window(100 * MS) == Window(end * MS, until_end_of_task, until_idle)
