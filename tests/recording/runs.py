"""Recorded runs that several modules look at."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from support import BREAKDOWN, busy, scenario

import cluster_abm as ca
from cluster_abm.recording.segments import RUNS

# Nodes fail, disks serve several requests, tasks migrate and bring data.
FAILING = {
    "failures__node__kind": "exponential", "failures__node__mean_up_s": 3.0, "failures__node__mean_down_s": 1.0,
}  # fmt: skip
CHANNELS = {"cluster__disk_channels": 3, "cluster__disk_latency": "exponential", "workload__io_per_ms__mean": 0.4}
SLOW = {
    "failures__degrade": [
        {"device": device, "factor": 0.5, "kind": "exponential", "mean_up_s": 1.0, "mean_down_s": 1.0}
        for device in ("cpu", "disk")
    ]
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "remote starts": ("iolb", {}),
    "no policy": ("none", {}),
    "migrations": ("wal-pm", {}),
    "failures": ("wal-pm", FAILING),
    "failures, several channels": ("wal-pm", FAILING | CHANNELS),
    "several cores": ("iocm-pm", {"cluster__cores": 2, **FAILING}),
    "slow devices": ("wal-pm", SLOW | CHANNELS),
    "contended links": (
        "wal-pm",
        FAILING | {"interconnect__mode": "contended", "workload__initial_data_mb": {"kind": "fixed", "mean": 0.3}},
    ),
    "barriers": ("wal-pm", {"workload__tasks__barrier_ms": 20.0, "workload__tasks__communication_ms": 5.0}),
    "kills": ("wal-pm", {"cluster__swap_mb": 5.0, "cluster__disk_channels": 2}),
    "background": ("jsq", {"workload__background": [{"node": 0, "cpu_share": 0.4}]}),
    "held jobs": ("easy", {}),
    "talk": ("prequal", {}),
    "closed users": ("jsq", {"workload__arrivals__kind": "closed", "workload__utilisation": None}),
    "stale reports": ("jsq", {"negotiation__mode": "negotiated", "cluster__exchange_period_ms": 500.0}),
    "pooled": ("pooled", {}),
    "scripted": (
        "wal-pm",
        {
            "script": [
                {"at_s": 0.6, "act": "slow", "node": 2, "device": "disk", "factor": 0.3},
                {"at_s": 0.9, "act": "fail", "node": 1},
                {"at_s": 1.1, "act": "kill", "job": 9},
                {"at_s": 1.4, "act": "drain", "node": 3},
                {"at_s": 2.0, "act": "recover", "node": 1},
            ]
        },
    ),
    "lost with their node": ("jsq", FAILING | {"failures__on_failure": "lost"}),
}


def scenario_of_case(name: str) -> ca.Scenario:
    policy, given = CASES[name]
    keys = busy(policy__name=policy, workload__duration_s=3.0, run__until=8000.0, **given)
    return scenario(**{key: value for key, value in keys.items() if value is not None})


@cache
def model_of(name: str) -> ca.ClusterModel:
    """A model of a case, recorded, at its end."""
    model = ca.ClusterModel(scenario_of_case(name), seed=3, record=True)
    model.run()
    return model


@cache
def recording_of(name: str) -> ca.Recording:
    return model_of(name).recording()


def column(recording: ca.Recording, table: str, name: str) -> np.ndarray:
    return np.asarray(recording.tables[table][name].to_numpy())


def check_lives(recording: ca.Recording) -> None:
    """Segments tile each task's life from its submission to its end, and their parts add up to its breakdown."""
    tasks = {name: column(recording, "tasks", name) for name in recording.tables["tasks"].column_names}
    segments = {name: column(recording, "segments", name) for name in recording.tables["segments"].column_names}
    order = np.argsort(tasks["task"])
    number = tasks["task"][order]
    assert np.isin(segments["task"], number).all()
    place = np.searchsorted(number, segments["task"])
    first = np.searchsorted(segments["task"], number)
    last = np.searchsorted(segments["task"], number, side="right") - 1
    there = last >= first
    assert there.all()
    assert (segments["from_ns"][first] == tasks["arrival_ns"][order]).all()
    assert (segments["to_ns"][last] == tasks["finish_ns"][order]).all()
    same = segments["task"][1:] == segments["task"][:-1]
    assert (segments["to_ns"][:-1] == segments["from_ns"][1:])[same].all()
    for part in BREAKDOWN:
        total = np.bincount(place, segments[f"{part}_ns"].astype(float), len(number)).astype(np.int64)
        assert (total == tasks[f"{part}_ns"][order]).all(), part
    closed = ~segments["is_open"]
    parts = sum(segments[f"{part}_ns"] for part in BREAKDOWN)
    assert (parts == segments["to_ns"] - segments["from_ns"])[closed].all()
    assert (segments["is_open"] <= np.isin(segments["task"], tasks["task"][tasks["is_open"]])).all()
    assert (segments["node"] == segments["origin"])[segments["what"] == RUNS].all()
