"""Agents whose step a user overrides: called once a slice, in order, with the same bytes."""

from __future__ import annotations

import pytest
from support import busy, finished, same_records, scenario

from cluster_abm import ClusterModel, InputError
from cluster_abm.model import Job, LoadManager, Node, OutOfTurn

PARALLEL = busy(
    workload__tasks__parallel_share=0.6, workload__tasks__barrier_ms=30.0, workload__tasks__communication_ms=3.0,
    policy__name="wal-pm",
)  # fmt: skip


class CountingNode(Node):
    """Notes when it steps."""

    def step(self):
        self.model.calls.append(("node", self.index, self.model.now_ms))
        super().step()


class CountingManager(LoadManager):
    """Notes when it steps and reports."""

    def step(self):
        self.model.calls.append(("manager", self.index, self.model.now_ms))
        super().step()

    def report(self):
        self.model.calls.append(("report", self.index, self.model.now_ms))
        super().report()


class CountingJob(Job):
    """Notes when it steps."""

    def step(self):
        self.model.calls.append(("job", self.job, self.model.now_ms))
        super().step()


class Counted(ClusterModel):
    """A model that collects what its agents note."""

    def __init__(self, *arguments, **keywords):
        self.calls = []
        super().__init__(*arguments, **keywords)


def model_with(settings, seed=1, **classes):
    return type("Mine", (Counted,), classes)(scenario(**settings), seed=seed)


@pytest.mark.slow
@pytest.mark.parametrize(
    "classes",
    [
        {"node_class": CountingNode},
        {"load_manager_class": CountingManager},
        {"job_class": CountingJob},
        {"node_class": CountingNode, "load_manager_class": CountingManager, "job_class": CountingJob},
    ],
)
@pytest.mark.parametrize("more", [{}, {"policy__name": "pf-rate"}, {"cluster__swap_mb": 10.0}])
def test_steps_of_ones_own_leave_the_same_bytes(classes, more):
    settings = PARALLEL | more
    plain = finished(1, **settings)
    ran, stepped = model_with(settings, **classes), model_with(settings, **classes)
    ran.run()
    while stepped.running:
        stepped.step()
    assert same_records(plain, ran)
    assert same_records(plain, stepped)
    assert plain.summary() == ran.summary() == stepped.summary()
    assert plain.decisions_frame().equals(ran.decisions_frame())
    assert ran.calls == stepped.calls


def test_each_agent_steps_once_a_slice_in_the_stated_order():
    model = model_with(PARALLEL, node_class=CountingNode, load_manager_class=CountingManager, job_class=CountingJob)
    for slices in range(1, 300):
        model.calls.clear()
        model.step()
        kinds = [kind for kind, _, _ in model.calls]
        jobs = kinds.count("job")
        assert kinds == ["manager"] * 4 + ["node"] * 4 + ["job"] * jobs + ["report"] * 4
        assert [index for kind, index, _ in model.calls if kind == "node"] == [0, 1, 2, 3]
        # The slice begins when managers and nodes step, and has ended when jobs do and managers report.
        assert {at for kind, _, at in model.calls if kind in ("manager", "node")} == {10.0 * (slices - 1)}
        assert {at for kind, _, at in model.calls if kind in ("job", "report")} == {10.0 * slices}
        assert jobs >= len(model.agents_by_type[CountingJob])
    assert jobs > 0


def test_where_no_step_is_overridden_run_leaps():
    model = ClusterModel(scenario(**PARALLEL), seed=1)
    windows = []
    serve = model.engine.serve
    model.engine.serve = lambda end_ns, *more: windows.append(end_ns) or serve(end_ns, *more)
    model.run()
    assert len(windows) < model.steps / 2


@pytest.mark.slow
def test_a_model_with_a_step_of_its_own_is_stepped_by_run():
    class Mine(ClusterModel):
        steps_of_mine = 0

        def step(self):
            super().step()
            self.steps_of_mine += 1

    model = Mine(scenario(**PARALLEL), seed=1)
    model.run()
    assert model.steps_of_mine == model.steps
    assert same_records(model, finished(1, **PARALLEL))


@pytest.mark.slow
def test_a_node_that_does_not_call_through_is_served_all_the_same():
    class Silent(Node):
        def step(self):
            pass

    model = model_with(PARALLEL, node_class=Silent)
    model.run()
    assert same_records(model, finished(1, **PARALLEL))


def test_a_barrier_opens_no_earlier_than_its_jobs_step_lets_it():
    class Late(Job):
        def step(self):
            if self.model.now_ms >= 2000.0:
                super().step()

    model = model_with(PARALLEL | {"workload__duration_s": 1.5}, job_class=Late)
    model.run()
    parallel = model.jobs_frame().groupby("job").filter(lambda tasks: len(tasks) > 1)
    assert (parallel[parallel["barrier_ms"] > 0]["finish_ms"] >= 2000.0).all()
    frame = model.jobs_frame()
    parts = [f"{part}_ms" for part in ("cpu", "cpu_queue", "io", "io_queue", "paging", "migration", "barrier")]
    assert (frame[[*parts, "blocked_ms"]].sum(axis=1) - frame["response_ms"]).abs().max() < 1e-6


class Mute(LoadManager):
    """Node 0 never reports."""

    def report(self):
        if self.index:
            super().report()


def test_a_manager_that_does_not_report_is_believed_to_have_failed():
    settings = busy(policy__name="jsq", failures__event=[{"at_s": 1e6, "node": 3}], workload__duration_s=20.0)
    model = model_with(settings, load_manager_class=Mute)
    for _ in range(1000):
        model.step()
    assert model.view_of(model.load_managers[1]).down == {0}
    assert not any(model.load_managers[1].known_loads()["tasks"][0:1])


@pytest.mark.parametrize("kind", [Node, LoadManager, Job])
def test_a_step_out_of_turn_says_what_to_do(kind):
    model = ClusterModel(scenario(**PARALLEL), seed=1)
    for _ in range(200):
        model.step()
    before = model.engine.sorted_records().tobytes()
    with pytest.raises(OutOfTurn, match=rf"{kind.__name__}.step\(\) is .*call model.step\(\)"):
        model.agents_by_type[kind].do("step")
    with pytest.raises(OutOfTurn):
        model.agents.shuffle_do("step")
    assert model.engine.sorted_records().tobytes() == before


def test_agents_of_a_pooled_cluster_have_no_slice_of_their_own():
    with pytest.raises(InputError, match="makes all nodes one station"):
        model_with(busy(policy__name="pooled"), node_class=CountingNode)


def test_a_place_of_ones_own_is_asked_under_any_policy():
    class Next(LoadManager):
        def place(self, task):
            found = super().place(task)
            return found._replace(target=(self.index + 1) % 4)

    model = model_with(busy(policy__name="none"), load_manager_class=Next)
    model.run()
    frame = model.jobs_frame()
    assert (frame["node"] == (frame["home"] + 1) % 4).all()


def test_jobs_are_a_type_of_agent_from_the_first_moment():
    model = ClusterModel(scenario(**PARALLEL), seed=1)
    assert list(model.agents_by_type[Job]) == []
    assert model.agents_by_type[Job].agg("width", sum) == 0
