"""A Markdown file as a typed outline: its headings, list items, tables and other blocks, each with its lines.

The Markdown is CommonMark with tables. Only blocks are read, no markup inside a line, and quotes are not entered.
What a block means is decided in other modules: each format of a PRD can be one over the same outline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from samuel.tasks import commonmark
from samuel.tasks.commonmark import MAX_LIST_DEPTH, OutlineLimit

if TYPE_CHECKING:
    from markdown_it.token import Token

BlockKind = Literal["paragraph", "fence", "indented code", "comment", "html", "quote", "rule"]
_BOX = re.compile(r"\[([^A-WYZa-wyz0-9]?)\](?=\s|$)")  # `[P]` is a label
_METADATA_KEY = re.compile(r"[\w-]+[ \t]*:")
_KINDS: dict[str, BlockKind] = {
    "paragraph_open": "paragraph",
    "fence": "fence",
    "code_block": "indented code",
    "html_block": "html",
    commonmark.QUOTE: "quote",
    "hr": "rule",
}


@dataclass(frozen=True, slots=True, eq=False)
class OutlineItem:
    """An item of a list. Lines count from 1, and `end` is the last line that belongs to it."""

    text: str  # its first line, without the marker and the box
    box: str | None  # what stands between the brackets of a checklist: "x", " ", "" or anything else
    number: str  # "3" in `3. Title`; "" after a bullet
    line: int
    end: int
    parent: OutlineItem | None  # the item it stands in


@dataclass(frozen=True, slots=True, eq=False)
class OutlineHeading:
    text: str
    level: int
    line: int
    below: int  # the first line below it
    end: int  # the last line before the next heading that is not deeper
    parent: OutlineItem | None

    @property
    def underlined(self) -> bool:
        """It is a heading by the line of `=` or `-` below it."""
        return self.below > self.line + 1


class TableRow(NamedTuple):
    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class OutlineTable:
    rows: tuple[TableRow, ...]  # the first one is the header
    line: int
    end: int
    parent: OutlineItem | None


@dataclass(frozen=True, slots=True, eq=False)
class OutlineBlock:
    """Any other block. Its words are `PrdOutline.lines[line - 1 : end]`."""

    kind: BlockKind
    line: int
    end: int
    parent: OutlineItem | None


OutlineNode = OutlineHeading | OutlineItem | OutlineTable | OutlineBlock


@dataclass(frozen=True)
class PrdOutline:
    lines: tuple[str, ...]  # of the file, as they are
    nodes: tuple[OutlineNode, ...]  # in the order of the file; what stands in an item comes after it

    @cached_property
    def code_lines(self) -> frozenset[int]:
        return self._lines_of("fence", "indented code")

    @cached_property
    def comment_lines(self) -> frozenset[int]:
        return self._lines_of("comment")

    def _lines_of(self, *kinds: BlockKind) -> frozenset[int]:
        blocks = (node for node in self.nodes if isinstance(node, OutlineBlock) and node.kind in kinds)
        return frozenset(line for block in blocks for line in range(block.line, block.end + 1))


def read_outline(text: str) -> PrdOutline:
    """The outline of a Markdown file. OutlineLimit says that it is too large or nested too deeply."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\N{REPLACEMENT CHARACTER}")
    lines = tuple(text.split("\n"))
    metadata = metadata_length(lines)
    tokens = commonmark.tokens("\n" * metadata + "\n".join(lines[metadata:]) if metadata else text)
    return PrdOutline(lines, tuple(_nodes(tokens, lines)))


def split_box(text: str) -> tuple[str | None, str]:
    """`[x] Title` as `x` and `Title`; None in place of the `x` where there is no box."""
    match = _BOX.match(text)
    return (match[1], text[match.end() :].strip()) if match else (None, text)


def metadata_length(lines: Sequence[str]) -> int:
    """How many lines at the top are front matter: CommonMark would take the last of its values for a heading."""
    if len(lines) < 3 or lines[0].rstrip() != "---" or not _METADATA_KEY.match(lines[1]):
        return 0
    return next((number for number, line in enumerate(lines[1:], start=2) if line.rstrip() == "---"), 0)


def _nodes(tokens: Sequence[Token], lines: Sequence[str]) -> Iterator[OutlineNode]:
    section_ends = _section_ends(tokens, len(lines))
    parents: list[OutlineItem] = []  # the items around a token
    for index, token in enumerate(tokens):
        parent = parents[-1] if parents else None
        first, after = token.map or (0, 0)
        line = first + 1
        match token.type:
            case "list_item_open":
                if len(parents) == MAX_LIST_DEPTH:
                    raise OutlineLimit(f"lists are nested more than {MAX_LIST_DEPTH} levels deep", line)
                box, text = split_box(_item_text(tokens, index, first))
                parents.append(OutlineItem(text, box, token.info, line, _last_line(lines, after), parent))
                yield parents[-1]
            case "list_item_close":
                parents.pop()
            case "heading_open":
                text = tokens[index + 1].content.replace("\n", " ")
                end = parent.end if parent else section_ends[line]
                yield OutlineHeading(text, int(token.tag[1:]), line, after + 1, end, parent)
            case "table_open":
                yield OutlineTable(_rows(tokens, index), line, after, parent)
            case "html_block" if token.content.lstrip().startswith("<!--"):
                yield OutlineBlock("comment", line, after, parent)
            case name if name in _KINDS:
                yield OutlineBlock(_KINDS[name], line, after, parent)


def _section_ends(tokens: Sequence[Token], last_line: int) -> dict[int, int]:
    """The last line of each section, by the line of its heading. Headings in list items have none."""
    ends: dict[int, int] = {}
    next_lines = [last_line + 1] * 7  # by level: where the next heading of this level stands
    for token in reversed(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            level, line = int(token.tag[1:]), token.map[0] + 1
            ends[line] = min(next_lines[: level + 1]) - 1
            next_lines[level] = line
    return ends


def _item_text(tokens: Sequence[Token], index: int, first: int) -> str:
    """The first line of an item that begins with text, not with code or another list."""
    paragraph = tokens[index + 1]
    if paragraph.type != "paragraph_open" or not paragraph.map or paragraph.map[0] != first:
        return ""
    return tokens[index + 2].content.partition("\n")[0].strip()


def _rows(tokens: Sequence[Token], start: int) -> tuple[TableRow, ...]:
    rows: list[TableRow] = []
    cells: list[str] = []
    for index in range(start, len(tokens)):
        token = tokens[index]
        if token.type == "inline":
            cells.append(token.content)
        elif token.type == "tr_open" and token.map:
            cells = []
            line = token.map[0] + 1
        elif token.type == "tr_close":
            rows.append(TableRow(line, tuple(cells)))
        elif token.type == "table_close":
            break
    return tuple(rows)


def _last_line(lines: Sequence[str], end: int) -> int:
    """The parser counts empty lines below an item as its own."""
    while end and not lines[end - 1].strip():
        end -= 1
    return end
