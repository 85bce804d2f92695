"""The pieces of a word in the syntax tree, with quotes and escapes removed as bash does it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from samuel.shell.syntax import Syntax, parts_of
from samuel.shell.word import Piece

if TYPE_CHECKING:
    from tree_sitter import Node

_ANSI = re.compile(
    rb"\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|c(.)|(.))", re.DOTALL
)
_ANSI_LETTERS = {b"a": b"\a", b"b": b"\b", b"e": b"\x1b", b"E": b"\x1b", b"f": b"\f", b"n": b"\n", b"r": b"\r"}
_ANSI_LETTERS |= {b"t": b"\t", b"v": b"\v", b"\\": b"\\", b"'": b"'", b'"': b'"', b"?": b"?"}
_PLAIN_ESCAPE = re.compile(r"\\(.)|([^\\]+)|\\$", re.DOTALL)
_STRING_ESCAPE = re.compile(rb'\\([$`"\\])|\\\n')
_HEREDOC_ESCAPE = re.compile(rb"\\([$`\\])|\\\n")
_PLAIN = frozenset({"word", "number", "brace_expression", "extglob_pattern", "variable_name", "test_operator"})


def pieces_of(node: Node, syntax: Syntax) -> Iterator[Piece]:
    """The pieces of one node; those of adjacent nodes make one word."""
    if node.type == "raw_string":
        yield Piece(syntax.text(node)[1:-1], "quoted")
    elif node.type == "ansi_c_string":
        yield Piece(_ansi_text(syntax.source[node.start_byte + 2 : node.end_byte - 1]), "quoted")
    elif node.type == "string":
        yield Piece("", "quoted")  # an empty string is a word too
        for text, child in parts_of(node, syntax.source):
            if child is not None:
                yield Piece(text.decode("utf-8", "replace"), "unknown")
            elif text:
                yield Piece(_STRING_ESCAPE.sub(_escaped, text).decode("utf-8", "replace"), "quoted")
    elif node.type in ("concatenation", "translated_string", "command_name"):
        for before, child in zip((None, *node.children), node.children, strict=False):
            if before is not None and before.end_byte != child.start_byte:
                yield Piece(" ", "unknown")  # bash would have ended the word here
            if not is_translation_mark(child, syntax):
                yield from pieces_of(child, syntax)
    elif node.type == "variable_assignment" and not any(child.type == "array" for child in node.children):
        for child in node.children:
            yield from pieces_of(child, syntax) if child.is_named else (Piece(syntax.text(child), "quoted"),)
    elif (node.type in _PLAIN and not (node.type == "number" and node.named_child_count)) or not node.is_named:
        yield from _plain_pieces(syntax.text(node))
    else:
        yield Piece(syntax.text(node), "unknown")


def is_translation_mark(node: Node, syntax: Syntax) -> bool:
    """Is it the dollar of `$"text"`, which is `"text"` in another language?"""
    return node.type == "$" and syntax.source[node.end_byte : node.end_byte + 1] == b'"'


def heredoc_text(body: Node, syntax: Syntax, quoted: bool, indented: bool) -> tuple[str, bool]:
    """What a here-document feeds its command, and whether that is exact: False if variables are filled in."""
    start = syntax.source.rfind(b"\n", 0, body.start_byte) + 1
    head = syntax.source[start : body.start_byte]
    parts = [(head, None), *parts_of(body, syntax.source)] if not quoted else []
    exact = all(child is None for _, child in parts)
    text = (
        syntax.source[start : body.end_byte]
        if quoted
        else b"".join(part if child is not None else _HEREDOC_ESCAPE.sub(_escaped, part) for part, child in parts)
    )
    if indented:
        text = re.sub(rb"(?m)^\t+", b"", text)
    return text.decode("utf-8", "replace"), exact


def _plain_pieces(text: str) -> Iterator[Piece]:
    for match in _PLAIN_ESCAPE.finditer(text):
        escaped, plain = match.groups()
        yield Piece(plain, "plain") if plain is not None else Piece(escaped or "\\", "quoted")


def _escaped(match: re.Match[bytes]) -> bytes:
    return match[1] or b""


def _ansi_text(source: bytes) -> str:
    # bash ends such a text at its first zero
    return _ANSI.sub(_ansi_character, source).partition(b"\0")[0].decode("utf-8", "replace")


def _ansi_character(match: re.Match[bytes]) -> bytes:
    byte, short, long, octal, control, letter = match.groups()
    if byte or octal:
        return bytes([int(byte, 16) if byte else int(octal, 8) & 0xFF])
    if short or long:
        number = int(short or long, 16)
        return chr(number).encode("utf-8", "replace") if number < 0x110000 else b"?"
    if control:
        return bytes([control[0] & 0x1F])
    return _ANSI_LETTERS.get(letter, b"\\" + letter)
