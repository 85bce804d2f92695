"""Changes one flag of a YAML file and nothing else: comments, order and spacing are preserved."""

from __future__ import annotations

import re


def set_flag(text: str, key: str, value: bool, after: str) -> str | None:
    """`text` with the top-level `key` set; a missing key is inserted after the line of `after`.

    None where there is no such line. The caller must parse the result: not every way to write YAML is handled.
    """
    word = str(value).lower()
    line = re.compile(rf"^({re.escape(key)}[ \t]*:)[ \t]*[^\s#]*", re.MULTILINE)
    if line.search(text):
        return line.sub(rf"\1 {word}", text, count=1)
    anchor = re.search(rf"^{re.escape(after)}[ \t]*:[^\r\n]*(\r?\n|$)", text, re.MULTILINE)
    if anchor is None:
        return None
    newline = anchor[1] or "\n"
    return f"{text[: anchor.end()]}{'' if anchor[1] else newline}{key}: {word}{newline}{text[anchor.end() :]}"
