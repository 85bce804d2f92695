"""Reads JSON with comments and trailing commas into nodes that know their place in the text.

The standard parser gives values only. To name the line of a value, or to change a file and leave every other byte
as it is, one has to know where each value stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

DEEPEST = 100

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT = re.compile(r"//[^\r\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)")


class JsonSyntaxError(Exception):
    """The text is not JSON, also not with comments and trailing commas."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


@dataclass(frozen=True)
class JsonNode:
    """One value of the text, at text[start:end]."""

    start: int
    end: int
    value: object
    """The value as Python has it."""
    members: tuple[JsonMember, ...] = ()

    @property
    def kind(self) -> str:
        return "object" if isinstance(self.value, dict) else "array" if isinstance(self.value, list) else "scalar"

    def member(self, key: str) -> JsonMember | None:
        """The member with this key; of a key that is there twice, every parser takes the last."""
        return next((member for member in reversed(self.members) if member.key == key), None)

    def at(self, path: Sequence[str | int]) -> JsonNode | None:
        """The value at a path of keys and indexes; None if there is none."""
        node: JsonNode | None = self
        for step in path:
            if node is None:
                return None
            if isinstance(step, int):
                is_there = node.kind == "array" and step < len(node.members)
                node = node.members[step].node if is_there else None
            else:
                member = node.member(step)
                node = member.node if member else None
        return node


@dataclass(frozen=True)
class JsonMember:
    """A member of an object or an element of an array. It starts with its key, if it has one."""

    start: int
    node: JsonNode
    key: str | None = None
    comma: int | None = None
    """Where the comma after it is; None if there is none."""

    @property
    def end(self) -> int:
        return self.node.end


@dataclass(frozen=True)
class JsonText:
    text: str
    root: JsonNode
    comment_line: int
    """The first line with a comment; 0 if there is none."""
    comma_line: int
    """The first line with a trailing comma; 0 if there is none."""


def parse(text: str) -> JsonText:
    """The nodes of the text; JsonSyntaxError with the line if it is not JSON, or if a key is there twice."""
    scanner = _Scanner(text, repeated_keys=False)
    root = scanner.node(scanner.skip(0), 1)
    end = scanner.skip(root.end)
    if end != len(text):
        raise scanner.error("there is more text after the end", end)
    return JsonText(text, root, scanner.first_line(scanner.comments), scanner.first_line(scanner.commas))


def value_at(text: str, start: int) -> JsonNode:
    """The value that begins at `start`, whatever follows it; JsonSyntaxError if there is none."""
    scanner = _Scanner(text, repeated_keys=True)
    return scanner.node(scanner.skip(start), 1)


class _Scanner:
    def __init__(self, text: str, *, repeated_keys: bool) -> None:
        self.text = text
        self.repeated_keys = repeated_keys
        self.comments: list[int] = []
        self.commas: list[int] = []

    def line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def error(self, what: str, position: int) -> JsonSyntaxError:
        return JsonSyntaxError(what, self.line(position))

    def first_line(self, positions: list[int]) -> int:
        return self.line(min(positions)) if positions else 0

    def skip(self, position: int) -> int:
        """The next position that is neither space nor comment."""
        while True:
            position = _end(_SPACE, self.text, position)
            if not self.text.startswith(("//", "/*"), position):
                return position
            self.comments.append(position)
            comment = _COMMENT.match(self.text, position)
            if comment is None:
                raise self.error("a comment does not end", position)
            position = comment.end()

    def node(self, position: int, depth: int) -> JsonNode:
        if depth > DEEPEST:
            raise self.error(f"nests deeper than {DEEPEST} levels", position)
        first = self.text[position : position + 1]
        if not first and depth == 1:
            raise self.error("the file is empty", 0)
        if first in ("{", "["):
            return self.container(position, "}" if first == "{" else "]", depth)
        end = _end(_STRING if first == '"' else _SCALAR, self.text, position)
        return JsonNode(position, end, self.value(position, end))

    def value(self, start: int, end: int) -> object:
        if start == end:
            raise self.error(f"expected a value, not {self.character(start)}", start)
        try:
            return json.loads(self.text[start:end])
        except (ValueError, RecursionError):  # an escape that JSON does not have, a number of thousands of digits
            raise self.error("this value cannot be read", start) from None

    def container(self, start: int, closing: str, depth: int) -> JsonNode:
        members: list[JsonMember] = []
        values: dict[str, object] = {}
        position = self.skip(start + 1)
        while self.text[position : position + 1] != closing:
            key, value_start = self.key(position) if closing == "}" else (None, position)
            if key in values and not self.repeated_keys:
                raise self.error(f"the key `{key}` is there twice", position)
            node = self.node(value_start, depth + 1)
            if key is not None:
                values[key] = node.value
            comma, after = self.comma(node.end, closing)
            members.append(JsonMember(position, node, key, comma))
            position = after
        value = values if closing == "}" else [member.node.value for member in members]
        return JsonNode(start, position + 1, value, tuple(members))

    def key(self, position: int) -> tuple[str, int]:
        """The key of a member, and where its value is."""
        end = _end(_STRING, self.text, position)
        if end == position:
            raise self.error(f"expected a key in double quotes, not {self.character(position)}", position)
        colon = self.skip(end)
        if self.text[colon : colon + 1] != ":":
            raise self.error(f"expected `:`, not {self.character(colon)}", colon)
        return str(self.value(position, end)), self.skip(colon + 1)

    def comma(self, end: int, closing: str) -> tuple[int | None, int]:
        """Where the comma after a member is, and where the next member or the closing bracket is."""
        position = self.skip(end)
        following = self.text[position : position + 1]
        if following == closing:
            return None, position
        if following != ",":
            raise self.error(f"expected `,` or `{closing}`, not {self.character(position)}", position)
        after = self.skip(position + 1)
        if self.text[after : after + 1] == closing:
            self.commas.append(position)
        return position, after

    def character(self, position: int) -> str:
        return f"`{self.text[position]}`" if position < len(self.text) else "the end of the file"


def _end(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position
