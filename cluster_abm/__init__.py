"""Agent-based simulation of load balancing in clusters under CPU-, memory- and I/O-intensive work.

A run is a scenario under a policy from a seed; a comparison runs several policies on the same jobs:

    >>> import cluster_abm as ca
    >>> model = ca.ClusterModel("quickstart", policy="jsq", seed=1, cluster__nodes=16)
    >>> model.run()
    >>> model.summary()["jobs"]["finished"] > 0
    True
    >>> found = ca.compare("quickstart", ["none", "jsq"], seeds=4, workers=1, quiet=True)
    >>> found.best()
    ('jsq',)

A policy of your own is a class with a `place`; it goes wherever a policy is named:

    >>> from cluster_abm import load
    >>> class LightestDisk(ca.Policy):
    ...     def place(self, task: ca.ArrivingTask, view: ca.View) -> ca.Decision:
    ...         return ca.Decision(view.least(load.io_ms), rule="least I/O", index=load.io_ms)
    >>> mine = ca.ClusterModel("quickstart", policy=LightestDisk(), seed=1)
    >>> mine.policy_name
    'lightest-disk'

The parts, each with its own `help()`:

    ClusterModel     one run: `run()`, `summary()`, `jobs_frame()`, `plot()`
    load_scenario    a checked Scenario, with keys laid over it: load_scenario("quickstart", cluster__nodes=64)
    save_scenario    a Scenario as a TOML file, the graph of its network beside it
    record           one run as a Recording: what happened to every task, and why
    detail_of        what each task of a Recording does at each moment of a window
    load_recording   a Recording from the file that its `save` has written
    compare          policies on the same jobs: a Comparison, with intervals and paired differences
    run_batch        a Study (points x policies x seeds) into a folder: Results
    load_results     what run_batch, `batch run`, `compare` or `run` left in a folder
    plan             the smallest cluster, or the highest load, that meets a target: a Planned
    reproduce        a paper's table or figure beside the published numbers: a Reproduction
    Policy           what a policy is; with ArrivingTask, View, Decision, and the load indices in `load`
    register         have a class of policies found by its name
    list_scenarios, list_keys, list_policies, list_studies, list_reproductions    what there is, by name
    InputError       what is raised where something given is wrong; it says what is allowed

Comparisons, results and reproductions have `.plot()`, and show themselves in a notebook. Runs are spread over the
processors: a script that compares needs `if __name__ == "__main__":` around the call, a notebook does not.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from cluster_abm._version import __version__

if TYPE_CHECKING:
    from cluster_abm.errors import InputError
    from cluster_abm.model import ClusterModel, detail_of, record
    from cluster_abm.policies import ArrivingTask, Decision, Policy, View, register
    from cluster_abm.policy import load
    from cluster_abm.recording import Recording, load_recording
    from cluster_abm.scenario import Scenario, load_scenario, save_scenario
    from cluster_abm.study.compare import compare
    from cluster_abm.study.comparison import Comparison
    from cluster_abm.study.design.study_file import Study, load_study
    from cluster_abm.study.listings import list_keys, list_policies, list_reproductions, list_scenarios, list_studies
    from cluster_abm.study.papers.reproduce import reproduce
    from cluster_abm.study.papers.reproduction import Reproduction
    from cluster_abm.study.planning.from_python import plan
    from cluster_abm.study.planning.plan import Planned
    from cluster_abm.study.results import Results, load_results, run_batch

__all__ = [
    "ArrivingTask", "ClusterModel", "Comparison", "Decision", "InputError", "Planned", "Policy", "Recording",
    "Reproduction", "Results", "Scenario", "Study", "View", "__version__", "compare", "detail_of", "list_keys",
    "list_policies", "list_reproductions", "list_scenarios", "list_studies", "load", "load_recording", "load_results",
    "load_scenario", "load_study", "plan", "record", "register", "reproduce", "run_batch", "save_scenario",
]  # fmt: skip

# Where each public name stands.
_HOMES = {
    name: module
    for module, names in {
        "cluster_abm.errors": "InputError",
        "cluster_abm.model": "ClusterModel detail_of record",
        "cluster_abm.policies": "ArrivingTask Decision Policy View load register",
        "cluster_abm.recording": "Recording load_recording",
        "cluster_abm.scenario": "Scenario load_scenario save_scenario",
        "cluster_abm.study.compare": "compare",
        "cluster_abm.study.comparison": "Comparison",
        "cluster_abm.study.design.study_file": "Study load_study",
        "cluster_abm.study.listings": "list_keys list_policies list_reproductions list_scenarios list_studies",
        "cluster_abm.study.papers.reproduce": "reproduce",
        "cluster_abm.study.papers.reproduction": "Reproduction",
        "cluster_abm.study.planning.from_python": "plan",
        "cluster_abm.study.planning.plan": "Planned",
        "cluster_abm.study.results": "Results load_results run_batch",
    }.items()
    for name in names.split()
}


def __getattr__(name: str) -> Any:
    """Import on first use: `cluster-abm --help` must not wait for Mesa and the compiler."""
    if name not in _HOMES:
        # With both, a traceback says which name was meant.
        raise AttributeError(f"module 'cluster_abm' has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    import importlib

    value = getattr(importlib.import_module(_HOMES[name]), name)
    # From now on an attribute as any other.
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """What tab offers: the public names, and none of the packages that they come from."""
    return sorted(__all__)
