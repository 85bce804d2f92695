"""The settings of pytest in a project's files, as far as they say what its tests are and where its report goes."""

from __future__ import annotations

import configparser
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from samuel.checks.shell_words import below
from samuel.files.toml.lines import toml_values

TextReader = Callable[[str], str]
"""Gives the text of a file by its path below the project; "" if it is missing."""

# In the order in which pytest looks for them: the first that has the section counts.
_SECTIONS = {
    "pytest.toml": "pytest",
    ".pytest.toml": "pytest",
    "pytest.ini": "pytest",
    ".pytest.ini": "pytest",
    "pyproject.toml": "tool",
    "tox.ini": "pytest",
    "setup.cfg": "tool:pytest",
}


def places_of_tests(read: TextReader, directory: str) -> dict[str, list[str]]:
    """`testpaths` and `python_files` of all files that may have them."""
    options: dict[str, list[str]] = {}
    for table in _tables(read, directory):
        for name in ("testpaths", "python_files"):
            options.setdefault(name, []).extend(_words(table.get(name, ())))
    return options


def added_options(read: TextReader, directory: str) -> list[str]:
    """The words of `addopts`, of the file that pytest takes its settings from."""
    table = next(_tables(read, directory), {})
    options = table.get("addopts", ())
    try:
        return shlex.split(options) if isinstance(options, str) else _words(options)
    except ValueError:  # an unclosed quote: pytest refuses it as well
        return []


def _tables(read: TextReader, directory: str) -> Iterator[Mapping[str, Any]]:
    for name, section in _SECTIONS.items():
        text = read(below(directory, name))
        table = _toml_table(text, section) if name.endswith(".toml") else _ini_table(text, section)
        if table is not None:
            yield table


def _ini_table(text: str, section: str) -> Mapping[str, Any] | None:
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read_string(text)
    except (configparser.Error, ValueError):
        return None
    return dict(parser[section]) if section in parser else None


def _toml_table(text: str, section: str) -> Mapping[str, Any] | None:
    try:
        table = toml_values(text)[section]
        if section == "tool":
            table = table["pytest"]
            table = table.get("ini_options", table)
    except (ValueError, LookupError, TypeError, AttributeError):
        return None
    return table if isinstance(table, dict) else None


def _words(value: object) -> list[str]:
    if isinstance(value, str):
        return value.split()
    return [str(item) for item in value] if isinstance(value, list | tuple) else []
