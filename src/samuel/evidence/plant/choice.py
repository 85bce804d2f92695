"""Planting a failure for the runners of a check command: the plants to try, in order.

A failing test behind those of an existing test file comes first. That file is collected, its imports load the
same code, and its tests run in the same process, so that an exit or a patched assertion in the source shows. A new
file beside it is second: an explicit list of files in a command or in settings leaves it out. Where no test can be
added, an expectation of a test is changed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from samuel.evidence.plant import compiled_tests, js_tests, python_tests, script_tests
from samuel.evidence.plant.expectations import changed_expectations
from samuel.evidence.plant.planted import (
    CalledRunner,
    FileReader,
    Plant,
    checked_token,
    content_of,
    markers_in,
    text_of,
)
from samuel.evidence.plant.siblings import (
    LANGUAGES,
    MOST_IDS,
    compared_files,
    files_like_tests,
    language_of,
    mentions_of_files,
    siblings,
)

MOST_PLANTS = 4  # of each kind for one runner
MOST_GUESSED = 2  # added tests for a runner that is not known
MOST_READ = 20  # files that are read for one runner
UNKNOWN_RUNNER = CalledRunner("")

_Writer = Callable[[str, str, int | None], str | None]  # a text, the token, and which of several tests


class _Idiom(NamedTuple):
    added: _Writer
    separate: _Writer
    name: Callable[[str, str], str]
    """The name of a new file, by that of its sibling and the token."""


class PlantTrees(NamedTuple):
    """The files of an attempt, and how those of both trees are read."""

    files: Collection[str]
    """The paths of the attempt's tree."""
    read_verified: FileReader
    read_attempt: FileReader
    changed: Collection[str] = ()
    """The paths that the attempt changed."""


def _python_name(name: str, token: str) -> str:
    return f"{token}_test.py" if name.endswith("_test.py") else f"test_{token}.py"


def _ruby_name(name: str, token: str) -> str:
    if name.endswith("_spec.rb"):
        return f"{token}_spec.rb"
    return f"test_{token}.rb" if name.startswith("test_") else f"{token}_test.rb"


_RUBY = _Idiom(script_tests.with_ruby_test, script_tests.separate_ruby_test, _ruby_name)
_IDIOMS = {
    "python": _Idiom(python_tests.with_python_test, python_tests.separate_python_test, _python_name),
    "js": _Idiom(js_tests.with_js_test, js_tests.separate_js_test, js_tests.separate_js_name),
    "rust": _Idiom(
        compiled_tests.with_rust_test, compiled_tests.separate_rust_test, lambda _, token: f"{token}.rs"
    ),
    "go": _Idiom(
        compiled_tests.with_go_test, compiled_tests.separate_go_test, lambda _, token: f"{token}_test.go"
    ),
    "java": _Idiom(
        compiled_tests.with_java_test,
        compiled_tests.separate_java_test,
        lambda _, token: f"{compiled_tests.java_class(token)}.java",
    ),
    "rspec": _RUBY,
    "ruby": _RUBY,
    "php": _Idiom(
        script_tests.with_php_test,
        script_tests.separate_php_test,
        lambda _, token: f"{script_tests.php_class(token)}.php",
    ),
}


def plant(
    calls: Sequence[CalledRunner], trees: PlantTrees, token: str, reported: Iterable[str] = ()
) -> Plant | None:
    """The plant to try first; None if nothing can be planted."""
    return next(plants(calls, trees, token, reported), None)


def plants(
    calls: Sequence[CalledRunner], trees: PlantTrees, token: str, reported: Iterable[str] = ()
) -> Iterator[Plant]:
    """All plants for a check command, for each of its test runners the best first; files are read as needed.

    `calls` are the runners that it starts; without a known one the tests are found by their names. `token` is new
    for each run of the command, so that no code can know it. `reported` are the ids of tests that ran without it.
    """
    checked_token(token)
    ids = tuple(islice(reported, MOST_IDS))
    tests = [call for call in dict.fromkeys(calls) if call.name in LANGUAGES]
    if not tests:
        return _for_unknown(trees, token)
    return (plant for call in tests for plant in _for_runner(call, trees, token, ids))


def _for_runner(call: CalledRunner, trees: PlantTrees, token: str, reported: Sequence[str]) -> Iterator[Plant]:
    paths = siblings(call, trees.files, trees.changed, reported)[:MOST_READ]
    idiom = _IDIOMS[LANGUAGES[call.name]]
    yield from islice(_added(call, paths, idiom, trees, token), MOST_PLANTS)
    yield from islice(_separate(call, paths, idiom, trees, token), 1)
    yield from islice(_changed(call, paths, trees, token), MOST_PLANTS)


def _for_unknown(trees: PlantTrees, token: str) -> Iterator[Plant]:
    """Behind a program that is not known there may be one that is: `python manage.py test`, `docker run`."""
    mentioned = mentions_of_files(trees.files, trees.read_verified)
    tests = files_like_tests(trees.files, trees.changed, mentioned)
    added = (
        plant
        for path in tests[:MOST_READ]
        if (idiom := _IDIOMS.get(language_of(path)))
        for plant in _added(UNKNOWN_RUNNER, [path], idiom, trees, token)
    )
    yield from islice(added, MOST_GUESSED)
    paths = dict.fromkeys((*compared_files(trees.files, mentioned), *tests))
    yield from islice(_changed(UNKNOWN_RUNNER, islice(paths, MOST_READ), trees, token), MOST_PLANTS)


def _added(
    call: CalledRunner, paths: Sequence[str], idiom: _Idiom, trees: PlantTrees, token: str
) -> Iterator[Plant]:
    for path in paths:
        if plant := _planted(Plant(call, "added test", token, sibling=path), path, idiom.added, trees):
            yield plant


def _separate(
    call: CalledRunner, paths: Sequence[str], idiom: _Idiom, trees: PlantTrees, token: str
) -> Iterator[Plant]:
    for path in paths:
        if path.endswith(".rs") and "tests/" not in path:
            continue  # a new file of `src/` is not compiled before a module names it
        directory, _, name = path.rpartition("/")
        new = f"{directory}/{idiom.name(name, token)}" if directory else idiom.name(name, token)
        plant = _planted(Plant(call, "new file", token, sibling=path), new, idiom.separate, trees)
        if plant and new not in trees.files:
            yield plant


def _planted(plant: Plant, path: str, write: _Writer, trees: PlantTrees) -> Plant | None:
    """The plant with what is written at a path; None if it cannot be written into one of the trees."""
    contents = _both_contents(write, plant, trees)
    if contents is None:
        return None
    markers = markers_in(contents[0].decode(), plant.token)
    whole = replace(plant, files={path: contents[0]}, control_files={path: contents[1]}, markers=markers)
    parts = []
    for number, marker in enumerate(markers if len(markers) > 1 else ()):
        part = _both_contents(write, plant, trees, number)
        if part is not None:
            parts.append(replace(whole, files={path: part[0]}, control_files={path: part[1]}, markers=(marker,)))
    return replace(whole, parts=tuple(parts))


def _both_contents(
    write: _Writer, plant: Plant, trees: PlantTrees, only: int | None = None
) -> tuple[bytes, bytes] | None:
    """What a writer makes of the sibling in the attempt and in the verified tree; None without both."""
    contents = []
    for read in (trees.read_attempt, trees.read_verified):
        original = read(plant.sibling)
        text = text_of(original)
        try:
            new = write(text, plant.token, only) if text is not None else None
        except RecursionError:  # nested deeper than Python's own functions for syntax trees go
            new = None
        if new is None:
            return None
        contents.append(content_of(new, original))
    return contents[0], contents[1]


def _changed(call: CalledRunner, paths: Iterable[str], trees: PlantTrees, token: str) -> Iterator[Plant]:
    """Expectations in files that the attempt left as they are: those of the verified tree."""
    for path in paths:
        original = trees.read_verified(path)
        text = text_of(original)
        if text is None or original != trees.read_attempt(path):
            continue
        for number, candidate in enumerate(changed_expectations(path, text, token)):
            if number < 2:  # then another file: this one may not run at all
                files = {path: content_of(candidate.text, original)}
                yield Plant(call, "changed expectation", "", files, files, path, test_name=candidate.test_name)
