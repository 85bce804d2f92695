"""Every problem of a registry, each with its file, its line and how to fix it.

`load` finds what is wrong within one file. Here are the checks across files: tables and files that disagree, calls
of unknown abilities or in a circle, schemas and implementations that cannot work.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from samuel.base.errors import Problem, SamuelError
from samuel.base.nearest import SpellingHints
from samuel.base.printable import shell_word
from samuel.files import yaml
from samuel.files.command_files import is_file
from samuel.files.inside import is_inside, read_inside
from samuel.routing.abilities import placeholders
from samuel.routing.abilities.model import Ability, PythonImplementation, ScriptImplementation
from samuel.routing.abilities.registry import Registry
from samuel.routing.abilities.schema import check_schema
from samuel.routing.abilities.tables import FILE, AbilityRow

LARGEST_SOURCE = 4 * 1024 * 1024
MOST_CIRCLES = 20
_FROM_ROOT = "paths are relative to the project's root"

DefinitionPath = tuple[str | int, ...]


def lint(root: Path, registry: Registry) -> list[Problem]:
    """Every problem, by file and line."""
    checks = _Checks(root, registry)
    problems = [*registry.problems, *checks.tables(), *checks.cycles()]
    for ability in registry.abilities:
        for check in (checks.calls, checks.schemas, checks.implementation, checks.keywords):
            problems += check(ability)
    # Stable within a line.
    return sorted(dict.fromkeys(problems), key=lambda problem: (problem.file, problem.line))


class _Checks:
    def __init__(self, root: Path, registry: Registry) -> None:
        self._root = root
        self._registry = registry
        self._hints = SpellingHints()
        self._lines: Callable[[str], yaml.YamlLines] = lru_cache(maxsize=16)(self._read_lines)

    def tables(self) -> Iterator[Problem]:
        """Rows without an ability, abilities without a row, and rows that contradict the file."""
        files = {ability.file: ability for ability in self._registry.abilities}
        broken = {problem.file for problem in self._registry.problems}
        listed: dict[str, int] = {}
        for row in self._registry.rows:
            path = row.path.removeprefix("./")
            if row.name in listed:
                what = f"`{row.name}` is already in line {listed[row.name]}"
                yield Problem(what, FILE, row.line, "remove one of them")
            listed.setdefault(row.name, row.line)
            if ability := files.get(path):
                what, hint = _contradiction(row, path, ability)
            elif path not in broken and not os.path.isfile(self._root / path):  # never raises
                what = f"the file `{path}` of `{row.name}` is missing"
                hint = self._hints.did_you_mean(path, files, "write the file, or remove the row")
            else:
                continue
            if what:
                yield Problem(what, FILE, row.line, hint)
        for ability in self._registry.abilities if self._registry.rows else ():
            if not any(name in listed for name in ability.names):
                what = f"`{ability.id}` has no row in {FILE}"
                yield Problem(what, ability.file, 1, "add one, or remove the file")

    def calls(self, ability: Ability) -> Iterator[Problem]:
        by_name = self._registry.by_name
        for at, name in enumerate(ability.calls):
            if name not in by_name:
                hint = self._hints.did_you_mean(name, by_name, "only abilities of the registry can be called")
                yield self._problem(ability.file, ("calls", at), f"there is no ability `{name}`", hint)

    def cycles(self) -> Iterator[Problem]:
        """Each circle of calls once, at the line of its first call."""
        calls = {ability.id: self._called(ability) for ability in self._registry.abilities}
        for circle in _circles(calls):
            ability = self._registry.by_name[circle[0]]
            at = calls[ability.id].index(circle[1 % len(circle)])
            path = " -> ".join(f"`{id}`" for id in (*circle, circle[0]))
            hint = "remove one of these calls"
            yield self._problem(ability.file, ("calls", at), f"it calls itself: {path}", hint)

    def schemas(self, ability: Ability) -> Iterator[Problem]:
        for key, schema in (("input_schema", ability.input_schema), ("output_schema", ability.output_schema)):
            if schema is not None and (wrong := check_schema(schema)):
                what = f"`{key}` is not a valid JSON Schema: {wrong.what}"
                yield self._problem(ability.file, (key, *wrong.path), what)

    def implementation(self, ability: Ability) -> Iterator[Problem]:
        file = ability.implementation_file
        if ability.implementation is None:
            hint = "add `implementation:` here, or a file that gives it below `.system/registry/config/`"
            yield self._problem(ability.file, (), f"`{ability.id}` has no implementation", hint)
        elif isinstance(ability.implementation, ScriptImplementation):
            yield from self._program(file, ("implementation", "script", "path"), ability.implementation.path)
            for at, argument in enumerate(ability.implementation.arguments):
                where = ("implementation", "script", "args_template", at)
                yield from self._placeholders(file, where, argument, ability)
        elif isinstance(ability.implementation, PythonImplementation):
            yield from self._function(file, ability.implementation.function)
        else:
            text = ability.implementation.prompt
            yield from self._placeholders(file, ("implementation", "agent", "prompt"), text, ability)

    def keywords(self, ability: Ability) -> Iterator[Problem]:
        keywords = {word.casefold() for word in ability.keywords}
        for at, word in enumerate(ability.negative_keywords):
            if word.casefold() in keywords:
                place = ("routing_hints", "negative_keywords", at)
                hint = "remove one of the two: it can never match"
                yield self._problem(ability.file, place, f"`{word}` is also a keyword", hint)

    def _called(self, ability: Ability) -> list[str]:
        by_name = self._registry.by_name
        return [by_name[name].id if name in by_name else name for name in ability.calls]

    def _program(self, file: str, place: DefinitionPath, path: str) -> Iterator[Problem]:
        whole = self._root / path
        if not whole.is_file():
            yield self._problem(file, place, f"the script `{path}` is missing", _FROM_ROOT)
        elif not is_inside(whole, self._root):
            yield self._problem(file, place, f"the script `{path}` is a symbolic link out of the project")
        elif not os.access(whole, os.X_OK):
            hint = f"chmod +x {shell_word(path)}"
            yield self._problem(file, place, f"the script `{path}` is not executable", hint)

    def _function(self, file: str, function: str) -> Iterator[Problem]:
        """Whether a file has the function. A module is only found when it runs."""
        path, _, name = function.rpartition(":")
        if not is_file(path):
            return
        place = ("implementation", "python", "function")
        try:
            tree = ast.parse(read_inside(self._root, path, limit=LARGEST_SOURCE))
        except FileNotFoundError:
            yield self._problem(file, place, f"the file `{path}` is missing", _FROM_ROOT)
        except (SamuelError, OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield self._problem(file, place, f"`{path}` cannot be read: {' '.join(str(error).split())}")
        else:
            names = _defined(tree)
            if name not in names and "*" not in names:
                hint = self._hints.did_you_mean(name, names)
                yield self._problem(file, place, f"`{path}` has no function `{name}`", hint)

    def _placeholders(self, file: str, place: DefinitionPath, text: str, ability: Ability) -> Iterator[Problem]:
        properties = (ability.input_schema or {}).get("properties")
        if not isinstance(properties, Mapping):
            return
        for name in placeholders.names(text):
            if name not in properties:
                hint = self._hints.did_you_mean(name, properties, "add it to `input_schema`")
                yield self._problem(file, place, f"the input has no `{name}`", hint)

    def _problem(self, file: str, place: DefinitionPath, what: str, hint: str = "") -> Problem:
        return Problem(what, file, self._lines(file).of(place), hint)

    def _read_lines(self, file: str) -> yaml.YamlLines:
        try:
            return yaml.load(read_inside(self._root, file, limit=yaml.LARGEST), file).lines
        except (SamuelError, OSError):  # it has changed since it was loaded
            return yaml.YamlLines({})


def _contradiction(row: AbilityRow, path: str, ability: Ability) -> tuple[str, str]:
    """How a row of ABILITY.md differs from its file, and how to fix it; "" if it does not."""
    kind = ability.type or ability.kind
    if row.name not in ability.names:
        return f"`{path}` defines `{ability.id}`, not `{row.name}`", "correct the row"
    if row.level is not ability.level:
        return f"`{row.name}` is a {ability.level}-level ability", "use the other table"
    if kind and row.kind != kind:
        return f"`{row.name}` is of kind `{kind}`, not `{row.kind}`", "correct the row"
    return "", ""


def _defined(tree: ast.Module) -> set[str]:
    """The names that a file defines, at any level; `*` if it imports all names of a module."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names


def _circles(calls: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """The circles of calls, each beginning with its first id."""
    left = {id: list(called) for id, called in calls.items()}
    for _ in range(MOST_CIRCLES):
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = error.args[1][:0:-1]  # its last is its first again, and it goes from the called to the caller
            first = circle.index(min(circle))
            circle = circle[first:] + circle[:first]
            yield circle
            left[circle[0]].remove(circle[1 % len(circle)])
        else:
            return
