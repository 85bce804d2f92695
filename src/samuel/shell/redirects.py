"""The redirects of a command: the files, and the text that it gets as its standard input."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from samuel.shell import Redirect
from samuel.shell.pieces import heredoc_text, pieces_of
from samuel.shell.syntax import Syntax
from samuel.shell.word import Word, words_of

if TYPE_CHECKING:
    from tree_sitter import Node

_DESCRIPTOR = re.compile(r"\d*-?")
_WORDS = frozenset(
    {"word", "string", "raw_string", "ansi_c_string", "concatenation", "number", "simple_expansion"}
)
_WORDS |= {"expansion", "command_substitution", "brace_expression", "translated_string", "process_substitution"}


class InputText(NamedTuple):
    """Standard input that is in the text itself."""

    text: str
    exact: bool = True
    """False if the shell fills in a part of it."""


NO_INPUT = InputText("")
"""Standard input that is not in the text."""


class Trailing(NamedTuple):
    """What the parser puts after a whole statement, and bash gives to the last command in it."""

    files: tuple[Redirect, ...] = ()
    words: tuple[Node, ...] = ()
    """Arguments after a redirect: `x` of `a | b > file x`."""


NOTHING_TRAILING = Trailing()


class StatementRedirects(NamedTuple):
    files: tuple[Redirect, ...]
    input_text: InputText | None
    """None if standard input is not redirected."""
    words: tuple[Node, ...]
    """Arguments that stand after a here-document's delimiter."""
    parts: tuple[Node, ...]
    """Nodes in which there may be statements."""


def redirects_of(nodes: Iterable[Node], syntax: Syntax) -> StatementRedirects:
    files: list[Redirect] = []
    words: list[Node] = []
    parts: list[Node] = []
    input_text: InputText | None = None
    queue = list(nodes)
    while queue:
        node = queue.pop(0)
        if node.type == "file_redirect":
            # The grammar lets a redirect have several targets; bash takes the first, the others are arguments.
            operator = next((child.type for child in node.children if not child.is_named), ">")
            targets = [child for child in node.named_children if child.type != "file_descriptor"]
            files += _file(operator, targets[:1], syntax)
            words += targets[1:]
            parts += targets[:1]
            if operator.startswith("<"):
                input_text = NO_INPUT
        elif node.type == "herestring_redirect":
            targets = [child for child in node.named_children if child.type != "file_descriptor"]
            input_text = _herestring(targets, syntax)
            parts += targets
        elif node.type == "heredoc_redirect":
            input_text = _heredoc(node, syntax)
            queue = [child for child in node.children if child.type.endswith("_redirect")] + queue
            words += [child for child in node.children if child.type in _WORDS]
            others = (child for child in node.named_children if not child.type.endswith("_redirect"))
            parts += [child for child in others if child.type not in _WORDS]
    return StatementRedirects(tuple(files), input_text, tuple(words), tuple(parts))


def output_text(words: Sequence[Word], input_text: InputText) -> InputText:
    """What `echo`, `printf` and `cat` print, if that is in the text."""
    texts = [word.text for word in words]
    exact = all(word.literal and not word.pattern for word in words)
    match texts:
        case ["echo", *rest] if not any("\\" in text or re.fullmatch("-[neE]+", text) for text in rest):
            return InputText(" ".join(rest), exact)
        case ["printf", text] if "%" not in text and "\\" not in text:
            return InputText(text, exact)
        case ["cat"] | ["cat", "-"]:
            return input_text
    return NO_INPUT


def _file(operator: str, targets: Sequence[Node], syntax: Syntax) -> list[Redirect]:
    redirects = []
    for word in (word for target in targets for word in words_of(list(pieces_of(target, syntax)))):
        if operator in (">&", "<&", ">&-", "<&-") and _DESCRIPTOR.fullmatch(word.text):
            continue
        redirects.append(Redirect(operator, word.text, word.literal and not word.pattern))
    return redirects


def _herestring(targets: Sequence[Node], syntax: Syntax) -> InputText:
    words = [word for target in targets for word in words_of(list(pieces_of(target, syntax)))]
    if not words:
        return NO_INPUT
    return InputText(" ".join(word.text for word in words), all(word.literal for word in words))


def _heredoc(node: Node, syntax: Syntax) -> InputText:
    children = {child.type: child for child in node.children}
    if not {"heredoc_start", "heredoc_body"} <= children.keys():
        return NO_INPUT
    quoted = bool(set(syntax.text(children["heredoc_start"])) & set("'\"\\"))
    return InputText(*heredoc_text(children["heredoc_body"], syntax, quoted, indented="<<-" in children))
