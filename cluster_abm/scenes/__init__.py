"""Guided scenes: short tours of a run, each a TOML file of steps with a time, a selection, a text and a question."""

from cluster_abm.scenes.playing import MadeScene, html_of_scene, make_scene
from cluster_abm.scenes.scene import GuidedScene, Step, load_scene, scene_names

__all__ = ["GuidedScene", "MadeScene", "Step", "html_of_scene", "load_scene", "make_scene", "scene_names"]
