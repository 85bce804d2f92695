"""Text that a repository or an agent may have written, made harmless for a terminal that shows it.

That goes for what commands print, and for the Markdown files that Samuel writes and people `cat`.

A file name can hold an escape sequence, a reason can hold a carriage return, and a right-to-left mark can make
code read as what it is not. What cannot be printed is shown by its number.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_CONTROL_SEQUENCE = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, moving, erasing
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links
    r"|\x1b[ -/]*[0-OQ-WYZ\\`-~]"  # the others
)


def without_control_sequences(text: str) -> str:
    """`text` as a terminal would show it: without its colours, its cursor movements and its titles."""
    return re.sub(_CONTROL_SEQUENCE, "", text)


def safe(text: str, keep: str = "\n\t") -> str:
    """`text` with everything a terminal might act on written as an escape, but for what `keep` lists."""
    return replaced(text, keep, _escaped)


def shorten(text: str, longest: int = 80) -> str:
    """`text` on one line that is safe to print, cut to `longest` characters: a key may be as long as its file."""
    text = safe(text[: longest + 1], keep="")
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def replaced(text: str, keep: str, escape: Callable[[str], str]) -> str:
    """`text` with `escape` of each character that cannot be printed. Most lines need no look at each character."""
    lines = text.split("\n") if "\n" in keep else [text]
    return "\n".join(
        line
        if line.isprintable()
        else "".join(char if char.isprintable() or char in keep else escape(char) for char in line)
        for line in lines
    )


def listed(names: Sequence[str], most: int, comma: str = ", ") -> str:
    """`a, b and 3 more`: the first names, and how many there are beside them."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{comma.join(names[:most])}{more}"


def shell_word(text: object) -> str:
    """`text` as one word of a command line that a person may paste into a shell, quoted if need be.

    Ids, names, paths and addresses come from agents and repositories: every command that a message offers has
    them through this function.
    """
    from shlex import quote  # most commands, and all hook calls, offer none

    return quote(str(text))


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def file_name(name: str) -> str:
    """A file's name as text that can be written down: what is not UTF-8 in it becomes an escape."""
    return name.encode("utf-8", "backslashreplace").decode()
