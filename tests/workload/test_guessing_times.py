"""Units of times and forms of dates that a guess tells: by names, sizes, differences, and other columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from cluster_abm.scenario.columns import ColumnMap
from cluster_abm.workload.traces import read_trace
from cluster_abm.workload.traces.guessing import Guess, guess
from cluster_abm.workload.traces.guessing.dates import DateForm, able_forms, table_forms

JOBS = 60


def guessed(head: str, *columns: object, separator: str = ",") -> Guess:
    return guess(iter([table_of(head, *columns, separator=separator).encode()]), "table.csv")


def table_of(head: str, *columns: object, separator: str = ",") -> str:
    rows = zip(*columns, strict=True)  # type: ignore[call-overload]
    return "\n".join([head, *(separator.join(str(cell) for cell in row) for row in rows)]) + "\n"


def submits_ms(seed: int) -> np.ndarray:
    """Times of a day and a half [ms], none of them of whole seconds."""
    rng = np.random.default_rng(seed)
    return np.sort(rng.integers(0, 130_000, JOBS)) * 1000 + rng.integers(1, 999, JOBS)


def runs_ms(seed: int) -> np.ndarray:
    return np.floor(np.random.default_rng(seed).lognormal(13.0, 1.2, JOBS)).astype(int) + 7


@pytest.mark.parametrize("head", ["created,runtime_ms", "c1,c2"])
@pytest.mark.parametrize(("unit", "length"), [("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)])
def test_times_since_1970_tell_their_unit_by_their_size(head, unit, length):
    found = guessed(head, (1_600_000_000 + submits_ms(1) // 1000) * length, runs_ms(1))
    assert found.map["submit"]["unit"] == unit


def test_whole_times_come_in_the_unit_that_a_duration_beside_them_names(tmp_path):
    submits, runs = submits_ms(2), runs_ms(2)
    found = guessed("created,runtime_ms", submits, runs)
    assert found.map["submit"] == {"column": "created", "unit": "ms"}
    # Nothing proves it, so it is less sure than the same name beside a unit of its own.
    assert found.sure["submit"] < guessed("created_ms,runtime_ms", submits, runs).sure["submit"]
    assert "unit as of 'runtime_ms'" in found.why["submit"]
    (tmp_path / "a.csv").write_text(table_of("created,runtime_ms", submits, runs))
    trace = read_trace(tmp_path / "a.csv", columns=ColumnMap.model_validate(found.map))
    assert np.ptp(trace.table["arrival_ms"]) == submits[-1] - submits[0]


def test_times_with_fractions_beside_whole_milliseconds_are_seconds():
    found = guessed("created,runtime_ms", submits_ms(3) / 1000, runs_ms(3))
    assert found.map["submit"]["unit"] == "s"


def test_a_limit_in_minutes_says_nothing_of_the_unit_of_times():
    found = guessed("created,runtime,timelimit_min", submits_ms(4) // 1000, runs_ms(4) // 1000, [30, 60] * 30)
    assert {name: found.map[name]["unit"] for name in ("submit", "run", "requested")} == {
        "submit": "s",
        "run": "s",
        "requested": "min",
    }


@pytest.mark.parametrize(("unit", "length"), [("ms", 1), ("s", 1000)])
def test_a_difference_of_times_tells_their_unit(unit, length):
    # The wait is no field of a map, but its name says its unit, and start - submission is the wait.
    waits = runs_ms(5) // 1000
    submits = submits_ms(5) // 1000
    starts = submits + waits
    lengths = 1000 // length
    found = guessed("queued,began,wait_ms,cores", submits * lengths, starts * lengths, waits * 1000, [2, 4] * 30)
    assert {found.map[name]["unit"] for name in ("submit", "start")} == {unit}


def test_two_durations_that_are_together_a_difference_of_times_tell_their_unit():
    # From submission to end, in seconds, is wait and run time together, both in milliseconds.
    submits, waits, runs = submits_ms(10) // 1000, runs_ms(10) // 1000, runs_ms(11) // 1000
    found = guessed("queued,done,wait_ms,runtime_ms", submits, submits + waits + runs, waits * 1000, runs * 1000)
    assert [found.map[name]["unit"] for name in ("submit", "end", "run")] == ["s", "s", "ms"]


def test_times_in_which_jobs_would_outlast_the_log_are_not_in_the_unit_of_run_times():
    # A job each minute for an hour, of ten minutes: as milliseconds the log would be of 3.6 s.
    found = guessed("created,runtime_ms", np.arange(JOBS) * 60 + np.arange(JOBS) % 7, 600_000 + np.arange(JOBS))
    assert found.map["submit"]["unit"] == "s"


@pytest.mark.parametrize("dated", [True, False])
def test_run_times_come_in_the_unit_of_waits_beside_them(dated):
    # The wait is the time between two others, in milliseconds; of the run time nothing else is known.
    submits, waits, runs = submits_ms(12) // 1000, runs_ms(12) // 1000, runs_ms(13)
    begin = 1_600_000_000 * dated
    found = guessed("queued,began,waited,runtime", begin + submits, begin + submits + waits, waits * 1000, runs)
    assert [found.map[name]["unit"] for name in ("submit", "start", "run")] == ["s", "s", "ms"]


@pytest.mark.parametrize("head", ["began,ended,runtime,cores", "c1,c2,c3,c4"])
@pytest.mark.parametrize(("times", "run"), [("s", "s"), ("ms", "s"), ("us", "s"), ("s", "ms"), ("s", "min")])
def test_units_of_times_and_run_times_of_which_none_is_named(head, times, run):
    runs = runs_ms(6) // 1000 + 60 if run != "min" else (runs_ms(6) // 60_000 + 2) * 60
    starts = submits_ms(6) // 1000
    factor = {"s": 1, "ms": 1000, "us": 10**6}[times]
    lengths = {"s": runs, "ms": runs * 1000, "min": runs // 60}[run]
    found = guessed(head, starts * factor, (starts + runs) * factor, lengths, [1, 4] * 30)
    assert {found.map["start"]["unit"], found.map["end"]["unit"]} == {times}
    assert found.map["run"]["unit"] == run


@pytest.mark.parametrize(
    ("head", "run"), [("start_ms,end_ms,runtime,cores", "ms"), ("start_ms,end_ms,queue,cores", "ms")]
)
def test_a_difference_of_times_whose_unit_is_named_has_that_unit(head, run):
    starts, runs = submits_ms(7), runs_ms(7)
    found = guessed(head, starts, starts + runs, runs, [1, 4] * 30)
    assert found.map["run"]["unit"] == run
    assert "expr" not in found.map["run"]


def test_without_names_jobs_of_days_in_a_log_of_years_are_milliseconds():
    # In seconds the log would cover four years, and half of its jobs run for more than five days.
    found = guessed("c1,c2", submits_ms(8), runs_ms(8))
    assert (found.map["submit"]["unit"], found.map["run"]["unit"]) == ("ms", "ms")
    # A tenth of a second each, the log would cover five months: seconds, as nothing speaks against them.
    found = guessed("c1,c2", submits_ms(8) // 10, runs_ms(8) // 10)
    assert (found.map["submit"]["unit"], found.map["run"]["unit"]) == ("s", "s")


def test_times_between_which_jobs_would_run_for_days_are_no_seconds():
    # In milliseconds a day and a half; in seconds four years, with jobs of five days.
    starts, runs = submits_ms(14), runs_ms(14)
    found = guessed("began,ended,cores", starts, starts + runs, [1, 4] * 30)
    assert {found.map[name]["unit"] for name in ("start", "end", "run")} == {"ms"}


BEGIN = datetime(2023, 11, 9, 22, 0, 0, tzinfo=UTC)
FORMS = [
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M:%S",
    "%Y/%m/%d %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%d.%m.%Y %H:%M",
    "%Y/%m/%d %H:%M",
]


def dates(minutes: list[int], form: str, begin: datetime = BEGIN) -> list[str]:
    return [(begin + timedelta(minutes=one)).strftime(form) for one in minutes]


@pytest.mark.parametrize("head", ["submitted;started;ended;cores", "c1;c2;c3;c4"])
@pytest.mark.parametrize("form", FORMS)
def test_dates_of_many_forms_are_read(head, form, tmp_path):
    # Every job waits 5 min or 25 min and runs 10 min, 20 min or 30 min on two or four cores; the log covers 10 days.
    submits = [at * 240 for at in range(JOBS)]
    starts = [one + (5, 25)[at % 2] for at, one in enumerate(submits)]
    ends = [one + (10, 20, 30)[at % 3] for at, one in enumerate(starts)]
    columns = *(dates(one, form) for one in (submits, starts, ends)), [2, 4] * 30
    found = guessed(head, *columns, separator=";")
    assert [found.map[name].get("format") for name in ("submit", "start", "end")] == [form] * 3
    (tmp_path / "a.csv").write_text(table_of(head, *columns, separator=";"))
    trace = read_trace(tmp_path / "a.csv", columns=ColumnMap.model_validate(found.map))
    assert sorted(set(trace.table["cpu_ms"])) == [600_000.0, 1_200_000.0, 1_800_000.0]
    assert np.ptp(trace.table["arrival_ms"]) == 59 * 240 * 60_000.0


def test_a_column_whose_day_and_month_may_be_swapped_has_the_form_of_another():
    forms = table_forms({0: ["01/02/2023 10:00", "02/02/2023 10:00"], 1: ["11/02/2023 10:00", "13/02/2023 10:00"]})
    assert forms == {0: DateForm("%d/%m/%Y %H:%M"), 1: DateForm("%d/%m/%Y %H:%M")}


def test_of_two_orders_of_day_and_month_the_shorter_log_is_likelier():
    # 1 to 5 February, or the second day of five months.
    texts = [f"0{day}/02/2023 10:00" for day in range(1, 6)]
    assert able_forms(texts) == ("%m/%d/%Y %H:%M", "%d/%m/%Y %H:%M")
    found = table_forms({3: texts})[3]
    assert (found.form, "may be swapped" in found.doubt) == ("%d/%m/%Y %H:%M", True)
    swapped = table_forms({3: [f"02/0{day}/2023 10:00" for day in range(1, 6)]})[3]
    assert (swapped.form, swapped.share) == ("%m/%d/%Y %H:%M", found.share)
    # All on one day: the same differences in both orders, so little is in doubt.
    one_day = table_forms({0: ["01/02/2023 10:00", "01/02/2023 11:30"]})[0]
    # 3 January and 1 March, or 1 March and 3 January: nothing tells.
    open_ = table_forms({0: ["01/03/2023 10:00", "03/01/2023 11:30"]})[0]
    assert 1.0 > one_day.share > found.share > open_.share
    assert all("may be swapped" in one.doubt for one in (one_day, open_))


def test_doubt_about_day_and_month_lowers_what_is_sure_and_is_said():
    # The first five days of a month, day first; and the same times as ISO dates.
    begin = datetime(2023, 2, 1, tzinfo=UTC)
    minutes = [at * 100 for at in range(JOBS)]
    ends = [one + 30 + at % 7 for at, one in enumerate(minutes)]
    doubtful = guessed("start,end", dates(minutes, "%d/%m/%Y %H:%M", begin), dates(ends, "%d/%m/%Y %H:%M", begin))
    iso = guessed("start,end", dates(minutes, "%Y-%m-%d %H:%M:%S", begin), dates(ends, "%Y-%m-%d %H:%M:%S", begin))
    for name in ("start", "end"):
        assert doubtful.map[name]["format"] == "%d/%m/%Y %H:%M"
        assert doubtful.sure[name] < iso.sure[name]
        assert "day and month may be swapped" in doubtful.why[name]


def test_dates_in_several_forms_are_left_empty_with_the_reason():
    texts = ["13/02/2023 10:00", "02/13/2023 10:00"] * 30
    found = guessed("submitted,runtime_s", texts, runs_ms(9))
    assert "submit" not in found.map
    assert "dates in several forms" in found.unsure["submit"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cells", [[-1] * JOBS, ["1e30"] * JOBS])
@pytest.mark.parametrize("name", ["started", "runtime_s", "memory_mb"])
def test_named_columns_without_a_number_that_says_something_are_left_empty(name, cells):
    field = {"started": "start", "runtime_s": "run", "memory_mb": "memory"}[name]
    found = guessed(f"submitted,{name}", submits_ms(15), cells)
    assert field not in found.map
    assert "no value in the rows looked at" in found.unsure[field]
