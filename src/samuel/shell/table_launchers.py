"""What the programs of `launcher_table.py` start, by their rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from samuel.shell.launcher_table import LauncherRow, launcher_rows
from samuel.shell.started import Started, StartedCommand, StartedInput, StartedScript, Unreadable, joined_script
from samuel.shell.word import Word

_INFORMATION = frozenset({"--help", "--version", "-V", "-h", "-?"})


def from_table(words: Sequence[Word]) -> Iterator[Started]:
    """What a program of the table starts, by each of its rows that applies."""
    name = words[0].text.rpartition("/")[2]
    if len(words) == 2 and words[1].text in _INFORMATION:
        return
    has_started = False
    for row in sorted(launcher_rows().get(name, ()), key=lambda row: row.way == "input"):
        if row.way == "input" and has_started:  # `octave --eval code` does not read its input
            return
        for started in _by_row(row, words, name):
            has_started = True
            yield started


def _by_row(row: LauncherRow, words: Sequence[Word], name: str) -> Iterator[Started]:
    rest, values = words[1:], row.values
    match row.way:
        case "words":
            yield from _command(rest, values)
        case "after":
            yield from _after(rest, values)
        case "script":
            yield from (joined_script(started.words) for started in _after(rest, values))
        case "text":
            yield from (StartedScript(value.text, value.literal) for value in _option_values(rest, values))
        case "code":
            reason = f"`{name}` runs text in a language of its own"
            yield from (Unreadable(reason, "code", value.text) for value in _option_values(rest, values))
        case "option" if any(_is_named(word.text, values) for word in rest):
            yield Unreadable(f"`{name}` has an option that may run commands")
        case "address":
            yield from _addresses(rest, values)
        case "escape":
            yield from _escapes(rest, values[0])
        case "input" if not _has_arguments(words) and not any(word.text in values for word in rest):
            yield StartedInput(is_shell=False)
        case "shell" if rest and rest[-1].text in _INFORMATION:
            return
        case "shell" if not values or values[0] in [word.text for word in rest[:1]]:
            yield StartedInput(is_shell=True)


def _escapes(words: Sequence[Word], mark: str) -> Iterator[Started]:
    for word in words:
        _, has_mark, text = word.text.partition(mark)
        if has_mark:
            yield StartedScript(text, word.literal)


def _command(words: Sequence[Word], values: Sequence[str]) -> Iterator[StartedCommand]:
    """The words after the options of the program, and after as many more as `+N` says.

    An option that the row does not name may have a value: then the command begins one word later.
    """
    before = next((int(value[1:]) for value in values if value.startswith("+")), 0)
    position, is_doubtful = 0, False
    while position < len(words) and words[position].text.startswith(("-", "+")) and words[position].text != "-":
        text = words[position].text
        position += 1
        if text == "--":
            is_doubtful = False
            break
        is_listed = text in values or f"{text}:2" in values
        is_doubtful = not is_listed and "=" not in text
        position += 2 if f"{text}:2" in values else 1 if is_listed else 0
    for start in (position + before, *((position + before + 1,) if is_doubtful else ())):
        rest = list(words[start:])
        while rest and rest[0].text.startswith("-") and before:
            rest.pop(0)
        if rest and (start == position + before or not rest[0].text.startswith("-")):
            yield StartedCommand(tuple(rest))


def _after(words: Sequence[Word], values: Sequence[str]) -> Iterator[StartedCommand]:
    names = values[0].split("/")
    position = next((at for at, word in enumerate(words) if word.text in names), None)
    if position is not None:
        yield from _command(words[position + 1 :], values[1:])


def _option_values(words: Sequence[Word], options: Sequence[str]) -> Iterator[Word]:
    for position, word in enumerate(words):
        name, equals, value = word.text.partition("=")
        if word.text in options:
            yield from words[position + 1 : position + 2]
        elif equals and name in options:
            yield word._replace(text=value)
        elif len(word.text) > 2 and word.text[:2] in options and not word.text.startswith("--"):
            yield word._replace(text=word.text[2:])


def _is_named(text: str, options: Sequence[str]) -> bool:
    name = text.partition("=")[0]
    return any(
        text == option
        or (option.startswith("-") and name == option)
        or ("*" in option and fnmatchcase(text, option))
        for option in options
    )


def _addresses(words: Sequence[Word], prefixes: Sequence[str]) -> Iterator[Started]:
    for word in words:
        for prefix in prefixes:
            if word.text.lower().startswith(prefix):
                text = word.text[len(prefix) :].partition(",")[0].removeprefix("path=")
                yield StartedScript(text, word.literal)


def _has_arguments(words: Sequence[Word]) -> bool:
    """Whether there are options, other than one with its value, or arguments."""
    return len(words) > 3 or (len(words) > 1 and not words[1].text.startswith("-")) or len(words) == 2
