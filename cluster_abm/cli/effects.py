"""Keys that are given and have no effect: by --set an error, in a scenario file a remark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from cluster_abm.cli.output import tell
from cluster_abm.errors import InputError

if TYPE_CHECKING:
    from cluster_abm.cli.options import Overrides
    from cluster_abm.scenario import Scenario

# How many keys of a file without effect the remark names.
MOST_NAMED = 3


def check_keys_have_effect(
    scenario: Scenario,
    source: str,
    overrides: Overrides,
    policies: Sequence[str] | None = None,
    others: Mapping[str, str] | None = None,
) -> None:
    """Refuse overrides on which nothing depends, and say on stderr which keys of the scenario's own file are such.

    Args:
        scenario: with the overrides laid over it.
        source: what it was loaded from.
        overrides: dotted keys, as given.
        policies: what is run; None: the scenario's own policy.
        others: further keys that the command does not use, each with the reason.

    Raises InputError: all overrides without effect, each with the reason.
    """
    refuse(without_effect(scenario, overrides, policies, others), overrides)
    _remark_on_nodes(scenario, source, overrides)
    _remark_on_file(source, overrides)
    _remark_on_hardware(scenario)


def check_any_has_effect(
    scenarios: Iterable[tuple[Scenario, str]], overrides: Overrides, others: Mapping[str, str]
) -> None:
    """Refuse overrides on which nothing depends in any of several scenarios, each with the policy that it runs under.

    Raises InputError: as of `check_keys_have_effect`.
    """
    refused: dict[str, str] | None = None
    for scenario, policy in scenarios:
        found = without_effect(scenario, overrides, [policy], others)
        refused = found if refused is None else {key: why for key, why in refused.items() if key in found}
        if not refused:
            break
    refuse(refused or {}, overrides)


def refuse(without_effect: Mapping[str, str], overrides: Overrides) -> None:
    """Refuse these overrides, each with the reason; say on stderr which others are taken and change nothing.

    Raises InputError: there are any to refuse.
    """
    from cluster_abm.scenario.unused import TAKEN, dotted_entries

    words = "{}: has no effect: {}"
    if without_effect:
        raise InputError([words.format(overrides.given_by(key), why) for key, why in without_effect.items()])
    for key in TAKEN.keys() & set(dotted_entries(overrides)):
        tell("note: " + words.format(overrides.given_by(key), TAKEN[key]))


def _remark_on_nodes(scenario: Scenario, source: str, overrides: Overrides) -> None:
    """One line where the number of nodes is that of the graph's vertices."""
    from cluster_abm.scenario.filling.toml_file import read_toml
    from cluster_abm.scenario.load import scenario_path

    network = scenario.interconnect
    if network.file is None or _is_overridden("cluster.nodes", overrides):
        return
    own = read_toml(scenario_path(source)).get("cluster", {}).get("nodes")
    if own != scenario.cluster.nodes:
        at_each = network.nodes_per_vertex or 1
        each = f", {at_each} nodes at each" * (at_each > 1)
        vertices = f"{scenario.cluster.nodes // at_each:,} vertices for nodes{each}"
        part = " in its largest part" if network.part else ""
        instead = f"; the scenario's own is {own}" if own is not None else ""
        tell(f"note: cluster.nodes = {scenario.cluster.nodes}: {network.file} has {vertices}{part}{instead}")


def _remark_on_hardware(scenario: Scenario) -> None:
    """One line on each preset of which the scenario's own keys leave out something."""
    from cluster_abm.scenario.hardware import own_keys_that_win

    groups = [(f"cluster.group.{position}", one) for position, one in enumerate(scenario.cluster.group)]
    for where, section in (("cluster", scenario.cluster), *groups, ("interconnect", scenario.interconnect)):
        own = own_keys_that_win(section)
        if own:
            named = ", ".join(f"{key} = {value}" for key, value in own.items())
            verb = "win" if len(own) > 1 else "wins"
            tell(f"note: {where}.hardware = {vars(section)['hardware']!r}: the scenario's own {named} {verb}")


def without_effect(
    scenario: Scenario,
    overrides: Mapping[str, object],
    policies: Sequence[str] | None = None,
    others: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The overrides to refuse, on which nothing depends, each with the reason; arguments as of
    `check_keys_have_effect`."""
    from cluster_abm.scenario.unused import TAKEN, dotted_entries, keys_without_effect

    unused = {key: why for key, why in keys_without_effect(scenario).items() if key not in TAKEN} | dict(others or {})
    names = policies or [scenario.policy.name]
    return {key: why for key in dotted_entries(overrides) if (why := _reason(key, unused, names))}


def _reason(key: str, unused: Mapping[str, str], policies: Sequence[str]) -> str | None:
    from cluster_abm.policies import available
    from cluster_abm.scenario.policy_names import plain_name
    from cluster_abm.scenario.unused import reason_without_effect

    section, _, parameter = key.partition(".")
    if section != "policy" or parameter == "name" or key in unused:
        return reason_without_effect(key, unused)
    # One that no policy knows at all is an unknown key, which the policy itself says.
    knowing = [name for name, policy in available().items() if parameter in policy.Parameters.model_fields]
    if not knowing or set(knowing) & set(map(plain_name, policies)):
        return None
    some = ", ".join(knowing[:MOST_NAMED]) + (" ..." if len(knowing) > MOST_NAMED else "")
    named = f"policies {' and '.join(policies)} do" if len(policies) > 1 else f"policy {policies[0]} does"
    return f"{named} not know it; known by {some}"


def _is_overridden(key: str, overrides: Mapping[str, object]) -> bool:
    """Whether a key, or the list of tables that it is in, is given anew."""
    parts = key.split(".")
    return any(".".join(parts[:end]) in overrides for end in range(1, len(parts) + 1))


def _remark_on_file(source: str, overrides: Mapping[str, object]) -> None:
    """One line on keys of the file that have no effect even without overrides; those that are overridden apart.

    Those with their default apart, too: a scenario that was written by `save_scenario` or `--out` has all keys.
    """
    from cluster_abm.scenario import Scenario, load_scenario
    from cluster_abm.scenario.filling.toml_file import read_toml
    from cluster_abm.scenario.load import scenario_path
    from cluster_abm.scenario.unused import dotted_entries, keys_without_effect

    path = scenario_path(source)
    try:
        own = load_scenario(source)
    except InputError:
        # Right only with what is laid over it.
        return
    unused = keys_without_effect(own)
    tree, defaults = read_toml(path), Scenario().model_dump(mode="json", exclude_none=True)
    policies = [own.policy.name, *own.compare.policies]
    found = {
        key: why
        for key in dotted_entries(tree)
        if not _is_overridden(key, overrides)
        and (why := _reason(key, unused, policies))
        and _value(tree, key) != _value(defaults, key)
    }
    if not found:
        return
    named = "; ".join(f"{key} ({why})" for key, why in list(found.items())[:MOST_NAMED])
    more = f"; and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    tell(f"note: {path}: without effect: {named}{more}")


def _value(tree: Any, key: str) -> Any:
    """What nested tables have at a dotted key; None: they have not got it."""
    for part in key.split("."):
        if isinstance(tree, list):
            tree = dict(enumerate(tree)).get(int(part))
        elif isinstance(tree, dict):
            tree = tree.get(part)
        else:
            return None
    return tree
