"""The syntax tree of shell text, from tree-sitter-bash, and what makes us doubt it.

The parser recovers from every error and knows some corners of the language less well than bash does. A guard must
not believe a tree that bash would not: so errors, characters that no part of the tree accounts for, and
substitutions that the parser took for text are reported as doubts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MAX_BYTES = 100_000
MAX_NODES = 20_000
MAX_HEREDOCS = 50  # the parser's time grows with their square

# The parser is given the text in small pieces, and no further one after it asked too often: then it is in a search
# for a way out of errors that takes the square of their number.
CHUNK = 64
READS_PER_CHUNK, READS = 8, 400

_CONTINUATION = re.compile(rb"(?<!\\)(?:\\\\)*(\\\n)")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_BLANKS = re.compile(rb"[ \t\n]*")
_ESCAPED = re.compile(rb"\\.", re.DOTALL)
_SUBSTITUTION = re.compile(rb"`|\$[({]|[<>]\(")
_QUOTED_SUBSTITUTION = re.compile(rb"`|\$[({]")
_WORD_END = re.compile(rb"[\s;&|<>()'\"]")

# Text within these is accounted for by the code that decodes them.
_TEXTS = frozenset({"string", "heredoc_body", "expansion", "arithmetic_expansion", "raw_string", "ansi_c_string"})
_LITERAL = frozenset({"raw_string", "ansi_c_string", "comment", "heredoc_start", "heredoc_end"})
_QUOTED_OR_LITERAL = _LITERAL | {"string", "heredoc_body", "heredoc_redirect"}
# Within these a word follows other rules: `${x:-a b}`, `[[ a =~ (b|c) ]]`, `case a in (b) ...`.
_OTHER_RULES = frozenset({"expansion", "test_command", "case_item", "arithmetic_expansion", "subscript"})
_STATEMENTS = frozenset({"command", "redirected_statement", "pipeline", "list", "command_substitution"})
_STATEMENTS |= {"process_substitution", "subshell", "compound_statement", "declaration_command", "negated_command"}
_EVALUATED = frozenset({"test_command", "arithmetic_expansion", "subscript", "array"})
_SEPARATORS = b" \t\n;&|()<>`"
_OPENING = ("!", "{", "if", "then", "elif", "else", "for", "select", "while", "until", "do", "case", "function")
_CLOSING = ("}", "fi", "done", "esac")
_DECLARING = ("declare", "typeset", "export", "readonly", "local", "unset", "unsetenv")
_RESERVED = frozenset((*_OPENING, *_CLOSING, *_DECLARING, "in", "[", "]", "[[", "]]"))
_NO_PROGRAMS = frozenset(word.encode() for word in (*_OPENING, *_CLOSING, "[["))
_VARIABLE = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[*@#?$!_-]")
# Within these, `{`, `[` and `!` are characters.
_CHARACTERS = frozenset({"brace_expression", "subscript", "expansion", "concatenation", "array", "command"})


class Doubt(NamedTuple):
    reason: str
    start: int
    end: int


class Syntax(NamedTuple):
    root: Node | None
    """None if there is nothing to look at: the text is beyond a limit."""
    source: bytes
    doubts: tuple[Doubt, ...]

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def parse(text: str) -> Syntax:
    source = text.encode("utf-8", "replace")
    refusal = _refusal(text, source)
    if refusal:
        return Syntax(None, source, (Doubt(refusal, 0, len(source)),))
    root = _tree(source)
    joined = _without_continuations(source, root) if root is not None else source
    if joined != source:
        source, root = joined, _tree(joined)
    if root is None or root.descendant_count > MAX_NODES:
        return Syntax(None, source, (Doubt("it is too complicated", 0, len(source)),))
    return Syntax(root, source, tuple(_doubts(root, source)))


def _refusal(text: str, source: bytes) -> str:
    if len(source) > MAX_BYTES:
        return f"it is longer than {MAX_BYTES} bytes"
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        return "it has characters that no command can have"
    if source.count(b"<<") > MAX_HEREDOCS:
        return f"it has more than {MAX_HEREDOCS} here-documents"
    return ""


def _tree(source: bytes) -> Node | None:
    """The tree's root; None if the parser had to be stopped."""
    from tree_sitter import Parser  # loaded when a command is read, and not before

    # The parser looks characters up in a table for ASCII, and crashes far beyond its end. To bash they are letters
    # of a word like any other; the offsets stay those of the source.
    source = _NOT_ASCII.sub(b"z", source)
    reads, most_reads = 0, READS + READS_PER_CHUNK * (len(source) // CHUNK)

    def read(offset: int, _: object) -> bytes:
        nonlocal reads
        reads += 1
        return source[offset : offset + CHUNK] if reads <= most_reads else b""

    tree = Parser(_language()).parse(read)
    return tree.root_node if reads <= most_reads else None


@cache
def _language() -> Language:
    import tree_sitter_bash
    from tree_sitter import Language

    return Language(tree_sitter_bash.language())


def _without_continuations(source: bytes, root: Node) -> bytes:
    """The text without backslashes at line ends, where bash removes them: the parser splits words there."""
    parts, position = [], 0
    for match in _CONTINUATION.finditer(source):
        start, end = match.span(1)
        node = root.descendant_for_byte_range(start, start + 1)
        if not _is_inside(node, _LITERAL | {"string", "heredoc_body"}):
            parts.append(source[position:start])
            position = end
    return b"".join((*parts, source[position:]))


def _is_inside(node: Node | None, types: frozenset[str]) -> bool:
    while node is not None:
        if node.type in types:
            return True
        if node.type == "command_substitution":
            return False
        node = node.parent
    return False


def _doubts(root: Node, source: bytes) -> Iterator[Doubt]:
    if root.has_error:
        yield Doubt("its syntax is not understood", 0, len(source))
    yield from _gap(0, root.start_byte, source)
    yield from _gap(root.end_byte, len(source), source)
    stack = [(root, False)]
    while stack:
        node, other_rules = stack.pop()
        other_rules = (other_rules or node.type in _OTHER_RULES) and node.type not in _STATEMENTS
        yield from _doubts_about(node, source, other_rules)
        stack += ((child, other_rules) for child in node.children)


def _doubts_about(node: Node, source: bytes, other_rules: bool) -> Iterator[Doubt]:
    start, end = node.start_byte, node.end_byte
    if node.type in _QUOTED_OR_LITERAL:
        yield from _text_doubts(node, source)
    elif node.type == "``":
        yield Doubt("empty backticks are not understood", start, end)
    elif node.type == "command_name" and source[start:end] in _NO_PROGRAMS:
        yield Doubt("a reserved word is not understood", start, end)
    elif node.type == "variable_name" and not _VARIABLE.fullmatch(source, start, end):
        yield Doubt("the name of a variable is not understood", start, end)
    elif node.type == "command_substitution" and b"`" in _ESCAPED.sub(b"", source[start + 1 : end - 1]):
        if source[start : start + 1] == b"`":
            yield Doubt("backticks within backticks are not understood", start, end)
    elif node.is_named and not node.child_count:
        text = _ESCAPED.sub(b"", source[start:end])
        if _SUBSTITUTION.search(text) or (node.type == "word" and not other_rules and _WORD_END.search(text)):
            yield Doubt("a word is not understood", start, end)
    elif node.child_count and node.type not in _TEXTS:
        edges = [(start, start), *((child.start_byte, child.end_byte) for child in node.children), (end, end)]
        for (_, before), (after, _) in pairwise(edges):
            yield from _gap(before, after, source)
    if not node.is_named and not other_rules and node.type in _RESERVED:
        yield from _reserved_word_doubts(node, source)
    elif node.type == "variable_assignment" and source[end : end + 1].strip(_SEPARATORS):
        yield Doubt("an assignment is not understood", start, end)


def _text_doubts(node: Node, source: bytes) -> Iterator[Doubt]:
    """Doubts about comments, quoted texts and here documents."""
    start, end = node.start_byte, node.end_byte
    if node.type == "comment" and source[max(start - 1, 0) : start] not in (b"", *map(bytes, zip(b" \t\n;&|()`"))):
        yield Doubt("a comment begins within a word", start, end)
    elif node.type == "heredoc_redirect":
        yield from _heredoc_doubts(node, source)
    elif node.type == "string" or (node.type == "heredoc_body" and not _has_quoted_delimiter(node)):
        for text in literal_parts(node, source):
            if _QUOTED_SUBSTITUTION.search(_ESCAPED.sub(b"", text)):
                yield Doubt("a substitution in quotes is not understood", start, end)
    elif node.type in ("raw_string", "ansi_c_string") and _is_evaluated(node):
        yield from _evaluated_doubts(node, source)


def _evaluated_doubts(node: Node, source: bytes) -> Iterator[Doubt]:
    if _QUOTED_SUBSTITUTION.search(source, node.start_byte, node.end_byte):
        yield Doubt("a text that is evaluated has commands in it", node.start_byte, node.end_byte)


def _is_evaluated(node: Node) -> bool:
    """Whether bash evaluates this quoted text: as an index or a number, or because its quotes are characters."""
    above, has_expansion = node.parent, False
    while above is not None and above.type not in _STATEMENTS - {"declaration_command", "compound_statement"}:
        if above.type in _EVALUATED or (above.type == "string" and has_expansion):
            return True
        if above.type == "compound_statement":
            return above.children[0].type == "(("
        has_expansion = has_expansion or above.type == "expansion"
        above = above.parent
    return False


def _gap(start: int, end: int, source: bytes) -> Iterator[Doubt]:
    if not _BLANKS.fullmatch(source, start, max(start, end)):
        yield Doubt("it has characters that are not understood", start, end)


def _reserved_word_doubts(node: Node, source: bytes) -> Iterator[Doubt]:
    """Bash takes `{`, `!` or `if` for what it is only where it is a word of its own."""
    if node.parent is not None and node.parent.type in _CHARACTERS:
        return
    before, after = (
        source[max(node.start_byte - 1, 0) : node.start_byte],
        source[node.end_byte : node.end_byte + 1],
    )
    if before.strip(_SEPARATORS) or after.strip(_SEPARATORS):
        yield Doubt(f"it is not clear whether `{node.type}` is a word of its own", node.start_byte, node.end_byte)


def _has_quoted_delimiter(body: Node) -> bool:
    parent = body.parent
    starts = [child for child in parent.children if child.type == "heredoc_start"] if parent else []
    return any(set(start.text or b"") & set(b"'\"\\") for start in starts)


def _heredoc_doubts(node: Node, source: bytes) -> Iterator[Doubt]:
    """A here-document must end where bash ends it: at the first line that is the delimiter and nothing else."""
    parts = {child.type: child for child in node.children}
    if not {"heredoc_start", "heredoc_body", "heredoc_end"} <= parts.keys():
        yield Doubt("a here-document is not understood", node.start_byte, node.end_byte)
        return
    begin, body, end = (parts[name] for name in ("heredoc_start", "heredoc_body", "heredoc_end"))
    typed = source[begin.start_byte : begin.end_byte]
    delimiter = re.sub(rb"['\"]", b"", typed) if not typed.count(b"\\") else re.sub(rb"\\(.)", rb"\1", typed)
    indented = b"\t" if "<<-" in parts else b""
    first_line = source.rfind(b"\n", 0, body.start_byte) + 1
    lines = source[first_line : body.end_byte].split(b"\n")[:-1]
    last_line = source[source.rfind(b"\n", 0, end.start_byte) + 1 :].partition(b"\n")[0]
    early_end = any(line.lstrip(indented) == delimiter for line in lines) if indented else delimiter in lines
    own_line = last_line.lstrip(indented) if indented else last_line
    if early_end or own_line != delimiter or not delimiter or b"$" in delimiter or b"`" in delimiter:
        yield Doubt("a here-document does not end clearly", node.start_byte, node.end_byte)


def literal_parts(node: Node, source: bytes) -> list[bytes]:
    """The text of a string or here-document between its substitutions."""
    return [text for text, child in parts_of(node, source) if child is None]


def parts_of(node: Node, source: bytes) -> Iterator[tuple[bytes, Node | None]]:
    """Text and substitutions of a string or here-document, in their order: the second is None for text."""
    inner_start, inner_end = node.start_byte, node.end_byte
    if node.type == "string":
        inner_start, inner_end = inner_start + 1, inner_end - 1
    position = inner_start
    for child in node.named_children:
        if child.type not in ("string_content", "heredoc_content"):
            # The first token of a substitution may include the blanks before it.
            opening = source.find(b"$", child.start_byte, child.end_byte)
            start = (
                opening if opening >= 0 and not source[child.start_byte : opening].strip() else child.start_byte
            )
            yield source[position:start], None
            yield source[start : child.end_byte], child
            position = child.end_byte
    yield source[position:inner_end], None
