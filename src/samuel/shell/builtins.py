"""Builtins of the shell that run text: `eval`, `source`, `trap`, `alias`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from samuel.shell.evaluation import SUBSTITUTION
from samuel.shell.started import Started, StartedScript, Unreadable, joined_script
from samuel.shell.variables import reason_to_doubt
from samuel.shell.word import Word


def evaluated(words: Sequence[Word]) -> Iterator[Started]:
    rest = words[2:] if len(words) > 1 and words[1].text == "--" else words[1:]
    if rest:
        yield joined_script(rest)


def sourced(words: Sequence[Word]) -> Iterator[Started]:
    if len(words) > 1:
        yield Unreadable(f"`{words[0].text}` reads commands from a file")


def trapped(words: Sequence[Word]) -> Iterator[Started]:
    rest = [word for word in words[1:] if word.text != "--"]
    if len(rest) > 1 and rest[0].text not in ("-", "-l", "-p"):
        yield joined_script(rest[:1])


def aliased(words: Sequence[Word]) -> Iterator[Started]:
    """The text of an alias is read where it is defined; the words that follow its use are not known there."""
    for word in words[1:]:
        _, equals, text = word.text.partition("=")
        if equals:
            yield StartedScript(text, word.literal, open_ended=True)


def evaluated_names(words: Sequence[Word]) -> Iterator[Started]:
    """`let`, `declare`, `read` and others evaluate the index of an array: `let 'a[$(rm x)]'`."""
    is_plain_printf = words[0].text == "printf" and not any(word.text.startswith("-v") for word in words)
    if is_plain_printf:
        return
    if any(word.literal and SUBSTITUTION.search(word.text) for word in words[1:]):
        yield Unreadable(f"`{words[0].text}` may run commands in the name of a variable")
    for word in words[1:]:
        if "=" not in word.text and (reason := reason_to_doubt(f"{word.text}=")):
            yield Unreadable(reason)


def called_back(words: Sequence[Word]) -> Iterator[Started]:
    """`mapfile -C` and `compgen -C` run a command; `compgen -W` expands a text."""
    if any(word.text.startswith(("-C", "-x", "-F", "-W")) or not word.literal for word in words[1:]):
        yield Unreadable(f"`{words[0].text}` may run a command")


def loaded(words: Sequence[Word]) -> Iterator[Started]:
    """`hash -p` and `enable -f` give a name another meaning; `fc` runs commands of the past."""
    name = words[0].text
    if name == "fc" or any(word.text.startswith(("-p", "-f")) or not word.literal for word in words[1:]):
        yield Unreadable(f"`{name}` changes what runs")
