"""Text that a repository or an agent may have written, made harmless for a terminal that shows it.

That goes for what commands print, and for the Markdown files that Samuel writes and people `cat`.

A file name can hold an escape sequence, a reason can hold a carriage return, and a right-to-left mark can make
code read as what it is not. What cannot be printed is shown by its number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

_CONTROL_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, moving, erasing
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"  # the others
)


def without_control_sequences(text: str) -> str:
    """`text` as a terminal would show it: without its colours, its cursor movements and its titles."""
    return _CONTROL_SEQUENCE.sub("", text)


def safe(text: str, keep: str = "\n\t") -> str:
    """`text` with everything a terminal might act on written as an escape, but for what `keep` lists."""
    return _replaced(text, keep, _escaped)


def shorten(text: str, longest: int = 80) -> str:
    """`text` on one line that is safe to print, cut to `longest` characters: a key may be as long as its file."""
    text = safe(text[: longest + 1], keep="")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def safe_json(value: Any) -> str:
    """JSON with the same promise: it stays readable, and it stays JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _replaced(text, "\n", _json_escape)


def safe_json_tokens(value: Any) -> Iterator[str]:
    """The same text piece by piece, for a value whose text is long."""
    for token in json.JSONEncoder(ensure_ascii=False, indent=2).iterencode(value):
        yield token if token.isprintable() else _replaced(token, "\n", _json_escape)


def _json_escape(character: str) -> str:
    return json.dumps(character)[1:-1]


def _replaced(text: str, keep: str, escape: Callable[[str], str]) -> str:
    """`text` with `escape` of each character that cannot be printed. Most lines need no look at each character."""
    lines = text.split("\n") if "\n" in keep else [text]
    return "\n".join(
        line
        if line.isprintable()
        else "".join(char if char.isprintable() or char in keep else escape(char) for char in line)
        for line in lines
    )


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def file_name(name: str) -> str:
    """A file's name as text that can be written down: what is not UTF-8 in it becomes an escape."""
    return name.encode("utf-8", "backslashreplace").decode()
