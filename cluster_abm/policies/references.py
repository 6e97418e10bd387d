"""References for comparisons: no balancing, the pooled cluster, and the rules of textbooks."""

from __future__ import annotations

from pydantic import Field

from cluster_abm.policy.base import Decision, Policy
from cluster_abm.policy.view import ArrivingTask, View
from cluster_abm.scenario.distributions import Count


class NoBalancing(Policy):
    """Every task runs where it was submitted: the load managers do nothing.

    IOCM calls it NLB. It is what "no load balancing" means in comparisons, and the 0 of the gap that policies close.
    """

    name = "none"
    source = "IOCM, section 3.4 (NLB)"
    summary = "every task runs on its home node"
    acts_on_arrival = False
    uses_reports = False


class Pooled(Policy):
    """Not a rule for load managers but another form of the cluster, under which nothing has to be balanced.

    All cores are one processor-sharing station with as many servers, all disks one first-come-first-served station
    with as many, the memory is in common, and nothing costs anything. It is a reference, no bound: all its tasks share
    the processors alike, and a policy that lets short tasks go first has shorter responses. `srpt-pool` is the bound.
    """

    name = "pooled"
    source = "a reference, after the n-server processor-sharing station"
    summary = "no policy: one station with all CPUs, one with all disks, memory in common, no cost"
    acts_on_arrival = False
    uses_reports = False
    pooled = True


class RandomPlacement(Policy):
    """Uniform over all nodes, home included; knows nothing. In the heterogeneous form in proportion to CPU speed."""

    name = "random"
    source = "textbook"
    summary = "each task to a node drawn uniformly"
    rules = (("drawn", "drawn at random, all nodes alike"),)
    uses_reports = False

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """A node by the task's own random number, of those that have not failed to answer."""
        return Decision(int(view.draw_nodes(task, 1, len(view.refused))[0]), "drawn")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept."""
        return ""


class RoundRobin(Policy):
    """Every load manager goes round all nodes, beginning with its own.

    In the heterogeneous form nodes get turns in proportion to the speed of all their cores, as evenly spread as may be:
    at each turn every node earns its own relative to the mean, and the richest gets the turn and pays for it.
    """

    name = "round-robin"
    source = "textbook"
    summary = "each home node deals its tasks out to all nodes in turn"
    rules = (("next in turn", "the target is next in turn"),)
    uses_reports = False

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The next node in this load manager's turn."""
        if view.capacities is not None:
            earned = view.notes.get("earned", 0.0) + view.capacities.turns
            target = view.least_of(-earned)
            earned[target] -= view.nodes
            view.notes["earned"] = earned
            return Decision(target, "next in turn")
        dealt = view.notes.get("dealt", 0)
        for _ in range(view.nodes):
            if (view.me + dealt) % view.nodes not in view.refused:
                break
            dealt += 1
        view.notes["dealt"] = dealt + 1
        return Decision((view.me + dealt) % view.nodes, "next in turn")

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept."""
        return ""


class JoinShortestQueue(Policy):
    """To the node known to have fewest tasks; home on a tie.

    The heterogeneous form is SED: least (n + 1)/mu, n tasks at a CPU of speed mu.
    """

    name = "jsq"
    source = "Winston 1977"
    summary = "each task to the node with fewest tasks, home on a tie"
    rules = (("shortest queue", "the target has fewest tasks"),)

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The least of all, refused nodes apart."""
        target = view.least("tasks", task)
        here, there = view.load("tasks", view.me, task), view.load("tasks", target, task)
        if there >= here:
            return Decision(view.me, "shortest queue", "tasks", 1.0, here, here, reason="home is as short")
        return Decision(target, "shortest queue", "tasks", 1.0, here, there)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Refuses when the queue here is not shorter than the offering node's any more."""
        mine = view.load("tasks", view.me, task)
        return "" if mine < decision.load_here else "not the shorter queue any more"


class PowerOfD(Policy):
    """Draws d nodes and takes the one known to have fewest tasks: with stale information it herds less than
    jsq.

    The heterogeneous form takes the one of least (n + 1)/mu, and draws in proportion to CPU speed: otherwise slow nodes
    would get more than they can serve whenever all d drawn are slow.
    """

    class Parameters(Policy.Parameters):
        """How many are drawn."""

        d: Count = Field(2, description="nodes drawn, without repetition")

    name = "power-of-d"
    source = "Mitzenmacher 2001"
    summary = "each task to the shortest of d queues drawn at random"
    rules = (("shortest of {}", "the target has fewest tasks of {} nodes drawn at random"),)

    parameters: Parameters

    def place(self, task: ArrivingTask, view: View) -> Decision:
        """The first shortest of those drawn."""
        drawn = view.draw_nodes(task, self.parameters.d)
        tasks = view.column("tasks", task)
        target = int(drawn[tasks[drawn].argmin()])
        here, there = float(tasks[view.me]), float(tasks[target])
        return Decision(target, f"shortest of {len(drawn)}", "tasks", 1.0, here, there)

    def accept(self, task: ArrivingTask, decision: Decision, view: View) -> str:
        """Accept: the textbook's rule has no refusal."""
        return ""
