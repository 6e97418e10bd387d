"""A policy in a file of a user, for the tests of commands that read such a file."""

MINE = '''"""Every task to node 0: a policy for a test."""
from cluster_abm.policies import Decision, Policy

class Mine(Policy):
    """As bad as it gets."""

    name = "mine"
    source = "a test"
    summary = "every task to node 0"

    def place(self, task, view):
        """Node 0, whatever it has to do."""
        return Decision(0, "always")
'''
