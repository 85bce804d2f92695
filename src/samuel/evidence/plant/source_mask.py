"""Source text of C-like languages with its comments and the contents of its strings blanked, place by place."""

from __future__ import annotations

import re

# A comment, or a string that ends with its line at the latest; anything else stays as it is. In C, Rust and Java
# an apostrophe is a quote only around one character: it may also be a lifetime or a digit separator. Each of them
# ends somewhere, if only at the end of the text: one that was given up would be tried again at the next character.
_SPANS = r'//[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/)?|"(?:[^"\\\n]|\\[^\n])*"?'
_C_LIKE = re.compile(rf"{_SPANS}|'(?:[^'\\\n]|\\[^'\n]{{1,10}}|\\')'")
_JS = re.compile(rf"{_SPANS}|'(?:[^'\\\n]|\\[^\n])*'?|`(?:[^`\\]|\\.)*`?", re.DOTALL)


def masked(text: str, *, is_js: bool = False) -> str:
    """The text, of the same length: comments are spaces, and what is in quotes is underscores."""
    return (_JS if is_js else _C_LIKE).sub(_blank, text)


def _blank(match: re.Match[str]) -> str:
    span = match[0]
    if span[0] == "/":
        return re.sub(r"[^\n]", " ", span)
    blank = re.sub(r"[^\n]", "_", span[1:])
    return span[0] + (blank[:-1] + span[0] if len(span) > 1 and span[-1] == span[0] else blank)


def arguments_of(mask: str, opening: int, longest: int = 2000) -> list[tuple[int, int]] | None:
    """The places of a call's arguments in masked text, behind the parenthesis at `opening`; None if it is open."""
    depth, start, places = 0, opening + 1, []
    for place in range(opening, min(len(mask), opening + longest)):
        letter = mask[place]
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0:
                places.append((start, place))
                return places
        elif letter == "," and depth == 1:
            places.append((start, place))
            start = place + 1
    return None
