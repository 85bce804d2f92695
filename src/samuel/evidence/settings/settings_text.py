"""Reading the settings files of other programs; whatever is wrong with one is a ValueError.

The files are written by agents, so nothing here recurses without a limit or expands entities.
"""

from __future__ import annotations

import configparser
import json
import re
from typing import Any
from xml.etree import ElementTree

from samuel.files.toml.lines import toml_values

MAX_CHARACTERS = 1 << 20
_JSON_PARTS = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*\*/|,(?=\s*+[\]}])', re.DOTALL)


def json_values(text: str) -> dict[str, Any]:
    """The object of a JSON text, which may have comments and trailing commas."""
    _limit(text)
    plain = _JSON_PARTS.sub(lambda part: part[0] if part[0][0] == '"' else "", text)
    # A comma may stand before a comment that stands before a bracket.
    plain = _JSON_PARTS.sub(lambda part: part[0] if part[0][0] == '"' else "", plain)
    try:
        values = json.loads(plain or "{}")
    except RecursionError as error:
        raise ValueError("it nests too deep") from error
    if not isinstance(values, dict):
        raise ValueError("it is no object")
    return values


def toml_table(text: str) -> dict[str, Any]:
    _limit(text)
    return toml_values(text)


def ini_sections(text: str) -> dict[str, dict[str, str]]:
    """The sections of an INI file with their options."""
    _limit(text)
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    return {name: {key: value or "" for key, value in parser.items(name)} for name in parser.sections()}


def xml_root(text: str) -> ElementTree.Element:
    """The root of an XML text without a document type: its entities could grow without end."""
    _limit(text)
    if re.search(r"<!(?!--|\[CDATA\[)", text):
        raise ValueError("it has a document type")
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, RecursionError) as error:
        raise ValueError(str(error)) from error


def strings(value: object) -> list[str]:
    """A text, or the texts of a list."""
    if isinstance(value, str):
        return [value]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list | tuple) else []


def part(values: object, *keys: str) -> Any:
    """The value at these keys, one below the other; None if there is none."""
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _limit(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise ValueError("it is too long")
