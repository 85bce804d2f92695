"""The managed block of a file: Samuel owns what is between two marks; the rest belongs to the user and stays."""

from __future__ import annotations

import re

from samuel.base.errors import ConfigError, Problem

BEGIN = "<!-- samuel:begin (written by `samuel sync`; edit outside of this block) -->"
END = "<!-- samuel:end -->"
# The marks also where git made line ends of another kind.
_BEGIN = re.compile(r"^<!-- samuel:begin\b.*-->[ \t]*(?=\r?$)", re.MULTILINE)
_END = re.compile(r"^<!-- samuel:end\b.*-->[ \t]*(?=\r?$)", re.MULTILINE)


def with_block(text: str, content: str, file: str) -> str:
    """The text with the block in its place, or at its end if it has none yet."""
    block = f"{BEGIN}\n{content.rstrip()}\n{END}"
    begins, ends = list(_BEGIN.finditer(text)), list(_END.finditer(text))
    if not begins and not ends:
        return f"{text.rstrip()}\n\n{block}\n" if text.strip() else f"{block}\n"
    if len(begins) != 1 or len(ends) != 1 or ends[0].start() < begins[0].end():
        line = text.count("\n", 0, (begins or ends)[0].start()) + 1
        hint = f"there must be one `{BEGIN}` and one `{END}` after it, or neither"
        raise ConfigError([Problem("the marks of the managed block do not match", file, line, hint)])
    return text[: begins[0].start()] + block + text[ends[0].end() :]
