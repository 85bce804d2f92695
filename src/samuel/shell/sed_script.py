"""Whether a script of sed runs commands: GNU sed has the command `e` and the flag `e` of `s`."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r"\d+(?:~\d+)?|\$|[+~]\d+")
_BLANKS = re.compile(r"[\s;]*")
_FLAGS = re.compile(r"[gpIiMm0-9]*")
_LINE = re.compile(r"(?:\\.|[^\\\n])*\n?", re.DOTALL)
_LABEL = re.compile(r"[^;\n}]*")
_NUMBER = re.compile(r"\s*\d*")


class _NotUnderstood(Exception):
    """The script has a part that sed would not take, or that is not known here."""


def may_run_commands(script: str) -> bool:
    """True if a command of the script runs something, and for a script that cannot be read."""
    try:
        position = 0
        while (position := _skip(_BLANKS, script, position)) < len(script):
            position = _after_addresses(script, position)
            if script[position : position + 1] in ("e", ""):
                return True
            position = _after_command(script, position)
            if position < 0:
                return True
    except _NotUnderstood:
        return True
    return False


def _skip(pattern: re.Pattern[str], text: str, position: int) -> int:
    match = pattern.match(text, position)
    return match.end() if match else position


def _after_addresses(script: str, position: int) -> int:
    while True:
        before = position
        if script[position : position + 1] == "/":
            position = _skip_letters("IM", script, _after_delimited(script, position + 1, "/"))
        elif script[position : position + 1] == "\\" and position + 1 < len(script):
            position = _after_delimited(script, position + 2, script[position + 1])
            position = _skip_letters("IM", script, position)
        else:
            position = _skip(_ADDRESS, script, position)
        position = _skip_letters(" \t,!", script, position)
        if position == before:
            return position


def _after_delimited(script: str, position: int, mark: str) -> int:
    """Where the text after the next `mark` begins. In sed, brackets do not protect it."""
    while position < len(script):
        if script[position] == "\\":
            position += 2
        elif script[position] == mark:
            return position + 1
        else:
            position += 1
    raise _NotUnderstood


def _skip_letters(letters: str, script: str, position: int) -> int:
    while position < len(script) and script[position] in letters:
        position += 1
    return position


def _after_command(script: str, position: int) -> int:
    """Where the next command begins; -1 if this one runs something."""
    letter, position = script[position], position + 1
    match letter:
        case "s" | "y":
            if position >= len(script):
                raise _NotUnderstood
            mark = script[position]
            position = _after_delimited(script, _after_delimited(script, position + 1, mark), mark)
            position = _skip(_FLAGS, script, position) if letter == "s" else position
            if script[position : position + 1] == "e":
                return -1
            return _skip(_LINE, script, position) if script[position : position + 1] == "w" else position
        case "a" | "i" | "c" | "r" | "R" | "w" | "W" | "#" | "v":
            return _skip(_LINE, script, position)
        case "b" | "t" | "T" | ":":
            return _skip(_LABEL, script, position)
        case "q" | "Q" | "l" | "L":
            return _skip(_NUMBER, script, position)
        case "{" | "}" | "n" | "N" | "d" | "D" | "g" | "G" | "h" | "H" | "p" | "P" | "x" | "z" | "=" | "F":
            return position
    raise _NotUnderstood
