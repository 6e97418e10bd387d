"""IOLB that balances network load as well, which its paper leaves to the future (IOLB, section 6)."""

from __future__ import annotations

from cluster_abm.formulas import load_imbalance_factor, total
from cluster_abm.policies.iolb import IoLoadBalancing
from cluster_abm.policy.base import Decision
from cluster_abm.policy.view import ArrivingTask, View


class IoLoadBalancingOfLinks(IoLoadBalancing):
    """Fig. 1 of IOLB with a fourth load: L_net, what transfers carry from and to a node just now, as time of its link.

    A task takes to another node what is on its home's disk. It waits for the links at both ends, so their L_net is part
    of what the move costs (line 8 and its likes), and of two nodes with the same disk load the one with the idler link
    is the better target: nodes are compared by L + L_net. And where the links are what is most unevenly loaded, the
    home's most of all, a task with data to take along stays: to send it would load that link further. In mode `delay`
    transfers do not hinder each other, L_net is 0, and this is IOLB.
    """

    name = "iolb-net"
    source = "IOLB, section 6 (left to future work)"
    summary = "iolb that counts transfers in progress on the links at both ends among loads and costs"
    rules = (("links", "", "IOLB, section 6"),)
    compares_links = True

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """Stay where the links are the matter; else Fig. 1, lines 2-20."""
        if self.moved_mb(task) > 0.0 and self.links_are_the_matter(view):
            here = view.measured("net_ms", view.me)
            return Decision(view.me, "links", "net_ms", load_here=here, reason="home's link is the most loaded")
        return super().place(task, view)

    def moved_mb(self, task: ArrivingTask) -> float:
        """What an arriving task takes along to another node [MB]."""
        return task.initial_data_mb

    def links_are_the_matter(self, view: View) -> bool:
        """Whether LIF_net is the largest load imbalance factor, and home's link the most loaded one."""
        net_ms = view.of_those_up(view.loads["net_ms"])
        net = total(net_ms)
        if net <= 0.0 or view.measured("net_ms", view.me) < net_ms.max():
            return False
        others = total(view.of_those_up(view.loads["cpu_ms"])) + total(view.of_those_up(view.loads["page_ms"]))
        others += total(view.of_those_up(view.loads["io_ms"]))
        lif_cpu, lif_page, lif_io = view.imbalance
        # The other three are shares of a work that now contains that of the links.
        return load_imbalance_factor(net_ms, net + others) > max(lif_cpu, lif_page, lif_io) * others / (net + others)

    def send_to_least(self, task: ArrivingTask, view: View, index: str, rule: str) -> Decision:
        """Lines 4-8, 10-14, 16-20; a task with data is sent by the loads of disk (or memory, CPU) and link together."""
        if self.moved_mb(task) == 0.0:
            return super().send_to_least(task, view, index, rule)
        target = view.least_of(view.column(index, task) + view.loads["net_ms"])
        waits_ms = 0.0
        if target != view.me:
            waits_ms = max(view.measured("net_ms", view.me), view.measured("net_ms", target))
        return self.send_if_it_gains(task, view, target, index, rule, waits_ms)
