"""ROUTING.md: the list of topics, each with the file that holds its routes.

The list is the key `route_indexes` of the front matter, or of one fenced block of `yaml`: some tools show front
matter as a table, which is hard to read. The rest of the file is for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from samuel.base.errors import ConfigError, Problem, SamuelError
from samuel.files import yaml
from samuel.routing.knowledge.model import FILE, KnowledgeBase, TopicEntry
from samuel.routing.knowledge.values import FileProblems, Values, read_contents

PLACES = ("", "knowledge", "docs")
"""Where a project may have its ROUTING.md: the first that has one is the routing root."""

LARGEST = 512 * 1024  # bytes
MOST = 1000  # indexes
KEY = "route_indexes"

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})[ \t]*(\S*)")
_HINT = f"begin the file with `---`, `{KEY}:`, the list, `---`; or put it into a block fenced with ```yaml"


def find_root(project: Path) -> Path | None:
    """The routing root of a project, if it has one."""
    for place in PLACES:
        if (project / place / FILE).is_file():
            return project / place
    return None


def read_base(root: Path) -> KnowledgeBase:
    """The knowledge base of the ROUTING.md in `root`, without wrong entries. ConfigError if it has no list."""
    file = str(root / FILE)
    if not (root / FILE).exists():
        raise SamuelError(f"there is no {FILE} in `{root}`", f"write one with a list `{KEY}` in its front matter")
    text = yaml.decoded(read_contents(root, FILE, LARGEST), file)
    blocks = [block for block in _blocks(text, file) if _names_key(block.text)]
    if not blocks:
        raise ConfigError([Problem(f"there is no `{KEY}` in it", file, 1, _HINT)])
    document = yaml.load(blocks[0].text.encode(), file, first_line=blocks[0].line)
    notes = FileProblems(file, document.lines.of)
    indexes = _indexes(Values(notes, document.mapping()))
    twice = tuple(
        Problem(f"a second `{KEY}` is not read", file, more.line, "join the lists") for more in blocks[1:]
    )
    return KnowledgeBase(root, tuple(indexes), (*notes.problems(), *twice))


class _Block(NamedTuple):
    text: str
    line: int
    """The number of its first line, from 1."""


def _blocks(text: str, file: str) -> Iterator[_Block]:
    """The front matter, then every block that is fenced as YAML."""
    lines = text.splitlines(keepends=True)
    at = 0
    if lines and lines[0].rstrip() == "---":
        end = next((at for at, line in enumerate(lines[1:], start=1) if line.rstrip() == "---"), 0)
        if not end:
            raise ConfigError([Problem("the front matter is not closed", file, 1, "end it with a line `---`")])
        yield _Block("".join(lines[1:end]), 2)
        at = end + 1
    while at < len(lines):
        fence = _FENCE.match(lines[at])
        at += 1
        if not fence:
            continue
        first = at
        while at < len(lines) and not _closes(lines[at], fence[1]):
            at += 1
        if fence[2].lower() in ("yaml", "yml"):
            yield _Block("".join(lines[first:at]), first + 1)
        at += 1


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return stripped.startswith(fence) and not stripped.strip(fence[0])


def _names_key(block: str) -> bool:
    return re.search(rf"^{KEY}[ \t]*:", block, re.MULTILINE) is not None


def _indexes(head: Values) -> Iterator[TopicEntry]:
    # The other keys of the front matter belong to other tools that read ROUTING.md.
    for entry in head.entries(KEY, MOST):
        index = TopicEntry(
            entry.text("scope", needed=True),
            entry.text("topic", needed=True),
            entry.text("summary", needed=True),  # it is found by its words
            entry.path("route_file"),
            entry.line(),
        )
        entry.refuse_unread()
        if index.scope and index.topic and index.route_file:
            yield index
