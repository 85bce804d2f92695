"""Tool names and the fields of their inputs: each client's own, and one name for what they have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from samuel.clients.dialect.protocol import PayloadError

if TYPE_CHECKING:
    from samuel.clients.dialect.client import Client

SHELL, EDIT, READ, WRITE, SEARCH, FETCH, TASK = "shell", "edit", "read", "write", "search", "fetch", "task"
COMMON_NAMES = (SHELL, EDIT, READ, WRITE, SEARCH, FETCH, TASK)
MCP = "mcp:"  # and then `server/tool`


class Tool:
    """A client's tool: its common name, and which key of its input has which common name."""

    def __init__(self, name: str, needs: Mapping[str, str] | None = None, **keys: str) -> None:
        """`needs` and `keys`: common key -> the client's. An input without a key of `needs` cannot be judged."""
        self.name = name
        self.needs = dict(needs or {})
        self.keys = {**self.needs, **keys}


Tools = Mapping[str, Tool]

# The common key that guards look at in the inputs of each tool; a search without it is one of the whole project.
_KEYS = {SHELL: "command", EDIT: "path", READ: "path", WRITE: "path", SEARCH: "path", FETCH: "url"}


def tool_table(**tools: Mapping[str, str | Tool]) -> Tools:
    """The tools of a client by common name: the client's name -> its key for what guards look at, "" for none."""
    return {
        own: _tool(name, key) if isinstance(key, str) else key
        for name, keys in tools.items()
        for own, key in keys.items()
    }


def _tool(name: str, key: str) -> Tool:
    keys = {_KEYS[name]: key} if key else {}
    return Tool(name, None, **keys) if name == SEARCH else Tool(name, keys)


def shell_input(text: str) -> Tool:
    """A tool that types into a shell which is running; an input without this key has no readable command."""
    return Tool(SHELL, command=text)


def common_name(tools: Tools, tool_name: str, mcp: Callable[[str], str] | None = None) -> str:
    """The common name of a client's tool; its own where there is none."""
    if tool_name in tools:
        return tools[tool_name].name
    return (mcp or mcp_with_underscores)(tool_name) or tool_name


def mcp_with_underscores(tool_name: str) -> str:
    """`mcp:server/tool` for `mcp__server__tool`, "" for any other name."""
    prefix, server, tool = (*tool_name.split("__", 2), "", "")[:3]
    return f"{MCP}{server}/{tool}" if prefix == "mcp" and server and tool else ""


def common_input(tools: Tools, tool_name: str, tool_input: Any) -> Any:
    """The input of a call with the common keys; PayloadError if a key is missing that guards look at."""
    tool = tools.get(tool_name)
    if tool is None:
        return tool_input
    if not isinstance(tool_input, dict):
        raise PayloadError(f"the input of `{tool_name}` is not an object")
    common_keys = {own: key for key, own in tool.keys.items()}
    # The client's own keys last: a key that the tool does not read must not hide one that it does.
    others = {key: value for key, value in tool_input.items() if key not in common_keys}
    values = {common_keys[key]: _as_text(key, value) for key, value in tool_input.items() if key in common_keys}
    for key, own in tool.needs.items():
        if not isinstance(values.get(key), str):
            raise PayloadError(f"the input of `{tool_name}` has no text in `{own}`")
    return {**others, **values}


def native_input(tools: Tools, tool_name: str, tool_input: Any) -> Any:
    """A rewritten input with the client's own keys."""
    tool = tools.get(tool_name)
    if tool is None or not isinstance(tool_input, dict):
        return tool_input
    values = {tool.keys.get(key, key): value for key, value in tool_input.items()}
    if isinstance(values.get(COMMANDS), str):
        values[COMMANDS] = [values[COMMANDS]]
    return values


def native_result(client: Client, tool_name: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """A composed result with rewritten inputs and outputs in the client's shape."""
    translated = dict(result)
    if "tool_input" in result:
        translated["tool_input"] = native_input(client.tools, tool_name, result["tool_input"])
    if "tool_output" in result:
        translated["tool_output"] = client.output(tool_name, result["tool_output"])
    return translated


COMMANDS = "commands"  # this key of a client's input is a list of shell commands

# With one of these a command can run on into the next line: a quote, a here-document, an array.
_OPENING = frozenset("'\"\\`$(){}[]<>#!\n\r")


def _as_text(key: str, value: Any) -> Any:
    """A list of shell commands as one script; any other value as it is."""
    is_list = key == COMMANDS and isinstance(value, list) and all(isinstance(part, str) for part in value)
    return _script(value) if is_list and value else value


def _script(commands: list[str]) -> str:
    """The commands, one on each line. The client runs each in a shell of its own, and so does the script.

    Without that, `cat <<E`, `rm x` and `E` would read as a text that is only printed.
    """
    if len(commands) == 1 or not any(_OPENING & set(command) for command in commands):
        return "\n".join(commands)
    return "\n".join(f"bash -c {_quoted(command)}" for command in commands)


def _quoted(command: str) -> str:
    return "'" + command.replace("'", "'\"'\"'") + "'"
