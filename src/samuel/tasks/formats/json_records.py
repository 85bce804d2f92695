"""Reading the fields of JSON objects that other programs wrote: a wrong one is a problem with its place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from samuel.base.errors import Problem
from samuel.base.nearest import did_you_mean
from samuel.tasks.annotations import priority_fields

T = TypeVar("T")


class JsonRecord:
    """One object of a source, with the line it begins in. What is wrong is added to `problems`."""

    def __init__(self, values: Any, file: str, line: int, label: str, problems: list[Problem]) -> None:
        self.values: Mapping[str, Any] = values if isinstance(values, dict) else {}
        self.line = line
        self._file = file
        # In a file of one line, the line does not say which one it is.
        id = self.values.get("id", self.values.get("number")) if line == 1 else None
        self._name = f"{label} `{id}`" if isinstance(id, (str, int)) and id else f"this {label}"
        self._problems = problems
        if not isinstance(values, dict):
            self.refuse(f"{self._name} is not an object")

    def refuse(self, what: str, hint: str = "") -> None:
        self._problems.append(Problem(what, self._file, self.line, hint))

    def text(self, name: str, *, needed: bool = False) -> str:
        """A text; a number is taken as its digits, and null as nothing."""
        value = self.values.get(name)
        if isinstance(value, str):
            text = value.encode(errors="replace").decode()
            if needed and not text.strip():
                self.refuse(f"{self._name} has an empty `{name}`")
            return text
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if value is not None:
            self._wrong(name, "text")
        elif needed and self.values:
            self.refuse(f"{self._name} has no `{name}`")
        return ""

    def title(self) -> str:
        return " ".join(self.text("title", needed=True).split())

    def priority(self) -> dict[str, Any]:
        """`priority` or `rank`, by a word or a number; {} if it is missing or wrong."""
        try:
            return priority_fields(priority) if (priority := self.text("priority")) else {}
        except ValueError as error:
            self.refuse(str(error), "a whole number, where 1 is first, or a word like `high`")
            return {}

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; also one text with a line for each."""
        value = self.values.get(name)
        if isinstance(value, str):
            lines = (line.strip().lstrip("-*+").strip() for line in value.split("\n"))
            return tuple(line.removeprefix("[ ]").removeprefix("[x]").strip() for line in lines if line)
        return tuple(str(item).strip() for item in self.items(name) if str(item).strip())

    def items(self, name: str) -> list[Any]:
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self._wrong(name, "a list")
            return []
        return value

    def ids(self, name: str) -> tuple[str, ...]:
        return tuple(dict.fromkeys(str(id) for id in self.items(name)))

    def number(self, name: str, default: int) -> int:
        value = self.values.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9:
            return value
        if value is not None:
            self._wrong(name, "a whole number")
        return default

    def flag(self, name: str) -> bool:
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            self._wrong(name, "true or false")
        return value is True

    def choice(self, name: str, meanings: Mapping[str, T], default: T) -> T:
        """What the word in a field means; an unknown one is a problem with the nearest word."""
        value = self.values.get(name)
        if value is None or value == "":
            return default
        word = str(value).lower()
        if word not in meanings:
            hint = did_you_mean(word, meanings, f"one of {', '.join(meanings)}")
            whose = "" if self._name.startswith("this ") else f" of {self._name}"
            self.refuse(f"`{value}` is not a valid {name}{whose}", hint)
            return default
        return meanings[word]

    def _wrong(self, name: str, expected: str) -> None:
        value = repr(self.values[name])
        value = value if len(value) <= 60 else f"{value[:60]}..."
        self.refuse(f"`{name}` of {self._name} must be {expected}, not {value}")
