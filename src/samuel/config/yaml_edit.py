"""Changes one value of a YAML file and nothing else: comments, order and spacing are preserved."""

from __future__ import annotations

import re
from collections.abc import Sequence


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


def set_list(text: str, table: str, key: str, values: Sequence[str]) -> str | None:
    """`text` with the list `key` of the top-level `table` set, on one line: `off: [a, b]`.

    None where there is no such table, or where the list is written in another way. The caller must parse it.
    """
    head = re.search(rf"^{re.escape(table)}[ \t]*:[ \t]*(?:#[^\r\n]*)?(\r?\n)", text, re.MULTILINE)
    if head is None:
        return None
    end = re.compile(r"^\S", re.MULTILINE).search(text, head.end())
    body = text[head.end() : end.start() if end else len(text)]
    line = f"{key}: [{', '.join(values)}]"
    line_pattern = re.compile(
        rf"^([ \t]+){re.escape(key)}[ \t]*:[ \t]*(\[[^\]\r\n]*\])?(?=[ \t]*(?:#|\r?\n|$))", re.MULTILINE
    )
    match = line_pattern.search(body)
    if match and match[2] is None:
        return None
    indent = re.search(r"^([ \t]+)[^\s#-]", body, re.MULTILINE)
    added = f"{indent[1] if indent else '  '}{line}{head[1]}{body}"
    new_body = line_pattern.sub(rf"\g<1>{line}", body, count=1) if match else added
    return text[: head.end()] + new_body + text[head.end() + len(body) :]
