"""`view`, up to where the server takes over."""

import importlib.util
import json
import os
import socket

import pytest

import cluster_abm as ca
from cluster_abm.cli.view import page_path
from cluster_abm.errors import InputError
from viz.server.guard import allowed_names, is_loopback


@pytest.fixture
def served(monkeypatch):
    """Calls of the server, in a Python that has the extra or not."""
    calls = []
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: object() if name.startswith(("solara", "anywidget")) else find(name)
    )
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
    assert asked == {"scenario": "quickstart", "overrides": {"cluster.nodes": 8}, "policies": []}


@pytest.mark.parametrize(("options", "policies"), [
    ((), ["none", "wal-pm"]), (("--seed", 3), ["none", "wal-pm"]), (("--policy", "jsq"), []), (("cpu-bound",), []),
])  # fmt: skip
def test_without_a_scenario_it_shows_what_migrations_are_for(cli, served, options, policies):
    assert cli("view", *options, "--port", free_port())[0] == 0
    asked = json.loads(os.environ["CLUSTER_ABM_VIEW"])
    assert asked["policies"] == policies
    assert asked["scenario"] == ("cpu-bound" if "cpu-bound" in options else "quickstart")


def test_a_recording_is_shown_as_it_is(cli, served, tmp_path):
    path = tmp_path / "run.rec"
    ca.record("quickstart", "none", seed=1, workload__duration_s=5).save(path)
    code, _, err = cli("view", path, "--port", free_port())
    assert code == 0
    assert "a recording of quickstart: policy none, seed 1" in err
    assert json.loads(os.environ["CLUSTER_ABM_VIEW"]) == {"recording": str(path)}
    code, _, err = cli("view", path, "--seed", 3)
    assert code == 2
    assert "a recording is shown as it is: no option changes the run (run.seed = 3)" in err
    path.write_bytes(path.read_bytes()[:-1])
    code, _, err = cli("view", path)
    assert code == 2
    assert "cut off" in err
    assert len(served) == 1


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


@pytest.mark.parametrize(("given", "why"), [
    (("quickstart", "--policy", "jqs"), "'jqs'"), (("away.rec",), "away.rec: no such file; allowed: a recording"),
])  # fmt: skip
def test_what_the_page_could_not_show_is_said_before_the_server_starts(cli, served, given, why):
    code, out, err = cli("view", *given)
    assert (code, out, served) == (2, "", [])
    assert why in err


def test_a_network_that_cannot_be_is_still_refused(cli, served):
    code, _, err = cli(
        "view", "quickstart", "--set", "interconnect.kind=torus", "--set", "interconnect.dimensions=[5, 5]"
    )
    assert code == 2
    assert "Traceback" not in err
    assert not served


def test_the_page_is_found():
    assert page_path().is_file()
    assert (page_path().parent / "page" / "desk.js").is_file()
