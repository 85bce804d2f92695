"""Count how many subschemas of a JSON Schema apply to one value, with references followed.

A few subschemas that refer to each other twice expand to millions, as aliases do in YAML, and no deadline stops a
validator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

# Keywords whose subschemas apply to the same value.
_SAME_VALUE = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_SAME_VALUE_BY_NAME = ("dependentSchemas", "dependencies")


def schemas_per_value(root: Mapping[str, Any]) -> int:
    """The largest number of subschemas that can apply to one value. A recursive reference is followed once."""
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
