"""How many schemas of a JSON Schema look at one value, its references followed.

A few that refer to each other twice stand for millions, as aliases do in YAML, and no deadline ends a validator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

# Keys with schemas that look at the same value again.
_AGAIN = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else")
_AGAIN_BY_NAME = ("dependentSchemas", "dependencies")


def at_once(root: Mapping[str, Any]) -> int:
    """At most, whatever the value. A reference that comes back to itself is followed once."""
    tables = list(_tables(root))
    anchors = {f"#{one['$anchor']}": one for one in tables if isinstance(one.get("$anchor"), str)}
    known: dict[str, int] = {}

    def count(node: object) -> int:
        if isinstance(node, list):
            return sum(map(count, node))
        if not isinstance(node, Mapping):
            return 0
        again = [node.get(key) for key in _AGAIN]
        again += [one for key in _AGAIN_BY_NAME for one in _inside(node.get(key))]
        return 1 + count(again) + followed(node.get("$ref"))

    def followed(reference: object) -> int:
        if not isinstance(reference, str):
            return 0
        if reference not in known:
            known[reference] = 0
            known[reference] = count(anchors.get(reference) or _at(root, reference))
        return known[reference]

    return max(map(count, tables), default=0)


def _tables(node: object) -> Iterator[Mapping[str, Any]]:
    """Every one in it, itself among them."""
    if isinstance(node, Mapping):
        yield node
    for one in _inside(node):
        yield from _tables(one)


def _inside(node: object) -> Iterable[object]:
    return node.values() if isinstance(node, Mapping) else node if isinstance(node, list) else ()


def _at(root: object, reference: str) -> object:
    """What stands at a place like `#/$defs/name`; None if nothing does."""
    if reference != "#" and not reference.startswith("#/"):
        return None
    node = root
    for written in reference.split("/")[1:]:
        name = unquote(written).replace("~1", "/").replace("~0", "~")
        if isinstance(node, list) and name.isdecimal():
            node = node[int(name)] if int(name) < len(node) else None
        else:
            node = node.get(name) if isinstance(node, Mapping) else None
    return node
