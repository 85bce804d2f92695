"""Text that bash evaluates a second time: arithmetic, the index of an array, a prompt.

There a value is code. `((x))` runs the command in `x='a[$(rm -rf y)]'`, and no command of the text shows it. So
the reader looks for two things: places where values are evaluated, and values that may hold a substitution or a
part of one. A text with both is opaque.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from samuel.shell.word import Word

if TYPE_CHECKING:
    from tree_sitter import Node

    from samuel.shell.syntax import Syntax


SUBSTITUTION = re.compile(r"\$\(|`")
# A substitution, or what can become one when it is joined with other text or when its escapes are decoded.
_CONCEALED = re.compile(r"\$\(|`|\$$|\\0?(?:44|140)|\\x(?:24|60)|\\[uU]0*(?:24|60)(?![0-9A-Fa-f])")
_NUMERIC_TEST = re.compile(r"-(?:eq|ne|lt|le|gt|ge|v|R)")
_NUMBERS = frozenset({"number", "((", "))", "$((", "$[", "]"})
_INTEGER_VARIABLES = re.compile(r"(?:RANDOM|SRANDOM|OPTIND|HISTCMD|SECONDS|LINENO|BASH_ARGV0)\+?=")

_DECLARING = frozenset({"declare", "typeset", "local", "readonly", "export"})
_NAMING = frozenset({"read", "unset", "wait", "mapfile", "readarray", "getopts"})
_DECLARED = re.compile(r"[A-Za-z_]\w*(?:\+?=.*)?", re.DOTALL)

STORING = _DECLARING | _NAMING | {"printf", "echo"}
"""Builtins whose words or input may become the value of a variable, and `echo`, whose output may."""
_LOADERS = re.compile(
    r"(LD_PRELOAD|LD_AUDIT|BASH_ENV|ENV|PROMPT_COMMAND|PS0|PS4|BASH_FUNC_.*|ZDOTDIR"
    r"|BASH_CMDS|BASH_ALIASES|TAR_OPTIONS|LESSOPEN|LESSCLOSE|GIT_CONFIG_(COUNT|KEY_\d+|VALUE_\d+|PARAMETERS))(\[.*\])?\+?="
)
_PROGRAMS = re.compile(
    r"(\w*PAGER|PERL5DB|\w+_PASSWORD_COMMAND|\w+_COMMAND|EDITOR|VISUAL|\w+_EDITOR|GIT_SSH\w*|GIT_EXTERNAL_DIFF|\w+_ASKPASS|BROWSER)=(.*)"
)
_OPTIONS = re.compile(
    r"(NODE_OPTIONS|PERL5OPT|RUBYOPT|MAKEFLAGS)=.*(-r|-M|-e|require|import|loader|eval)", re.DOTALL
)
_HARMLESS = re.compile(r"['\"]?(/usr)?(/bin/)?(cat|less|more|true|:|vi|vim|nano|)( -\w+)*['\"]?")


def conceals_code(text: str) -> bool:
    """Whether a literal value may run a command where values are evaluated."""
    return bool(_CONCEALED.search(text))


def evaluates_values(node: Node, syntax: Syntax) -> bool:
    """Whether bash evaluates the value of a variable at this node of the tree."""
    match node.type:
        case "arithmetic_expansion" | "c_style_for_statement":
            return not _is_constant(node)
        case "compound_statement":
            return node.child_count > 0 and node.children[0].type == "((" and not _is_constant(node)
        case "test_command":
            return bool(_NUMERIC_TEST.search(syntax.text(node)))
        case "subscript":
            index = node.child_by_field_name("index")
            return index is not None and index.type != "number"
        case "expansion":
            # `${x@P}` is expanded like a prompt; `${!x}` names another variable, maybe with an index.
            kinds = [child.type for child in node.children]
            return kinds[1:2] == ["!"] or kinds[-3:-1] == ["@", "P"]
        case "variable_assignment":
            return bool(_INTEGER_VARIABLES.match(syntax.text(node)))
    return False


def evaluates_words(words: Sequence[Word]) -> bool:
    """Whether a builtin evaluates a name or a number among its words: `let x`, `read "$name"`, `test -v "$x"`."""
    name, rest = words[0].text, words[1:]
    if name in _DECLARING:
        flags = [word.text for word in rest if word.text.startswith("-")]
        names = [word for word in rest if not word.text.startswith("-")]
        return any(set(flag) & set("aAin") for flag in flags) or not all(map(_is_name, names))
    if name in _NAMING:
        return not all(word.text.startswith("-") or _is_name(word) for word in rest)
    if name in ("test", "["):
        return any(word.text in ("-v", "-R") for word in rest)
    return name == "let" or (name == "printf" and any(word.text.startswith("-v") for word in rest))


def _is_name(word: Word) -> bool:
    return bool(_DECLARED.fullmatch(word.text)) and (word.literal or "=" in word.text)


def _is_constant(node: Node) -> bool:
    """Whether there are only numbers and operators in an arithmetic expression."""
    return not node.named_child_count or all(
        child.type in _NUMBERS or (not child.is_named) or (child.named_child_count > 0 and _is_constant(child))
        for child in node.children
    )


def reason_to_doubt(assignment: str) -> str:
    """Why an assignment `NAME=value` may make something else run; empty if it does not.

    The loader, shells, and programs with an editor or pager read such variables.
    """
    if _LOADERS.match(assignment) or _OPTIONS.match(assignment):
        return "a variable makes programs or shells run something else"
    match = _PROGRAMS.fullmatch(assignment)
    if match and not _HARMLESS.fullmatch(match[2]):
        return "a variable names a program that may be run"
    return ""
