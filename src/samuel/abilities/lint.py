"""Everything that is wrong with a registry, each with its file, its line and what to do about it.

What keeps a file from being read is known since `load`. Here is what only shows when one looks at all of it:
tables and files that disagree, calls that lead nowhere or in a circle, schemas and implementations that cannot
work.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from samuel.abilities import placeholders
from samuel.abilities.model import Ability, PythonImplementation, ScriptImplementation
from samuel.abilities.registry import Registry
from samuel.abilities.schema import unsound
from samuel.abilities.tables import FILE
from samuel.errors import Problem, SamuelError
from samuel.files import yaml
from samuel.files.inside import is_inside, read_inside
from samuel.files.modules import is_file
from samuel.nearest import SpellingHints

LARGEST_SOURCE = 4 * 1024 * 1024
MOST_CIRCLES = 20

DefinitionPath = tuple[str | int, ...]


def lint(root: Path, registry: Registry) -> list[Problem]:
    """In the order of the files and of their lines."""
    checks = _Checks(root, registry)
    found = [*registry.problems, *checks.tables(), *checks.cycles()]
    for one in registry.abilities:
        found += checks.calls(one)
        found += checks.schemas(one)
        found += checks.implementation(one)
        found += checks.keywords(one)
    return sorted(dict.fromkeys(found), key=lambda problem: (problem.file, problem.line))  # stable within a line


class _Checks:
    def __init__(self, root: Path, registry: Registry) -> None:
        self._root = root
        self._registry = registry
        self._hints = SpellingHints()
        self._lines: Callable[[str], yaml.YamlLines] = lru_cache(maxsize=16)(self._read_lines)

    def tables(self) -> Iterator[Problem]:
        """Rows without an ability, abilities without a row, and rows that say something else than the file."""
        files = {one.file: one for one in self._registry.abilities}
        broken = {problem.file for problem in self._registry.problems}
        listed: dict[str, int] = {}
        for row in self._registry.rows:
            path = row.path.removeprefix("./")
            one = files.get(path)
            if row.name in listed:
                yield Problem(
                    f"`{row.name}` stands in line {listed[row.name]} as well", FILE, row.line, "keep one"
                )
            listed.setdefault(row.name, row.line)
            if one is None:
                if path not in broken and not os.path.isfile(self._root / path):  # a row may say anything
                    hint = self._hints.did_you_mean(path, files, "write it, or remove the row")
                    yield Problem(f"the file `{path}` of `{row.name}` is missing", FILE, row.line, hint)
            elif row.name not in one.names:
                yield Problem(f"`{path}` defines `{one.id}`, not `{row.name}`", FILE, row.line, "correct the row")
            elif row.level is not one.level:
                yield Problem(
                    f"`{row.name}` is a {one.level}-level ability", FILE, row.line, "use the other table"
                )
            elif row.kind != (kind := one.type or one.kind) and kind:
                yield Problem(
                    f"`{row.name}` is of kind `{kind}`, not `{row.kind}`", FILE, row.line, "correct the row"
                )
        if self._registry.rows:
            for one in self._registry.abilities:
                if not any(name in listed for name in one.names):
                    yield Problem(f"`{one.id}` has no row in {FILE}", one.file, 1, "add one, or remove the file")

    def calls(self, one: Ability) -> Iterator[Problem]:
        known = self._registry.by_name
        for at, name in enumerate(one.calls):
            if name not in known:
                hint = self._hints.did_you_mean(name, known, "only abilities of the registry can be called")
                yield self._problem(one.file, ("calls", at), f"there is no ability `{name}`", hint)

    def cycles(self) -> Iterator[Problem]:
        """Each circle of calls once, where its first ability calls on."""
        calls = {one.id: self._called(one) for one in self._registry.abilities}
        for circle in _circles(calls):
            one = self._registry.by_name[circle[0]]
            at = calls[one.id].index(circle[1 % len(circle)])
            shown = " -> ".join(f"`{id}`" for id in (*circle, circle[0]))
            yield self._problem(one.file, ("calls", at), f"it calls itself: {shown}", "remove one of these calls")

    def schemas(self, one: Ability) -> Iterator[Problem]:
        for key, schema in (("input_schema", one.input_schema), ("output_schema", one.output_schema)):
            if schema is not None and (wrong := unsound(schema)):
                yield self._problem(one.file, (key, *wrong.path), f"`{key}` is no JSON Schema: {wrong.what}")

    def implementation(self, one: Ability) -> Iterator[Problem]:
        file = one.implementation_file
        if one.implementation is None:
            hint = "add `implementation:` here, or a file that gives it below `.system/registry/config/`"
            yield self._problem(one.file, (), f"`{one.id}` has no implementation", hint)
        elif isinstance(one.implementation, ScriptImplementation):
            yield from self._program(file, ("implementation", "script", "path"), one.implementation.path)
            for at, argument in enumerate(one.implementation.arguments):
                where = ("implementation", "script", "args_template", at)
                yield from self._placeholders(file, where, argument, one)
        elif isinstance(one.implementation, PythonImplementation):
            yield from self._function(file, one.implementation.function)
        else:
            text = one.implementation.prompt
            yield from self._placeholders(file, ("implementation", "agent", "prompt"), text, one)

    def keywords(self, one: Ability) -> Iterator[Problem]:
        wanted = {word.casefold() for word in one.keywords}
        for at, word in enumerate(one.negative_keywords):
            if word.casefold() in wanted:
                place = ("routing_hints", "negative_keywords", at)
                yield self._problem(
                    one.file, place, f"`{word}` is a keyword as well", "it can never be found by it"
                )

    def _called(self, one: Ability) -> list[str]:
        known = self._registry.by_name
        return [known[name].id if name in known else name for name in one.calls]

    def _program(self, file: str, place: DefinitionPath, path: str) -> Iterator[Problem]:
        whole = self._root / path
        if not whole.is_file():
            yield self._problem(
                file, place, f"the script `{path}` is missing", "paths begin at the project's root"
            )
        elif not is_inside(whole, self._root):
            yield self._problem(file, place, f"the script `{path}` is a link that leads out of the project")
        elif not os.access(whole, os.X_OK):
            yield self._problem(file, place, f"the script `{path}` is not executable", f"chmod +x {path}")

    def _function(self, file: str, function: str) -> Iterator[Problem]:
        """A module is found only when it runs; a file can be looked at."""
        path, _, name = function.rpartition(":")
        if not is_file(path):
            return
        place = ("implementation", "python", "function")
        try:
            tree = ast.parse(read_inside(self._root, path, limit=LARGEST_SOURCE))
        except FileNotFoundError:
            yield self._problem(file, place, f"the file `{path}` is missing", "paths begin at the project's root")
        except (SamuelError, OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
            yield self._problem(file, place, f"`{path}` cannot be read: {' '.join(str(error).split())}")
        else:
            names = _defined(tree)
            if name not in names and "*" not in names:
                hint = self._hints.did_you_mean(name, names)
                yield self._problem(file, place, f"`{path}` has no function `{name}`", hint)

    def _placeholders(self, file: str, place: DefinitionPath, text: str, one: Ability) -> Iterator[Problem]:
        properties = (one.input_schema or {}).get("properties")
        if not isinstance(properties, Mapping):
            return
        for name in placeholders.names(text):
            if name not in properties:
                hint = self._hints.did_you_mean(name, properties, "say in `input_schema` what it is")
                yield self._problem(file, place, f"the input has no `{name}`", hint)

    def _problem(self, file: str, place: DefinitionPath, what: str, hint: str = "") -> Problem:
        return Problem(what, file, self._lines(file).of(place), hint)

    def _read_lines(self, file: str) -> yaml.YamlLines:
        try:
            return yaml.load(read_inside(self._root, file, limit=yaml.LARGEST), file).lines
        except (SamuelError, OSError):  # it changed since it was loaded
            return yaml.YamlLines({})


def _defined(tree: ast.Module) -> set[str]:
    """The names a file gives a meaning to, wherever in it; `*` if it takes over all of another's."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
    return found


def _circles(calls: Mapping[str, Iterable[str]]) -> Iterator[list[str]]:
    """Those that call each other in a circle, each circle from its first name on."""
    left = {id: list(called) for id, called in calls.items()}
    for _ in range(MOST_CIRCLES):
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle = error.args[1][:0:-1]  # it ends where it begins, and leads from the called to the caller
            first = circle.index(min(circle))
            circle = circle[first:] + circle[:first]
            yield circle
            left[circle[0]].remove(circle[1 % len(circle)])
        else:
            return
