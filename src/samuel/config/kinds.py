"""The kinds of values: one function per kind, which checks a TOML value and returns it in the model's type.

Each raises a ValueError whose message completes the sentence "`key` ...", so that all messages read the same.
"""

from __future__ import annotations

import math
import re
import shlex

from samuel.clients.table import HOOK_FORMATS
from samuel.config.duration import parse_duration

LONGEST_PATTERN = 1000
LENSES = ("security", "tests")
LONGEST_PATH, LONGEST_NAME = 4000, 255  # bytes

IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOML_TYPES = {
    bool: "a boolean",
    int: "an integer",
    float: "a float",
    str: "a string",
    list: "an array",
    dict: "a table",
    type(None): "nothing",  # in YAML; TOML has no null
}


def type_name(value: object) -> str:
    return _TOML_TYPES.get(type(value), "a date or time")


def any_value(value: object) -> object:
    """The value, unchecked; for a key whose kind depends on other keys."""
    return value


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {type_name(value)}")
    return value


def integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"must be an integer, not {type_name(value)}")
    if not -(2**63) <= value < 2**63:  # the range of TOML's integers
        raise ValueError("must fit in 64 bits")
    return value


def positive(value: object) -> int:
    number = integer(value)
    if number < 1:
        raise ValueError(f"must be at least 1, not {number}")
    return number


def timeout(value: object) -> float:
    seconds = parse_duration(value)
    if not seconds:
        raise ValueError('must be longer than "0s"')
    return seconds


def pause(value: object) -> float:
    """Seconds to wait, which may be 0."""
    return parse_duration(value)


def timeout_or_none(value: object) -> float | None:
    return None if value == "none" else timeout(value)


class OneOf:
    """The kind of a value that is one of these words."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __call__(self, value: object) -> str:
        if value not in self.words:
            allowed = ", ".join(f"`{word}`" for word in self.words)
            raise ValueError(f"must be one of {allowed}, not {_value_text(value)}")
        return str(value)


def one_of(*words: str) -> OneOf:
    return OneOf(*words)


def lenses(value: object) -> tuple[str, ...]:
    """Names of lenses, each once."""
    items = array(value)
    if any(item not in LENSES for item in items):
        raise ValueError(f"must be an array of {', '.join(f'`{lens}`' for lens in LENSES)}")
    return _distinct([str(item) for item in items])


def text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {type_name(value)}")
    return value


def text_or_table(value: object) -> str | dict[str, object]:
    if not isinstance(value, (str, dict)):
        raise ValueError(f"must be a string or a table, not {type_name(value)}")
    return value


def commands(value: object) -> tuple[str, ...]:
    """Words of a command, or whole command lines. The order matters, and a word may occur twice."""
    items = array(value)
    for item in items:
        if not isinstance(item, str) or not item.strip() or "\0" in item:
            raise ValueError("must be an array of strings, none of them empty")
    return tuple(str(item) for item in items)


def name(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {type_name(value)}")
    if not value.strip():
        raise ValueError("must not be empty")
    if not value.isprintable():
        raise ValueError("must not contain control characters")
    return value


def program(value: object) -> str:
    """The name or the path of a program; what begins with `-` would be an option of whatever starts it."""
    if name(value).startswith("-"):
        raise ValueError("must be the name or the path of a program, which does not begin with `-`")
    return name(value)


def identifier(value: object) -> str:
    """A name that is also used as the name of a directory, so without `/` and `..`."""
    if not IDENTIFIER.fullmatch(name(value)):
        raise ValueError("must be made of letters, digits, `-` and `_`")
    return name(value)


def identifiers(value: object) -> tuple[str, ...]:
    """One identifier or more."""
    items = [identifier(item) for item in array(value)]
    if not items:
        raise ValueError("must not be empty")
    return _distinct(items)


def amount(value: object) -> float:
    """An amount of money: more than nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"must be a number, not {type_name(value)}")
    if not math.isfinite(value) or value <= 0:
        raise ValueError("must be more than 0")
    return float(value)


def array(value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"must be an array, not {type_name(value)}")
    return value


def names(value: object) -> tuple[str, ...]:
    items = array(value)
    for item in items:
        if not isinstance(item, str) or not item.strip() or not item.isprintable():
            raise ValueError("must be an array of names, each a string that is not empty")
    return _distinct([str(item) for item in items])


def variables(value: object) -> tuple[str, ...]:
    listed = names(value)
    for item in listed:
        if not VARIABLE.fullmatch(item):
            raise ValueError(f"must list names of environment variables; `{item}` is not one")
    return listed


def plain(value: object) -> object:
    """A value that JSON can carry into a payload: no dates, no NaN and no infinity."""
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, int):
            integer(int(item))
        elif isinstance(item, float) and not math.isfinite(item):
            raise ValueError("must be a finite number")
        elif not isinstance(item, (float, str)):
            raise ValueError(f"must be text, a number, a boolean or an array of these, not {type_name(item)}")
    return value


def data(value: object) -> object:
    """Like `plain`, with tables and arrays of any depth."""
    if isinstance(value, dict):
        return {key: data(item) for key, item in value.items()}
    if isinstance(value, list):
        return [data(item) for item in value]
    return plain(value)


def _value_text(value: object) -> str:
    return f"`{value}`" if isinstance(value, str) and value.isprintable() else type_name(value)


def _distinct(listed: list[str]) -> tuple[str, ...]:
    distinct = set()
    for item in listed:
        if item in distinct:
            raise ValueError(f"lists `{item}` twice")
        distinct.add(item)
    return tuple(listed)


def hook_sources(value: object) -> tuple[str, ...]:
    """Agents whose hooks are imported, and directories of plugins below the project's root, with a `/`."""
    return tuple(item if item in HOOK_FORMATS else _plugin_directory(item) for item in names(value))


def user_hook_sources(value: object) -> tuple[str, ...]:
    """The same for a user: directories of plugins are absolute, or begin with `~/`."""
    listed = names(value)
    for item in listed:
        if item not in HOOK_FORMATS and not item.startswith(("/", "~/")):
            raise ValueError(f"{_HOOK_SOURCES} that begins with `/` or `~/`; `{item}` is neither")
    return listed


def _plugin_directory(item: str) -> str:
    if item in (".", "./"):
        return "."
    if "/" not in item:
        raise ValueError(f"{_HOOK_SOURCES}, like `./plugins/team`; `{item}` is neither")
    try:
        return inner_path(item.rstrip("/"))
    except ValueError as error:
        raise ValueError(f"lists `{item}`, which {error}") from None


_HOOK_SOURCES = f"must list agents ({', '.join(HOOK_FORMATS)}) or directories of plugins"


def patterns(value: object) -> tuple[str, ...]:
    """A glob or a list of globs. Their length is limited: matching takes time quadratic in it."""
    items = value if isinstance(value, list) else [value]
    globs = [item for item in items if isinstance(item, str) and item.strip() and item.isprintable()]
    if not globs or len(globs) < len(items):
        raise ValueError("must be a string that is not empty, or a list of them")
    if max(map(len, globs)) > LONGEST_PATTERN:
        raise ValueError(f"must have at most {LONGEST_PATTERN} characters")
    return tuple(globs)


def any_patterns(value: object) -> tuple[str, ...]:
    """A glob or a list of globs, which may be empty."""
    return () if value == [] else patterns(value)


def words(value: object) -> tuple[str, ...]:
    """A list of words, or text that is split into words as a shell would."""
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError:
            raise ValueError("has an unclosed quotation mark") from None
    return commands(value)


def inner_path(value: object) -> str:
    """A path below the project's root, without a leading `./`."""
    path = name(value).removeprefix("./")
    parts = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise ValueError("must be a path below the project's root, without `..`")
    if len(path.encode()) > LONGEST_PATH or any(len(part.encode()) > LONGEST_NAME for part in parts):
        raise ValueError("is longer than a path can be")
    return path
