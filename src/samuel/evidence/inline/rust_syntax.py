"""The items of a Rust file, from tree-sitter-rust: which are tests, and where their documentation is.

The parser recovers from every error; a tree with an error in it is not used. Its search for a way out of errors
takes the square of their number: 20 kB of quotes take ten seconds. So the text is given to it in small pieces, and
no further one after it has used more processor time than a file without errors needs.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language, Node

MAX_BYTES = 1 << 19
MAX_DEPTH = 20  # modules within modules
CHUNK = 256
MOST_SECONDS = 1.5  # of this thread's processor time; a file of MAX_BYTES without errors takes less than one

_COMMENTS = ("line_comment", "block_comment")
_TEST_ATTRIBUTES = frozenset(
    (
        *("test", "bench", "rstest", "test_case", "test_matrix", "case", "quickcheck", "proptest", "test_log"),
        *("wasm_bindgen_test", "gtest", "googletest", "test_with", "parameterized", "test_resources"),
        "sqlx_test",
    )
)
_CFG_WORD = re.compile(r'\s*(?:(?P<name>[\w:]+)(?:\s*=\s*"[^"]*")?|(?P<mark>[(),]))')
_EXAMPLE = re.compile(r"```|~~~|^\s*(?:///|//!|\*)? {5,}\S", re.MULTILINE)


@dataclass(frozen=True)
class RustItem:
    """An item with its attributes and documentation. Offsets are bytes of the file."""

    key: tuple[str, str, int]
    """Its kind, its name (of an `impl` its head), and its number among those of the same kind and name."""
    start: int
    end: int
    text: str
    is_test: bool
    is_left_out_of_tests: bool
    """It has `cfg(not(test))`, so there may be another item of the same name for tests."""
    docs: tuple[tuple[int, int], ...]
    docs_text: str
    head: str
    """Of a module, `impl` or trait with a body what stands before the body."""
    scope: RustScope | None

    @property
    def has_examples(self) -> bool:
        return bool(_EXAMPLE.search(self.docs_text))


@dataclass(frozen=True)
class RustScope:
    """The items of a file, or between the braces of a module, an `impl` or a trait."""

    start: int = 0
    """Where a first item could stand: behind inner attributes and inner documentation."""
    items: tuple[RustItem, ...] = ()
    docs: tuple[tuple[int, int], ...] = ()
    docs_text: str = ""

    @property
    def has_examples(self) -> bool:
        return bool(_EXAMPLE.search(self.docs_text))


@lru_cache(maxsize=4)  # B and D need the same two versions of a file
def rust_scope(text: str) -> RustScope | None:
    """The items of a file; None if it is too large, or not understood completely."""
    source = text.encode("utf-8", "surrogatepass")
    root = _tree(source) if len(source) <= MAX_BYTES and b"\0" not in source else None
    try:
        return _scope(root, source, 0) if root is not None and not root.has_error else None
    except _TooDeep:
        return None


class _TooDeep(Exception):
    """Modules are nested deeper than MAX_DEPTH."""


def _tree(source: bytes) -> Node | None:
    from tree_sitter import Parser  # loaded when a Rust file is split, and not before

    deadline, stopped = time.thread_time() + MOST_SECONDS, False

    def read(offset: int, _: object) -> bytes:
        nonlocal stopped
        stopped = stopped or time.thread_time() > deadline
        return b"" if stopped else source[offset : offset + CHUNK]

    tree = Parser(_language()).parse(read)
    return None if stopped else tree.root_node


@cache
def _language() -> Language:
    import tree_sitter_rust  # as above
    from tree_sitter import Language

    return Language(tree_sitter_rust.language())


def _scope(body: Node, source: bytes, depth: int) -> RustScope:
    if depth > MAX_DEPTH:
        raise _TooDeep
    start = body.start_byte + (body.type == "declaration_list")
    if body.type == "source_file":
        start = 0
    inner: list[Node] = []
    items: list[RustItem] = []
    numbers: Counter[tuple[str, str]] = Counter()
    before: list[Node] = []  # attributes and comments that may belong to the next item
    for node in body.children:
        if node.type == "inner_attribute_item" or _is_inner_doc(node):
            if _is_inner_doc(node):
                inner.append(node)
            start, before = _line_end(source, node.end_byte), []
        elif node.type == "shebang":
            start = _line_end(source, node.end_byte)
        elif node.type == "attribute_item" or node.type in _COMMENTS:
            before.append(node)
        elif node.is_named:
            items.append(_item(node, _attached(before, source), source, numbers, depth))
            before = []
    spans = tuple((node.start_byte, node.end_byte) for node in inner)
    return RustScope(start, tuple(items), spans, _joined(spans, source))


def _item(
    node: Node, attached: Sequence[Node], source: bytes, numbers: Counter[tuple[str, str]], depth: int
) -> RustItem:
    body = node.child_by_field_name("body")
    holds_items = body is not None and body.type == "declaration_list"
    head = _text(source, node.start_byte, body.start_byte) if holds_items and body is not None else ""
    name_node = node.child_by_field_name("name")
    if name_node is not None:
        name = _text(source, name_node.start_byte, name_node.end_byte)
    else:
        name = " ".join((head or _text(source, node.start_byte, node.end_byte)).split())
    numbers[node.type, name] += 1
    attributes = [_attribute(child, source) for child in attached if child.type == "attribute_item"]
    docs = tuple((child.start_byte, child.end_byte) for child in attached if _is_outer_doc(child))
    start = attached[0].start_byte if attached else node.start_byte
    return RustItem(
        (node.type, name, numbers[node.type, name]),
        start,
        node.end_byte,
        _text(source, start, node.end_byte),
        any(map(_marks_test, attributes)),
        any(attribute.startswith("cfg(") and "not(test" in attribute for attribute in attributes),
        docs,
        _joined(docs, source),
        head,
        _scope(body, source, depth + 1) if holds_items and body is not None else None,
    )


def _attached(before: Sequence[Node], source: bytes) -> list[Node]:
    """Of the nodes before an item those that belong to it: from its first attribute or documentation on."""
    first = next(
        (at for at, node in enumerate(before) if node.type == "attribute_item" or _is_outer_doc(node)), None
    )
    return list(before[first:]) if first is not None else []


def _is_outer_doc(node: Node) -> bool:
    return node.type in _COMMENTS and any(child.type == "outer_doc_comment_marker" for child in node.children)


def _is_inner_doc(node: Node) -> bool:
    return node.type in _COMMENTS and any(child.type == "inner_doc_comment_marker" for child in node.children)


def _attribute(node: Node, source: bytes) -> str:
    """What stands between `#[` and `]`, without blanks."""
    text = _text(source, node.start_byte, node.end_byte).strip()
    return "".join(text.removeprefix("#").strip().removeprefix("[").removesuffix("]").split())


def _marks_test(attribute: str) -> bool:
    name = re.match(r"[\w:]*", attribute)
    last = name[0].rpartition("::")[2] if name else ""
    return last in _TEST_ATTRIBUTES or (last == "cfg" and _only_in_tests(attribute[3:]))


def _only_in_tests(predicate: str) -> bool:
    """Whether a condition of `cfg` can hold only if `test` does: `(test)`, `(all(test, unix))`."""
    words = list(_words(predicate))
    value, rest = _implies_test(words, 0)
    return value and rest == len(words)


def _words(predicate: str) -> Iterator[str]:
    position = 1 if predicate.startswith("(") else 0
    end = len(predicate) - (predicate.endswith(")"))
    while position < end and (word := _CFG_WORD.match(predicate, position, end)) and word.end() > position:
        yield word["name"] or word["mark"]
        position = word.end()


def _implies_test(words: Sequence[str], at: int, depth: int = 0) -> tuple[bool, int]:
    """Whether the condition at this word implies `test`, and the word behind it."""
    if at >= len(words) or depth > MAX_DEPTH:
        return False, len(words) + 1
    name, at = words[at], at + 1
    if at >= len(words) or words[at] != "(":
        return name == "test", at
    parts: list[bool] = []
    at += 1
    while at < len(words) and words[at] != ")":
        value, at = _implies_test(words, at, depth + 1)
        parts.append(value)
        if at < len(words) and words[at] == ",":
            at += 1
    implied = any(parts) if name == "all" else bool(parts) and all(parts) if name == "any" else False
    return implied, at + 1


def _joined(spans: Sequence[tuple[int, int]], source: bytes) -> str:
    return "".join(_text(source, start, end).rstrip("\n") + "\n" for start, end in spans)


def _text(source: bytes, start: int, end: int) -> str:
    return source[start:end].decode("utf-8", "surrogatepass")


def _line_end(source: bytes, position: int) -> int:
    """Behind the line end that follows, if only blanks are before it."""
    if source[position - 1 : position] == b"\n":
        return position
    blanks = re.compile(rb"[ \t\r]*+\n").match(source, position)
    return blanks.end() if blanks else position
