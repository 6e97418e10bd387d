"""`view`, up to where the server takes over."""

import importlib.util
import json
import os
import socket

import pytest

from cluster_abm.cli.view import page_path
from cluster_abm.errors import InputError
from cluster_abm.policies import Policy
from viz.server.guard import allowed_names, is_loopback


@pytest.fixture
def served(monkeypatch):
    """Calls of the server, in a Python that has the extra or not."""
    calls = []
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if name.startswith("solara") else find(name))
    monkeypatch.setattr("viz.server.serving.serve", lambda *given: calls.append(given))
    monkeypatch.setattr(os, "environ", os.environ.copy())
    return calls


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_it_serves_on_loopback_for_loopback_names(cli, served):
    port = free_port()
    code, out, err = cli("view", "quickstart", "--port", port, "--set", "cluster.nodes=8")
    assert (code, out) == (0, "")
    assert "warning" not in err
    assert f"http://127.0.0.1:{port}" in err
    assert served == [(page_path(), "127.0.0.1", port, ["127.0.0.1", "localhost", "[::1]"], 16, 8)]
    asked = json.loads(os.environ["CLUSTER_ABM_VIEW"])
    assert asked == {"scenario": "quickstart", "overrides": {"cluster.nodes": 8}}


def test_another_host_is_warned_of(cli, served):
    code, _, err = cli("view", "--host", "0.0.0.0", "--port", free_port())
    assert code == 0
    assert "warning: --host 0.0.0.0" in err
    assert "it answers to 127.0.0.1, localhost, [::1] only; --allow-host NAME adds" in err
    assert "the page is at http://127.0.0.1:" in err


def test_names_and_tabs_reach_the_server(cli, served):
    code, _, err = cli(
        "view", "--host", "0.0.0.0", "--port", free_port(), "--allow-host", "Lab.example", "--allow-host", "fd00::7",
        "--max-tabs", 3,
    )  # fmt: skip
    assert code == 0
    assert "--allow-host" not in err
    assert served[0][3:] == (["127.0.0.1", "localhost", "[::1]", "lab.example", "[fd00::7]"], 3, 2)


@pytest.mark.parametrize("name", ["lab.example:80", "http://lab.example", "", "a b", "*"])
def test_what_is_no_name_is_refused(cli, served, name):
    code, _, err = cli("view", "--port", free_port(), "--allow-host", name)
    assert code == 2
    assert f"--allow-host {name!r}: a host name or an address is needed" in err
    assert not served


LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]


@pytest.mark.parametrize(("host", "address", "names"), [
    ("127.0.0.1", "127.0.0.1", LOOPBACK),
    ("localhost", "127.0.0.1", LOOPBACK),
    ("::1", "::1", LOOPBACK),
    ("127.9.9.9", "127.9.9.9", [*LOOPBACK, "127.9.9.9"]),
    ("my-laptop", "127.0.1.1", [*LOOPBACK, "127.0.1.1", "my-laptop"]),
    ("0.0.0.0", "0.0.0.0", LOOPBACK),
    ("0", "0.0.0.0", LOOPBACK),
    ("::", "::", LOOPBACK),
    ("192.168.1.4", "192.168.1.4", ["192.168.1.4"]),
    ("Lab.example", "192.168.1.4", ["192.168.1.4", "lab.example"]),
])  # fmt: skip
def test_a_server_answers_to_the_names_it_is_known_by(host, address, names):
    assert allowed_names(host, address, []) == names


def test_a_page_that_no_browser_could_ask_for_is_refused():
    with pytest.raises(InputError, match="--host fe80::1%eth0: no browser can ask for that"):
        allowed_names("fe80::1%eth0", "fe80::1%eth0", [])
    assert allowed_names("fe80::1%eth0", "fe80::1%eth0", ["lab.example"]) == ["lab.example"]


@pytest.mark.parametrize(("address", "expected"), [
    ("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("0.0.0.0", False), ("::", False),
    ("192.168.1.4", False), ("2001:db8::1", False),
])  # fmt: skip
def test_what_is_loopback(address, expected):
    assert is_loopback(address) is expected


@pytest.mark.parametrize(("host", "address", "warnings"), [
    ("127.1", "127.0.0.1", 0), ("LOCALHOST", "127.0.0.1", 0), ("0", "0.0.0.0", 2),
])  # fmt: skip
def test_another_form_of_an_address_is_that_address(cli, served, host, address, warnings):
    code, _, err = cli("view", "--host", host, "--port", free_port())
    assert code == 0
    assert served[0][1] == address
    assert served[0][3][:3] == LOOPBACK
    assert err.count("warning") == warnings
    assert "the page is at http://127.0.0.1:" in err


def test_a_port_that_is_taken_is_said(cli, served):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, err = cli("view", "--port", port)
    assert code == 2
    assert f"--port {port}: cannot listen there" in err
    assert not served


def test_without_the_extra_it_says_how_to_get_it(cli, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name.startswith("solara") else find(name))
    code, _, err = cli("view")
    assert code == 2
    assert "pip install '.[viz]'" in err


def test_a_wrong_scenario_is_said_before_the_server_starts(cli, served):
    code, _, err = cli("view", "quickstrat")
    assert code == 2
    assert "did you mean 'quickstart'?" in err
    assert not served


class Hasty(Policy):
    """A policy of one's own that goes wrong at its first job."""

    name = "hasty"
    source = "a test"
    summary = "goes wrong at once"

    def place(self, arriving, view):
        raise RuntimeError("lost my marbles")


class Unready(Hasty):
    """One that goes wrong before that."""

    name = "unready"

    def __init__(self, *given, **named):
        raise RuntimeError("lost my marbles")


class Leaving(Hasty):
    """One that leaves the program."""

    name = "leaving"

    def place(self, arriving, view):
        raise SystemExit("lost my marbles")


@pytest.mark.parametrize("policy", [Hasty, Unready, Leaving])
def test_the_page_is_served_though_the_policy_goes_wrong(cli, served, monkeypatch, policy):
    monkeypatch.setattr("cluster_abm.model.managed_policies.create", lambda *_: policy())
    code, out, err = cli("view", "cpu-bound", "--port", free_port())
    assert (code, out) == (0, "")
    assert "warning: the run stops: " in err
    assert "lost my marbles" in err
    assert "Traceback" not in err
    assert len(served) == 1


def test_a_network_that_cannot_be_is_still_refused(cli, served):
    code, _, err = cli(
        "view", "quickstart", "--set", "interconnect.kind=torus", "--set", "interconnect.dimensions=[5, 5]"
    )
    assert code == 2
    assert "Traceback" not in err
    assert not served


def test_the_page_is_found():
    assert page_path().is_file()
    assert (page_path().parent / "stage.vue").is_file()
