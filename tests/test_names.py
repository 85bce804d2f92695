"""Names of the package: one noun, one class; and no name that hides what a thing is."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "samuel"

# Participles and pronouns that could mean anything. CONTRIBUTING has the rule.
VAGUE = {
    *("said", "found", "one", "known", "told", "given", "kept", "wanted"),
    *("shown", "asked", "heard", "seen", "spoken", "written", "made", "had"),
}
OWN_WORDS = {"ASKED"}  # the outcome of an iteration whose agent asked a question


@pytest.mark.slow
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
        case ast.alias(asname=str(name)) | ast.ExceptHandler(name=str(name)):
            return name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            return name
    return ""


def parsed(file: Path) -> ast.AST:
    """The syntax tree of a file, which may be a template with words like `@FUNCTION@` to replace."""
    return ast.parse(re.sub(r"@([A-Z]+)@", r"\1", file.read_text(encoding="utf-8")))


def is_vague(name: str) -> bool:
    return name not in OWN_WORDS and name.strip("_").lower() in VAGUE


@pytest.mark.slow
@pytest.mark.parametrize("directory", ["src", "tests", "benchmarks", "docs", "examples"])
def test_no_file_or_name_is_a_vague_participle(directory: str) -> None:
    files = sorted(file for pattern in ("*.py", "*.py.txt") for file in (ROOT / directory).rglob(pattern))
    assert files
    vague_names = [
        f"{file.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}: {bound_name(node)}"
        for file in files
        for node in ast.walk(parsed(file))
        if is_vague(bound_name(node))
    ]
    vague_files = [str(file.relative_to(ROOT)) for file in files if is_vague(file.name.partition(".")[0])]
    assert vague_files + vague_names == []


def test_every_way_to_bind_a_vague_name_is_recognised() -> None:
    statements = """
import os as found
def f(known, *, told): ...
class Given: ...
self.kept = one = 1
for said in []: ...
try: ...
except OSError as seen: ...
match 1:
    case [shown, *asked]: ...
    case {"a": heard, **written}: ...
"""
    names = {bound_name(node).lower() for node in ast.walk(ast.parse(statements))}
    assert names - VAGUE == {"", "f"}
    assert VAGUE - names == {"wanted", "spoken", "made", "had"}
