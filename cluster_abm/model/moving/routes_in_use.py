"""The routes by which tasks in transit travel, where links can fail."""

from __future__ import annotations

from cluster_abm.engine.state import EngineState
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.part import part

# Once this many routes are kept, those of tasks that have arrived are looked for.
KEPT_ROUTES = 1024


@part
class RoutesInUse:
    """The links that each task in transit crosses: fixed when it departs, whatever fails elsewhere meanwhile.

    Attributes:
        is_on: whether anything can fail, so that routes are noted.
    """

    engine: EngineState
    live: LiveNetwork
    links_can_fail: bool

    def __post_init__(self) -> None:
        self.is_on = False
        self._routes: dict[int, tuple[int, ...]] = {}
        self._most = KEPT_ROUTES

    @property
    def can_fail(self) -> bool:
        """Whether what fails can cut a route.

        If only nodes fail and all routes are alike, no route passes through a failed node and no transfer targets one.
        """
        return self.links_can_fail or not self.live.whole.is_alike

    @property
    def are_noted(self) -> bool:
        """Whether the routes of tasks that depart are noted."""
        return self.is_on and self.can_fail

    def begin(self) -> None:
        """From now on something can fail: note the routes of the tasks that are in transit already."""
        if self.is_on:
            return
        self.is_on = True
        for slot in self.engine.rows_in_transit().tolist():
            task, origin, target = (int(self.engine.tasks[name][slot]) for name in ("task", "origin", "node"))
            self.note(task, origin, target)

    def note(self, task: int, source: int, target: int) -> None:
        """A task departs: its route is the present one."""
        if self.are_noted and source != target:
            if len(self._routes) >= self._most:
                self._forget_arrived()
            self._routes[task] = self.live.network.links_between(source, target)

    def take_all(self) -> dict[int, tuple[int, ...]]:
        """The routes that are noted; those that remain in use are to be kept anew (`keep`)."""
        routes, self._routes = self._routes, {}
        return routes

    def keep(self, task: int, route: tuple[int, ...]) -> None:
        """A task goes on by its route."""
        self._routes[task] = route

    def _forget_arrived(self) -> None:
        """Drop the routes of tasks that have arrived; the next time once there are twice as many as are left."""
        in_transit = set(self.engine.tasks["task"][self.engine.rows_in_transit()].tolist())
        self._routes = {task: route for task, route in self._routes.items() if task in in_transit}
        self._most = max(KEPT_ROUTES, 2 * len(self._routes))
