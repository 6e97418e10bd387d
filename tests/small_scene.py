"""A scene of a small run, for tests: its text, and it made once."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from cluster_abm.scenes import make_scene

TEXT = """
title = "A small scene <b>"
summary = "Two policies on a few nodes."
scenario = "quickstart"
policies = ["none", "wal-pm"]

[set]
cluster.nodes = 12
workload.duration_s = 60.0

[[step]]
at_s = 20.0
text = "{none.tasks[3]} on node 3, </script> {none.mean_slowdown} {wal-pm.migrations}"

[[step]]
at_s = 20.0
run = "wal-pm"
select = "first migration"
zoom_s = [10.0, 40.0]
text = "Task {move.task}: {move.staying}, {move.moving}, {move.costs}, saves {move.saves}; {move.age} old"
question = "Why?"
answer = "Because of {task.slowdown}."

[[step]]
at_s = 30.0
select = "node 3"
plays_to_s = 32.0
speed = 10.0
text = "Node 3."
"""


def write_scene(folder, text=TEXT, name="small.toml"):
    path = Path(folder) / name
    path.write_text(text, encoding="utf-8")
    return path


@cache
def small():
    """The scene, made."""
    return make_scene(write_scene(mkdtemp()))
