"""Check JSON Schemas of inputs and outputs, and values against them.

Schemas come with a clone. Their references reach nothing outside of themselves, neither a file nor a network, and
their patterns are matched in linear time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote

if TYPE_CHECKING:
    from jsonschema_rs import Validator

MOST = 20
"""Violations that are reported."""
MOST_AT_ONCE = 100_000
"""Subschemas that may apply to one value."""

# Keywords whose subschemas apply to the same value.
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_SAME_VALUE_BY_NAME = ("dependentSchemas", "dependencies")


class InvalidSchema(NamedTuple):
    what: str
    path: tuple[str | int, ...]
    """The place in the schema."""


def check_schema(schema: Mapping[str, Any]) -> InvalidSchema | None:
    """The first problem of a schema; None if it is valid."""
    try:
        _validator(schema)
    except ValueError as error:
        return InvalidSchema(_message(error), tuple(getattr(error, "instance_path", ())))
    return None


def violations(schema: Mapping[str, Any], value: object) -> list[str]:
    """How a value violates a schema, each as `$.path: what`. An invalid schema is a violation too."""
    try:
        validator = _validator(schema)
    except ValueError as error:
        return [f"its schema cannot be used: {_message(error)}"]
    try:
        return [
            f"{_path(violation.instance_path)}: {_message(violation)}"
            for violation in islice(validator.iter_errors(value), MOST)
        ]
    except ValueError as error:  # not expressible in JSON, or nested too deeply
        return [f"$: {_message(error)}"]


def _validator(schema: Mapping[str, Any]) -> Validator:
    from jsonschema_rs import RegexOptions, validator_for  # several megabytes that most commands do not need

    try:
        many = _schemas_per_value(schema)
    except RecursionError:
        raise ValueError("its references are nested too deeply") from None
    if many > MOST_AT_ONCE:
        raise ValueError(f"its references lead to more than {MOST_AT_ONCE} schemas for one value")
    return validator_for(dict(schema), offline=True, pattern_options=RegexOptions())


def _message(error: ValueError) -> str:
    message = " ".join(str(getattr(error, "message", error)).split())  # the value comes first, then the problem
    return message if len(message) <= 300 else f"{message[:99]}…{message[-200:]}"


def _path(path: Iterable[str | int]) -> str:
    return "$" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)


def _schemas_per_value(root: Mapping[str, Any]) -> int:
    """The largest number of subschemas that can apply to one value. A recursive reference is followed once.

    A few subschemas that refer to each other twice expand to millions, as aliases do in YAML, and no deadline
    stops a validator.
    """
    tables = list(_tables(root))
    anchors = {f"#{table['$anchor']}": table for table in tables if isinstance(table.get("$anchor"), str)}
    counts: dict[str, int] = {}

    def count(node: object) -> int:
        if isinstance(node, list):
            return sum(map(count, node))
        if not isinstance(node, Mapping):
            return 0
        nodes = [node.get(key) for key in _SAME_VALUE]
        nodes += [table for key in _SAME_VALUE_BY_NAME for table in _inside(node.get(key))]
        return 1 + count(nodes) + count_reference(node.get("$ref"))

    def count_reference(reference: object) -> int:
        if not isinstance(reference, str):
            return 0
        if reference not in counts:
            counts[reference] = 0
            counts[reference] = count(anchors.get(reference) or _at(root, reference))
        return counts[reference]

    return max(map(count, tables), default=0)


def _tables(node: object) -> Iterator[Mapping[str, Any]]:
    """Every mapping in a schema, itself included."""
    if isinstance(node, Mapping):
        yield node
    for child in _inside(node):
        yield from _tables(child)


def _inside(node: object) -> Iterable[object]:
    return node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()


def _at(root: object, reference: str) -> object:
    """The value at a reference such as `#/$defs/name`; None if there is none."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    node = root
    for part in reference.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and name.isdecimal():
            node = node[int(name)] if int(name) < len(node) else None
        else:
            node = node.get(name) if isinstance(node, Mapping) else None
    return node
