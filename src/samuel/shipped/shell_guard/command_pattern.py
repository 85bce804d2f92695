"""Patterns of commands: `git stash drop|clear`, `docker system prune -a|--all !--dry-run`.

The first word is the program. A word without a dash must be an argument: the first of them the first argument, and
so on. Alternatives stand between `|`, and `*` stands for any characters. Words between them may only be options
and values of options: `kubectl -n prod delete ns` has the arguments `delete` and `ns`. A word with a dash must be
an option of the command, wherever it stands; one with `!` in front must not. `-f` is also in `-xf`, and `--force`
is also `--force=x` and `--forc`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import translate
from functools import cache
from itertools import pairwise
from typing import NamedTuple

_CLUSTER = re.compile(r"-[A-Za-z]{2,6}")
SHORTEST_ABBREVIATION = 5  # `--for`; fewer letters may be another option


class CommandPattern(NamedTuple):
    programs: tuple[str, ...]
    arguments: tuple[re.Pattern[str], ...]
    options: tuple[tuple[str, ...], ...]
    """One of each group must be there."""
    excluded: tuple[str, ...]


@cache
def command_pattern(text: str) -> CommandPattern:
    program, *words = text.split()
    return CommandPattern(
        tuple(program.split("|")),
        tuple(_alternatives(word) for word in words if not word.startswith(("-", "!"))),
        tuple(tuple(word.split("|")) for word in words if word.startswith("-")),
        tuple(option for word in words if word.startswith("!") for option in word[1:].split("|")),
    )


def _alternatives(word: str) -> re.Pattern[str]:
    return re.compile("|".join(translate(choice) for choice in word.split("|")), re.IGNORECASE)


def matches(pattern: CommandPattern, arguments: Sequence[str]) -> bool:
    """Whether a command of one of the pattern's programs has these arguments."""
    return (
        _has_arguments(pattern.arguments, arguments)
        and all(any(has_option(arguments, option) for option in group) for group in pattern.options)
        and not any(has_option(arguments, option) for option in pattern.excluded)
    )


def _has_arguments(patterns: Sequence[re.Pattern[str]], arguments: Sequence[str]) -> bool:
    position, may_be_value = 0, False
    for argument in arguments:
        if position == len(patterns):
            return True
        if argument.startswith("-") and len(argument) > 1:
            may_be_value = "=" not in argument
        elif patterns[position].fullmatch(argument):
            position, may_be_value = position + 1, False
        elif may_be_value:
            may_be_value = False
        else:
            return False
    return position == len(patterns)


def has_option(arguments: Sequence[str], option: str) -> bool:
    name, equals, value = option.partition("=")
    if equals and any(pair == (name, value) for pair in pairwise(arguments)):
        return True  # `--replicas 0` is `--replicas=0`
    return any(is_option(argument, option) for argument in arguments)


def is_option(argument: str, option: str) -> bool:
    """Whether an argument is this option, alone or with others: `-xf` has `-f`."""
    if "=" in option:
        return argument == option
    if option.startswith("--"):
        name = argument.partition("=")[0]
        return name == option or (len(name) >= SHORTEST_ABBREVIATION and option.startswith(name))
    if argument == option or (len(option) > 2 and argument.startswith(f"{option}=")):
        return True
    return len(option) == 2 and option[1] in argument and bool(_CLUSTER.fullmatch(argument))
