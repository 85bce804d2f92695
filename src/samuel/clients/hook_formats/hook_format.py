"""The format of one agent's hooks, as a hook that is written for this agent sees it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from samuel.clients.dialect.events import DENIABLE
from samuel.files.json import InvalidJson, parse

BLOCKED = 2  # the exit code of a hook that blocks
FILE_TOOLS = ("read", "write", "edit")
PATCH, PATH, FILE_PATH = "patch", "path", "file_path"  # Samuel says `path`, the hooks of most agents `file_path`
_PATCHED_FILE = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)

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


def tool_call(hook_format: HookFormat, payload: Payload) -> dict[str, Any]:
    """The tool, its input and the id of a call, as the hook expects them."""
    ability_id, tool_input = str(payload.get("ability_id", "")), payload.get("tool_input", {})
    return {
        "tool_name": native_tool_name(hook_format, ability_id),
        "tool_input": _renamed(ability_id, tool_input, PATH, FILE_PATH),
        "tool_use_id": text(extra(payload).get("call_id")) or payload.get("event_id", ""),
    }


def common_input(payload: Payload, tool_input: Any) -> Any:
    """An input that a hook rewrote, with Samuel's keys."""
    return _renamed(payload.get("ability_id"), tool_input, FILE_PATH, PATH)


def _renamed(ability_id: object, tool_input: Any, old: str, new: str) -> Any:
    if ability_id not in FILE_TOOLS or not isinstance(tool_input, dict) or old not in tool_input:
        return tool_input
    return {(new if key == old else key): value for key, value in tool_input.items() if key != new}


def inputs_by_file(ability_id: object, tool_input: Any) -> list[Any]:
    """The input of a call as one input for each file that its patch changes; other inputs as they are.

    A hook that was written for edits of one file is called once for each of them.
    """
    if ability_id != "edit" or not isinstance(tool_input, dict) or PATH in tool_input:
        return [tool_input]
    patch = tool_input.get(PATCH)
    paths = dict.fromkeys(_PATCHED_FILE.findall(patch)) if isinstance(patch, str) else {}
    return [{**tool_input, PATH: path} for path in paths] or [tool_input]


def native_tool_name(hook_format: HookFormat, ability_id: str) -> str:
    """The agent's name of a tool: `Bash` for `shell`; a name that Samuel does not know stays as it is."""
    if names := hook_format.tool_names.get(ability_id):
        return names[0]
    server, _, tool = ability_id.removeprefix("mcp:").partition("/")
    return hook_format.mcp_name.format(server=server, tool=tool) if ability_id.startswith("mcp:") else ability_id


def blocks(output: HookOutput) -> bool:
    """Whether a hook blocks by its exit code; HookFailed if that is a fault of the hook."""
    if output.exit_code not in (0, BLOCKED):
        raise HookFailed
    return output.exit_code == BLOCKED


def meaning(words: Mapping[str, str], word: object, what: str) -> str:
    """What a word of a format means. A word that it does not have may have been meant to deny: InvalidAnswer."""
    if not isinstance(word, str) or word not in words:
        raise InvalidAnswer(f"its {what} must be one of {', '.join(words)}")
    return words[word]


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


def denied(event: str, reason: str) -> Result:
    """A denial where there is something to deny, elsewhere a message."""
    return verdict("deny", reason) if event in DENIABLE else {"messages_to_user": [reason]}
