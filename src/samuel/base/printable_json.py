"""JSON that is harmless for a terminal: it stays readable, and it stays JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from samuel.base.printable import replaced


def safe_json(value: Any) -> str:
    """The value as indented JSON, with everything a terminal might act on as an escape."""
    return replaced(json.dumps(value, ensure_ascii=False, indent=2), "\n", _escaped)


def safe_json_tokens(value: Any) -> Iterator[str]:
    """The same text piece by piece, for a value whose text is long."""
    for token in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        yield token if token.isprintable() else replaced(token, "\n", _escaped)


def _escaped(character: str) -> str:
    return json.dumps(character)[1:-1]
