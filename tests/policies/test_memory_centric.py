"""MCLS's loop on two machines, branch by branch, and its variations."""

from dataclasses import replace

import numpy as np
import pytest
from support import scenario

from cluster_abm import ClusterModel
from cluster_abm.engine.tables import LOAD
from cluster_abm.policies import ArrivingTask, Hardware, Paths, View, create
from cluster_abm.policy.tasks import CANDIDATE
from cluster_abm.scenario.schema import PolicyChoice

VARIATIONS = ["pf-rate", "working-set", "age", "combined", "io-active"]
NEWCOMER = ArrivingTask(9, 9, 0, 1000.0, 0.0, 100.0, 64.0, 0.0)
# 10 Mbps, which is 1.25 MB/s.
NETWORK = 1.25


def job(task=0, memory_mb=60.0, faults=0, accesses=0, age_ms=1e6, here_ms=1e6, migrations=0, running=True):
    row = np.zeros(1, CANDIDATE)
    for name, value in {
        "task": task, "memory_mb": memory_mb, "page_faults": faults, "accesses": accesses, "age_ms": age_ms,
        "here_ms": here_ms, "migrations": migrations, "running": running, "cpu_ms": 1e6,
    }.items():  # fmt: skip
        row[name] = value
    return row


def view(here, there, jobs=(), now_ms=10_000.0, notes=None, refused=frozenset(), more=()):
    """What the manager of machine 0 sees of itself and the others; a machine is (Q_o, jobs, FM, FB) and more keys."""
    machines = [here, there, *more]
    loads = np.zeros(len(machines), LOAD)
    loads["newest_ms"] = 1e9
    loads["virtual_free_mb"] = 500.0
    for row, (oversize, tasks, free, cache, *keys) in zip(loads, machines, strict=True):
        row["oversize"], row["tasks"], row["free_mb"], row["cache_mb"] = oversize, tasks, free, cache
        row["oversize_here"] = oversize
        for name, value in keys[0].items() if keys else ():
            row[name] = value
    hardware = tuple(Hardware(1.0, 122.0, 0.0, 1.5, False, 10.0, 8.0, 40.0, 0.0, True) for _ in machines)
    rows = np.concatenate(jobs) if len(jobs) else np.zeros(0, CANDIDATE)
    return View(
        0, loads, hardware, Paths.alike(len(machines), NETWORK), 100.0, lambda task, draw: 0.5, refused,
        {} if notes is None else notes, 100.0, now_ms, lambda: rows,
    )  # fmt: skip


def policy(name="working-set", **parameters):
    return create(PolicyChoice(name=name, **({"delay_ms": 0.0} | parameters)))


FITS, FULL = (-0.5, 1, 61.0, 0.0), (0.4, 3, 0.0, 0.0)


# ---- submissions ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("there", [FITS, FULL])
def test_below_both_thresholds_it_accepts(there):
    seen = view(FITS, there)
    assert not policy().holds(NEWCOMER, 1, seen)
    assert policy().place(NEWCOMER, seen).target == 0


@pytest.mark.parametrize(
    "here",
    [
        pytest.param((-0.05, 2, 6.0, 0.0), id="Q_o at MT"),
        pytest.param((0.2, 2, 0.0, 0.0), id="Q_o above MT"),
        pytest.param((-0.6, 4, 70.0, 0.0), id="N_job at CT"),
        pytest.param((-0.6, 1, 70.0, 0.0, {"newest_ms": 10.0}), id="the last job has not shown its memory"),
    ],
)
def test_else_it_blocks_and_submits_remotely_where_there_is_room(here):
    chosen = policy(memory_threshold=-0.05, cpu_threshold=4)
    assert not chosen.holds(NEWCOMER, 1, view(here, FITS))
    assert chosen.place(NEWCOMER, view(here, FITS)).target == 1
    assert chosen.holds(NEWCOMER, 1, view(here, FULL))


def test_by_the_paper_s_loop_a_machine_that_pages_keeps_its_submissions_waiting():
    literal = policy(memory_threshold=-0.05, remote_submission="unless-paging")
    assert literal.holds(NEWCOMER, 1, view((0.2, 2, 0.0, 0.0), FITS))
    assert not literal.holds(NEWCOMER, 1, view((-0.05, 2, 6.0, 0.0), FITS))


@pytest.mark.parametrize(
    "there", [(0.0, 1, 50.0, 0.0), (-0.9, 8, 110.0, 0.0), (-0.9, 1, 110.0, 0.0, {"newest_ms": 1.0})]
)
def test_who_does_not_accept_itself_takes_no_remote_submission(there):
    assert policy().holds(NEWCOMER, 1, view(FULL, there))


def test_the_target_has_the_largest_free_memory_and_fewer_than_ct_jobs():
    machines = [(-0.2, 1, 24.0, 0.0), (-0.4, 1, 48.0, 0.0), (-0.8, 8, 97.0, 0.0)]
    assert policy().place(NEWCOMER, view(FULL, machines[0], more=machines[1:])).target == 2
    assert policy().place(NEWCOMER, view(FULL, machines[0], more=machines[1:], refused=frozenset({2}))).target == 1


# ---- migration -----------------------------------------------------------------------------------------------


def test_no_job_migrates_while_nothing_pages():
    # At MT < 0 the machine only blocks: no faults yet.
    assert policy(memory_threshold=-0.5).relieve(view((-0.1, 2, 12.0, 0.0), FITS, [job()])) is None


def test_a_machine_that_pages_migrates_the_identified_job():
    decision = policy().relieve(view((0.1, 2, 0.0, 0.0), FITS, [job(3), job(4, 64.27)]))
    assert (decision.target, decision.task.task) == (1, 4)
    # r + D/B: 0.1 s and 64.27 MB at 10 Mbps.
    assert decision.cost_ms == pytest.approx(51_516)


def test_at_mt_0_it_waits_a_while_first_in_case_a_job_ends():
    waits, notes = policy(delay_ms=2000.0), {}
    paging, calm = (0.1, 2, 0.0, 0.0), (-0.1, 2, 12.0, 0.0)
    assert waits.relieve(view(paging, FITS, [job()], 1000.0, notes)) is None
    assert waits.relieve(view(paging, FITS, [job()], 2000.0, notes)) is None
    assert waits.relieve(view(calm, FITS, [job()], 3000.0, notes)) is None
    assert waits.relieve(view(paging, FITS, [job()], 4000.0, notes)) is None
    assert waits.relieve(view(paging, FITS, [job()], 5000.0, notes)) is None
    assert waits.relieve(view(paging, FITS, [job()], 6000.0, notes)).target == 1


def test_above_0_it_tolerates_faults_up_to_the_inner_threshold():
    tolerant = policy(memory_threshold=0.05, inner_threshold=0.15)
    assert tolerant.relieve(view((0.1, 2, 0.0, 0.0), FITS, [job()])) is None
    assert tolerant.relieve(view((0.15, 2, 0.0, 0.0), FITS, [job()])) is not None
    assert policy(memory_threshold=0.05).relieve(view((0.1, 2, 0.0, 0.0), FITS, [job()])) is not None


def test_more_than_ct_jobs_are_too_many_and_ct_jobs_only_block():
    crowded = policy(cpu_threshold=3)
    assert crowded.relieve(view((-0.5, 4, 60.0, 0.0), FITS, [job()])) is not None
    assert crowded.relieve(view((-0.5, 3, 60.0, 0.0), FITS, [job()])) is None
    assert crowded.holds(NEWCOMER, 1, view((-0.5, 3, 60.0, 0.0), FULL))


@pytest.mark.parametrize(
    ("there", "either", "both"),
    [
        pytest.param((-0.1, 1, 12.0, 0.0), True, False, id="Q_o < MT"),
        pytest.param((0.0, 1, 61.0, 0.0), True, False, id="FM > WS"),
        pytest.param((0.0, 1, 31.0, 30.0), True, False, id="FM + FB > WS"),
        pytest.param((-0.6, 1, 73.0, 0.0), True, True, id="Q_o < MT and FM > WS"),
        pytest.param((0.0, 1, 30.0, 30.0), False, False, id="none of them"),
        pytest.param((-0.9, 8, 110.0, 0.0), False, False, id="N_job at CT"),
        pytest.param((-0.1, 1, 12.0, 0.0, {"virtual_free_mb": 59.0}), False, False, id="it would kill a job there"),
    ],
)
def test_a_suitable_machine_for_a_migration_of_60_mb(there, either, both):
    seen = view((0.3, 3, 0.0, 0.0), there, [job(memory_mb=60.0)])
    assert (policy().relieve(seen) is not None) == either
    assert (policy(fits="and").relieve(seen) is not None) == both


def test_a_migrated_job_rests_before_it_may_move_again():
    rests = policy(pause_ms=60_000.0)
    assert rests.relieve(view((0.3, 2, 0.0, 0.0), FITS, [job(migrations=1, here_ms=59_000.0)])) is None
    assert rests.relieve(view((0.3, 2, 0.0, 0.0), FITS, [job(migrations=1, here_ms=60_000.0)])) is not None
    # No other task pauses; one in transit to this node cannot move.
    assert rests.relieve(view((0.3, 2, 0.0, 0.0), FITS, [job(migrations=0, here_ms=0.0)])) is not None
    assert rests.relieve(view((0.3, 2, 0.0, 0.0), FITS, [job(running=False)])) is None


def test_a_machine_may_wait_for_a_job_on_its_way_before_it_sends_one_on():
    # Of 0.1 when it comes nothing is there yet.
    ahead, paging = (0.1, 2, 0.0, 0.0, {"oversize_here": -0.4}), (0.1, 2, 0.0, 0.0, {"oversize_here": 0.02})
    assert policy().relieve(view(ahead, FITS, [job()])) is not None
    waits = policy(counts_incoming=False)
    assert waits.relieve(view(ahead, FITS, [job()])) is None
    assert waits.in_trouble(view(ahead, paging).loads).tolist() == [False, True]
    decision = waits.relieve(view(paging, FITS, [job()]))
    assert (decision.target, decision.load_here) == (1, 0.02)
    # Its time of grace begins when it pages, not when the job sets out.
    patient, notes = policy(counts_incoming=False, delay_ms=2000.0), {}
    for now_ms, here, moves in [(1000.0, ahead, False), (2000.0, ahead, False), (3000.0, paging, False),
                                (4000.0, paging, False), (5000.0, paging, True)]:  # fmt: skip
        assert (patient.relieve(view(here, FITS, [job()], now_ms, notes)) is not None) == moves
    # What is on its way to a target counts there: it would be too much for both.
    there = (-0.1, 2, 12.0, 0.0, {"oversize_here": -0.6})
    assert policy(counts_incoming=False, fits="and").relieve(view(paging, there, [job(memory_mb=60.0)])) is None


@pytest.mark.parametrize(
    ("here", "there", "moves"),
    [
        # 61 MB are half of the 122 MB.
        pytest.param(0.2, (-0.5, 1, 61.0, 0.0), True, id="it fits"),
        pytest.param(0.2, (-0.4, 1, 48.0, 0.0), True, id="0.1 there after 0.2 here"),
        pytest.param(0.08, (-0.4, 1, 48.0, 0.0), False, id="0.1 there after 0.08 here"),
    ],
)
def test_by_the_gain_test_a_job_goes_where_it_makes_less_paging(here, there, moves):
    seen = view((here, 2, 0.0, 0.0), there, [job(memory_mb=61.0)])
    assert policy().relieve(seen) is not None
    assert (policy(gain_test="oversize").relieve(seen) is not None) == moves


def test_the_asked_machine_applies_the_gain_test_to_its_true_state():
    chosen = policy(gain_test="oversize")
    decision = chosen.relieve(view((0.08, 2, 0.0, 0.0), (-0.5, 1, 61.0, 0.0), [job(memory_mb=61.0)]))
    assert chosen.accept(decision.task, decision, view((-0.5, 1, 61.0, 0.0), FULL)) == ""
    assert chosen.accept(decision.task, decision, view((-0.4, 1, 48.0, 0.0), FULL)) == "no room by now"


def test_a_target_is_below_mt_by_more_than_the_margin():
    # Neither has the 60 MB free.
    seen = view((0.3, 2, 0.0, 0.0), (-0.25, 2, 30.0, 0.0), [job(memory_mb=60.0)])
    assert policy(target_margin=0.125).relieve(seen) is not None
    assert policy(target_margin=0.25).relieve(seen) is None
    # With the room for it the margin does not matter, as MT does not.
    roomy = view((0.3, 2, 0.0, 0.0), (-0.55, 1, 67.0, 0.0), [job(memory_mb=60.0)])
    assert policy(target_margin=0.75).relieve(roomy) is not None


def test_the_asked_machine_answers_by_its_true_state():
    decision = policy().relieve(view((0.1, 2, 0.0, 0.0), FITS, [job()]))
    assert policy().accept(decision.task, decision, view(FITS, FULL)) == ""
    assert policy().accept(decision.task, decision, view(FULL, FULL)) == "no room by now"
    placed = policy().place(NEWCOMER, view(FULL, FITS))
    assert policy().accept(NEWCOMER, placed, view(FITS, FULL)) == ""
    assert policy().accept(NEWCOMER, placed, view(FULL, FULL)) == "blocks submissions by now"


# ---- which job -----------------------------------------------------------------------------------------------

JOBS = [
    job(0, memory_mb=20.0, faults=100, accesses=40, age_ms=90_000.0),
    job(1, memory_mb=66.0, faults=300, accesses=4, age_ms=70_000.0),
    job(2, memory_mb=40.0, faults=900, accesses=900, age_ms=10_000.0),
    job(3, memory_mb=64.0, faults=640, accesses=18, age_ms=80_000.0),
]
# At the last look, 1 s ago: 100, 200, 60 and 0 faults since then.
LAST_LOOK = {"faults": {0: 100 - 100, 1: 300 - 200, 2: 900 - 60, 3: 640}, "looked_ms": 9_000.0}


@pytest.mark.parametrize(
    ("name", "parameters", "task"),
    [
        ("pf-rate", {}, 1),
        ("working-set", {}, 1),
        ("io-active", {}, 2),
        # The oldest has 90 s of CPU and would travel for 16 s.
        ("age", {}, 0),
        ("age", {"which": "youngest"}, 2),
        # Weights: (1 + .5 + .303 + .044)/4, (.778 + 1 + 1 + .004)/4, (.111 + .3 + .606 + 1)/4, (.889 + 0 + .97 + .02)/4
        ("combined", {}, 1),
        ("combined", {"which": "lowest"}, 0),
    ],
)
def test_the_identified_job(name, parameters, task):
    notes = {key: dict(value) if isinstance(value, dict) else value for key, value in LAST_LOOK.items()}
    decision = policy(name, **parameters).relieve(view((0.5, 4, 0.0, 0.0), (-1.0, 0, 122.0, 0.0), JOBS, notes=notes))
    assert decision.task.task == task


def test_the_oldest_moves_only_if_it_has_executed_as_long_as_it_would_travel():
    # 66 MB at 10 Mbps take 52.9 s.
    old = [job(0, memory_mb=66.0, age_ms=52_000.0), job(1, memory_mb=5.0, age_ms=5_000.0)]
    seen = view((0.5, 2, 0.0, 0.0), (-1.0, 0, 122.0, 0.0), old)
    assert policy("age").relieve(seen).task.task == 1
    assert policy("age").relieve(view((0.5, 2, 0.0, 0.0), (-1.0, 0, 122.0, 0.0), old[:1])) is None


def test_the_cost_of_the_oldest_is_that_of_its_data_on_both_disks():
    # f 100 ms, an image of 10 MB at 10 Mbps 8 s, and 1075 ms for each of 1 MB of initial data and what it has written,
    # over the network and disks of 40 and 4 MB/s: 1 MB in 10 s of CPU at 0.02 accesses/ms of 10 KB; half of them write.
    def moves(age_ms):
        old = job(memory_mb=10.0, age_ms=age_ms)
        old["initial_data_mb"], old["io_per_ms"], old["request_kb"], old["write_share"] = 1.0, 0.02, 10.0, 0.5
        seen = view((0.5, 2, 0.0, 0.0), (-1.0, 0, 122.0, 0.0), [old])
        slow = seen.hardware[1]._replace(disk_mb_per_s=4.0)
        return policy("age").relieve(replace(seen, hardware=(seen.hardware[0], slow)))

    # 10.25 s at an age of 10 s; 10.2823 s at one of 10.3 s.
    assert moves(10_000.0) is None
    assert moves(10_300.0).cost_ms == pytest.approx(10_282.25)


def test_at_first_sight_a_job_s_fault_rate_is_that_since_it_came():
    # 300 faults in 10 s against 200 in 5 s.
    jobs = [job(0, faults=300, here_ms=10_000.0), job(1, faults=200, here_ms=5_000.0)]
    seen = view((0.5, 2, 0.0, 0.0), (-1.0, 0, 122.0, 0.0), jobs)
    assert policy("pf-rate").relieve(seen).task.task == 1


def test_asked_again_after_a_refusal_it_knows_the_fault_rates_of_a_moment_ago():
    # R_p 400 and 100 faults in the last second; by all faults so far, or by none, it would be the first.
    jobs, notes = [job(0, faults=900), job(1, faults=800)], {"faults": {0: 800, 1: 400}, "looked_ms": 9_000.0}
    machines = [(-1.0, 0, 122.0, 0.0), (-1.0, 0, 121.0, 0.0)]

    def ask(refused):
        here = (0.5, 2, 0.0, 0.0)
        seen = view(here, machines[0], jobs, notes=notes, refused=frozenset(refused), more=machines[1:])
        return policy("pf-rate").relieve(seen)

    first, second = ask([]), ask([1])
    assert (first.target, first.task.task) == (1, 1)
    assert (second.target, second.task.task) == (2, 1)
    # A second later 300 more of the other's count from that one look on.
    jobs[0] = job(0, faults=1300)
    third = policy("pf-rate").relieve(view((0.5, 2, 0.0, 0.0), machines[0], jobs, 11_000.0, notes))
    assert third.task.task == 0


@pytest.mark.parametrize("name", VARIATIONS)
def test_only_machines_in_trouble_are_asked(name):
    seen = view((0.1, 1, 0.0, 0.0), (0.0, 8, 0.0, 0.0), more=[(-0.5, 9, 0.0, 0.0), (-0.5, 1, 0.0, 0.0)])
    assert policy(name).in_trouble(seen.loads).tolist() == [True, False, True, False]
    assert policy(name, memory_threshold=0.2).in_trouble(seen.loads).tolist() == [False, False, True, False]


# ---- in a cluster --------------------------------------------------------------------------------------------


def two_machines(name, programs, tmp_path, jobs, **more):
    """A cluster of two machines of 100 MB on which jobs (time [ms], home, program) are submitted."""
    profiles, trace = tmp_path / "profiles.csv", tmp_path / "trace.csv"
    profiles.write_text("program,cpu_ms,memory_mb,accesses\n" + "".join(f"{line}\n" for line in programs))
    rows = "".join(f"{ms},{home},1,0,1,{program}\n" for ms, home, program in jobs)
    trace.write_text("arrival_ms,home,cpu_ms,io_per_ms,memory_mb,name\n" + rows)
    given = {
        "cluster__nodes": 2, "cluster__memory_mb": 100.0, "cluster__swap_mb": 100.0, "cluster__paging": "oversize",
        "cluster__buffer_mb": 100.0, "workload__kind": "trace", "workload__trace__file": str(trace),
        "workload__programs__file": str(profiles), "policy__name": name, "interconnect__bandwidth_mbps": 10.0,
        "negotiation__mode": "papers", "workload__write_share": 0.0,
    }  # fmt: skip
    return ClusterModel(scenario(**given | more), seed=1)


BIG = ["big,100000,60,0"]


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIATIONS)
def test_two_big_jobs_at_one_machine_end_on_two(name, tmp_path):
    # 120 MB on 100: it pages, and after 2 s one of them moves to the empty machine, 48.1 s on its way.
    model = two_machines(name, BIG, tmp_path, [(0, 0, "big"), (20_000, 0, "big")], policy__settling_ms=0.0)
    model.run()
    frame, summary = model.jobs_frame(), model.summary()
    assert sorted(frame["node"]) == [0, 1]
    assert summary["metrics"]["migrations"] == 1
    moved = frame[frame["migrations"] == 1].iloc[0]
    # Sent at a slice's border; by age not before it has executed as long as it travels.
    assert moved["migration_ms"] == pytest.approx(100 + 60 / 1.25 * 1000, abs=1e-3)
    assert frame["page_faults"].sum() > 0
    assert summary["jobs"]["finished"] == 2


@pytest.mark.parametrize("counts_incoming", [True, False])
def test_a_job_on_its_way_drives_the_next_one_out_at_once_or_when_it_has_come(counts_incoming, tmp_path):
    # Two at machine 0 and one at machine 1: 120 and 60 of 100 MB. One moves over, 48.1 s; then there are 120 there.
    jobs = [(0, 0, "big"), (0, 1, "big"), (20_000, 0, "big")]
    model = two_machines(
        "working-set", BIG, tmp_path, jobs, policy__settling_ms=0.0, policy__pause_ms=0.0, run__until=80_000.0,
        policy__counts_incoming=counts_incoming,
    )  # fmt: skip
    model.run()
    moves = model.decisions_frame().query("cost_ms > 0 and accepted").sort_values("time_ms")
    assert moves["source"].tolist()[:2] == [0, 1]
    first_ms, second_ms = moves["time_ms"].tolist()[:2]
    # It pages, or is known to, and goes on for the delay of 2 s.
    if counts_incoming:
        assert first_ms + 2000 <= second_ms <= first_ms + 4000
    else:
        assert first_ms + 48_100 + 2000 <= second_ms <= first_ms + 48_100 + 4000


def test_no_ls_kills_the_newcomer_and_counts_it(tmp_path):
    jobs = [(k * 1000, 0, "big") for k in range(4)]
    model = two_machines("no-ls", BIG, tmp_path, jobs)
    model.run()
    summary = model.summary()
    # Three of them are 180 MB of the 200 there are; none is killed later, for none grows.
    assert summary["jobs"] == {"submitted": 4, "finished": 3, "killed": 1, "lost": 0, "blocked": 0, "running": 0}
    frame = model.jobs_frame().set_index("job")
    assert frame["outcome"].to_dict() == {0: "finished", 1: "finished", 2: "finished", 3: "killed"}
    assert frame["response_ms"][3] == 0.0
    assert frame["program"].unique().tolist() == ["big"]
    assert [model.records_of(job)["outcome"].tolist() for job in range(4)] == [[0], [0], [0], [1]]
    # Means are of those that finished.
    finished = frame[frame["outcome"] == "finished"]
    assert summary["metrics"]["mean_slowdown_cpu"] == pytest.approx(finished["slowdown_cpu"].mean())
    assert summary["programs"]["big"]["tasks"] == 3


def test_no_ls_blocking_holds_them_instead(tmp_path):
    jobs = [(k * 1000, 0, "big") for k in range(4)]
    model = two_machines(
        "no-ls-blocking", BIG, tmp_path, jobs, policy__thrashing=0.5, policy__settling_ms=0.0, run__until=60_000.0
    )
    model.run()
    # After two, Q_o = 0.2; after three, 0.8.
    counts = model.summary()["jobs"]
    assert (counts["running"], counts["blocked"]) == (3, 1)
    assert model.held_jobs == {3}


def test_steps_and_run_and_a_second_run_leave_the_same_bytes(tmp_path):
    jobs = [(k * 700, k % 2, "grows" if k % 3 else "big") for k in range(8)]
    programs = ["big,4000,60,3", "grows,500,10,2", "grows,1500,45,0"]
    given = {
        "policy__settling_ms": 300.0,
        "policy__period_ms": 170.0,
        "policy__pause_ms": 500.0,
        "policy__delay_ms": 0.0,
    }
    models = [
        two_machines("combined", programs, tmp_path, jobs, interconnect__bandwidth_mbps=1000.0, **given)
        for _ in range(3)
    ]
    models[0].run()
    models[1].run()
    while models[2].running:
        models[2].step()
    assert models[0].summary()["metrics"]["migrations"] > 0
    first = models[0].engine.sorted_records()
    for other in models[1:]:
        records = other.engine.sorted_records()
        assert all(first[name].tobytes() == records[name].tobytes() for name in first.dtype.names)


def test_negotiated_it_works_by_reports_and_answers(tmp_path):
    jobs = [(k * 3000, 0, "big") for k in range(3)]
    model = two_machines(
        "working-set", BIG, tmp_path, jobs, negotiation__mode="negotiated", interconnect__latency_ms=5.0,
        policy__settling_ms=0.0,
    )  # fmt: skip
    model.run()
    assert model.summary()["jobs"]["finished"] == 3
    assert model.summary()["metrics"]["migrations"] >= 1


def test_a_submission_that_all_refuse_waits_in_its_queue(tmp_path):
    # Both machines are full until 10 s. At 5 s the report of time 0 still shows the other one empty: it refuses.
    jobs = [(0, 0, "full"), (1, 1, "full"), (5_000, 0, "full"), (6_000, 0, "full")]
    given = {
        "negotiation__mode": "negotiated", "cluster__exchange_period_ms": 30_000.0, "policy__settling_ms": 0.0,
        "cluster__context_switch_ms": 0.0, "negotiation__offers": 1,
    }  # fmt: skip
    models = [two_machines("pf-rate", ["full,10000,100,0"], tmp_path, jobs, **given) for _ in range(2)]
    models[0].run()
    while models[1].running:
        models[1].step()
    frame = models[0].jobs_frame().sort_values("job")
    # The first ends at 10 s, the third at 21 s, each in the slice that begins then: the next look is a second later.
    assert frame["blocked_ms"].tolist() == [0.0, 0.0, 6_000.0, 16_000.0]
    assert frame["node"].tolist() == [0, 1, 0, 0]
    decisions = models[0].decisions_frame().query("job == 2")
    assert decisions["target"].tolist() == [1, 0, 0]
    assert decisions["accepted"].tolist() == [False, False, True]
    assert decisions["reason"].tolist() == [
        "blocks submissions by now",
        "home blocks submissions, and every node that was asked has refused",
        "accepted at home",
    ]
    # Waiting is no refusal: of the offers there was one.
    assert models[0].summary()["metrics"]["refused_offers"] == 1
    assert models[0].summary() == models[1].summary()
    assert frame.equals(models[1].jobs_frame().sort_values("job"))


def test_a_job_s_tasks_behind_the_first_start_at_home_and_say_why(tmp_path):
    given = {"negotiation__mode": "negotiated", "workload__tasks": {"parallel_share": 1.0, "minimum": 3, "maximum": 3}}
    model = two_machines("pf-rate", ["small,500,1,0"], tmp_path, [(0, 0, "small")], **given)
    model.run()
    decisions = model.decisions_frame()
    # Each machine takes one, and for ten seconds no more; but the job has begun.
    assert decisions["target"].tolist() == [0, 1, 0]
    assert decisions["accepted"].all()
    assert decisions["reason"].tolist() == [
        "accepted at home",
        "",
        "home blocks submissions, and no other machine takes it",
    ]


# ---- jobs that are held for ever -----------------------------------------------------------------------------

FILLED = {
    "cluster__memory_mb": 128.0, "cluster__buffer_mb": 0.0, "cluster__paging": "oversize",
    "workload__utilisation": None, "workload__cpu_ms": {"kind": "fixed", "mean": 500.0},
    "workload__home": {"kind": "weights", "weights": [1.0]}, "workload__duration_s": 1.0, "workload__jobs": 3,
}  # fmt: skip


def background(*nodes):
    return [{"node": node, "cpu_share": 0.1, "memory_mb": 300.0} for node in nodes]


@pytest.mark.parametrize("name", ["no-ls-blocking", *VARIATIONS])
def test_a_run_ends_when_all_that_is_left_is_held_for_ever(name):
    given = FILLED | {"cluster__nodes": 2, "workload__background": background(0, 1), "policy__name": name}
    models = [ClusterModel(scenario(**given), seed=1) for _ in range(2)]
    models[0].run()
    while models[1].running:
        assert models[1].now_ms < 60_000
        models[1].step()
    counts = models[0].summary()["jobs"]
    assert counts == {"submitted": 3, "finished": 0, "killed": 0, "lost": 0, "blocked": 3, "running": 0}
    assert models[0].summary() == models[1].summary()


def test_it_does_not_end_before_news_of_a_free_machine_has_come(tmp_path):
    # Machine 0 is full of background. The report of 10 s shows machine 1 full too, until 11 s; the next comes at 20 s.
    given = {
        "negotiation__mode": "negotiated", "cluster__exchange_period_ms": 10_000.0, "policy__settling_ms": 0.0,
        "workload__background": [{"node": 0, "cpu_share": 0.1, "memory_mb": 150.0}],
    }  # fmt: skip
    jobs = [(9_000, 1, "full"), (10_500, 0, "small")]
    model = two_machines("pf-rate", ["full,2000,100,0", "small,500,1,0"], tmp_path, jobs, **given)
    model.run()
    frame = model.jobs_frame().set_index("job")
    assert frame["outcome"].to_dict() == {0: "finished", 1: "finished"}
    assert frame["node"][1] == 1
    assert 9_500 <= frame["blocked_ms"][1] <= 10_500


def test_it_does_not_end_before_a_failure_that_moves_the_submission_elsewhere():
    # Node 0 is full; while it is out, from 30 s on, node 1 takes in what is submitted there.
    given = FILLED | {
        "cluster__nodes": 2, "workload__background": background(0), "policy__name": "no-ls-blocking",
        "failures__event": [{"node": 0, "at_s": 30.0, "for_s": 60.0}], "workload__jobs": 1,
    }  # fmt: skip
    model = ClusterModel(scenario(**given), seed=1)
    model.run()
    assert model.summary()["jobs"]["finished"] == 1
    assert model.jobs_frame()["node"].tolist() == [1]


def test_a_policy_that_lets_go_by_the_clock_is_waited_for(monkeypatch):
    patient = type(create(PolicyChoice(name="no-ls-blocking")))
    monkeypatch.setattr(patient, "holds", lambda self, arriving, tasks, seen: seen.now_ms < 40_000)
    monkeypatch.setattr(patient, "holds_for_events", False)
    model = ClusterModel(scenario(**FILLED, policy__name="no-ls-blocking"), seed=1)
    model.run()
    assert model.jobs_frame()["blocked_ms"].min() >= 39_000
