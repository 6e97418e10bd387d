"""Programs with activity profiles: MCLS's seven, a user's CSV, and how jobs come to run them."""

import gzip
import lzma

import numpy as np
import pandas as pd
import pytest
from support import finished, scenario

from cluster_abm import ClusterModel
from cluster_abm.errors import InputError
from cluster_abm.scenario.distributions import Programs
from cluster_abm.workload import job_table, program_names, work_of
from cluster_abm.workload.programs import library, mixed

# MCLS, Table 1: working set from and to [MB], reads and writes, kernel and user CPU [s].
TABLE_1 = {
    "bit-r": (64.22, 64.22, 9, 0.57 + 191.85),
    "m-sort": (64.27, 64.27, 18, 1.7 + 80.84),
    "m-m": (66.37, 66.37, 4, 1.12 + 4901.12),
    "t-sim": (4.64, 4.64, 225, 0.14 + 38.79),
    "metis": (1.37, 4.30, 292, 8.06 + 112.85),
    "r-sphere": (36.84, 39.66, 1624, 0.97 + 298.18),
    "r-wing": (19.53, 23.39, 3541, 1.31 + 28.98),
}


@pytest.mark.parametrize("name", TABLE_1)
def test_the_papers_programs_are_those_of_table_1(name):
    low, high, accesses, cpu_s = TABLE_1[name]
    found = library(Programs())
    number = found.number(name, "test")
    own = found.phases[found.first[number] :][: found.count[number]]
    assert own["cpu_ms"].sum() == pytest.approx(cpu_s * 1000, rel=1e-9)
    assert own["accesses"].sum() == accesses
    assert own["memory_kb"].max() == round(high * 1000)
    # Once it has what it needs it keeps between the two.
    established = own[own["cpu_ms"].cumsum() > 1000]
    assert established["memory_kb"].min() == round(low * 1000)


def test_alone_on_its_machine_a_program_lives_as_long_as_table_1_says():
    # Lifetimes of Table 1, which are its CPU and 12 ms for each I/O; bit-r's is printed 0.27 s short of its own parts.
    for name, life_s in {"m-sort": 82.76, "t-sim": 41.63, "r-sphere": 318.64, "r-wing": 72.78}.items():
        model = ClusterModel(
            "memory-centric", cluster__nodes=1, workload__jobs=1, workload__programs__mix={name: 1.0},
            policy__name="no-ls",
        )  # fmt: skip
        model.run()
        frame = model.jobs_frame()
        assert frame["response_ms"][0] / 1000 == pytest.approx(life_s, abs=0.03)
        assert frame["slowdown"][0] == 1.0
        assert frame["page_faults"][0] == 0


def write(tmp_path, text, name="profiles.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


INTERVALS = """program,cpu_ms,memory_mb,accesses,turnover_mb_per_s
a,10,5,1,0
a,10,5,1,0
a,10,5,1,0
a,5,8,0,2
b,10,1,0,0
"""


def test_equal_intervals_are_one_phase_and_growth_is_asked_anew(tmp_path):
    found = library(Programs(file=str(write(tmp_path, INTERVALS))))
    assert found.names == ("a", "b")
    assert found.count.tolist() == [3, 1]
    # The first interval establishes 5 MB in 10 ms: 500 MB/s; then nothing; then 3 MB in 5 ms and a turnover of 2 MB/s.
    assert found.phases["cpu_ms"].tolist() == [10, 20, 5, 10]
    assert found.phases["accesses"].tolist() == [1, 2, 0, 0]
    assert found.phases["allocated_kb_per_s"].tolist() == [500_000, 0, 602_000, 100_000]


def test_intervals_after_which_a_program_sleeps_stay_apart(tmp_path):
    text = "program,cpu_ms,memory_mb,accesses,pause_ms\n" + "a,30,1,1,970\n" * 3 + "a,30,1,1,0\n" * 2
    found = library(Programs(file=str(write(tmp_path, text))))
    # The fourth has no memory to ask for anew either: it and the fifth are one.
    assert found.phases["cpu_ms"].tolist() == [30, 30, 30, 60]
    assert found.phases["pause_ns"].tolist() == [970_000_000] * 3 + [0]


def test_lmips_reader_computes_about_3_percent_of_its_time():
    found = library(Programs(file="lmip"))
    reader = found.names.index("reader")
    phases = found.phases[found.first[reader] :][: found.count[reader]]
    cpu_s, asleep_s = phases["cpu_ms"].sum() / 1e3, phases["pause_ns"].sum() / 1e9
    assert cpu_s / (cpu_s + asleep_s) == pytest.approx(0.03)
    largest_kb = dict(zip(found.names, found.over("memory_kb", "max"), strict=True))
    assert (largest_kb["memory-600"], largest_kb["memory-700"]) == (600_000, 700_000)


def test_a_compressed_file_and_one_read_as_it_was_logged_are_the_same(tmp_path):
    packed = tmp_path / "profiles.csv.gz"
    packed.write_bytes(gzip.compress(INTERVALS.encode()))
    plain = write(tmp_path, "# by top, every 10 ms\n" + INTERVALS)
    one, other = (library(Programs(file=str(path))) for path in (packed, plain))
    assert one.names == other.names
    assert np.array_equal(one.phases, other.phases)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "empty"),
        ("program,cpu_ms,memory_mb,accesses\n", "no row"),
        ("program,cpu_ms,accesses\na,1,0\n", "no column memory_mb"),
        ("program,cpu_ms,memory_mb,accesses,colour\na,1,1,1,1\n", "unknown column 'colour'"),
        ("program,cpu_ms,memory_mb,accesses\na,0,1,1\n", "row 1: cpu_ms = 0: allowed is above 0"),
        ("program,cpu_ms,memory_mb,accesses\na,1,1,1\na,1,-4,1\n", "row 2: memory_mb = -4: allowed is 0..1e.09"),
        ("program,cpu_ms,memory_mb,accesses\na,1,1,1.5\n", "accesses = 1.5: allowed is 0..1e.06, a whole number"),
        ("program,cpu_ms,memory_mb,accesses\na,1,x,1\n", "row 1: memory_mb = x"),
        ("program,cpu_ms,memory_mb,accesses\n,1,1,1\n", "row 1: program: a name is needed"),
        ("program,cpu_ms,memory_mb,accesses\na,1,1,1\nb,1,1,1\na,1,1,1\n", "row 3: program 'a': its rows must stand"),
        ("program,cpu_ms,memory_mb,accesses\na,1,1,nan\n", "row 1: accesses = nan"),
        ("program,cpu_ms,memory_mb,accesses\na,inf,1,1\n", "row 1: cpu_ms = inf"),
        ("program,cpu_ms,memory_mb,accesses,pause_ms\na,1,1,1,-5\n", "row 1: pause_ms = -5: allowed is 0..1e.09"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(tmp_path, text, words):
    path = write(tmp_path, text)
    with pytest.raises(InputError, match=words) as caught:
        library(Programs(file=str(path)))
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there_or_not_text(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        library(Programs(file=str(tmp_path / "nowhere.csv")))
    noise = tmp_path / "noise.csv"
    noise.write_bytes(bytes(range(256)) * 4)
    with pytest.raises(InputError, match=r"noise\.csv"):
        library(Programs(file=str(noise)))


def test_an_unknown_program_of_a_mix():
    with pytest.raises(InputError, match=r"workload\.programs\.mix: no program 'msort'; did you mean 'm-sort'"):
        job_table(scenario(workload__programs__mix={"msort": 1.0}), 1)
    with pytest.raises(InputError, match="at least one share above 0"):
        scenario(workload__programs__mix={"m-sort": 0.0})


def test_a_mix_is_as_exact_as_whole_jobs_allow():
    programs = Programs(mix={"t-sim": 1.0, "m-m": 0.5, "metis": 2.0})
    found = library(programs)
    numbers = mixed(programs, 10, np.random.default_rng(1))
    # 2.86, 1.43 and 5.71: the two largest remainders are rounded up.
    counts = {found.names[number]: int((numbers == number).sum()) for number in set(numbers.tolist())}
    assert counts == {"t-sim": 3, "m-m": 1, "metis": 6}
    again = mixed(programs, 10, np.random.default_rng(2))
    assert sorted(numbers) == sorted(again)
    assert not np.array_equal(numbers, again)


def test_jobs_that_run_programs_announce_what_these_come_to():
    setup = scenario(workload__programs__mix={"r-wing": 1.0}, workload__jobs=3)
    jobs = job_table(setup, 1)
    assert set(jobs["program"]) == {program_names(setup).index("r-wing")}
    assert jobs["memory_mb"].tolist() == pytest.approx([23.39] * 3)
    assert jobs["cpu_ms"].tolist() == pytest.approx([30_290.0] * 3)
    assert (jobs["io_per_ms"] * jobs["cpu_ms"]).tolist() == pytest.approx([3541.0] * 3)
    assert len(work_of(setup, 1).phases) > 7
    assert len(work_of(scenario(), 1).phases) == 0
    assert set(job_table(scenario(), 1)["program"]) == {-1}


def test_a_trace_names_the_programs_its_jobs_run(tmp_path):
    profiles = write(tmp_path, INTERVALS)
    rows = "arrival_ms,home,cpu_ms,io_per_ms,memory_mb,name\n0,0,1,0,1,b\n5,1,1,0,1,a\n"
    given = {"workload__kind": "trace", "workload__programs__file": str(profiles)}
    trace = write(tmp_path, rows, "trace.csv")
    model = finished(**given, workload__trace__file=str(trace))
    assert model.jobs_frame().set_index("job")["program"].to_dict() == {0: "b", 1: "a"}
    assert model.jobs_frame().set_index("job")["cpu_ms"].to_dict() == {0: 10.0, 1: 35.0}
    wrong = write(tmp_path, rows.replace(",a\n", ",c\n"), "wrong.csv")
    with pytest.raises(InputError, match=r"wrong\.csv: name: no program 'c'"):
        finished(**given, workload__trace__file=str(wrong))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trace", "jobs", "window_s", "spread", "unit_s"),
    [(1, 503, 1365, 0.5, 300.0), (2, 420, 2503, 3.5, 1.0), (3, 359, 3634, 5.0, 1.0)],
)
def test_the_traces_times_are_the_laws_quantiles(trace, jobs, window_s, spread, unit_s):
    law = {
        "kind": "lognormal-window", "mu": spread + spread**2, "sigma": spread, "regular": True, "time_unit_s": unit_s,
    }  # fmt: skip
    setup = scenario(workload__jobs=jobs, workload__duration_s=float(window_s), workload__arrivals=law)
    times_s = job_table(setup, 1)["arrival_ns"] / 1e9
    assert np.array_equal(times_s, job_table(setup, 2)["arrival_ns"] / 1e9)
    assert len(times_s) == jobs
    assert 0.99 * window_s < times_s[-1] <= window_s
    # (6) as it is printed, without a factor 1/t: the rate between two times, by the trapezoidal rule.
    t = np.linspace(1e-6, window_s, 2_000_001)
    rate = np.exp(-((np.log(t / unit_s) - spread) ** 2) / (2 * spread**2))
    before = pd.Series(rate).cumsum().to_numpy()
    expected = np.interp((np.arange(jobs) + 0.5) / jobs, before / before[-1], t)
    assert times_s == pytest.approx(expected, abs=0.01 * window_s / 100)


@pytest.mark.parametrize("suffix", [".zip", ".zst", ".tar", ".bz2", ".gz", ".xz", ".tar.gz", ""])
def test_a_name_that_promises_what_the_file_is_not(tmp_path, suffix):
    for junk in (b"PK\x03\x04 junk \xff\xfe" * 50, b"BZh9", b"", b"\x28\xb5\x2f\xfd"):
        (tmp_path / f"junk{suffix}").write_bytes(junk)
        with pytest.raises(InputError, match=r"junk"):
            library(Programs(file=str(tmp_path / f"junk{suffix}")))


def test_packed_by_xz_or_in_several_members(tmp_path):
    expected = library(Programs(file=str(write(tmp_path, INTERVALS)))).phases
    for data in (
        lzma.compress(INTERVALS.encode()),
        gzip.compress(INTERVALS[:30].encode()) + gzip.compress(INTERVALS[30:].encode()),
    ):
        (tmp_path / "packed").write_bytes(data)
        assert np.array_equal(library(Programs(file=str(tmp_path / "packed"))).phases, expected)


def test_a_profile_has_a_limit_that_can_be_raised(tmp_path):
    path = write(tmp_path, "program,cpu_ms,memory_mb,accesses\n" + "a,1,1,1\n" * 140_000)
    with pytest.raises(InputError, match=r"more than 1 MB.*workload\.programs\.max_mb"):
        library(Programs(file=str(path), max_mb=1))
    assert library(Programs(file=str(path), max_mb=2)).over("accesses", "sum").tolist() == [140_000]
    for name in ("/dev/zero", "x" * 5000, str(tmp_path), "a\0b"):
        with pytest.raises(InputError, match="cannot be read"):
            library(Programs(file=name))


def test_remarks_and_spaces_say_nothing(tmp_path):
    lines = INTERVALS.splitlines()
    text = "# by top\n\n  # again\n" + "\n   \n".join(line.replace(",", ", ") + " # why" for line in lines) + "\n# end"
    found = library(Programs(file=str(write(tmp_path, text))))
    assert np.array_equal(found.phases, library(Programs(file=str(write(tmp_path, INTERVALS)))).phases)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("a,1,1,1,1\n", "line 2: 5 values where the header names 4 columns"),
        ("a,1,1\n", "line 2: 3 values where the header names 4 columns"),
        ("a,1_0,1,1\n", "cpu_ms = 1_0"),
        ("a,٣,1,1\n", "cpu_ms = ٣"),
        ("a,1e999,1,1\n", "cpu_ms = 1e999"),
        (f"a,{'9' * 5000},1,1\n", "cpu_ms = 9999"),
        ("".join(f"p{number},1,1,1\n" for number in range(1001)), "more than 1,000 programs"),
        ('a,1,1,"1\n', "not CSV"),
    ],
)
def test_what_else_is_wrong_in_a_file_is_named(tmp_path, rows, words):
    path = write(tmp_path, "program,cpu_ms,memory_mb,accesses\n" + rows)
    with pytest.raises(InputError, match=words):
        library(Programs(file=str(path)))
