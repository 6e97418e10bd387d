"""`completion`: the script by which a shell completes commands, options and names."""

from __future__ import annotations

import os
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ZshComplete,
    add_completion_class,
    get_completion_class,
    split_arg_string,
)

from cluster_abm.cli.output import echo

PROGRAM, VARIABLE = "cluster-abm", "_CLUSTER_ABM_COMPLETE"
# Bash takes `=` and `:` for ends of words: this hands over the line itself, and no space follows KEY=.
BASH = """\
%(complete_func)s() {
    local IFS=$'\\n'
    local response completion type value
    response=$(env COMP_LINE="${COMP_LINE:0:$COMP_POINT}" %(complete_var)s=bash_complete $1)
    for completion in $response; do
        IFS=',' read -r type value <<< "$completion"
        if [[ $type == 'dir' ]]; then
            COMPREPLY=()
            compopt -o dirnames
        elif [[ $type == 'file' ]]; then
            COMPREPLY=()
            compopt -o default
        elif [[ $type == 'plain' ]]; then
            COMPREPLY+=("$value")
            if [[ $value == *= ]]; then compopt -o nospace; fi
        fi
    done
    return 0
}

complete -o nosort -F %(complete_func)s %(prog_name)s
"""
# Of a list such as none,jsq and of a description click's own script takes what is before the first comma.
FISH_SPLITS = ('(string split "," $completion)', '(string split --max 1 "," $completion)')
# No space follows KEY=.
ZSH_ADDS = (
    ("    if [ -n \"$completions_with_descriptions\" ]; then\n",
     "    local -a after\n    [[ \"$response[2]\" == *= ]] && after=(-S '')\n\n"
     "    if [ -n \"$completions_with_descriptions\" ]; then\n"),
    ("completions_with_descriptions -U\n", "completions_with_descriptions -U \"${after[@]}\"\n"),
    ("compadd -U -V", "compadd \"${after[@]}\" -U -V"),
)  # fmt: skip


class BashWholeWords(BashComplete):
    """Bash's completion of KEY=VALUE and FILE.py:CLASS, which bash itself takes for several words."""

    source_template = BASH

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one at the cursor, and that one as far as it is written."""
        line = os.environ.get("COMP_LINE", "")
        words = split_arg_string(line)
        is_new = not line or line[-1].isspace() or len(words) < 2
        self._incomplete = "" if is_new else words[-1]
        return (words[1:] if is_new else words[1:-1]), self._incomplete

    def format_completion(self, item: CompletionItem) -> str:
        """The part of a completion that is in the place of what bash takes for the word."""
        value = str(item.value)
        begun = max(self._incomplete.rfind("="), self._incomplete.rfind(":")) + 1
        return f"{item.type},{value[begun:]}"


class FishWholeLists(FishComplete):
    """Fish's completion of values with commas."""

    source_template = FishComplete.source_template.replace(*FISH_SPLITS)


class ZshOpenKeys(ZshComplete):
    """Zsh's completion of KEY=, after which a value is to come."""

    source_template = ZshComplete.source_template
    for _before, _after in ZSH_ADDS:
        source_template = source_template.replace(_before, _after)


add_completion_class(BashWholeWords, "bash")
add_completion_class(FishWholeLists, "fish")
add_completion_class(ZshOpenKeys, "zsh")


@click.command("completion", short_help="Print the script by which your shell completes names.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script by which SHELL completes commands, options, scenarios, policies, keys and their values.

    For the shell that runs: eval "$(cluster-abm completion bash)". For good:

    \b
    bash   cluster-abm completion bash > ~/.cluster-abm.bash
           echo 'source ~/.cluster-abm.bash' >> ~/.bashrc
    zsh    cluster-abm completion zsh > ~/.cluster-abm.zsh
           echo 'source ~/.cluster-abm.zsh' >> ~/.zshrc     (after compinit)
    fish   cluster-abm completion fish > ~/.config/fish/completions/cluster-abm.fish

    It works for the command cluster-abm as the shell finds it: of a virtual environment while that is active.
    """
    found: Any = get_completion_class(shell)
    context = click.get_current_context().find_root()
    # BashComplete asks bash for its version, which a script that is only printed does not need.
    made = found(context.command, {}, PROGRAM, VARIABLE)
    echo(made.source_template % made.source_vars())
