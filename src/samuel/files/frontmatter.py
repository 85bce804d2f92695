"""Markdown with YAML front matter: the values between two `---` lines, and the text below them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from samuel.base.errors import ConfigError, Problem
from samuel.files import yaml

LARGEST = yaml.LARGEST  # bytes of a whole file
LARGEST_HEAD = 16 * 1024  # characters between the two lines

_FENCE = "---"
_PAIR = re.compile(r"(?P<key>[A-Za-z][A-Za-z0-9_-]*):(?:\s+(?P<text>.*))?")


class FrontMatter(NamedTuple):
    head: Mapping[str, Any]
    lines: Mapping[str, int]
    """The line of each key of the head."""
    body: str
    body_line: int
    """Where the body begins in the file, from 1."""
    invalid: Problem | None = None
    """Why the head, which is not valid YAML, was read line by line."""


def parse(data: bytes, file: str, *, by_line: bool = False) -> FrontMatter:
    """What a file says; ConfigError with the line if it cannot be read. Without front matter the head is empty.

    `by_line`: a head that is not valid YAML, mostly for a colon in a text without quotes, is read line by line.
    """
    text = yaml.decoded(data, file)
    lines = text.split("\n")
    if lines[0].rstrip() != _FENCE:
        return FrontMatter({}, {}, text, 1)
    end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE), 0)
    if not end:
        raise _refusal(file, "the front matter is not closed", f"end it with a line `{_FENCE}`")
    head = "".join(f"{line}\n" for line in lines[1:end])
    if len(head) > LARGEST_HEAD:
        raise _refusal(file, f"the front matter is longer than {LARGEST_HEAD} characters", "make it shorter")
    body = "\n".join(lines[end + 1 :])
    try:
        document = yaml.load(head.encode(), file, first_line=2)
    except yaml.InvalidYaml as error:
        if not by_line:
            raise
        return FrontMatter(*_head_by_line(lines[1:end]), body, end + 2, error.problems[0])
    values = document.mapping()
    places = {key: document.lines.of((key,)) for key in values}
    return FrontMatter(values, places, body, end + 2)


def _head_by_line(lines: Sequence[str]) -> tuple[dict[str, str], dict[str, int]]:
    """The keys at the beginnings of lines, each with the text up to the next one, and their lines in the file."""
    texts: dict[str, list[str]] = {}
    places: dict[str, int] = {}
    key = ""
    for number, line in enumerate(lines, start=2):
        if pair := _PAIR.fullmatch(line.rstrip()):
            key = pair["key"]
            texts[key], places[key] = [pair["text"] or ""], number
        elif key and line.strip():
            texts[key].append(line.strip())
    values = {name: " ".join(parts).lstrip("|>- ").strip() for name, parts in texts.items()}
    return {name: _unquoted(text) for name, text in values.items()}, places


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _refusal(file: str, what: str, hint: str) -> ConfigError:
    return ConfigError([Problem(what, file, 1, hint)])
