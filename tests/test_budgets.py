"""What keeps the package readable as it grows. Parameters and complexity are in pyproject.toml, for ruff."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import samuel

SOURCE = Path(samuel.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

MOST_FILES = 30

LIBRARIES = {"click", "ctypes", "packaging", "rich", "tomlkit", "tree_sitter", "tree_sitter_bash"}
"""Slow to import, and not needed by most calls: no reason has to be given again."""

FOR_THE_MODULE = re.compile(r"^# .*\bimported (where|when|on)\b", re.IGNORECASE)


@pytest.mark.parametrize("directory", sorted({module.parent for module in MODULES}), ids=lambda path: path.name)
def test_no_directory_has_more_than_thirty_files(directory: Path) -> None:
    files = [path for path in directory.iterdir() if path.is_file()]
    name = directory.relative_to(SOURCE).as_posix()
    assert len(files) <= MOST_FILES, f"{name}: it is several rooms"


def test_each_import_inside_a_function_has_a_reason() -> None:
    """A comment at the import or its block, or `# ... is imported where it is used: ...` for the whole module."""
    assert [place for module in MODULES for place in without_reason(module.read_text())] == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def f():\n    import json\n", [2]),
        ("def f():\n    import json  # most calls need none\n", []),
        ("def f():\n    # most calls need none\n    import json\n    import csv\n", []),
        ("def f():\n    import json  # most calls need none\n\n    import csv\n", [4]),
        ("# json is imported where it is used: it is slow\ndef f():\n    import json\n", []),
        ("def f():\n    from rich.text import Text\n", []),
        ("import json\n", []),
    ],
)
def test_a_reason_is_a_comment_at_the_import_or_for_the_module(text: str, lines: list[int]) -> None:
    assert [int(place.partition(":")[0]) for place in without_reason(text)] == lines


def without_reason(text: str) -> Iterator[str]:
    lines = text.splitlines()
    if any(map(FOR_THE_MODULE.match, lines)):
        return
    tree = ast.parse(text)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    imports = {
        node.lineno: node
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    for number, node in sorted(imports.items()):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [name.name for name in node.names]
        if {name.partition(".")[0] for name in names} <= LIBRARIES:
            continue
        first = last = number
        while first - 1 in imports:
            first -= 1
        while last + 1 in imports:
            last += 1
        block = lines[first - 1 : imports[last].end_lineno]
        if not any("  # " in line for line in block) and not lines[first - 2].strip().startswith("# "):
            yield f"{number}: {ast.unparse(node)}"
