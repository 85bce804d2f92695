"""One noun, one class: a public class name exists once in the whole package."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "samuel"


def test_a_class_name_exists_once_in_the_package() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(str(file.relative_to(PACKAGE)))
    assert modules
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}
