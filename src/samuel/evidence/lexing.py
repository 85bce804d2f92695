"""Where the comments and strings of a source file are, for families of languages that share their rules.

A scanner, no parser: it needs to be right about where a comment or a string ends, and nothing else. A text in
which one does not end is not understood, and gives None. Each character is looked at a bounded number of times:
a text of several lines that does not end is matched as well, up to the end, and nothing is tried behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Literal, NamedTuple

MAX_CHARACTERS = 1 << 18

Kind = Literal["comment", "string", "word", "mark"]

# A group that looks ahead is not possessive: before 3.11.5 Python forgets there where it began.
_BLOCK = r"(?P<block>/\*(?:[^*]++|\*(?!/))*\*/)"
_DOUBLE = r'"(?:[^"\\\n]++|\\.)*+"'
_SINGLE = r"'(?:[^'\\\n]++|\\.)*+'"
_CHARACTER = r"'(?:[^'\\\n]|\\[^\n]{1,10}?)'"
_TRIPLE = r'"""(?:[^"\\]++|\\.|"(?!""))*(?:"""|(?P<open>))'
_TRIPLE_RAW = r'"""(?:[^"]++|"(?!""))*(?:"""|(?P<open>))'
_TRIPLE_SINGLE = r"'''(?:[^'\\]++|\\.|'(?!''))*(?:'''|(?P<open_single>))"
_SIMPLE = r"`(?:[^`\\$]++|\\.|\$(?!\{)|\$\{[^{}`]*+\})*`"
_TEMPLATE = rf"`(?:[^`\\$]++|\\.|\$(?!\{{)|\$\{{(?:[^{{}}`]++|\{{[^{{}}`]*+\}}|{_SIMPLE})*\}})*`"

# What a string can be, in the order in which they are tried; and what is a comment.
_STRINGS: dict[str, tuple[str, ...]] = {
    "c": (
        r'(?:u8|[uUL])?R"(?P<raw>[^()\\\s]{0,16})\((?:[^)]++|\)(?!(?P=raw)"))*(?:\)(?P=raw)"|(?P<open>))',
        _DOUBLE,
        _CHARACTER,
    ),
    "go": (r"`[^`]*+`", _DOUBLE, _CHARACTER),
    "java": (_TRIPLE, _DOUBLE, _SINGLE),
    "kotlin": (_TRIPLE_RAW, _DOUBLE, _SINGLE),
    "dart": (_TRIPLE, _TRIPLE_SINGLE, _DOUBLE, _SINGLE),
    "csharp": (_TRIPLE_RAW, r'(?:@\$?|\$@)"(?:[^"]++|"")*+(?:"|(?P<open_verbatim>))', _DOUBLE, _CHARACTER),
    "javascript": (_TEMPLATE, _DOUBLE, _SINGLE),
    "rust": (
        r'\b(?:b|c)?r(?P<raw>#{0,16})"(?:[^"]++|"(?!(?P=raw)))*+(?:"(?P=raw)|(?P<open>))',
        r'"(?:[^"\\]++|\\.)*+"',
        _CHARACTER,
    ),
    "php": (r'"(?:[^"\\]++|\\.)*+"', r"'(?:[^'\\]++|\\.)*+'"),
    "css": (_DOUBLE, _SINGLE),
    "zig": (r"\\\\[^\n]*+", _DOUBLE, _CHARACTER),
    "d": (r"`[^`]*+`", r'r"[^"]*+"', r'"(?:[^"\\]++|\\.)*+"', _CHARACTER),
}
_EXTRA_COMMENTS = {"php": r"|(?P<hash>\#(?!\[)[^\n]*+)", "css": "", "d": ""}
_WORDS = {
    "kotlin": r"`[^`\n]*+`|[\w$]++",
    "c": r"[A-Za-z_$][\w$]*+|\d(?:'?[\w.])*+",
    "rust": r"r#\w++|'[A-Za-z_]\w*+(?!')|\w++",
}
_NESTED = {"rust": ("/*", "*/"), "kotlin": ("/*", "*/"), "d": ("/+", "+/")}

FAMILIES = {
    extension: family
    for family, extensions in {
        "c": "c h cc cpp cxx hh hpp hxx ino cu m mm glsl proto sol thrift v sv",
        "go": "go",
        "java": "java groovy gradle",
        "kotlin": "kt kts scala sc swift",
        "dart": "dart",
        "csharp": "cs",
        "javascript": "js jsx mjs cjs ts tsx mts cts",
        "rust": "rs",
        "php": "php",
        "css": "css scss less",
        "zig": "zig",
        "d": "d",
    }.items()
    for extension in extensions.split()
}
_REGEX = re.compile(r"/(?![*/])(?:[^/\\\[\n]++|\\[^\n]|\[(?:[^\]\\\n]++|\\[^\n])*+\])++/\w*+")
_BEFORE_REGEX = frozenset(
    (
        *("return", "typeof", "case", "in", "of", "delete", "void"),
        *("throw", "new", "else", "do", "yield", "await"),
    )
)


class Token(NamedTuple):
    kind: Kind
    start: int
    end: int


def family_of(path: str) -> str | None:
    """The family of languages that a file belongs to, by its extension."""
    name, dot, extension = path.rpartition("/")[2].rpartition(".")
    return FAMILIES.get(extension.lower()) if dot and name else None


def tokens(text: str, family: str) -> list[Token] | None:
    """The comments, strings, words and other marks of a text; None if it is too long or not understood."""
    if len(text) > MAX_CHARACTERS:
        return None
    scanned = list(_scan(text, family))
    return None if scanned and scanned[-1] is None else [token for token in scanned if token is not None]


def masked(text: str, family: str, *, keeps_strings: bool = False) -> str | None:
    """The text with blanks in place of comments and of what is between quotes; each line stays where it is.

    `keeps_strings` leaves what is between quotes as it is.
    """
    scanned = tokens(text, family)
    if scanned is None:
        return None
    parts: list[str] = []
    position = 0
    for kind, start, end in scanned:
        if kind == "comment" or (kind == "string" and not keeps_strings):
            inner = (start, end) if kind == "comment" else (start + 1, end - 1)
            parts += (text[position : inner[0]], _NOT_LINE_END.sub(" ", text[inner[0] : inner[1]]))
            position = inner[1]
    return "".join((*parts, text[position:]))


_NOT_LINE_END = re.compile(r"[^\n]")


def _scan(text: str, family: str) -> Iterator[Token | None]:
    """The tokens; None at the end if one of them does not end."""
    pattern = _pattern(family)
    open_groups = [name for name in pattern.groupindex if name.startswith("open")]
    opening, closing = _NESTED.get(family, ("", ""))
    position, last = 0, ""
    while match := pattern.match(text, position):
        kind, position, end = _kind(match), match.start(match.lastgroup or 0), match.end()
        if any(match[group] is not None for group in open_groups):
            yield None
            return
        if opening and text.startswith(opening, position):
            end = _nested_end(text, position, opening, closing)
            if end < 0:
                yield None
                return
            kind = "comment"
        elif kind == "mark" and text[position] == "/" and family == "javascript" and _may_begin_regex(last):
            literal = _REGEX.match(text, position)
            kind, end = ("string", literal.end()) if literal else (kind, end)
        elif kind == "mark" and (text[position] in "\"'`" or text.startswith("/*", position)):
            yield None
            return
        yield Token(kind, position, end)
        if kind != "comment":
            last = text[position:end] if kind != "string" else "string"
        position = end


def _kind(match: re.Match[str]) -> Kind:
    group = match.lastgroup
    if group in ("string", "word", "mark"):
        return group  # type: ignore[return-value]  # the names of the groups are those of the kinds
    return "comment"


def _nested_end(text: str, start: int, opening: str, closing: str) -> int:
    """Where a comment ends that may have comments in it; -1 if it does not."""
    depth = 0
    for mark in re.compile(f"{re.escape(opening)}|{re.escape(closing)}").finditer(text, start):
        depth += 1 if mark[0] == opening else -1
        if depth == 0:
            return mark.end()
    return -1


def _may_begin_regex(last: str) -> bool:
    """Whether a slash behind this token begins a regular expression in JavaScript, and is no division."""
    return not last or last in _BEFORE_REGEX or (last[-1] in "(,=:[!&|?{};+-*%<>~^" and last != "string")


@cache
def _pattern(family: str) -> re.Pattern[str]:
    strings = "|".join(f"(?:{text})" for text in _STRINGS[family])
    line = r"(?P<line>//[^\n]*+)" if family != "css" else r"(?P<line>(?<![:\w])//[^\n]*+)"
    comments = f"{line}|{_BLOCK}{_EXTRA_COMMENTS.get(family, '')}"
    words = _WORDS.get(family, r"[\w$]++")
    return re.compile(
        rf"\s*+(?:{comments}|(?P<string>{strings})|(?P<word>{words})|(?P<mark>[-+*=<>!&|^%~?:.@\#\\]++|\S))",
        re.DOTALL,
    )
