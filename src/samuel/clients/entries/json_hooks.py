"""Samuel's entries in a JSON file that has a list of hooks for each event."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from samuel.clients.entries import json_edit
from samuel.clients.entries.hook_command import TIMEOUT, EmitCommand, event_of, hook_command
from samuel.clients.entries.layout import BrokenFile
from samuel.clients.table import CLIENTS
from samuel.files.json_text import JsonNode, JsonSyntaxError, JsonText, parse

COMMANDS = ("command", "bash")  # the keys that clients give a command line in


@dataclass(frozen=True)
class JsonHooks:
    """`{"hooks": {EVENT: [ENTRY, ...]}}`, and what the clients make of it."""

    client: str
    entry: Callable[[str, str], dict[str, object]]
    """The client's event and the command line -> the entry of the list."""
    closed_entry: Callable[[str, str], dict[str, object]] | None = None
    """The same, where the client denies by itself if the command fails; None if it cannot be told to."""
    comments: bool = False
    """Whether the client reads a file with comments. None of them reads one with trailing commas."""
    byte_order_mark: bool = False
    key: str = "hooks"
    new_file: Mapping[str, object] = field(default_factory=dict)
    """What a new file has beside the hooks."""
    executable: bool = False

    def hooks(self, command: EmitCommand) -> dict[str, list[dict[str, object]]]:
        """Samuel's entry for each event."""
        entry = (self.closed_entry if command.fails_closed else None) or self.entry
        return {
            event: [entry(event, hook_command(command, self.client, event))]
            for event in CLIENTS[self.client].registered_events
        }

    def added(self, text: str | None, command: EmitCommand) -> str:
        hooks = self.hooks(command)
        if text is None:
            # The hooks come first here, and last in a file that was there: so `removed` can tell them apart.
            return json_edit.rendered({self.key: hooks, **self.new_file}, json_edit.JsonStyle(), "") + "\n"
        entries = [(event, entry) for event, [entry] in hooks.items()]
        if self._present(text) == entries:
            return text
        base = self.removed(text)
        if base is None:
            return self.added(None, command)
        for event, entry in entries:
            base = self._with_entry(base, event, entry)
        return base

    def removed(self, text: str) -> str | None:
        for path in reversed(list(self._paths(self._parse(text).root))):
            if self._is_new_file(text, path):
                return None
            rest = json_edit.removed(text, path)
            if rest is None:
                return None
            text = rest
        return text

    def events(self, text: str) -> Sequence[str]:
        return [event for event, _ in self._present(text)]

    def _present(self, text: str) -> list[tuple[str, object]]:
        root = self._parse(text).root
        nodes = [(str(path[1]), root.at(path)) for path in self._paths(root) if len(path) == 3]
        return [(event, node.value) for event, node in nodes if node]

    def _with_entry(self, text: str, event: str, entry: dict[str, object]) -> str:
        hooks = self._parse(text).root.member(self.key)
        if hooks is None:
            return json_edit.inserted(text, [], self.key, {event: [entry]})
        if hooks.node.member(event) is None:
            return json_edit.inserted(text, [self.key], event, [entry])
        return json_edit.inserted(text, [self.key, event], None, entry)

    def _is_new_file(self, text: str, path: Sequence[str | int]) -> bool:
        """Whether nothing but the entry at `path` is in a file that `added` made."""
        root = self._parse(text).root
        keys = [member.key for member in root.members]
        if not self.new_file or keys != [self.key, *self.new_file]:
            return False
        hooks = root.members[0].node
        if len(path) != 3 or not json_edit.came_with_its_member(text, hooks):
            return False
        others = {member.key: member.node.value for member in root.members[1:]}
        # As JSON: to Python, 1 and true are equal.
        same = json.dumps(others) == json.dumps(dict(self.new_file))
        return same and json_edit.came_with_its_member(text, hooks.members[0].node)

    def _paths(self, root: JsonNode) -> Iterator[list[str | int]]:
        """Where Samuel's entries are: whole ones, or single commands in an entry that others share."""
        hooks = root.member(self.key)
        for member in hooks.node.members if hooks else ():
            for index, element in enumerate(member.node.members):
                path: list[str | int] = [self.key, str(member.key), index]
                if self._is_ours(element.node):
                    yield path
                    continue
                inner = element.node.member("hooks") if element.node.kind == "object" else None
                for place, command in enumerate(inner.node.members if inner else ()):
                    if self._is_ours(command.node):
                        yield [*path, "hooks", place]

    def _is_ours(self, node: JsonNode) -> bool:
        """Whether all commands of this entry are Samuel's."""
        if node.kind != "object":
            return False
        if inner := node.member("hooks"):
            commands = inner.node.members
            return bool(commands) and all(self._is_ours(command.node) for command in commands)
        values = [node.member(key) for key in COMMANDS]
        return any(value and event_of(value.node.value, self.client) for value in values)

    def _parse(self, text: str) -> JsonText:
        """The nodes of a text that the client can read and that has its hooks where they belong."""
        try:
            parsed = parse(text)
        except JsonSyntaxError as error:
            raise BrokenFile(f"not valid JSON: {error.what}", error.line, "fix it, or remove the file") from None
        if parsed.comment_line and not self.comments:
            raise BrokenFile(
                f"{self.client} does not read a file with comments", parsed.comment_line, "remove them"
            )
        if parsed.comma_line:
            what = f"{self.client} does not read a file with trailing commas"
            raise BrokenFile(what, parsed.comma_line, "remove the comma before the bracket")
        _require(parsed, parsed.root, "object", "the file")
        if hooks := parsed.root.member(self.key):
            _require(parsed, hooks.node, "object", f"`{self.key}`")
            for event in CLIENTS[self.client].registered_events:
                if member := hooks.node.member(event):
                    _require(parsed, member.node, "array", f"`{self.key}.{event}`")
        return parsed


def _require(parsed: JsonText, node: JsonNode, kind: str, name: str) -> None:
    if node.kind != kind:
        line = parsed.text.count("\n", 0, node.start) + 1
        raise BrokenFile(f"{name} must be an {kind}", line, "the client does not read it as it is")


def grouped_entry(event: str, command: str) -> dict[str, object]:
    """An entry of a client of Claude's family that counts a timeout in seconds."""
    return {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT}]}


def grouped_entry_ms(event: str, command: str) -> dict[str, object]:
    """The same where a timeout is in milliseconds."""
    return {"hooks": [{"type": "command", "command": command, "timeout": TIMEOUT * 1000}]}
