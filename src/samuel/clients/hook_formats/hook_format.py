"""The format of one agent's hooks, as a hook that is written for this agent sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.files.json import InvalidJson, parse

Payload = Mapping[str, Any]  # Samuel's payload, as plain values
Result = dict[str, Any]  # a result of Samuel's protocol


class HookOutput(NamedTuple):
    """What a hook's process gave back."""

    exit_code: int = 0
    stdout: str = ""
    stderr: str = ""


class InvalidAnswer(ValueError):
    """The output of a hook is not an answer in its format; the message says why."""


class HookFailed(ValueError):
    """The hook ended with an exit code that its format takes for a fault of the hook, not for a verdict."""


class HookFormat(NamedTuple):
    """The translations of one agent's format. `client_event` is that agent's name of the event."""

    client: str
    events: Mapping[str, str]  # the agent's event -> Samuel's; events that Samuel does not have are left out
    translate_payload: Callable[[str, Payload], dict[str, Any]]  # client_event, payload -> what the hook reads
    translate_output: Callable[[str, Payload, HookOutput], Result]  # raises InvalidAnswer and HookFailed
    tool_names: Mapping[str, tuple[str, ...]]  # Samuel's name of a tool -> the agent's names, the usual one first
    mcp_name: str  # the agent's name of an MCP tool, with `{server}` and `{tool}`
    project_variable: str  # the environment variable with the project's directory
    project_files: tuple[str, ...]  # where a project has hooks for the agent
    user_file: str  # the same in a home directory


def left_to_client(further_fields: object, client: str) -> bool:
    """True if the event, with these further fields, comes from the agent that runs the hook itself."""
    return isinstance(further_fields, Mapping) and further_fields.get("client") == client


def extra(payload: Payload) -> Mapping[str, Any]:
    fields = payload.get("extra")
    return fields if isinstance(fields, Mapping) else {}


def native_tool_name(hook_format: HookFormat, ability_id: str) -> str:
    """The agent's name of a tool: `Bash` for `shell`; a name that Samuel does not know stays as it is."""
    if names := hook_format.tool_names.get(ability_id):
        return names[0]
    server, _, tool = ability_id.removeprefix("mcp:").partition("/")
    return hook_format.mcp_name.format(server=server, tool=tool) if ability_id.startswith("mcp:") else ability_id


def parsed_answer(printed: str) -> Mapping[str, Any]:
    """The JSON object that a hook printed; InvalidAnswer if it is none."""
    try:
        answer = parse(printed.encode("utf-8", "replace"))
    except InvalidJson as error:
        raise InvalidAnswer(str(error)) from None
    if not isinstance(answer, dict):
        raise InvalidAnswer("its output must be a JSON object")
    return answer


def text(value: object) -> str:
    """The value if it is text, else ""."""
    return value if isinstance(value, str) else ""


def verdict(decision: str, reason: str = "") -> Result:
    return {"decision": decision, "reason": reason} if reason else {"decision": decision}
