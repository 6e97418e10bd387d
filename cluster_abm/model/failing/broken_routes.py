"""What failures do to the network, and to the tasks that cross it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cluster_abm.engine.state import EngineState
from cluster_abm.model.failing.availability import Availability
from cluster_abm.model.failing.recovery import Recovery
from cluster_abm.model.moving.routes_in_use import RoutesInUse
from cluster_abm.model.moving.routing import LiveNetwork
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.part import part


@part
class BrokenRoutes:
    """Leads routes round what is down, and ends the transfers that cross it."""

    engine: EngineState
    live: LiveNetwork
    availability: Availability
    routes_in_use: RoutesInUse
    transfers: Transfers
    recovery: Recovery

    def renew(self, links_down: set[tuple[Any, Any]]) -> None:
        """Change the network to what is up now; transfers over anything else end, and their task is where it was."""
        self._end_transfers(self._renew_network(links_down))

    def _renew_network(self, links_down: set[tuple[Any, Any]]) -> Callable[[int], bool]:
        """Routes lead round what is down from now on; says of a link, by its number, whether it is down."""
        if not self.routes_in_use.can_fail:
            return lambda _: False
        nodes = set(np.flatnonzero(~self.availability.up).tolist())
        self.live.change(self.live.whole.without(nodes=nodes, links=links_down))
        ends, pairs = self.live.whole.link_ends, {frozenset(link) for link in links_down}

        def is_down(link: int) -> bool:
            return not nodes.isdisjoint(ends[link]) or frozenset(ends[link]) in pairs

        return is_down

    def _end_transfers(self, is_down: Callable[[int], bool]) -> None:
        """Tasks in transit over what is down now go on where they came from, if that is up."""
        engine, up = self.engine, self.availability.up
        routes = self.routes_in_use.take_all()
        for slot in engine.rows_in_transit().tolist():
            task, origin, target = (int(engine.tasks[name][slot]) for name in ("task", "origin", "node"))
            if origin == target or not up[origin]:
                continue
            route = routes.get(task, ()) if self.transfers.is_crossing(task) else ()
            if not up[target] or any(map(is_down, route)):
                self.recovery.turn_back(slot)
            else:
                self.routes_in_use.keep(task, route)
