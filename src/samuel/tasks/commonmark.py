"""Markdown -> the block tokens of markdown-it-py, within limits that no text can get around.

markdown-it-py is linear in the length of a text, with three exceptions that matter when the text is hostile:

- Markup inside lines: it is never parsed.
- Quotes: nested quotes cost their depth times their length, so a rule of our own takes a quote as one block.
- Lists deeper than `maxNesting`: it leaves out the rest of the file silently, so the outline checks the depth.

A token takes about 600 bytes and two characters can make three of them, so their number is limited too.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

MAX_LIST_DEPTH = 32
MAX_TOKENS = 1_000_000
QUOTE = "quote"


class OutlineLimit(Exception):
    """A file that is larger or deeper than what is read."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


class _LimitedTokens(list["Token"]):
    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit

    def append(self, token: Token, /) -> None:
        if len(self) >= self.limit:
            line = next((token.map[0] for token in reversed(self) if token.map), 0)
            raise OutlineLimit(f"the file has more than {self.limit:,} Markdown elements", line + 1)
        super().append(token)


def tokens(text: str, limit: int = MAX_TOKENS) -> list[Token]:
    """The blocks of a text whose lines end in `\\n`."""
    collected = _LimitedTokens(limit)
    parser = _parser()
    parser.block.parse(text, parser, {}, collected)
    return collected


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # takes longer to import than most of Samuel's commands work

    # An item is two levels deep: the list and the item.
    parser = MarkdownIt("commonmark", {"maxNesting": 2 * MAX_LIST_DEPTH + 1})
    parser.enable("table").disable("reference")  # a definition of a link is text to us
    parser.block.ruler.at("blockquote", _quote, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    return parser


def _quote(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A block of lines that begin with `>`, and the text that follows without an empty line, as one token."""
    if state.is_code_block(start) or not _quoted(state, start):
        return False
    if silent:
        return True
    ending_rules = state.md.block.ruler.getRules("paragraph")
    parent_type, state.parentType = state.parentType, "paragraph"
    line = start + 1
    while line < end and not state.isEmpty(line):
        goes_on = _quoted(state, line) and state.sCount[line] >= state.blkIndent
        if not goes_on and any(rule(state, line, end, True) for rule in ending_rules):
            break
        line += 1
    state.parentType = parent_type
    state.line = line
    state.push(QUOTE, "", 0).map = [start, line]
    return True


def _quoted(state: StateBlock, line: int) -> bool:
    return state.src.startswith(">", state.bMarks[line] + state.tShift[line])
