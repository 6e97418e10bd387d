"""`view`: the page in the browser."""

from __future__ import annotations

import importlib.resources
import importlib.util
import ipaddress
import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cluster_abm.cli.effects import check_keys_have_effect
from cluster_abm.cli.log_options import FromLog
from cluster_abm.cli.options import ONLY_COMPARE, overrides_of, policy_option, work_options
from cluster_abm.cli.output import tell
from cluster_abm.cli.shell.names import scenarios, scenes
from cluster_abm.errors import InputError

if TYPE_CHECKING:
    from cluster_abm.cli.options import Overrides

# What `view` without a scenario shows: where migrations help, and by how much.
FIRST_SCENARIO, FIRST_POLICIES = "quickstart", ("none", "wal-pm")


@click.command("view", short_help="Look at runs of a scenario in the browser.")
@click.argument("scenario", required=False, shell_complete=scenarios)
@click.option("--port", type=click.IntRange(1, 65535), default=8765, show_default=True, help="Port to listen on.")
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to listen on. With any address other than 127.0.0.1, other machines can connect.",
)
@click.option(
    "--allow-host",
    "more_names",
    metavar="NAME",
    multiple=True,
    help="Answer requests for this host name or address too (default: that of --host; loopback's own).",
)
@click.option(
    "--max-tabs",
    type=click.IntRange(1, 1000),
    default=16,
    show_default=True,
    help="Most tabs at once; each has its own settings.",
)
@click.option(
    "--max-tabs-each",
    type=click.IntRange(1, 1000),
    help="Tabs at once of one visitor, at most: another machine, or a browser on this one (default: half of all).",
)
@click.option(
    "--scene",
    shell_complete=scenes,
    help="Play a guided scene (a shipped name or a TOML file): its runs, and a panel with its steps.",
)
@policy_option
@click.option("--seed", type=click.IntRange(min=0), help="Seed of the run (default: the scenario's).")
@work_options
def view_command(
    scenario: str | None,
    port: int,
    host: str,
    more_names: tuple[str, ...],
    max_tabs: int,
    max_tabs_each: int | None,
    scene: str | None,
    policy: str | None,
    seed: int | None,
    settings: tuple[str, ...],
    trace: FromLog,
) -> None:
    """See runs of SCENARIO (a TOML file or a shipped name) in the browser, on this machine only.

    Without SCENARIO: quickstart, policy none beside wal-pm. SCENARIO may be a recording (run --record), too.
    --scene shows a guided scene (cluster-abm scene lists them).

    Example: cluster-abm view quickstart --policy iolb --set cluster.nodes=64
    """
    from cluster_abm.recording.container import is_recording
    from cluster_abm.recording.files import load_recordings

    overrides = overrides_of(settings, trace, policy, seed)
    if scene is not None and (scenario is not None or overrides):
        changed = f"SCENARIO {scenario}" if scenario is not None else _first(overrides)
        raise InputError(f"--scene {scene}: a scene says itself which runs it shows: leave out {changed}")
    recording = scenario is not None and is_recording(Path(scenario))
    if scene is not None:
        asked: dict[str, Any] = _of_scene(scene)
    elif scenario is not None and recording:
        if overrides:
            changed = _first(overrides)
            raise InputError(f"{scenario}: a recording is shown as it is: no option changes the run ({changed})")
        titles = [one.title for one in load_recordings(scenario)]
        tell(f"a recording of {' and of '.join(titles)}")
        asked = {"recording": str(Path(scenario).resolve())}
    else:
        asked = _of_scenario(scenario, overrides)
    if any(importlib.util.find_spec(name) is None for name in ("solara", "solara_assets", "anywidget")):
        raise InputError("view: the page needs the extra `viz`: pip install '.[viz]'")
    # The page's server lies beside the page.
    sys.path[:0] = [str(page_path().parent.parent)]
    from viz.server.guard import LOOPBACK_NAMES, allowed_names, is_every_address, is_loopback
    from viz.server.serving import serve
    from viz.server.tabs import share_of

    address = _free_address(host, port)
    names = allowed_names(host, address, more_names)
    if not is_loopback(address):
        tell(
            f"warning: --host {host}: every machine that can reach this one can use the page; 127.0.0.1 is yours alone"
        )
    if is_every_address(address) and not more_names:
        tell(
            f"warning: it answers to {', '.join(LOOPBACK_NAMES)} only; --allow-host NAME adds the name or address by "
            "which others reach this machine"
        )
    os.environ["CLUSTER_ABM_VIEW"] = json.dumps(asked)
    tell(f"the page is at {_page_address(address, port)} (Ctrl-C ends it)")
    serve(page_path(), address, port, names, max_tabs, max_tabs_each or share_of(max_tabs))


def _of_scenario(scenario: str | None, overrides: Overrides) -> dict[str, Any]:
    """What the page is asked to show. Raises InputError: the scenario is not right."""
    from cluster_abm.interconnect import Network
    from cluster_abm.policies import available, create
    from cluster_abm.scenario import load_scenario

    # A policy that is asked for is shown alone.
    policies = FIRST_POLICIES if scenario is None and "policy.name" not in overrides else ()
    source = scenario or FIRST_SCENARIO
    if Path(source).suffix not in ("", ".toml") and not Path(source).exists():
        raise InputError(f"{source}: no such file; allowed: a recording, a scenario (NAME.toml), a shipped name")
    checked = load_scenario(source, overrides)
    create(checked.policy)
    Network(checked.interconnect, checked.cluster.nodes)
    # The page can go over to any policy.
    check_keys_have_effect(checked, source, overrides, list(available()), ONLY_COMPARE)
    # An absolute path leads to the file whatever the server's folder is.
    path = Path(source)
    place = str(path.resolve()) if path.suffix == ".toml" or path.is_file() else source
    return {"scenario": place, "overrides": overrides, "policies": policies}


def _of_scene(source: str) -> dict[str, Any]:
    """What the page is asked to show of a guided scene. Raises InputError: the scene is not right."""
    from cluster_abm.cli.scene import made_scene
    from cluster_abm.scenes.playing import setting_of

    made, setting = made_scene(source), setting_of(source)
    tell(f"a scene: {made.scene.title}")
    return setting._asdict() | {"scene": made.shown}


def _first(overrides: Mapping[str, Any]) -> str:
    key, value = next(iter(overrides.items()))
    return f"{key} = {value}"


def page_path() -> Path:
    """The file of the page (beside the package in a checkout, inside it in a wheel)."""
    package = Path(str(importlib.resources.files("cluster_abm")))
    inside = package / "shipped" / "viz"
    return (inside if inside.is_dir() else package.parent / "viz") / "app.py"


def _page_address(address: str, port: int) -> str:
    """Where this machine's browser finds the page."""
    if ipaddress.ip_address(address).is_unspecified:
        address = "::1" if ":" in address else "127.0.0.1"
    return f"http://[{address}]:{port}" if ":" in address else f"http://{address}:{port}"


def _free_address(host: str, port: int) -> str:
    """The address that a name, or an address in any form, stands for.

    Raises InputError: it is not this machine's, or the port is taken.
    """
    try:
        kind, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(kind, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            return str(address[0])
    except OSError as problem:
        reason = problem.strerror or problem
        raise InputError(f"view: --host {host} --port {port}: cannot listen there ({reason})") from None
