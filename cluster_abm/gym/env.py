"""Placement as a Gymnasium environment: an observation of what is known, an action that names a node, a reward."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any, Literal, get_args

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from cluster_abm.errors import InputError
from cluster_abm.gym.model import OutsideModel
from cluster_abm.model.setup import resolve, seed_of
from cluster_abm.policy.parts.features import FEATURES
from cluster_abm.scenario import Scenario, nearest

ENV_ID = "cluster_abm/Placement-v0"
MOST_DECISIONS = 10_000

Numbers = npt.NDArray[np.float32]
Reward = Literal["slowdown", "tasks"]


class PlacementEnv(gymnasium.Env[Numbers, Any]):
    """A run of a scenario in which each arriving task starts on the node that the action names.

    An episode is a whole run. A decision is that of one arriving task; a parallel job brings one a task.

    **Observation**: of each node the features of `cluster_abm.policy.parts.features.FEATURES`, numbers of 0..1, shape
    (nodes, features), or (decisions, nodes, features) if there are several. They are what the load manager of the
    task's home knows, the own node as it is and the others as reported, or in mode `papers` all as they are; and what
    the task announces. After the last decision all are 0.

    **Action**: a node; if there are several decisions a step, one for each. The node takes the task, without refusing;
    the task starts at home if the node is believed to be down or does not answer.

    **Reward**: undiscounted, the rewards of an episode add up to

    * `slowdown`: minus the mean slowdown of the jobs: `bounded_slowdown` of the run's summary where policies are ranked
      by it (`measure.headline`), else `mean_slowdown`. A step's reward is minus the sum, over the tasks that finished
      since the last decision, of slowdown / tasks of the job / jobs of the run. Jobs that do not finish count in
      neither.
    * `tasks`: minus the mean response of a task [s]. A step's reward is minus the time integral of the number of tasks
      in the system since the last decision, over all tasks of the run (Little's law: the integral is the sum of the
      responses). It comes sooner than the other one, and a task that never finishes costs as long as the run lasts.

    **Several decisions a step** (`decisions`): the next tasks that arrive before load managers talk again are observed
    together, when the slice of the first of them begins, and are placed one after another, each in its own slice. So
    none of the observations of a step tells of that step's other tasks. If there are fewer, the rest of the observation
    is 0 and the rest of the action is ignored; `info["decisions"]` says how many there are.

    **Copies**: `copy.deepcopy` of a begun environment goes on by itself, as planners need it. A copy places the tasks
    of the episode so far again, which takes as long as that did.

    **Seeds** are those of a run: `reset(seed=s)` brings the jobs of `ClusterModel(scenario, seed=s)`. The first
    `reset()` takes the seed given here, each later one the next number.

    Args:
        scenario: a Scenario, the name of a shipped one, or the path of a TOML file; its policy is left out.
        seed: of the first episode; default: the scenario's.
        decisions: how many a step, at most.
        reward: "slowdown" or "tasks".
        render_mode: "ansi", or None.
        kwargs: scalar overrides, `__` for the dot, as of ClusterModel.

    Raises:
        InputError: the scenario, or another argument, is not right.

    Attributes:
        model: the run of the episode, to be asked as any ClusterModel; None before the first reset.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012 - as Gymnasium has it

    def __init__(
        self,
        scenario: Scenario | str | Path = "quickstart",
        seed: int | None = None,
        *,
        decisions: int = 1,
        reward: Reward = "slowdown",
        render_mode: str | None = None,
        **kwargs: Any,
    ) -> None:
        if isinstance(decisions, bool) or not isinstance(decisions, int) or not 1 <= decisions <= MOST_DECISIONS:
            raise InputError(f"decisions = {decisions!r}: must be a whole number of 1..{MOST_DECISIONS}")
        if reward not in get_args(Reward):
            raise InputError(f"reward = {reward!r}: {nearest(str(reward), list(get_args(Reward)))}")
        if render_mode not in (None, "ansi"):
            raise InputError(f"render_mode = {render_mode!r}: allowed are 'ansi' and None")
        self.scenario = resolve(scenario, kwargs)
        self.render_mode = render_mode
        self._decisions, self._by_slowdown = decisions, reward == "slowdown"
        self._next_seed = seed_of(seed, None, self.scenario)
        nodes = self.scenario.cluster.nodes
        shape = (nodes, len(FEATURES)) if decisions == 1 else (decisions, nodes, len(FEATURES))
        self.observation_space = spaces.Box(0.0, 1.0, shape, np.float32)
        self.action_space = spaces.Discrete(nodes) if decisions == 1 else spaces.MultiDiscrete([nodes] * decisions)
        self.model: OutsideModel | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Numbers, dict[str, Any]]:
        """Begin an episode; `options` is not used. Returns the first observation, and `info` as `step` does.

        Raises:
            InputError: the seed is none of a run, or no task arrives.
        """
        if seed is not None:
            self._next_seed = seed_of(seed, None, self.scenario)
        super().reset(seed=self._next_seed)
        self.model = OutsideModel(self.scenario, self._next_seed, most=self._decisions)
        self._next_seed += 1
        engine = self.model.engine
        self._all = float(len(engine.jobs) if self._by_slowdown else engine.total_tasks)
        self._total = 0.0
        return self._observation(self.model), self._info(self.model)

    def step(self, action: Any) -> tuple[Numbers, float, bool, bool, dict[str, Any]]:
        """Place the tasks that were observed.

        Args:
            action: a node, or one for each decision, shape (decisions,).

        Returns:
            observation; reward; terminated: all jobs have ended; truncated: the scenario's time is up; info: `seed`,
            `now_ms`, `decisions` (how many are asked for next), and at the end `summary`.

        Raises:
            InputError: no such node.
            gymnasium.error.ResetNeeded: no episode, or its end was reached.
        """
        model = self.model
        if model is None or not model.asked:
            raise gymnasium.error.ResetNeeded("call reset() before step()")
        model.place(self._one_node(action) if self._decisions == 1 else self._nodes(action)[: model.asked])
        total = model.slowdowns() if self._by_slowdown else model.in_system_s()
        reward = (self._total - total) / self._all
        self._total = total
        is_over = model.asked == 0
        # The scenario's time ends a run that may have gone on.
        is_cut = is_over and self.scenario.run.until != "drained"
        return self._observation(model), reward, is_over and not is_cut, is_cut, self._info(model)

    def render(self) -> str | None:
        """With render_mode "ansi": the time, and the tasks on each node, as a line of text."""
        if self.render_mode is None or self.model is None:
            return None
        tasks = self.model.parts.views.measure_all()["tasks"].astype(int).tolist()
        return f"{self.model.now_ms:.0f} ms: {' '.join(map(str, tasks))}\n"

    def _one_node(self, action: Any) -> int:
        """The node that an action names."""
        try:
            node = operator.index(action)
        except TypeError:
            raise InputError(f"action = {str(action)[:60]}: a node as a whole number is needed") from None
        if not 0 <= node < self.scenario.cluster.nodes:
            raise self._no_such_node(action)
        return node

    def _nodes(self, action: Any) -> npt.NDArray[np.int64]:
        """The nodes that an action names, shape (decisions,)."""
        nodes = np.asarray(action)
        if nodes.dtype.kind not in "iu" or nodes.shape != (self._decisions,):
            raise InputError(f"action = {str(action)[:60]}: {self._decisions} nodes as whole numbers are needed")
        if nodes.min() < 0 or nodes.max() >= self.scenario.cluster.nodes:
            raise self._no_such_node(action)
        return nodes

    def _no_such_node(self, action: Any) -> InputError:
        return InputError(f"action = {str(action)[:60]}: allowed are nodes 0..{self.scenario.cluster.nodes - 1}")

    def _observation(self, model: OutsideModel) -> Numbers:
        # A copy: learners keep observations.
        return model.features[0].copy() if self._decisions == 1 else model.features.copy()

    def _info(self, model: OutsideModel) -> dict[str, Any]:
        info: dict[str, Any] = {"seed": model.run_seed, "now_ms": model.now_ms, "decisions": model.asked}
        if not model.asked:
            info["summary"] = model.summary()
        return info
