"""The options of a program that starts another one: how many words they take, so that the command can be found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from samuel.shell.word import Word


class Options(NamedTuple):
    flags: str = ""
    """Letters of options without a value."""
    valued: str = ""
    """Letters of options with a value: `-u root` or `-uroot`."""
    long_flags: frozenset[str] = frozenset()
    long_valued: frozenset[str] = frozenset()
    """Names of options whose value may be a word of its own; any may be written with `=`."""


class Split(NamedTuple):
    """The words of a command: its options, and the rest."""

    letters: dict[str, Word | None]
    """Options by letter or long name, with the value of those that have one."""
    rest: tuple[Word, ...]
    problem: str = ""
    """Why the split cannot be trusted; empty if it can."""


def named(text: str) -> frozenset[str]:
    return frozenset(text.split())


def split(words: Sequence[Word], options: Options) -> Split:
    """Divide the words after the program. The options end at the first word that is none."""
    letters: dict[str, Word | None] = {}
    position = 0
    while position < len(words):
        word = words[position]
        text = word.text
        if not word.literal and text[:1].isalnum():
            break  # whatever the shell fills in, it is no option
        if not word.literal and not text.startswith("--"):
            what = "a word that the shell fills in stands where options are"
            return Split(letters, tuple(words[position:]), what)
        if not text.startswith("-") or text == "-":
            break
        position += 1
        if text == "--":
            break
        takes, problem = _long(word, options, letters) if text.startswith("--") else _short(word, options, letters)
        if problem:
            return Split(letters, tuple(words[position:]), problem)
        if takes:
            if position == len(words):
                return Split(letters, (), f"the value of `{text}` is missing")
            letters[takes] = words[position]
            position += 1
    return Split(letters, tuple(words[position:]))


def _long(word: Word, options: Options, letters: dict[str, Word | None]) -> tuple[str, str]:
    """The option that takes the next word, and a problem."""
    name, equals, value = word.text[2:].partition("=")
    if equals:
        letters[name] = word._replace(text=value)
        is_listed = name in options.long_valued | options.long_flags
        return "", "" if is_listed else f"the option `--{name}` is unknown"
    if name in options.long_valued:
        return name, ""
    letters[name] = None
    return "", "" if name in options.long_flags else f"the option `--{name}` is unknown"


def _short(word: Word, options: Options, letters: dict[str, Word | None]) -> tuple[str, str]:
    cluster = word.text[1:]
    for index, letter in enumerate(cluster):
        if letter in options.valued:
            if index + 1 == len(cluster):
                return letter, ""
            letters[letter] = word._replace(text=cluster[index + 1 :])
            return "", ""
        letters[letter] = None
        if letter not in options.flags:
            return "", f"the option `-{letter}` is unknown"
    return "", ""
