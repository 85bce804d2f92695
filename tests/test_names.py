"""Names of the package: one noun, one class; and no name that hides what a thing is."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "samuel"

# Participles and pronouns that could mean anything. CONTRIBUTING has the rule.
VAGUE = {
    *("said", "found", "one", "known", "told", "given", "kept", "wanted"),
    *("shown", "asked", "heard", "seen", "spoken", "written", "made", "had"),
}


def test_a_class_name_exists_once_in_the_package() -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(str(file.relative_to(PACKAGE)))
    assert modules
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}


def bound_name(node: ast.AST) -> str:
    """The name that a node binds, or nothing."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return name
    return ""


def test_no_name_in_the_package_is_a_vague_participle() -> None:
    vague = [
        f"{file.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}: {bound_name(node)}"
        for file in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if bound_name(node).strip("_").lower() in VAGUE
    ]
    assert vague == []
