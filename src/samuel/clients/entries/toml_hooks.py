"""Samuel's entries in a TOML file that has its hooks as `[[hooks]]`: blocks at the end of the file."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from samuel.clients.entries.hook_command import TIMEOUT, EmitCommand, event_of, hook_command
from samuel.clients.entries.layout import BrokenFile
from samuel.clients.table import CLIENTS
from samuel.files.toml.lines import TOO_DEEP, TomlTooDeep, toml_values
from samuel.files.toml.syntax import syntax_problem

# As `hook_block` writes it, with the line break before it. The block ends before its own last line break.
_BLOCK = re.compile(
    r'\r?\n?\[\[hooks\]\]\r?\nevent = "[\w.]+"\r?\ncommand = (?P<command>"(?:[^"\\\r\n]|\\.)*")\r?\ntimeout = \d+'
)


@dataclass(frozen=True)
class TomlHooks:
    client: str
    executable: bool = False
    byte_order_mark: bool = False

    def added(self, text: str | None, command: EmitCommand) -> str:
        new_blocks = [
            hook_block(event, hook_command(command, self.client, event))
            for event in CLIENTS[self.client].registered_events
        ]
        values = [tomllib.loads(block)["hooks"][0] for block in new_blocks]
        if text is None:
            return "\n\n".join(new_blocks) + "\n"
        if self._present(text) == values:
            return text
        base = self.removed(text)
        if base is None:
            return self.added(None, command)
        newline = "\r\n" if "\r\n" in base else "\n"
        blocks = (newline + newline).join(block.replace("\n", newline) for block in new_blocks)
        # The last line has a line break if the one before had one: so `removed` knows.
        unended = base and not base.endswith("\n")
        added = base + newline * 2 + blocks if unended else base + newline + blocks + newline
        self._check(added, values)
        return added

    def removed(self, text: str) -> str | None:
        present = self._present(text)
        if not present:
            return text
        ours = [match for match in _BLOCK.finditer(text) if self._event(json.loads(match["command"]))]
        rest = text
        for match in reversed(ours):
            rest = _cut(rest, match.start(), match.end())
        if len(ours) != len(present) or self._present(rest):
            raise BrokenFile(
                "the hooks that samuel wrote were changed since",
                hint="remove the `[[hooks]]` with `samuel` by hand",
            )
        # A new file begins with the first block; one that was there, empty, with a blank line.
        return None if not rest and text.startswith("[") else rest

    def events(self, text: str) -> Sequence[str]:
        return [str(hook.get("event")) for hook in self._present(text)]

    def _present(self, text: str) -> list[dict[str, Any]]:
        return [hook for hook in _hooks(text) if self._event(hook.get("command"))]

    def _check(self, text: str, values: list[dict[str, Any]]) -> None:
        try:
            if self._present(text) == values:
                return
        except BrokenFile:
            pass
        raise BrokenFile(
            "`[[hooks]]` cannot be added to the `hooks` of this file", hint="write them as `[[hooks]]`"
        )

    def _event(self, command: object) -> str:
        return event_of(command, self.client)


def _cut(text: str, start: int, end: int) -> str:
    """The text without a block: with the blank line before it, and the line break after it if it has one."""
    newline = re.compile(r"\r?\n").match(text, end)
    if newline:
        return text[:start] + text[newline.end() :]
    # At the end of a file whose last line had no line break: the one that `added` put there goes, too.
    return re.sub(r"\r?\n\Z", "", text[:start])


def hook_block(event: str, command: str) -> str:
    """One hook as a table, without the last line break."""
    return f'[[hooks]]\nevent = "{event}"\ncommand = {toml_string(command)}\ntimeout = {TIMEOUT}'


def toml_string(text: str) -> str:
    """A TOML basic string: a JSON string of printable characters is one."""
    return json.dumps(text, ensure_ascii=False)


def _hooks(text: str) -> list[dict[str, Any]]:
    try:
        hooks = toml_values(text).get("hooks", [])
    except TomlTooDeep as error:
        raise BrokenFile(f"it {TOO_DEEP}", error.line, "make it flatter, or remove the file") from None
    except ValueError as error:
        what, line, hint = syntax_problem(error, text)
        raise BrokenFile(what, line, hint or "fix it, or remove the file") from None
    if not isinstance(hooks, list) or not all(isinstance(hook, dict) for hook in hooks):
        raise BrokenFile("`hooks` is not an array of tables", hint="write hooks as `[[hooks]]`")
    return hooks
