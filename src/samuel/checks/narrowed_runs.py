"""Which part of a check is enough for a corner: runs of a few test files cost less than those of the whole check.

Whether old tests pass is decided by the whole check. What fails without the work is among the tests that the
attempt changed, so that they are enough on the old source. A planted failure shows that the checks can fail where
it runs behind the changed tests, and behind tests that name each definition which the attempt changed: source that
disarms an assertion does so when it is loaded, or when it is called.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from samuel.checks.changed_tests import ChangedTests
from samuel.checks.commands import CommandReader
from samuel.checks.runners import TEST_RUNNERS
from samuel.events.loop import CheckRun
from samuel.evidence.changed_definitions import changed_definitions, names_around
from samuel.evidence.conventions import is_test_file
from samuel.evidence.plant.narrowing import narrowed_to
from samuel.evidence.plant.planted import CalledRunner, Plant
from samuel.evidence.plant.siblings import siblings

# Names of files that say nothing about what is in them: a test that loads one names its directory, if anything.
_UNNAMED = frozenset(("index", "main", "lib", "mod", "__init__", "__main__"))
_NO_PACKAGE = frozenset(("", "src", "lib"))
_OF_LINTERS = re.compile(
    r"\.pre-commit-config\.yaml|\.?(?:ruff|clippy)\.toml|\.?mypy\.ini|\.flake8|\.?pylintrc|pyrightconfig\.json"
    r"|\.eslint(?:rc|ignore).*|eslint\.config\..*|\.prettier.*|biome\.jsonc?|\.golangci\..*"
)
_NOT_LOADED = re.compile(r"(?:docs?|benches|benchmarks?|examples)/|setup\.py$|build\.rs$")
MOST_READ = 400  # files that are searched for names
MOST_NAMES = 60  # parts of a change


def called_runners(tests: ChangedTests, command: str) -> list[CalledRunner]:
    """The test runners that a command starts; it is read as it is in the verified tree."""
    reader = CommandReader(frozenset(tests.names), tests.before)
    reader.line(command)
    calls = [CalledRunner(name, tuple(call.arguments), call.directory) for name, call in reader.calls]
    return [call for call in calls if call.name in TEST_RUNNERS] or ([CalledRunner("")] if not calls else [])


def on_changed_tests(tests: ChangedTests, command: str) -> str:
    """The command for the changed test files alone; "" if the whole command must run."""
    calls = called_runners(tests, command)
    if len(calls) != 1:
        return ""
    paths = [
        path for path in tests.paths if path in {*tests.own_names} and _is_run(tests, command, calls[0], path)
    ]
    if _modules(tests, calls[0], paths) != paths or any(_has_other_examples(tests, path) for path in paths):
        return ""
    return narrowed_to(command, calls[0], paths, tests.own_names) or ""


def _is_run(tests: ChangedTests, command: str, call: CalledRunner, path: str) -> bool:
    """Whether a test, or a setting of checks, may decide what this runner says."""
    name = path.rpartition("/")[2]
    if _OF_LINTERS.fullmatch(name) or (call.name == "cargo" and path.startswith("benches/")):
        return False
    if call.name == "pytest" and path.endswith(".py") and not is_test_file(path):  # then its examples are tests
        settings = ("pyproject.toml", "pytest.ini", "setup.cfg", "tox.ini", "conftest.py")
        return any("doctest" in text for text in (command, *map(tests.after, settings)))
    return True


def on_failed_tests(tests: ChangedTests, run: CheckRun) -> str:
    """The command for the old test files alone in which tests of a run failed; "" if it must be whole."""
    failed = [id.partition("::")[0] for id, result in (run.tests or {}).items() if result == "failed"]
    calls = called_runners(tests, run.command)
    if not failed or len(calls) != 1:
        return ""
    modules = {name: path for path in siblings(calls[0], tests.names) for name in (path, _dotted(path))}
    files = {
        modules.get(name) or modules.get(name.rpartition(".")[0]) for name in failed
    }  # with its class, or not
    paths = sorted(path for path in files if path)
    return narrowed_to(run.command, calls[0], paths, tests.names) or "" if None not in files else ""


def _dotted(path: str) -> str:
    return path.rpartition(".")[0].replace("/", ".")


def on_planted_test(tests: ChangedTests, command: str, plant: Plant) -> str:
    """The command for the tests that must run together with a plant; "" if that must be the whole check."""
    if plant.kind == "changed expectation":
        return ""
    planted = [*plant.files][:1]
    before = _behind(tests, plant, planted)
    if before is None:
        return ""
    return narrowed_to(command, plant.call, [*before, *planted], tests.own_names) or ""


def _behind(tests: ChangedTests, plant: Plant, planted: list[str]) -> list[str] | None:
    """The test files that run before the plant; None if no test names a part of what was changed."""
    collected = siblings(plant.call, tests.own_names, tests.changed)
    behind = dict.fromkeys(path for path in tests.paths if path in {*collected})
    texts = {path: _test_text(path, tests) for path in (*planted, *behind, *collected[:MOST_READ])}
    for number, names in enumerate(_names_of_change(tests)):
        naming = next((paths for name in names if (paths := _naming(texts, name))), None)
        if naming is None or number >= MOST_NAMES:
            return None
        if not {*naming} & {*behind, *planted}:
            behind[naming[0]] = None
    is_most = len({*behind, *planted}) > max(2, len(collected) // 2)
    return None if is_most else [path for path in behind if path not in planted]


def _names_of_change(tests: ChangedTests) -> Iterator[tuple[str, ...]]:
    """For each part of the changed source the names by which a test can name it, the closest first."""
    changed = [path for path in tests.code_sources if not _NOT_LOADED.match(path)]
    endings = {path.rpartition(".")[2] for path in changed}
    sources = [path for path in tests.own_names if path.rpartition(".")[2] in endings and not is_test_file(path)]
    texts = {path: tests.after(path) for path in (*changed, *sources[:MOST_READ])}
    for path in changed:
        name = _name_of_file(path)
        if name and not path.endswith(".rs"):  # Rust compiles all files of a crate together
            yield (
                name,
                *(
                    user
                    for other, text in texts.items()
                    if _naming({other: text}, name) and (user := _name_of_file(other)) and user != name
                ),
            )
        for names in changed_definitions(tests.before(path), texts[path]):
            if users := names_around(texts.values(), names):
                yield users


def _name_of_file(path: str) -> str:
    """The name by which a file is loaded; "" if it has none."""
    directory, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    name = directory.rpartition("/")[2] if stem in _UNNAMED else stem
    return "" if name in _NO_PACKAGE else name


def _naming(texts: Mapping[str, str], name: str) -> list[str]:
    pattern = re.compile(rf"\b{re.escape(name)}\b")
    return [path for path, text in texts.items() if pattern.search(text)]


def _test_text(path: str, tests: ChangedTests) -> str:
    """What of a file is tests: of a Rust file with source in it what follows the source."""
    text = tests.after(path)
    return text.partition("#[cfg(test)]")[2] if path.endswith(".rs") and "tests/" not in path else text


def _has_other_examples(tests: ChangedTests, path: str) -> bool:
    """Whether the documentation in a Rust file changed: its examples are tests that only the whole check runs."""
    return path.endswith(".rs") and _documentation(tests.before(path)) != _documentation(tests.after(path))


def _documentation(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line.startswith(("///", "//!", "/**", "/*!", "*", "#[doc", "#![doc"))]


def _modules(tests: ChangedTests, call: CalledRunner, paths: Iterable[str]) -> list[str]:
    """Those of the paths that the runner can run by name."""
    collected = {*siblings(call, tests.own_names)}
    return [path for path in paths if path in collected]
