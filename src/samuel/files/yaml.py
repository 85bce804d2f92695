"""YAML as Samuel takes it: text, numbers, true, false, null, lists and mappings, each with its line.

The file may have come with a clone, so only the plain part of YAML is read. Anchors and aliases (a few lines that
stand for gigabytes), tags, a key that is given twice, deep nesting and a document more than was asked for are
refused, each with its line. Dates and words like `no` stay what was written.

Nothing of PyYAML is used but its parser: what its events mean is decided here, so nothing can be constructed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from samuel.base.errors import ConfigError, Problem
from samuel.files.toml.lines import KeyLines, KeyPath

Path = KeyPath
YamlLines = KeyLines
LARGEST = 1024 * 1024  # bytes
DEEPEST = 20

# libyaml's parser where PyYAML was built with it: some fifteen times as fast.
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WHOLE_NUMBERS = range(-(2**63), 2**63)
_INT = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?\Z")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPED_HALF = re.compile("[\ud800-\udfff]")


class InvalidYaml(ConfigError):
    """The text is not YAML at all; other errors are about YAML that Samuel does not take."""


class YamlDocument(NamedTuple):
    """One document."""

    values: Any
    lines: KeyLines
    file: str

    def mapping(self) -> dict[str, Any]:
        """Its keys and values; ConfigError where it is something else. An empty document has none."""
        if self.values is None:
            return {}
        if not isinstance(self.values, dict):
            raise _problem(
                self.file, self.lines.of(()), "it is not a mapping of keys to values", "write `key: value` lines"
            )
        return self.values


def load(data: bytes, file: str, *, first_line: int = 1) -> YamlDocument:
    """The only document of `data`; ConfigError with the line if it cannot be read.

    `file` and `first_line` say where it stands, for the messages.
    """
    return load_all(data, file, most=1, first_line=first_line)[0]


def load_all(data: bytes, file: str, *, most: int, first_line: int = 1) -> list[YamlDocument]:
    """The documents of `data`, one at least (an empty file is an empty document) and no more than `most`."""
    text = decoded(data, file, first_line=first_line)
    if odd := _UNPRINTABLE.search(text):
        line = text.count("\n", 0, odd.start()) + first_line
        raise _problem(file, line, f"the character U+{ord(odd[0]):04X} is not taken", "remove it")
    documents: list[YamlDocument] = []
    parser = _PARSER(text)
    try:
        for event in _events(parser):
            if isinstance(event, yaml.DocumentStartEvent):
                if len(documents) == most:
                    what = "more than one document" if most == 1 else f"more than {most} documents"
                    raise _Refused(what, event, "keep the first, and remove what follows `---`")
                places: dict[KeyPath, int] = {}
                values = _Reading(_events(parser), places, first_line).value((), 1)
                documents.append(YamlDocument(values, KeyLines(places), file))
    except _Refused as error:
        raise _problem(file, _line(error.where, first_line), error.what, error.hint) from None
    except yaml.MarkedYAMLError as error:
        raise _syntax(error, text, file, first_line) from None
    finally:
        parser.dispose()
    return documents or [YamlDocument(None, KeyLines({(): first_line}), file)]


def decoded(data: bytes, file: str, *, first_line: int = 1) -> str:
    """`data` as text, if it is UTF-8 and not too large; ConfigError otherwise."""
    if len(data) > LARGEST:
        raise _problem(file, 0, f"it is larger than {LARGEST} bytes", "make it smaller")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + first_line
        raise _problem(file, line, "it is not UTF-8", "save it as UTF-8") from None


class _Refused(Exception):
    def __init__(self, what: str, where: yaml.Event, hint: str = "") -> None:
        super().__init__(what)
        self.what, self.where, self.hint = what, where, hint


class _Reading:
    """One document while it is read: what each event means, and where it stands."""

    def __init__(self, events: Iterator[Any], places: dict[KeyPath, int], first_line: int) -> None:
        self._events, self._places, self._first_line = events, places, first_line

    def value(self, path: KeyPath, depth: int) -> Any:
        event = next(self._events)
        self._places.setdefault(path, _line(event, self._first_line))  # that of its key, if it has one
        return self._meaning(event, path, depth)

    def _meaning(self, event: Any, path: KeyPath, depth: int) -> Any:
        _refuse_marked(event)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if depth > DEEPEST:
            raise _Refused(f"it nests deeper than {DEEPEST} levels", event, "make it flatter")
        if isinstance(event, yaml.SequenceStartEvent):
            return self._list(path, depth)
        return self._mapping(path, depth)

    def _list(self, path: KeyPath, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            place = (*path, len(items))
            self._places[place] = _line(event, self._first_line)
            items.append(self._meaning(event, place, depth + 1))
        return items

    def _mapping(self, path: KeyPath, depth: int) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = _key(event)
            if key in mapping:
                raise _Refused(f"`{key[:80]}` is given twice", event, "keep one of them")
            place = (*path, key)
            self._places[place] = _line(event, self._first_line)
            mapping[key] = self.value(place, depth + 1)
        return mapping


def _events(parser: Any) -> Iterator[Any]:
    while parser.check_event():
        yield parser.get_event()


def _refuse_marked(event: Any) -> None:
    if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
        raise _Refused("anchors and aliases are not taken", event, "write the value out")
    if event.tag is not None:
        raise _Refused(f"the tag {ascii(event.tag)[:80]} is not taken", event, "leave it out")


def _key(event: Any) -> str:
    _refuse_marked(event)
    if not isinstance(event, yaml.ScalarEvent):
        raise _Refused("a key must be text", event, "put it in quotes")
    return _sound(event)


def _scalar(event: Any) -> Any:
    text = _sound(event)
    if event.style:  # quoted, or a block: text whatever it looks like
        return text
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INT.match(text):
        if len(text) > 20 or int(text) not in _WHOLE_NUMBERS:
            raise _Refused("a number must fit into 64 bits", event, "put it in quotes if it is a name")
        return int(text)
    if _FLOAT.match(text):
        number = float(text)
        if not math.isfinite(number):
            raise _Refused("a number must be finite", event, "put it in quotes if it is a name")
        return number
    return text


def _sound(event: Any) -> str:
    """An escape can write half a character, which nothing could store or send."""
    text: str = event.value
    if _ESCAPED_HALF.search(text):
        raise _Refused("an escape in it is not a character", event, "write the character itself")
    return text


def _syntax(error: yaml.MarkedYAMLError, text: str, file: str, first_line: int) -> InvalidYaml:
    mark = error.problem_mark or error.context_mark
    lines = text.splitlines() or [""]
    at = min(mark.line, len(lines) - 1) if mark else 0
    before = lines[at][: mark.column + 1] if mark else ""
    if before.endswith("\t") or ("\t" in before and not before.strip()):
        what, hint = "a tab where YAML wants spaces", "indent with spaces"
        return InvalidYaml([Problem(what, file, at + first_line, hint)])
    what = " ".join(part for part in (error.problem, error.context) if part)
    return InvalidYaml([Problem(f"not valid YAML: {what}", file, at + first_line, "")])


def _line(event: Any, first_line: int) -> int:
    return int(event.start_mark.line) + first_line


def _problem(file: str, line: int, what: str, hint: str = "") -> ConfigError:
    return ConfigError([Problem(what, file, line, hint)])
