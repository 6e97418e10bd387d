"""Devices that are slow for a while: CPUs, disks, and the links of nodes."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np

from cluster_abm.clock import Clock
from cluster_abm.engine.state import EngineState
from cluster_abm.errors import InputError
from cluster_abm.interconnect import Network
from cluster_abm.model.failing.outages import Timetable, ups_and_downs
from cluster_abm.model.moving.transfers import Transfers
from cluster_abm.model.observing.happenings import Happenings
from cluster_abm.model.part import part
from cluster_abm.scenario.failures import Degradation, Outages, problem_of_links
from cluster_abm.workload.generators import entity_generator


class Device(NamedTuple):
    """A device of a node: "cpu", "disk" or "link" (all its links)."""

    kind: str
    node: int


@part
class Degrading:
    """Slows devices down at slice boundaries, and lets them recover.

    A device on which several causes are at work has the product of their factors. Load managers are not told: they
    count with the hardware as it is when nothing is wrong, and see in loads and reports what follows.

    Attributes:
        causes: the scenario's.
        network: the network with nothing failed.
        transfers: what shares its links.
        due_ns: the next boundary at which anything changes [ns].

    Raises InputError: a cause names a node that does not exist, or slows links that transfers do not share, or a bus.
    """

    causes: tuple[Degradation, ...]
    network: Network
    transfers: Transfers
    engine: EngineState
    clock: Clock
    run_seed: int
    happenings: Happenings

    def __post_init__(self) -> None:
        self._timetable = Timetable(self.clock)
        # Causes at work by device.
        self._at_work: dict[Device, list[int]] = defaultdict(list)
        # Speeds that acts have given, until a node recovers.
        self._by_acts: dict[Device, float] = {}
        for number, cause in enumerate(self.causes):
            self._plan(number, cause)
        self.due_ns = self._timetable.next_ns

    def _plan(self, number: int, cause: Degradation) -> None:
        nodes = len(self.engine.nodes)
        chosen = range(nodes) if cause.nodes is None else dict.fromkeys(cause.nodes)
        where = f"failures.degrade.{number}"
        missing = [node for node in chosen if node >= nodes]
        if missing:
            raise InputError(f"{where}.nodes = {missing[0]}: there is no such node; allowed: 0 to {nodes - 1}")
        if cause.device == "link":
            check_links(where, self.network)
        for node in chosen:
            thing = Device(cause.device, node), number
            if cause.kind == "schedule":
                assert cause.at_s is not None  # the scenario's check
                ends = [] if cause.for_s is None else [(cause.for_s, False)]
                self._timetable.follow(thing, iter([(cause.at_s, True), *ends]), 0)
            else:
                times = Outages(
                    kind=cause.kind, mean_up_s=cause.mean_up_s, shape=cause.shape, mean_down_s=cause.mean_down_s,
                    repair=cause.repair,
                )  # fmt: skip
                rng = entity_generator(self.run_seed, "degradations", number * nodes + node)
                self._timetable.follow(thing, ups_and_downs(times, rng), 0)

    def slow(self, device: Device, factor: float) -> None:
        """A device has a share of its speed from now on, beside what the scenario's causes do, until `restore`."""
        self._by_acts[device] = factor
        self._apply(device)

    def restore(self, node: int) -> bool:
        """What `slow` has done to a node's devices ends; whether it had done anything."""
        devices = [device for device in self._by_acts if device.node == node]
        for device in devices:
            del self._by_acts[device]
        for device in devices:
            self._apply(device)
        return bool(devices)

    def act(self) -> None:
        """What is due becomes slow, or recovers."""
        if self.clock.now_ns < self.due_ns:
            return
        changed: dict[Device, None] = {}
        for (device, number), begins in self._timetable.due():
            causes = self._at_work[device]
            (causes.append if begins else causes.remove)(number)
            changed[device] = None
        self.due_ns = self._timetable.next_ns
        for device in changed:
            self._apply(device)

    def _apply(self, device: Device) -> None:
        factor = self._factor(device)
        is_slow = "is slow" if factor != 1.0 else "is as fast as before"
        self.happenings.failure(self.clock.now_ns, f"{device.kind} {is_slow}", device.node, device.kind, factor)
        if device.kind == "cpu":
            self.engine.slow_cpu(device.node, factor, self.clock.now_ns)
        elif device.kind == "disk":
            self.engine.slow_disk(device.node, factor, self.clock.now_ns)
        else:
            ends = self.network.link_ends
            links = [number for number, pair in enumerate(ends) if device.node in pair]
            # A link between two nodes is as slow as the slower of them makes it.
            factors = [
                min(self._factor(Device("link", end)) for end in ends[link] if isinstance(end, int)) for link in links
            ]
            self.transfers.slow_links(links, np.array(factors))

    def _factor(self, device: Device) -> float:
        """The product of the factors at work, in the order of the scenario, so that it returns to 1."""
        factor = 1.0
        for number in sorted(self._at_work.get(device, ())):
            factor *= self.causes[number].factor
        return factor * self._by_acts.get(device, 1.0)


def check_links(where: str, network: Network) -> None:
    """Raise InputError, which begins with `where`, if a network has no links of their own that transfers share."""
    problem = problem_of_links(network.settings.mode, network.settings.kind)
    if problem:
        raise InputError(f'{where}.device = "link": {problem}')
