"""A client's list of commands, each for a shell of its own, as the one text that guards read."""

from __future__ import annotations

import pytest

from samuel.clients.table import client
from samuel.shell import commands as shell_commands


@pytest.mark.parametrize(
    "commands",
    [
        ["cat <<E", "rm -rf victim", "E"],
        ["echo '", "rm -rf victim", "'"],
        ["x=(", "rm -rf victim", ")"],
        ["echo \\", "rm -rf victim"],
        ["ls", "rm -rf victim"],
        ["echo it\\'s", "rm -rf 'victim'"],
    ],
)
def test_no_command_of_a_list_hides_another(commands: list[str]) -> None:
    payload = {"tool_call": {"name": "run_commands", "input": {"commands": commands}}}
    script = client("cline").translate("PreToolUse", payload)["tool_input"]["command"]
    assert ("rm", "-rf", "victim") in [command.words for command in shell_commands(script).commands], script


def test_text_typed_into_a_running_shell_is_judged_as_a_command() -> None:
    payload = {"toolName": "write_bash", "toolArgs": {"shellId": "1", "input": "rm -rf victim\n"}}
    context = client("copilot").translate("preToolUse", {**payload, "sessionId": "s", "cwd": "/"})
    assert (context["ability_id"], context["tool_input"]["command"]) == ("shell", "rm -rf victim\n")
