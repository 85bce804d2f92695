"""Reading shell commands with tree-sitter-bash, beside bashlex, on the commands of the tests' table.

bashlex is compared where it is installed (`pip install bashlex`). It is not a dependency: its license is GPL.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from measure import Row, at_least, at_most, below, take_turns

from samuel.shell import commands
from samuel.shell.syntax import parse

TABLE = Path(__file__).parents[1] / "tests" / "shell" / "commands.txt"
INVALID = "## bypass: text that no shell would take"


def run(scratch: Path) -> Iterator[Row]:
    texts = list(valid_commands())
    each = 1 / len(texts)

    def read() -> None:
        for text in texts:
            commands(text)

    def parse_all() -> None:
        for text in texts:
            parse(text)

    if not find_spec("bashlex"):
        (times,) = take_turns(read, rounds=15)
        yield below("reading a shell command of the table", times._make(second * each for second in times), 0.005)
        return

    import bashlex

    def accepted(text: str) -> bool:
        try:
            bashlex.parse(text)
        except Exception:  # noqa: BLE001  # it has no common class for what it refuses
            return False
        return True

    def bashlex_all() -> None:
        for text in texts:
            accepted(text)

    reading, parsing, other = (
        times._make(second * each for second in times)
        for times in take_turns(read, parse_all, bashlex_all, rounds=15)
    )
    yield below("reading a shell command of the table", reading, 0.005)
    yield at_least("parsing a shell command, vs bashlex", parsing, other, 2)
    yield at_most("reading a shell command with all that it starts, vs parsing it with bashlex", reading, other, 1)
    ours = sum(not any("syntax" in doubt.reason for doubt in parse(text).doubts) for text in texts)
    theirs = sum(accepted(text) for text in texts)
    counts = (f"{ours} of {len(texts)}", f"{theirs} of {len(texts)}")
    yield Row(
        "valid commands of the table that parse, vs bashlex", *counts, f"{ours - theirs:+}", ">= +1", ours > theirs
    )
    loading, other_loading = take_turns(
        python("import tree_sitter, tree_sitter_bash"), python("import bashlex"), rounds=15
    )
    yield at_most("loading the parser in a new process, vs bashlex", loading, other_loading, 1)


def valid_commands() -> Iterator[str]:
    text = ""
    is_valid = True
    for line in [*TABLE.read_text(encoding="utf-8").splitlines(), "## "]:
        if line.startswith(("$ ", "## ")) and text:
            yield text
        if line.startswith("## "):
            text, is_valid = "", line != INVALID
        elif line.startswith("$ "):
            text = line[2:] if is_valid else ""
        elif line.startswith(">") and text:
            text += f"\n{line[2:]}"


def python(statement: str) -> Callable[[], None]:
    def start() -> None:
        subprocess.run([sys.executable, "-c", statement], check=True)

    return start
