"""Inserts and removes members of JSON text; removing is the exact inverse of inserting.

Nothing is recorded elsewhere, so that a colleague can remove what another one added and committed. The text
itself tells how it was before. A container that was there, empty, gets its first member directly after the
bracket: `[{...}`. In a container that came with the member there is space between them: `[ {...} ]`. Only the
second goes with its last member.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import NamedTuple

from samuel.files.json_text import JsonMember, JsonNode, parse

# A comment on the rest of the line belongs to the member before it.
_COMMENT_BESIDE = re.compile(r"[ \t]*(?://[^\r\n]*|/\*(?:(?!\*/)[^\r\n])*\*/(?=[ \t]*(?:\r?\n)))")
_INDENTED = re.compile(r"^([ \t]+)\S", re.MULTILINE)

Path = Sequence[str | int]


class JsonStyle(NamedTuple):
    """How a text is laid out."""

    newline: str = "\n"
    indent: str = "  "

    @classmethod
    def of(cls, text: str) -> JsonStyle:
        indented = _INDENTED.search(text)
        return cls("\r\n" if "\r\n" in text else "\n", indented[1] if indented else "  ")


def inserted(text: str, path: Path, key: str | None, value: object) -> str:
    """The text with a new last member (an element where `key` is None) in the container at `path`.

    The text has no trailing commas.
    """
    node = _existing(parse(text).root, path)
    style = JsonStyle.of(text)
    label = "" if key is None else f"{json.dumps(key, ensure_ascii=False)}: "
    if not node.members:
        margin = _margin(text, node.start)
        new = label + rendered(value, style, margin if "\n" in text else None)
        return text[: node.start + 1] + new + text[node.start + 1 :]
    first, last = node.members[0], node.members[-1]
    beside = _COMMENT_BESIDE.match(text, last.end)
    position = beside.end() if beside else last.end
    own_line = "\n" in text[node.start : first.start] or bool(beside)
    margin = _margin(text, first.start)
    new = (style.newline + margin if own_line else " ") + label
    new += rendered(value, style, margin if own_line else None)
    return text[: last.end] + "," + text[last.end : position] + new + text[position:]


def removed(text: str, path: Path) -> str | None:
    """The text without the member at `path`, and without the containers that came with it.

    None if nothing is left but what came with it: then the file came with it, too.
    """
    root = parse(text).root
    path = list(path)
    container = _existing(root, path[:-1])
    while came_with_its_member(text, container):
        path.pop()
        if not path:
            return _without(text, root, 0) if (text[: root.start] + text[root.end :]).strip() else None
        container = _existing(root, path[:-1])
    return _without(text, container, _index(container, path[-1]))


def rendered(value: object, style: JsonStyle, margin: str | None) -> str:
    """The value as JSON: on one line where `margin` is None, else indented below a line that starts with it.

    On one line there is space inside the brackets: see the top of this file.
    """
    if margin is not None:
        text = json.dumps(value, ensure_ascii=False, indent=style.indent)
        return text.replace("\n", style.newline + margin)  # there is no other line break: strings have `\n`
    if value and isinstance(value, dict):
        pairs = ((json.dumps(key, ensure_ascii=False), rendered(item, style, None)) for key, item in value.items())
        return f"{{ {', '.join(f'{key}: {item}' for key, item in pairs)} }}"
    if value and isinstance(value, list):
        return f"[ {', '.join(rendered(item, style, None) for item in value)} ]"
    return json.dumps(value, ensure_ascii=False)


def _existing(node: JsonNode, path: Path) -> JsonNode:
    """The node at `path`, which exists."""
    existing = node.at(path)
    assert existing is not None
    return existing


def _index(node: JsonNode, step: str | int) -> int:
    if isinstance(step, int):
        return step
    return next(index for index, member in enumerate(node.members) if member.key == step)


def came_with_its_member(text: str, node: JsonNode) -> bool:
    """Whether `rendered` wrote this container together with its only member."""
    if len(node.members) != 1:
        return False
    member = node.members[0]
    before, after = text[node.start + 1 : member.start], text[member.end : node.end - 1]
    return bool(before) and not before.strip() and not after.strip()


def _without(text: str, node: JsonNode, index: int) -> str:
    member = node.members[index]
    start = len(text[: member.start].rstrip(" \t\r\n"))
    end = member.end if member.comma is None else member.comma + 1
    if _ends_a_line_comment(text, node, start, member) and not text.startswith(("\r", "\n"), end):
        start = text.index("\n", start) + 1
    if member.comma is not None:
        return text[:start] + text[member.end : member.comma] + text[member.comma + 1 :]
    if index and (comma := node.members[index - 1].comma) is not None:
        return text[:comma] + text[comma + 1 : start] + text[member.end :]
    return text[:start] + text[member.end :]


def _ends_a_line_comment(text: str, node: JsonNode, position: int, member: JsonMember) -> bool:
    """Whether the line that ends at `position` ends with a comment, so that its line break must stay."""
    if "\n" not in text[position : member.start]:
        return False
    line = text[max(text.rfind("\n", 0, position), node.start) + 1 : position]
    return "//" in line


def _margin(text: str, position: int) -> str:
    """The space at the start of the line."""
    start = text.rfind("\n", 0, position) + 1
    return text[start : len(text) - len(text[start:].lstrip(" \t"))]
