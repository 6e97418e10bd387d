"""Tasks that are killed while links and disks are at work for them; and a run that is left with held jobs alone."""

from __future__ import annotations

import pytest
from crossings.table import crosses
from crossings.timelines import CONTENDED, fails, life, ns, send_all_to, timeline
from support import run_within, scenario

from cluster_abm import ClusterModel
from cluster_abm.model import Job


def kill(model, job):
    """Have an agent kill a job."""
    next(agent for agent in model.agents_by_type[Job] if agent.job == job).kill()


# Task 0 computes 100 ms on node 1, with an access at its 50th: from 50 to 60 if the disk has nothing else to do. Task
# 1 is sent there from node 0 with 4 MB, which the disk reads in 40 ms and the network moves in 4, after 10 for the
# start: it enters at 54, and its data is written in 40.
PHASES = [{"cpu_ms": 100, "memory_mb": 1, "accesses": 1}, {"program": "other", "cpu_ms": 10, "memory_mb": 10}]
JOBS = [{"home": 1, "name": "it"}, {"home": 0, "name": "other", "initial_data_mb": 4}]


@pytest.mark.parametrize(
    ("arrival_ms", "channels", "killed_ms", "finish_ms"),
    [
        # Its write waits for the access, and is withdrawn at once.
        (0, 1, 54, 110),
        # Its write needs no seek and has the bus from 54 to 94: it ends then, and so late does the access.
        (0, 2, 94, 145),
        # Its write begins at 64: nothing else is at the disk.
        (10, 1, 104, 110),
    ],
)
@crosses("kill", "links", "channels", "programs")
def test_a_task_for_which_there_is_no_memory_where_it_arrives(arrival_ms, channels, killed_ms, finish_ms, tmp_path):
    """1 and 10 MB are more than 10: it is killed as it enters, or, if the disk writes its data by then, with that."""
    jobs = [JOBS[0], JOBS[1] | {"arrival_ms": arrival_ms}]
    model = timeline(
        tmp_path, jobs, PHASES, cluster__memory_mb=10.0, cluster__swap_mb=0.0, cluster__disk_channels=channels,
        policy__name="jsq", **CONTENDED,
    )  # fmt: skip
    send_all_to(model, 1, 1)
    model.run()
    assert life(model, 1) == {"finish": ns(killed_ms), "migration": ns(killed_ms - arrival_ms)}
    assert life(model, 0)["finish"] == ns(finish_ms)
    assert model.jobs_frame().set_index("task")["outcome"].sort_index().tolist() == ["finished", "killed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arrival_ms", "at_ms", "killed_ms"),
    [
        # It waits for the access, since 54.
        (0, 60, 60),
        # Its data is being written, from 60 to 100.
        (0, 70, 100),
        # From 64 to 104.
        (10, 80, 104),
        # Still on its way: its data is being read.
        (0, 30, 30),
    ],
)
@crosses("kill", "links", "programs")
def test_a_job_that_an_agent_kills_while_its_data_is_read_or_written(arrival_ms, at_ms, killed_ms, tmp_path):
    model = timeline(tmp_path, [JOBS[0], JOBS[1] | {"arrival_ms": arrival_ms}], PHASES, policy__name="jsq", **CONTENDED)
    send_all_to(model, 1, 1)
    model.run(until_ms=at_ms)
    kill(model, 1)
    model.run()
    assert life(model, 1) == {"finish": ns(killed_ms), "migration": ns(killed_ms - arrival_ms)}
    assert life(model, 0)["finish"] == ns(110)


@crosses("kill", "background")
def test_a_background_program_is_never_the_newest(tmp_path):
    """A job's task of 1 MB and a program of 10, which has a larger number, enter a node of 10 MB at 0."""
    model = timeline(
        tmp_path, [{"cpu_ms": 10}], cluster__memory_mb=10.0, cluster__swap_mb=0.0,
        workload__background=[{"node": 0, "cpu_share": 0.5, "memory_mb": 10.0}],
    )  # fmt: skip
    model.run()
    assert life(model) == {"finish": 0}
    assert model.engine.nodes["tasks"].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("job", "at_ms", "left_ms"),
    [
        # Task 0 waits for its data: task 1 has the link to itself, 200 ms, and 20 to write.
        (0, 100, 30 + 200 + 20 + 10),
        # Task 1 is under way while task 0 waits until 110, for 1000 ms, and 100 to write.
        (1, 100, 110 + 1000 + 100 + 10),
        # Both are under way. Task 1 has 0.8 + 0.2 MB, and then all of the link: 100 ms more.
        (0, 150, 150 + 100 + 20 + 10),
        # Task 0 has 0.2 of 10 MB.
        (1, 150, 150 + 980 + 100 + 10),
    ],
)
@crosses("kill", "links")
def test_a_killed_job_leaves_its_link_to_the_other_one(job, at_ms, left_ms, tmp_path):
    """Links of 10 MB/s. Task 0 brings 10 MB from node 0 to 2, read in 100 ms; task 1 brings 2 MB from node 1, read in
    20: each is sent 10 ms after that, from 110 and from 30 on."""
    jobs = [{"home": home, "cpu_ms": 10, "initial_data_mb": mb} for home, mb in ((0, 10), (1, 2))]
    model = timeline(
        tmp_path, jobs, cluster__nodes=3, policy__name="jsq", **CONTENDED, interconnect__bandwidth_mbps=80.0
    )
    send_all_to(model, 2, 2)
    model.run(until_ms=at_ms)
    kill(model, job)
    model.run()
    assert life(model, job) == {"finish": ns(at_ms), "migration": ns(at_ms)}
    assert life(model, 1 - job) == {"finish": ns(left_ms), "cpu": ns(10), "migration": ns(left_ms - 10)}


@pytest.mark.parametrize("by_steps", [False, True])
@crosses("holding", "background", "paging")
def test_a_run_that_is_stuck_ends_with_the_slice_in_which_that_is_found(by_steps):
    """Programs ask a node of 128 MB for 300, for ever. Its jobs are looked at once a second, by a policy that hears no
    reports: the first time, at 1000 ms, nothing can come any more that would let them go."""
    settings = scenario(
        cluster__nodes=1, cluster__memory_mb=128.0, cluster__buffer_mb=0.0, cluster__paging="oversize",
        workload__duration_s=0.5, workload__jobs=3, policy__name="no-ls-blocking",
        workload__background=[{"node": 0, "cpu_share": 0.1, "memory_mb": 300.0}],
    )  # fmt: skip
    model = ClusterModel(settings, seed=1)
    if by_steps:
        while model.running and model.now_ms < 5_000:
            model.step()
    else:
        run_within(model, 5_000)
    assert model.now_ms == 1_010
    assert model.summary()["jobs"]["blocked"] == 3


@pytest.mark.parametrize("by_steps", [False, True])
@pytest.mark.parametrize(
    ("arrival_ms", "ends_ms"),
    [
        # Nothing is to come after it: the run ends with its slice, whatever is due later.
        (105, 110),
        # The failure is to come until 50: the run ends with the slice that begins then.
        (25, 60),
    ],
)
@crosses("holding", "failure")
def test_a_run_of_held_jobs_ends_with_the_slice_after_which_nothing_is_to_come(arrival_ms, ends_ms, by_steps, tmp_path):
    """A policy holds a job for ever, and lets only events free what it holds. Node 1 fails for good at 50."""
    model = timeline(tmp_path, [{"arrival_ms": arrival_ms}], policy__name="batch-system", **fails((1, 50)))
    model.policy.next_job = lambda queue, view: -1
    if by_steps:
        while model.running and model.now_ms < 5_000:
            model.step()
    else:
        run_within(model, 5_000)
    assert model.now_ms == ends_ms
    assert model.summary()["jobs"]["blocked"] == 1


class KilledAt80(Job):
    """A job that ends itself at 80 ms."""

    def step(self):
        super().step()
        if self.model.now_ms == 80:
            self.kill()


class WithJobsKilledAt80(ClusterModel):
    job_class = KilledAt80


@crosses("kill", "programs")
def test_a_disk_ends_what_it_serves_for_a_killed_task_in_the_last_slice_of_a_run(tmp_path):
    """The access is in service from 75 to 85 ms. The only job is killed at 80, at the end of a slice, and ends at 85
    with its access. The run ends with that slice, at 90; the disk has worked for 10 ms."""
    plain = timeline(tmp_path, [{"name": "it"}], [{"cpu_ms": 150, "memory_mb": 1, "accesses": 1}])
    model = WithJobsKilledAt80(plain.setup, seed=1)
    model.run()
    assert life(model) == {"finish": ns(85), "cpu": ns(75), "io": ns(10)}
    assert model.now_ms == 90
    assert (model.node_agents[0].cpu_busy_ms, model.node_agents[0].disk_busy_ms) == (75, 10)


class KillingTheNext(Job):
    """Job 0 kills job 1 at 20 ms; both record their steps."""

    steps: list[tuple[float, int]]

    def step(self):
        super().step()
        self.steps.append((self.model.now_ms, self.job))
        if (self.job, self.model.now_ms) == (0, 20):
            next(agent for agent in self.model.agents_by_type[type(self)] if agent.job == 1).kill()


class WithJobsThatKill(ClusterModel):
    job_class = KillingTheNext


@crosses("kill")
def test_a_job_that_is_killed_in_the_step_of_another_one_does_not_step_any_more(tmp_path):
    plain = timeline(tmp_path, [{"cpu_ms": 25}, {"home": 1, "cpu_ms": 100}])
    KillingTheNext.steps = []
    model = WithJobsThatKill(plain.setup, seed=1)
    model.run()
    assert KillingTheNext.steps == [(10, 0), (10, 1), (20, 0)]
    assert [life(model, job)["finish"] for job in (0, 1)] == [ns(25), ns(20)]
