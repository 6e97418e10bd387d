"""Policies of the tests' own, whose every step can be worked out by hand, on nodes 0 and 1."""

from __future__ import annotations

from cluster_abm.policies import Decision, Holding, Policy, Talking

PERIOD_MS = 100.0


class OneByOne(Talking):
    """Node 0 keeps all jobs, and starts one on node 1; node 1 tells it when it is empty."""

    name, source, summary = "test-one-by-one", "test", "test"

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[float, float]] = []

    def arrives(self, tasks, post):
        self.go_on(post)

    def go_on(self, post):
        if post.waiting and not post.notes.get("busy"):
            post.notes["busy"] = True
            first = post.waiting[0].job
            for task in post.waiting:
                if task.job == first:
                    post.start(task, 1, "next")

    def ended(self, tasks, post):
        self.told += [(post.now_ms, round(task.here_ms, 6)) for task in tasks]
        if not post.tasks_here:
            post.send(0, "empty")

    def hears(self, message, post):
        post.notes["busy"] = False
        self.go_on(post)


class HeldWhileBusy(Holding):
    """A head node holds the next job until node 1 is empty."""

    name, source, summary = "test-held", "test", "test"
    rules = (("sent to 1", ""),)
    central, holds_for_events, uses_reports = True, True, False

    def holds(self, task, tasks, view):
        return bool(view.load("tasks", 1) > 0)

    def place(self, task, view):
        return Decision(1, "sent to 1")


class HeldByReports(HeldWhileBusy):
    """Node 0 holds the next job until it knows by a report that node 1 is empty, and looks every 100 ms."""

    name = "test-held-by-reports"
    central, uses_reports = False, True
    acts_every_ms = PERIOD_MS


class ByReports(Policy):
    """Node 0 sends all tasks of a job to node 1 if that is empty as far as it knows, and asks it once."""

    name, source, summary = "test-by-reports", "test", "test"
    rules = (("known to be empty", ""), ("known to be busy", ""))

    def place(self, task, view):
        is_known_empty = view.measured("tasks", 1) == 0 or view.notes.get("sent", -1) == task.job
        if is_known_empty and 1 not in view.refused:
            view.notes["sent"] = task.job
            return Decision(1, "known to be empty")
        return Decision(view.me, "known to be busy", reason="busy")


class Patient(Talking):
    """A manager keeps tasks for 150 ms, and starts them on its own node; it writes down what it is told."""

    name, source, summary = "test-patient", "test", "test"

    def __init__(self) -> None:
        super().__init__()
        self.log: list[tuple] = []
        self.ends: list[tuple] = []

    def begins(self, post):
        self.log.append((post.now_ms, post.me, "begins", *post.notes))
        post.notes["has begun"] = True

    def arrives(self, tasks, post):
        self.log.append((post.now_ms, post.me, "arrives", *(task.task for task in tasks), post.tasks_here))
        post.remind(150.0, "now")

    def hears(self, message, post):
        for task in post.waiting:
            post.start(task, post.me, "kept for long enough")

    def ended(self, tasks, post):
        self.ends += [(post.now_ms, post.me, task.task, round(task.here_ms, 6)) for task in tasks]

    def node_failed(self, node, post):
        self.log.append((post.now_ms, post.me, "failed", node))


class PatientHead(Patient):
    """The same by a head node."""

    name = "test-patient-head"
    central = True


class Handing(Patient):
    """A manager hands each job to the next node's, which starts it at once. Without an answer it keeps the job."""

    name = "test-handing"

    def arrives(self, tasks, post):
        self.log.append((post.now_ms, post.me, "arrives", *(task.task for task in tasks)))
        for task in tasks:
            post.hand(task, (post.me + 1) % post.nodes, "take")

    def hears(self, message, post):
        self.log.append((post.now_ms, post.me, message.topic, message.task.task))
        post.start(message.task, post.me, "handed over")

    def unanswered(self, message, post):
        self.log.append((post.now_ms, post.me, "unanswered", message.task.task))
        post.start(message.task, post.me, "no answer")


class Spreading(Talking):
    """Each task starts where there are fewest as the manager knows it when it starts it; it notes what it knew."""

    name, source, summary = "test-spreading", "test", "test"
    hears_ends = False

    def __init__(self) -> None:
        super().__init__()
        self.knew: list[tuple] = []

    def arrives(self, tasks, post):
        for task in tasks:
            self.start(task, post)

    def start(self, task, post):
        known = tuple(int(number) for number in post.view.column("tasks"))
        self.knew.append((post.now_ms, post.view.now_ms, *known))
        post.start(task, post.view.least("tasks"), "fewest")


class SpreadingByReports(Spreading):
    """The same by what is reported."""

    name = "test-spreading-by-reports"
    uses_reports = True


class Looking(SpreadingByReports):
    """A manager looks 30 and 130 ms after a job has come, and then starts it on its own node."""

    name = "test-looking"

    def arrives(self, tasks, post):
        post.remind(30.0, "look")
        post.remind(130.0, "start")

    def hears(self, message, post):
        self.knew.append((post.now_ms, post.view.now_ms, *(int(number) for number in post.view.column("tasks"))))
        if message.topic == "start":
            post.start(post.waiting[0], post.me, "looked")


class Relieving(Policy):
    """All jobs start at home. Every 100 ms node 0 sends its last task to node 1, if it has another one and thinks that
    node 1 has none."""

    name, source, summary = "test-relieving", "test", "test"
    acts_on_arrival = False
    acts_every_ms = PERIOD_MS

    def relieve(self, view):
        tasks = view.candidates
        if view.me != 0 or len(tasks) < 2 or 1 in view.refused or view.measured("tasks", 1) > 0:
            return None
        return Decision(1, "relieved", task=tasks[-1])


class RelievingNoted(Relieving):
    """The same. It notes which node is asked, and when."""

    name = "test-relieving-noted"

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[tuple[float, int]] = set()

    def relieve(self, view):
        self.asked.add((view.now_ms, view.me))
        return super().relieve(view)


class TalkingAndRelieving(Patient):
    """Managers that keep tasks for 150 ms, and do that too."""

    name = "test-talking-and-relieving"
    uses_reports = True
    acts_every_ms = PERIOD_MS

    def relieve(self, view):
        return Relieving.relieve(self, view)


class Rotating(Holding):
    """A head node gives each node one task at a time: the first one that is up and has none, from node 0 on."""

    name, source, summary = "test-rotating", "test", "test"
    central, holds_for_events, uses_reports = True, True, False

    def empty(self, view):
        return [node for node in range(view.nodes) if node not in view.refused and view.load("tasks", node) == 0]

    def holds(self, task, tasks, view):
        return not self.empty(view)

    def place(self, task, view):
        return Decision(self.empty(view)[0], "empty")


class LeastKnown(Policy):
    """A task goes to the node of fewest tasks, as its manager knows them. No node refuses."""

    name, source, summary = "test-least-known", "test", "test"

    def place(self, task, view):
        return Decision(view.least("tasks"), "fewest")


class HeldAgain(HeldByReports):
    """The same; a job that node 1 does not take is held again."""

    name = "test-held-again"

    def takes_back(self, task, view):
        return True


class HeldWhileHomeIsBusy(Holding):
    """A job is held until its home has no task; each node has a queue."""

    name, source, summary = "test-held-at-home", "test", "test"
    holds_for_events, uses_reports = True, False

    def holds(self, task, tasks, view):
        return bool(view.load("tasks", view.me) > 0)

    def place(self, task, view):
        return Decision(view.me, "at home", reason="at home")


class HeldInOneQueue(HeldWhileHomeIsBusy):
    """The same; a head node has one queue for all."""

    name = "test-held-in-one-queue"
    central = True


class HeldForEver(HeldWhileBusy):
    """A head node holds all jobs for ever."""

    name = "test-held-for-ever"

    def holds(self, task, tasks, view):
        return True


class HeldForEverByReports(HeldByReports):
    """Each node does, and looks every 100 ms whether a report has come."""

    name = "test-held-for-ever-by-reports"

    def holds(self, task, tasks, view):
        return True
