"""Changes one value of samuel.toml and nothing else: comments, order and spacing are preserved."""

from __future__ import annotations

import copy
import tomllib
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, cast

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import InlineTable, Item, Table

from samuel.base.errors import ConfigError, Problem, UnknownEvent
from samuel.config.model import DEFAULT, DEFAULT_ALIAS
from samuel.config.source import TomlSource, read_source
from samuel.events.names import canonical
from samuel.files import atomic
from samuel.files.toml.lines import dotted, quoted, toml_key

Value: TypeAlias = "str | int | float | bool | Sequence[Value] | Mapping[str, Value]"


def set_value(file: Path, path: Sequence[str], value: Value) -> None:
    """Set `path` to `value`; missing tables, and a missing file, are created.

    An event that the file spells in another way keeps that spelling. Raises ConfigError, and writes nothing,
    if the file is not valid TOML or if the change would change something else too.
    """
    source = read_source(file) or TomlSource("", {})
    path = _as_spelled(source.values, path)
    uncommented = _uncommented(source, path, value)
    if uncommented is not None and _values(uncommented) == _expected(source.values, path, value):
        atomic.write_text(file, uncommented)
        return
    try:
        text = _edited(source.text, path, value)
        changed = tomllib.loads(text)
    except (TOMLKitError, tomllib.TOMLDecodeError, _NotATable):
        raise _refusal(file, path, value) from None
    # tomlkit gets some files wrong (tables out of order, dotted keys), so the result is checked.
    if changed != _expected(source.values, path, value):
        raise _refusal(file, path, value)
    atomic.write_text(file, text)


def has_value(file: Path, table: Sequence[str], *keys: str) -> bool:
    """Whether one of these keys is set in a table of the file. Raises ConfigError."""
    values: object = (read_source(file) or TomlSource("", {})).values
    for name in table:
        values = values.get(name) if isinstance(values, Mapping) else None
    return isinstance(values, Mapping) and any(key in values for key in keys)


def snippet(path: Sequence[str], value: Value) -> str:
    """The lines that set `path` to `value`, for the user to paste."""
    *parents, key = path
    # Names of handlers often need quotes, like `org/repo`: all keys of `order` are quoted, to look alike.
    name = quoted(key) if parents[-1:] == ["order"] else toml_key(key)
    line = f"{name} = {_item(value).as_string()}"
    return f"[{dotted(parents)}]\n{line}" if parents else line


class _NotATable(Exception):
    """A value stands where the path needs a table."""


def _edited(text: str, path: Sequence[str], value: Value) -> str:
    *parents, key = path
    document = tomlkit.parse(text)
    if text and parents and parents[0] not in document:
        document = tomlkit.parse(text.rstrip("\n") + "\n\n")  # the new table is appended
    table: MutableMapping[str, object] = document
    for depth, parent in enumerate(parents, start=1):
        if parent not in table:
            table[parent] = _new_table(inside=table, is_last=depth == len(parents))
        inner = table[parent]
        if not isinstance(inner, MutableMapping):
            raise _NotATable
        table = inner
    if isinstance(table, Table) and table.is_super_table():
        # Its header appears only now, and tomlkit would give it the comment of the header it was implied by.
        table.trivia.comment_ws = table.trivia.comment = ""
    table[key] = _item(value)
    return document.as_string()


def _uncommented(source: TomlSource, path: Sequence[str], value: Value) -> str | None:
    """The text with `# key = ...` made a line of its table; None if the table has no such comment.

    That is where the template of `samuel init` shows a default. Elsewhere a new key goes to the end of its table,
    which for TOML is after all comments that follow it.
    """
    *parents, key = path
    header = f"[{dotted(parents)}]"
    lines = source.text.split("\n")
    if header not in lines or not _has_table(source.values, parents):
        return None
    for number in range(lines.index(header) + 1, len(lines)):
        if lines[number].startswith(("[", "# [")):  # the next table, or an example of one
            return None
        if lines[number].startswith(f"# {toml_key(key)} = "):
            lines[number] = f"{toml_key(key)} = {_item(value).as_string()}"
            return "\n".join(lines)
    return None


def _has_table(values: object, path: Sequence[str]) -> bool:
    for key in path:
        values = values.get(key) if isinstance(values, Mapping) else None
    return isinstance(values, Mapping)


def _values(text: str) -> dict[str, object] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


def _new_table(inside: MutableMapping[str, object], is_last: bool) -> Item:
    if isinstance(inside, InlineTable):
        return tomlkit.inline_table()
    # A super table gets no header of its own: `[hooks."x".order]` alone, without `[hooks]` and `[hooks."x"]`.
    return tomlkit.table(is_super_table=not is_last)


def _item(value: Value) -> Item:
    # tomlkit.item would turn a list of mappings into `[[tables]]`; here a value must stay on its line.
    if isinstance(value, Mapping):
        inline = tomlkit.inline_table()
        inline.update({key: _item(inner) for key, inner in value.items()})
        return inline
    if isinstance(value, Sequence) and not isinstance(value, str):
        array = tomlkit.array()
        array.extend(_item(inner) for inner in value)
        return array
    return tomlkit.item(value)


def _as_spelled(values: Mapping[str, object], path: Sequence[str]) -> list[str]:
    """`path` with its names as the file already spells them: `load` refuses a second spelling."""
    spelled: list[str] = []
    table: object = values
    for name in path:
        inside = table if isinstance(table, Mapping) else {}
        same = _SAME.get(spelled[-1], _equal) if spelled else _equal
        spelled.append(next((key for key in inside if same(key, name)), name))
        table = inside.get(spelled[-1])
    return spelled


def _equal(first: str, second: str) -> bool:
    return first == second


def _same_event(first: str, second: str) -> bool:
    with suppress(UnknownEvent):
        return canonical(first) == canonical(second)
    return False


def _same_handler(first: str, second: str) -> bool:
    return first == second or {first, second} == {DEFAULT, DEFAULT_ALIAS}


# By the name of the table that holds the keys.
_SAME = {"hooks": _same_event, "order": _same_handler}


def _expected(values: Mapping[str, object], path: Sequence[str], value: Value) -> dict[str, object]:
    expected = copy.deepcopy(dict(values))
    table = expected
    for parent in path[:-1]:
        table = cast("dict[str, object]", table.setdefault(parent, {}))
    table[path[-1]] = _item(value).unwrap()
    return expected


def _refusal(file: Path, path: Sequence[str], value: Value) -> ConfigError:
    what = f"`{dotted(path)}` cannot be set without changing something else"
    return ConfigError([Problem(what, str(file), hint=f"edit the file by hand:\n{snippet(path, value)}")])
