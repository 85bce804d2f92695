"""Markdown with YAML front matter: the values between two `---` lines, and the text below them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from samuel.base.errors import ConfigError, Problem
from samuel.files import yaml

LARGEST = yaml.LARGEST  # bytes of a whole file
LARGEST_HEAD = 16 * 1024  # characters between the two lines

_FENCE = "---"


class FrontMatter(NamedTuple):
    head: Mapping[str, Any]
    lines: Mapping[str, int]
    """The line of each key of the head."""
    body: str
    body_line: int
    """Where the body begins in the file, from 1."""


def parse(data: bytes, file: str) -> FrontMatter:
    """What a file says; ConfigError with the line if it cannot be read. Without front matter the head is empty."""
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
    document = yaml.load(head.encode(), file, first_line=2)
    values = document.mapping()
    places = {key: document.lines.of((key,)) for key in values}
    return FrontMatter(values, places, "\n".join(lines[end + 1 :]), end + 2)


def _refusal(file: str, what: str, hint: str) -> ConfigError:
    return ConfigError([Problem(what, file, 1, hint)])
