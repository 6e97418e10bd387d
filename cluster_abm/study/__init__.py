"""Many runs: on processes, with statistics; comparisons of policies and reproductions of the papers."""

from cluster_abm.study.compare import Comparison, compare
from cluster_abm.study.reproduce import Reproduction, reproduce, reproduction_names
from cluster_abm.study.runs import Outcome, Task, run_all

__all__ = [
    "Comparison",
    "Outcome",
    "Reproduction",
    "Task",
    "compare",
    "reproduce",
    "reproduction_names",
    "run_all",
]
