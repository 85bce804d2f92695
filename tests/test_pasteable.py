"""Commands that messages offer to be pasted: whatever comes from elsewhere is one quoted word of them."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from samuel.base.printable import shell_word

SOURCE = Path(__file__).parents[1] / "src/samuel"

# A program at the beginning of a command, and the rest of the command up to the value that follows it.
_OFFERED = re.compile(
    r"(?:^|[`\n(:;]|&& ) ?(?:try )?"
    r"(?:(?:samuel|git(?! would)|gh|pip|pipx|podman|docker) [a-z-]"
    r"|(?:ssh|pytest|chmod|chown|rm|mv|cp|cd|ln|cat|kill) )"
    r"[^`\n;(),]*\Z"
)

# What Samuel itself names (events, clients of agents, levels, its own branch, commits, options), and words that
# are quoted already.
_OWN = {
    *("kind.name", "chain.event.name", "event.name", "event", "client", "self.client", "proof.client", "scope"),
    *("level", "OWN", "lanes.tip", "really", "ENDING", "variable", "word", "head", "restore"),
}
_QUOTING = ("shell_word", "quoted_program", "shlex.quote", "shlex.join", "quote")


def values_in_commands(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the expression of each value that is put into a command of a message."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        before = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                before += str(part.value)
            elif isinstance(part, ast.FormattedValue):
                if _OFFERED.search(before):
                    yield part.lineno, ast.unparse(part.value)
                before += "VALUE"


def test_every_value_in_a_command_that_a_message_offers_is_quoted() -> None:
    unquoted = [
        f"{file.relative_to(SOURCE)}:{line}: {expression}"
        for file in sorted(SOURCE.rglob("*.py"))
        for line, expression in values_in_commands(ast.parse(file.read_text()))
        if expression not in _OWN and not expression.startswith(tuple(f"{name}(" for name in _QUOTING))
    ]
    assert unquoted == []


def test_the_walk_sees_values_that_are_not_quoted() -> None:
    hints = """
f"`samuel run reset {task.id}` makes it pending"
f"look: git clone URL {path}"
f"samuel run show {shell_word(id)} --diff {x}"
f"the file `{path}` is gone"
"""
    assert [expression for _, expression in values_in_commands(ast.parse(hints))] == [
        *("task.id", "path", "shell_word(id)", "x"),
    ]


@pytest.mark.parametrize("text", ["1.2", "$(touch${IFS}x)", "a b", "`x`", "it's", "", "a\nb", "; rm -rf x"])
def test_a_word_for_a_shell_is_the_text_again(text: str) -> None:
    assert shlex.split(f"samuel run reset {shell_word(text)}") == ["samuel", "run", "reset", text]
